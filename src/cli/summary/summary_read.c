#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "summary/summary.h"
#include "exit.h"
#include "input/fail.h"
#include "input/memory.h"
#include "output/json_out.h"
#include "term/message.h"

/* Some thousand times the usual size. */
#define MOST_BYTES ((size_t)64 << 20)

/* ---- the file ---- */

/* A pipe must not be read to see what it is: the bytes would be missing when it is read as a dump.
 */
static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool begins_with_object(struct gcd_input *in)
{
    uint8_t first[GCD_PEEK_MAX];
    size_t got = 0, blank = 0;
    if (gcd_input_peek(in, first, sizeof first, &got, NULL) != GCD_OK)
        return false;
    while (blank < got && (first[blank] == ' ' || first[blank] == '\t' || first[blank] == '\r' ||
                           first[blank] == '\n'))
        blank++;
    return blank < got && first[blank] == '{';
}

/* All bytes of R with a NUL after them; NULL = they cannot be read, or exceed MOST_BYTES. */
static char *all_of(struct gcd_reader *r, size_t *ret_n)
{
    const uint8_t *bytes;
    char *text = NULL;
    size_t n = 0, got;
    gcd_status st;
    while ((st = gcd_reader_next(r, &bytes, &got, NULL)) == GCD_OK) {
        char *more = got <= MOST_BYTES - n ? realloc(text, n + got + 1) : NULL;
        if (more == NULL)
            break;
        text = more;
        memcpy(text + n, bytes, got);
        n += got;
        text[n] = '\0';
    }
    *ret_n = n;
    if (st == GCD_END)
        return text;
    free(text);
    return NULL;
}

/* The content of PATH; NULL = it is not a JSON file, cannot be read, or is too large. */
static char *whole_file(const char *path, size_t *ret_n)
{
    struct gcd_input *in = NULL;
    struct gcd_reader *r = NULL;
    char *text = NULL;
    struct gcd_input_options options = { .context = { .alloc = cli_alloc() }, .reread = true };
    if (is_regular(path) && gcd_input_open(path, &options, &in, NULL) == GCD_OK &&
        begins_with_object(in) && gcd_reader_new(in, &r, NULL) == GCD_OK)
        text = all_of(r, ret_n);
    gcd_reader_free(r);
    gcd_input_free(in);
    return text;
}

/*
 * Reads the JSON objects that follow each other in TEXT[N] and returns number NUMBER.  *RET_COUNT:
 * how many there are.  NULL and *RET_COUNT 0: one of them is not a summary.
 */
static json_t *find_line(const char *text, size_t n, uint64_t number, size_t *ret_count)
{
    json_t *found = NULL;
    size_t off = 0;
    *ret_count = 0;
    while (off + strspn(text + off, " \t\r\n") < n) {
        json_error_t error;
        off += strspn(text + off, " \t\r\n");
        json_t *o = json_loadb(text + off, n - off, JSON_DISABLE_EOF_CHECK, &error);
        const char *kind = json_string_value(json_object_get(o, "kind"));
        if (kind == NULL || strcmp(kind, CLI_SUMMARY_KIND) != 0 || error.position <= 0) {
            json_decref(o);
            json_decref(found);
            *ret_count = 0;
            return NULL;
        }
        off += (size_t)error.position;
        if (++*ret_count == number)
            found = o;
        else
            json_decref(o);
    }
    return found;
}

/* ---- the object ---- */

/* 0 for negative numbers and for values that are not numbers. */
static uint64_t number_of(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));
    return n > 0 ? (uint64_t)n : 0;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL ? s : "";
}

/* Adds a type without its module number: the module path is enough to tell types of the same name
 * apart. */
static void add_type(struct cli_old_summary *s, const json_t *row)
{
    const char *name = text_of(row, "name"), *raw = text_of(row, "raw_name");
    uint32_t n = s->facts.type_count++;
    s->types[n] = (struct gcd_type){ .id = n + 1,
                                     .name = name,
                                     .raw_name = name,
                                     .module_path = text_of(row, "module"),
                                     .objects = number_of(row, "count"),
                                     .bytes = number_of(row, "own_bytes"),
                                     .described = true,
                                     .named = true,
                                     .module_number = GCD_MODULE_NONE };
    s->raw_names[n] = raw[0] != '\0' ? raw : name;
    s->retained[n] = number_of(row, "retained_bytes");
}

/* The key that identifies a type; NULL = out of memory. */
static char *key_of(const json_t *row)
{
    const char *name = text_of(row, "name"), *raw = text_of(row, "raw_name"),
               *module = text_of(row, "module");
    size_t room = strlen(name) + strlen(raw) + strlen(module) + 3;
    char *key = malloc(room);
    if (key != NULL)
        (void)snprintf(key, room, "%s\n%s\n%s", name, raw, module);
    return key;
}

/* Adds the types in ROWS that are not in LISTED; with MARK adds all and enters them in LISTED.
 * False: out of memory. */
static bool read_types(struct cli_old_summary *s, const json_t *rows, json_t *listed, bool mark)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (text_of(row, "name")[0] == '\0' || number_of(row, "count") == 0)
            continue;
        char *key = key_of(row);
        bool known = key != NULL && !mark && json_object_get(listed, key) != NULL;
        bool failed = key == NULL || (mark && json_object_set_new(listed, key, json_true()) != 0);
        free(key);
        if (failed)
            return false;
        if (!known)
            add_type(s, row);
    }
    return true;
}

/* Reads the largest types and those that retain the most; many are in both lists. */
static bool read_both(struct cli_old_summary *s, const json_t *types, const json_t *holders)
{
    json_t *listed = json_object();
    bool done = listed != NULL && read_types(s, types, listed, true) &&
                read_types(s, holders, listed, false);
    json_decref(listed);
    s->facts.types = s->types;
    return done;
}

/* The static name for NAME and its code; codes of later versions become "other". */
static const char *static_code(const char *name, enum gcd_reason_code *ret)
{
    static const char *const names[] = {
#define REASON_NAME(code, text) [code] = text,
        GCD_REASON_LIST(REASON_NAME)
#undef REASON_NAME
    };
    for (size_t i = 0; i < GCD_REASON_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (enum gcd_reason_code)i;
            return names[i];
        }
    *ret = GCD_REASON_COUNT;
    return "other";
}

static void read_verdict(struct gcd_verdict *v, const json_t *o)
{
    const json_t *row, *reasons = json_object_get(o, "reasons");
    size_t i;
    v->complete = json_is_true(json_object_get(o, "complete"));
    v->unverified = json_is_true(json_object_get(o, "unverified"));
    json_array_foreach(reasons, i, row)
    {
        if (v->reason_count == GCD_REASON_COUNT)
            break;
        struct gcd_reason *r = &v->reasons[v->reason_count++];
        r->name = static_code(text_of(row, "code"), &r->code);
        r->amount = number_of(row, "amount");
        (void)snprintf(r->text, sizeof r->text, "%s", text_of(row, "text"));
    }
}

static enum cli_exit read_object(struct cli_old_summary *s, const char *path)
{
    const json_t *o = s->json, *types = json_object_get(o, "types"),
                 *holders = json_object_get(o, "holders"), *ms = json_object_get(o, "unix_ms");
    struct gcd_summary *f = &s->facts;
    size_t n = json_array_size(types) + json_array_size(holders);
    json_int_t schema = json_integer_value(json_object_get(o, "schema"));
    if (schema != CLI_SUMMARY_SCHEMA || n >= GCD_TYPE_NONE)
        return cli_error(CLI_FAILED, path,
                         "is a summary with schema %" JSON_INTEGER_FORMAT
                         "; this gcdumpc reads schema %d",
                         schema, CLI_SUMMARY_SCHEMA);
    s->types = calloc(n + 1, sizeof *s->types);
    s->retained = calloc(n + 1, sizeof *s->retained);
    s->raw_names = calloc(n + 1, sizeof *s->raw_names);
    if (s->types == NULL || s->retained == NULL || s->raw_names == NULL ||
        !read_both(s, types, holders))
        return cli_no_memory(path);
    read_verdict(&f->verdict, o);
    f->objects = number_of(o, "objects");
    f->bytes = number_of(o, "bytes");
    f->dumps = 1;
    f->process = number_of(o, "pid");
    f->process_name = text_of(o, "name");
    f->command_line = "";
    f->trace.start_unix_ms = json_is_integer(ms) ? json_integer_value(ms) : INT64_MIN;
    s->types_of_dump = number_of(o, "type_count");
    s->retained_bytes = number_of(o, "retained_bytes");
    return CLI_DONE;
}

enum cli_exit cli_summary_read(const char *path, uint64_t number, struct cli_old_summary **ret)
{
    size_t n = 0;
    uint64_t wanted = number != 0 ? number : 1;
    *ret = NULL;
    char *text = whole_file(path, &n);
    if (text == NULL)
        return CLI_DONE;
    struct cli_old_summary *s = calloc(1, sizeof *s);
    if (s != NULL)
        s->json = find_line(text, n, wanted, &s->lines);
    free(text);
    enum cli_exit e = s == NULL ? cli_no_memory(path) : CLI_DONE;
    if (s != NULL && s->json == NULL && s->lines > 0)
        e = cli_error(CLI_FAILED, path, "has %zu %s, number %" PRIu64 " was asked for", s->lines,
                      gcd_by_number(s->lines, "summary", "summaries"), wanted);
    if (s != NULL && s->json != NULL)
        e = read_object(s, path);
    if (s != NULL && s->json != NULL && e == CLI_DONE) {
        *ret = s;
        return CLI_DONE;
    }
    cli_old_summary_free(s);
    return e;
}

void cli_old_summary_free(struct cli_old_summary *s)
{
    if (s == NULL)
        return;
    free(s->types);
    free(s->raw_names);
    free(s->retained);
    json_decref(s->json);
    free(s);
}
