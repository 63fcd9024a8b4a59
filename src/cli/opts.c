/* How a command line, or a line of a configuration, becomes struct cli_args. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "option_table.h"
#include "opts.h"
#include "term/message.h"
#include "term/suggest.h"

/* The factor for an optional letter after a number. */
static const struct unit {
    enum option_type type;
    char letter;
    uint64_t factor;
} units[] = {
    { OPT_SIZE, 'B', 1 },
    { OPT_SIZE, 'K', UINT64_C(1) << 10 },
    { OPT_SIZE, 'M', UINT64_C(1) << 20 },
    { OPT_SIZE, 'G', UINT64_C(1) << 30 },
    { OPT_SIZE, 'T', UINT64_C(1) << 40 },
    { OPT_TIME, 's', 1 },
    { OPT_TIME, 'm', 60 },
    { OPT_TIME, 'h', 3600 },
    { OPT_TIME, 'd', 86400 },
    { OPT_PERCENT, '%', 1 },
};

/* Accepts digits, and one of the letters of TYPE; sizes also as 5MB and 5MiB, which are the same,
 * and in small letters. */
static bool parse_number(const char *s, enum option_type type, uint64_t *ret)
{
    if (s[0] < '0' || s[0] > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    uint64_t factor = 1;
    if (errno != 0)
        return false;
    bool small = type == OPT_SIZE && islower((unsigned char)*end);
    for (size_t i = 0; *end != '\0' && i < sizeof units / sizeof *units; i++)
        if (units[i].type == type &&
            units[i].letter == (small ? toupper((unsigned char)*end) : *end) &&
            (end[1] == '\0' || (type == OPT_SIZE && units[i].letter != 'B' &&
                                (strcmp(end + 1, small ? "b" : "B") == 0 ||
                                 strcmp(end + 1, small ? "ib" : "iB") == 0)))) {
            factor = units[i].factor;
            end += strlen(end);
        }
    if (*end != '\0' || v > UINT64_MAX / factor)
        return false;
    *ret = (uint64_t)v * factor;
    return true;
}

#define ONE_PERCENT (CLI_SHARE_MILLIS / 100)

/* "2.5" as thousandths; fewer are not told apart. */
static bool parse_share(const char *s, uint64_t *ret)
{
    uint64_t part = ONE_PERCENT;
    size_t n = strspn(s, "0123456789");
    char whole[8];
    if (n == 0 || n >= sizeof whole)
        return false;
    memcpy(whole, s, n);
    whole[n] = '\0';
    *ret = strtoull(whole, NULL, 10) * ONE_PERCENT;
    if (s[n] == '\0')
        return true;
    const char *digit = s + n + 1;
    if (s[n] != '.' || *digit == '\0')
        return false;
    for (; *digit >= '0' && *digit <= '9' && part > 1; digit++) {
        part /= 10;
        *ret += (uint64_t)(*digit - '0') * part;
    }
    return *digit == '\0';
}

static bool parse_value(const struct option_row *r, const char *value, uint64_t *ret)
{
    bool ok = r->type == OPT_SHARE ? parse_share(value, ret) : parse_number(value, r->type, ret);
    return ok && *ret >= r->min && *ret <= r->max;
}

static void bad_number(const struct cli_command *c, const struct option_row *r, const char *value)
{
    char range[64];
    if (r->type == OPT_SHARE)
        (void)snprintf(range, sizeof range, "%g to %g", (double)r->min / ONE_PERCENT,
                       (double)r->max / ONE_PERCENT);
    else
        (void)snprintf(range, sizeof range, "%llu to %llu", (unsigned long long)r->min,
                       (unsigned long long)r->max);
    cli_say(NULL, "--%s takes a number from %s%s, not \"%s\"; see gcdumpc %s --help", r->name,
            range,
            r->type == OPT_SIZE   ? " (or as 64K, 16M, 16MB, 2GiB, by 1,024)"
            : r->type == OPT_TIME ? " (or as 90s, 30m, 6h, 1d)"
                                  : "",
            value, c->name);
}

/* Is VALUE, which means N, too small for what the rows limit that begin with 1: the memory of a
 * process, a disk, all dumps?  Then it lacks its unit.  --when says the same. */
static bool lacks_unit(const struct option_row *r, const char *value, uint64_t n)
{
    return r->type == OPT_SIZE && r->min == 1 && n < UINT64_C(1) << 20 &&
           value[strspn(value, "0123456789")] == '\0';
}

static void bad_choice(const struct option_row *r, const char *value)
{
    char all[128] = "", meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, value);
    const char *const *words = cli_choices_of(r->type);
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s",
                       i == 0                 ? ""
                       : words[i + 1] == NULL ? " or "
                                              : ", ",
                       words[i]);
        cli_nearest_try(&near, words[i]);
    }
    cli_say(NULL, "--%s takes %s, not \"%s\"%s", r->name, all, value, cli_meant(&near, "", meant));
}

static bool add(const struct option_row *r, const char *value, const char **list)
{
    for (uint64_t i = 0; i < r->max; i++)
        if (list[i] == NULL) {
            list[i] = value;
            return true;
        }
    cli_say(NULL, "--%s can be given %llu times at most", r->name, (unsigned long long)r->max);
    return false;
}

static bool set(const struct cli_command *c, const struct option_row *r, const char *value,
                struct cli_args *args)
{
    char *field = (char *)args + r->field;
    const char *const *words;
    uint64_t number = 0;
    switch (r->type) {
    case OPT_FLAG:
        memcpy(field, &(bool){ true }, sizeof(bool));
        return true;
    case OPT_JSON:
        args->view.json = true;
        if (value != NULL && strcmp(value, "1") != 0 && strcmp(value, "2") != 0) {
            cli_say(NULL, "--json takes 1 or 2, the number of the schema, not \"%s\"", value);
            return false;
        }
        args->view.json_schema = value != NULL && value[0] == '1';
        return true;
    case OPT_TEXT:
        memcpy(field, &value, sizeof value);
        return true;
    case OPT_LIST:
        return add(r, value, (const char **)(void *)field);
    case OPT_SORT:
    case OPT_BY:
    case OPT_STRATEGY:
    case OPT_NAMES:
    case OPT_STACK_BY:
    case OPT_LOG:
    case OPT_LARGEST:
    case OPT_COLOR:
    case OPT_VALUES:
    case OPT_FIELDS:
    case OPT_SHOW:
    case OPT_REDACT:
        words = cli_choices_of(r->type);
        value = value != NULL ? value : words[1];
        for (unsigned i = 0; words[i] != NULL; i++)
            if (strcmp(words[i], value) == 0) {
                memcpy(field, &i, sizeof i); /* enums without negative values are unsigned */
                args->view.no_values = r->type == OPT_SHOW && i == CLI_VALUES_HIDDEN;
                return true;
            }
        bad_choice(r, value);
        return false;
    case OPT_PROCESS:
        args->dump.process = 0;
        args->dump.process_name = NULL;
        if (value[0] != '\0' && value[strspn(value, "0123456789")] != '\0') {
            args->dump.process_name = value;
            return true;
        }
        /* fall through */
    case OPT_NUMBER:
    case OPT_SIZE:
    case OPT_PERCENT:
    case OPT_SHARE:
    case OPT_TIME:
        if (parse_value(r, value, &number)) {
            if (lacks_unit(r, value, number)) {
                cli_say(NULL,
                        "--%s \"%s\": without a unit these are %s bytes: write %sM, or %sB if "
                        "bytes are meant",
                        r->name, value, value, value, value);
                return false;
            }
            memcpy(field, &number, sizeof number);
            return true;
        }
        bad_number(c, r, value);
        return false;
    }
    return false;
}

/* Reports which other commands have the option, else the nearest one.  WORD is the option as given,
 * NAME[N] its long name. */
static void no_option(const struct cli_command *c, const char *word, const char *name, size_t n)
{
    char others[160] = "", meant[CLI_MEANT_BYTES], copy[CLI_NEAR_LENGTH + 1];
    const char *dashes = word[0] == '-' ? "--" : "";
    bool known = cli_find_option(c, name, n, 0) != NULL; /* but not allowed here */
    struct cli_nearest near;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : 0), name);
    cli_nearest_begin(&near, copy);
    for (size_t i = 0; i < CLI_OPTION_ROWS; i++)
        if ((cli_option_rows[i].commands & c->bit) != 0 && !known)
            cli_nearest_try(&near, cli_option_rows[i].name);
    for (size_t i = 0; cli_command_at(i) != NULL && n > 0 && !known; i++) {
        size_t used = strlen(others);
        const struct option_row *r = cli_find_option(cli_command_at(i), name, n, 0);
        if (r != NULL && cli_has_option(cli_command_at(i), r))
            (void)snprintf(others + used, sizeof others - used, "%s%s",
                           used == 0 ? " (an option of " : ", ", cli_command_at(i)->name);
    }
    if (others[0] != '\0')
        cli_say(NULL, "%s has no option \"%s\"%s); see gcdumpc %s --help", c->name, word, others,
                c->name);
    else
        cli_say(NULL, "%s has no option \"%s\"%s; see gcdumpc %s --help", c->name, word,
                cli_meant(&near, dashes, meant), c->name);
}

/* "-qj": letters without arguments can be combined.  Moves *WORD to the last one. */
static bool parse_letters(const struct cli_command *c, const char **word, struct cli_args *args)
{
    for (; (*word)[1] != '\0' && (*word)[2] != '\0'; (*word)++) {
        const struct option_row *r = cli_find_option(c, NULL, 0, (*word)[1]);
        if (r == NULL || r->argument != NULL)
            break;
        if (cli_find_option(c, NULL, 0, (*word)[2]) == NULL)
            return true; /* the last letter reports the error */
        if (!set(c, r, NULL, args))
            return false;
    }
    return true;
}

/* Parses the option at ARGV[*I]; moves *I over its argument. */
static bool parse_option(const struct cli_command *c, int argc, char **argv, int *i,
                         struct cli_args *args)
{
    const char *word = argv[*i], *value = NULL;
    const struct option_row *r;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        r = cli_find_option(c, word + 2, n, 0);
        if (word[2 + n] == '=')
            value = word + 2 + n + 1;
    } else {
        if (!parse_letters(c, &word, args))
            return false;
        r = cli_find_option(c, NULL, 0, word[1]);
        if (r != NULL && r->letter != word[1])
            cli_say(NULL, "-%c is --%s only in this version; write --%s", word[1], r->name,
                    r->name);
        if (word[2] != '\0')
            value = word + 2;
    }
    if (r == NULL) {
        bool is_long = word[1] == '-';
        no_option(c, word, is_long ? word + 2 : "", is_long ? strcspn(word + 2, "=") : 0);
        return false;
    }
    if (!cli_has_option(c, r))
        args->moved = r->name;
    if (r->argument == NULL && value != NULL && r->type == OPT_FLAG) {
        cli_say(NULL, "--%s takes no value; see gcdumpc %s --help", r->name, c->name);
        return false;
    }
    if (r->argument != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            cli_say(NULL, "--%s needs %s; see gcdumpc %s --help", r->name, r->argument, c->name);
            return false;
        }
        value = argv[++*i];
    }
    return set(c, r, value, args);
}

void cli_args_init(struct cli_args *ret)
{
    *ret = (struct cli_args){ .live.retries = DEFAULT_RETRIES,
                              .sites = { .window_s = WINDOW_SECONDS, .settle_s = SETTLE_SECONDS },
                              .watch.cooldown_s = COOLDOWN_SECONDS };
}

/* In a file a flag has a value. */
static enum cli_exit set_flag(const struct option_row *r, const char *value, struct cli_args *args)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            memcpy((char *)args + r->field, &(bool){ i % 2 == 1 }, sizeof(bool));
            return CLI_DONE;
        }
    return cli_error(CLI_USAGE, NULL, "%s is true or false, not \"%s\"", r->name, value);
}

enum cli_exit cli_set_option(const struct cli_command *c, const char *name, const char *value,
                             struct cli_args *args)
{
    const struct option_row *r = cli_find_option(c, name, strlen(name), 0);
    if (r == NULL || strcmp(r->name, "help") == 0) {
        no_option(c, name, name, strlen(name));
        return CLI_USAGE;
    }
    if (r->type == OPT_FLAG || r->type == OPT_JSON)
        return set_flag(r, value, args);
    return set(c, r, value, args) ? CLI_DONE : CLI_USAGE;
}

/* Takes the last word as the statement, after the file if there is one. */
static void take_statement(struct cli_args *args)
{
    if (!cli_is_live(args) && args->input_count < 2)
        return;
    args->view.sql = args->input_count > 0 ? args->inputs[--args->input_count] : NULL;
    args->input = args->input_count > 0 ? args->inputs[0] : NULL;
}

/* A new name for each dump, and never that of another file. */
static void name_output(struct cli_output_args *o)
{
    const struct gcd_format *f = o->format != NULL ? gcd_format_by_name(o->format) : NULL;
    (void)snprintf(o->default_path, sizeof o->default_path, "%%n-%%p-%%Y%%m%%dT%%H%%M%%SZ%s",
                   f != NULL           ? gcd_format_suffix(f)
                   : o->format == NULL ? ".nettrace.gz"
                                       : "." CLI_RAW_FORMAT);
    o->path = o->default_path;
}

/* Without --type and --object, the last word after the dump is the target of paths. */
static void take_target(struct cli_args *args)
{
    const char *word = NULL;
    if (args->view.type != NULL || args->view.object != NULL)
        return;
    if (args->more_count > 0) {
        word = args->more[--args->more_count];
    } else if (cli_is_live(args) && args->input_count > 0) {
        word = args->inputs[--args->input_count];
        args->input = NULL;
    }
    if (word != NULL && strncmp(word, "0x", 2) == 0)
        args->view.object = word;
    else
        args->view.type = word;
}

enum cli_exit cli_parse(const struct cli_command *c, int argc, char **argv, struct cli_args *ret)
{
    cli_args_init(ret);
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1] != '\0') {
            if (!parse_option(c, argc, argv, &i, ret))
                return CLI_USAGE;
        } else if (c->bit == CLI_SQL && ret->input_count < 2) {
            argv[1 + ret->input_count++] = argv[i];
        } else if (ret->input_count > 0 && (c->bit & FILES) != 0 &&
                   (c->bit & (COMPARE | CLI_SQL)) == 0 && ret->more_count < CLI_MORE_INPUTS) {
            ret->more[ret->more_count++] = word;
        } else if ((ret->input_count > 0 && (c->bit & COMPARE) == 0) ||
                   (c->bit & (FILES | CLI_RUN)) == 0 || c->bit == CLI_MCP) {
            return cli_error(CLI_USAGE, NULL,
                             "%s does not know what to do with \"%s\"; see gcdumpc %s --help",
                             c->name, word, c->name);
        } else {
            argv[1 + ret->input_count++] = argv[i]; /* the earlier value has been read */
        }
    }
    ret->inputs = argv + 1;
    ret->input = ret->input_count > 0 ? argv[1] : NULL;
    if (c->bit == CLI_SQL)
        take_statement(ret);
    if (c->bit == CLI_COLLECT && cli_is_live(ret) && ret->output.path == NULL &&
        ret->output.summary == NULL && !ret->live.dry_run)
        name_output(&ret->output);
    if (c->bit == CLI_WATCH) {
        name_output(&ret->output); /* in default_path, for watch without an output */
        ret->output.path = NULL;
    }
    if (c->bit == CLI_PATHS)
        take_target(ret);
    enum cli_exit e = ret->help ? CLI_DONE : cli_check_args(c, ret);
    if (e == CLI_DONE && ret->moved != NULL && !ret->quiet)
        cli_say(NULL,
                "--%s is an option of collect: dump first, then ask the file; %s takes it in this "
                "version only",
                ret->moved, c->name);
    return e;
}
