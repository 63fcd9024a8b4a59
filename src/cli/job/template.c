#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/folders.h>
#include <gcdumpc/unstable/text/shown.h>

#include "exit.h"
#include "job/template.h"
#include "term/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "term/path.h"

/* Most parts between slashes; bounds the recursion into folders. */
#define PARTS_MAX 32u
/* Most fields of variable length in a part: each multiplies the ways to read a name. */
#define NUMBERS_MAX 2u

/* Digits of a time field, and its largest value. */
static const struct field {
    char letter;
    unsigned char digits;
    uint16_t min, max;
} fields[] = {
    { 'Y', 4, 1970, 9999 }, { 'm', 2, 1, 12 }, { 'd', 2, 1, 31 },  { 'H', 2, 0, 23 },
    { 'M', 2, 0, 59 },      { 'S', 2, 0, 59 }, { 'j', 3, 1, 366 }, { 'y', 2, 0, 99 },
};

#define SECONDS_A_DAY 86400

struct cli_template {
    char *text; /* parts end with NUL; "%F" is expanded */
    size_t length;
    const char *parts[PARTS_MAX];
    unsigned count, literal; /* number of parts, and of leading parts without a field */
    bool absolute;
};

static const struct field *find_field(char letter)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].letter == letter)
            return &fields[i];
    return NULL;
}

static bool has_field(const char *part)
{
    for (const char *s = part; (s = strchr(s, '%')) != NULL; s += 2)
        if (s[1] != '%')
            return true;
    return false;
}

bool cli_template_uses(const struct cli_template *t, const char *letters)
{
    for (unsigned i = 0; i < t->count; i++)
        for (const char *s = t->parts[i]; (s = strchr(s, '%')) != NULL; s += 2)
            if (strchr(letters, s[1]) != NULL)
                return true;
    return false;
}

bool cli_template_has_time(const struct cli_template *t)
{
    bool day =
        cli_template_uses(t, "Yy") &&
        (cli_template_uses(t, "j") || (cli_template_uses(t, "m") && cli_template_uses(t, "d")));
    return cli_template_uses(t, "s") || (day && cli_template_uses(t, "H") &&
                                         cli_template_uses(t, "M") && cli_template_uses(t, "S"));
}

bool cli_template_has_process(const struct cli_template *t)
{
    return cli_template_uses(t, "p");
}

/* Does the field LETTER stand for a name? */
static bool is_name(char letter)
{
    return letter == 'n' || letter == 'h' || letter == 'J';
}

/*
 * Can the process name be read back from one part?  A name can begin or end with digits, so a
 * non-digit must separate it from numbers of variable length.
 */
static bool tells_names(const char *part)
{
    bool name = false, number = false; /* since the last non-digit */
    for (const char *s = part; *s != '\0'; s++) {
        bool field = s[0] == '%' && s[1] != '%';
        s += *s == '%';
        if (field ? find_field(*s) != NULL : *s >= '0' && *s <= '9')
            continue;
        if (!field)
            name = number = false;
        else if (is_name(*s))
            name = true;
        else
            number = true;
        if (name && number)
            return false;
    }
    return true;
}

bool cli_template_tells_names(const struct cli_template *t)
{
    for (unsigned i = 0; i < t->count; i++)
        if (!tells_names(t->parts[i]))
            return false;
    return true;
}

/* ---- parsing ---- */

static enum cli_exit check_fields(const char *text)
{
    for (const char *s = text; (s = strchr(s, '%')) != NULL; s += 2) {
        if (s[1] != '\0' && (strchr("nphJFs%", s[1]) != NULL || find_field(s[1]) != NULL))
            continue;
        return cli_error(CLI_USAGE, NULL,
                         "\"%s\": after %% comes one of n, p, h, J, Y, m, d, H, M, S, j, y, F, s, "
                         "or %% for itself",
                         text);
    }
    return CLI_DONE;
}

static unsigned numbers(const char *part)
{
    unsigned n = 0;
    for (const char *s = part; (s = strchr(s, '%')) != NULL; s += 2)
        n += s[1] == 'p' || s[1] == 's';
    return n;
}

static enum cli_exit split(struct cli_template *t, const char *text)
{
    char *o = t->text;
    t->absolute = text[0] == '/';
    for (const char *s = text; *s != '\0';) {
        size_t n = strcspn(s, "/");
        if (n > 0 && (n != 1 || s[0] != '.')) {
            if (t->count == PARTS_MAX)
                return cli_error(CLI_USAGE, NULL, "\"%s\" has more than %u parts", text, PARTS_MAX);
            t->parts[t->count++] = o;
            for (size_t i = 0; i < n; i++) {
                bool escaped = s[i] == '%', day = escaped && s[i + 1] == 'F';
                if (day)
                    o = stpcpy(o, "%Y-%m-%d");
                else
                    o = mempcpy(o, s + i, escaped ? 2 : 1);
                i += escaped;
            }
            *o++ = '\0';
            const char *part = t->parts[t->count - 1];
            if (strcmp(part, "..") == 0 && t->literal + 1 < t->count)
                return cli_error(CLI_USAGE, NULL, "\"%s\": .. cannot follow a part with a field",
                                 text);
            if (numbers(part) > NUMBERS_MAX)
                return cli_error(CLI_USAGE, NULL,
                                 "\"%s\": %%p and %%s may occur at most twice between two slashes",
                                 text);
            if (t->literal + 1 == t->count && !has_field(part))
                t->literal++;
        }
        s += n + (s[n] == '/');
    }
    size_t n = strlen(text);
    if (t->count > 0 && text[n - 1] != '/' && strcmp(t->parts[t->count - 1], "..") != 0)
        return CLI_DONE;
    return cli_error(CLI_USAGE, NULL, "\"%s\" names a folder, a file name is needed", text);
}

enum cli_exit cli_template_new(const char *text, struct cli_template **ret)
{
    *ret = NULL;
    enum cli_exit e = check_fields(text);
    if (e != CLI_DONE)
        return e;
    struct cli_template *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->length = 4 * strlen(text) + 1; /* %F grows from 2 characters to 8 */
        t->text = malloc(t->length);
    }
    if (t == NULL || t->text == NULL) {
        e = cli_error(CLI_FAILED, NULL, "out of memory");
    } else {
        e = split(t, text);
    }
    if (e == CLI_DONE)
        *ret = t;
    else
        cli_template_free(t);
    return e;
}

void cli_template_free(struct cli_template *t)
{
    if (t != NULL)
        free(t->text);
    free(t);
}

/* ---- expanding ---- */

struct out {
    char *at, *end; /* END leaves room for a NUL */
    bool full;
};

static void put(struct out *o, const char *bytes, size_t n)
{
    o->full = o->full || (size_t)(o->end - o->at) <= n;
    if (o->full)
        return;
    memcpy(o->at, bytes, n);
    o->at += n;
}

/* Cannot collide: an unchanged name has no percent sign, and in the text for an empty name no hex
 * digits follow one. */
bool cli_template_spell(const char *name, char ret[static CLI_TEMPLATE_NAME_BYTES])
{
    struct out o = { .at = ret, .end = ret + CLI_TEMPLATE_NAME_BYTES };
    char code[4];
    for (const char *s = name; *s != '\0';) {
        uint32_t c;
        bool shown;
        size_t n = gcd_text_next(s, strlen(s), &c, &shown);
        bool stays = shown && c != '/' && c != '%' && (c != '.' || s > name);
        if (stays)
            put(&o, s, n);
        for (const char *end = s + n; s < end; s++) {
            (void)snprintf(code, sizeof code, "%%%02X", (unsigned char)*s);
            if (!stays)
                put(&o, code, 3);
        }
    }
    if (name[0] == '\0')
        put(&o, "%unknown", strlen("%unknown"));
    *o.at = '\0';
    return !o.full;
}

static const char *name_of(char letter, const struct cli_template_values *v)
{
    const char *name = letter == 'n' ? v->name : letter == 'h' ? v->host : v->job;
    return name != NULL ? name : "";
}

static int time_value(char letter, const struct tm *tm)
{
    switch (letter) {
    case 'Y':
        return tm->tm_year + 1900;
    case 'y':
        return tm->tm_year % 100;
    case 'm':
        return tm->tm_mon + 1;
    case 'd':
        return tm->tm_mday;
    case 'j':
        return tm->tm_yday + 1;
    case 'H':
        return tm->tm_hour;
    case 'M':
        return tm->tm_min;
    default:
        return tm->tm_sec;
    }
}

/* Expands PART into O.  False: a name does not fit. */
static bool expand_part(const char *part, const struct cli_template_values *v, const struct tm *tm,
                        struct out *o)
{
    char buf[CLI_TEMPLATE_NAME_BYTES];
    bool ok = true;
    for (const char *s = part; *s != '\0'; s++) {
        if (*s != '%') {
            put(o, s, 1);
            continue;
        }
        s++;
        if (is_name(*s))
            ok = cli_template_spell(name_of(*s, v), buf) && ok;
        else if (*s == 'p')
            (void)snprintf(buf, sizeof buf, "%" PRIu64, v->pid);
        else if (*s == 's')
            (void)snprintf(buf, sizeof buf, "%lld", (long long)v->time);
        else if (*s == '%')
            (void)snprintf(buf, sizeof buf, "%%");
        else
            (void)snprintf(buf, sizeof buf, "%0*d", find_field(*s)->digits, time_value(*s, tm));
        put(o, buf, strlen(buf));
    }
    return ok;
}

/* Expands the first COUNT parts. */
static bool expand(const struct cli_template *t, const struct cli_template_values *v,
                   unsigned count, char *ret, size_t cap)
{
    struct out o = { .at = ret, .end = ret + cap };
    struct tm tm;
    memset(&tm, 0, sizeof tm);
    (void)gmtime_r(&v->time, &tm);
    for (unsigned i = 0; i < count; i++) {
        put(&o, "/", i > 0 || t->absolute);
        o.full = !expand_part(t->parts[i], v, &tm, &o) || o.full;
    }
    if (count == 0)
        put(&o, t->absolute ? "/" : ".", 1);
    *o.at = '\0';
    return !o.full;
}

static enum cli_exit too_long(const struct cli_template_values *v)
{
    char buf[CLI_TEMPLATE_NAME_BYTES];
    if (cli_template_spell(v->name, buf))
        return cli_error(CLI_FAILED, NULL, "the name of the output is too long");
    return cli_error(CLI_FAILED, NULL,
                     "the process has a name of %zu bytes, too long for %%n; use %%p",
                     strlen(v->name));
}

enum cli_exit cli_template_expand(const struct cli_template *t,
                                  const struct cli_template_values *values, char *ret_path,
                                  size_t cap)
{
    if (expand(t, values, t->count, ret_path, cap))
        return CLI_DONE;
    return too_long(values);
}

/* Opens the folder PATH, or its parent.  Returns a descriptor, or -1 with errno. */
static int open_folder(const char *path, bool parent)
{
    struct gcd_error err = GCD_ERROR_INIT;
    int fd = -1;
    gcd_status st =
        parent ? gcd_folder_open_parent(path, &fd, &err) : gcd_folder_open(path, &fd, &err);
    if (st == GCD_OK)
        return fd;
    errno = err.os_errno;
    return -1;
}

static int made(int parent_fd, const char *name, const char *path, bool may_be_link)
{
    if (mkdirat(parent_fd, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return may_be_link ? open_folder(path, false)
                       : openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool make_folder(const char *path, bool may_be_link)
{
    int parent_fd = open_folder(path, true),
        fd = parent_fd < 0 ? -1 : made(parent_fd, cli_path_name(path), path, may_be_link),
        e = errno;
    if (parent_fd >= 0)
        (void)close(parent_fd);
    if (fd >= 0)
        (void)close(fd);
    errno = e;
    return fd >= 0;
}

enum cli_exit cli_template_make_folders(const struct cli_template *t,
                                        const struct cli_template_values *values)
{
    char path[PATH_MAX];
    for (unsigned i = 1; i < t->count; i++) {
        if (!expand(t, values, i, path, sizeof path))
            return too_long(values);
        if (!make_folder(path, i <= t->literal))
            return cli_error(CLI_FAILED, path, "cannot be used as a folder: %s", strerror(errno));
    }
    return CLI_DONE;
}

/* ---- finding ---- */

/* The number of leading folders, which are the same for all names. */
static unsigned folder_parts(const struct cli_template *t)
{
    return t->literal < t->count ? t->literal : t->count - 1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The latest time in a name: the clock may have been set back a little since. */
static time_t latest(const struct cli_template_values *v)
{
    return v->time + SECONDS_A_DAY;
}

/* A date in a name, as far as it is known; 0 = not. */
struct date {
    unsigned year, month, day;
};

static bool is_date(const struct date *d, const struct cli_template_values *v)
{
    static const unsigned char days[] = { 31, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool common = d->year != 0 && (d->year % 4 != 0 || (d->year % 100 == 0 && d->year % 400 != 0));
    time_t t = latest(v);
    struct tm last;
    return d->day <= days[d->month] - (d->month == 2 && common ? 1u : 0u) &&
           (gmtime_r(&t, &last) == NULL || (int64_t)d->year <= (int64_t)last.tm_year + 1900);
}

/* Are there the digits of time field F at S?  Completes DATE. */
static bool match_time(const struct field *f, const char *s, struct date *date)
{
    unsigned v = 0;
    for (unsigned i = 0; i < f->digits; i++) {
        if (!is_digit(s[i]))
            return false;
        v = v * 10 + (unsigned)(s[i] - '0');
    }
    if (f->letter == 'Y')
        date->year = v;
    else if (f->letter == 'm')
        date->month = v;
    else if (f->letter == 'd')
        date->day = v;
    return v >= f->min && v <= f->max;
}

/*
 * Could NAME have been written for PART, whose beginning was matched with DATE?  %p and %s take one
 * or more digits, so the following text decides how many; the recursion is as deep as PART has such
 * fields.
 */
static bool match(const char *part, const char *name, const struct cli_template_values *v,
                  struct date date)
{
    char buf[CLI_TEMPLATE_NAME_BYTES];
    for (; *part != '\0'; part++) {
        if (*part != '%' || part[1] == '%') {
            part += *part == '%';
            if (*name++ != *part)
                return false;
            continue;
        }
        part++;
        const struct field *f = find_field(*part);
        if (f != NULL) {
            if (!match_time(f, name, &date))
                return false;
            name += f->digits;
        } else if (is_name(*part)) {
            if (!cli_template_spell(name_of(*part, v), buf) || strncmp(name, buf, strlen(buf)) != 0)
                return false;
            name += strlen(buf);
        } else if (*part == 'p' && v->this_process) {
            size_t n = (size_t)snprintf(buf, sizeof buf, "%" PRIu64, v->pid);
            if (strncmp(name, buf, n) != 0 || is_digit(name[n]))
                return false;
            name += n;
        } else {
            uint64_t most = *part == 'p' ? INT32_MAX : (uint64_t)latest(v), number = 0;
            for (; is_digit(*name); name++) {
                number = number * 10 + (unsigned)(*name - '0');
                if (number == 0 || number > most) /* nor with a leading zero */
                    return false;
                if (match(part + 1, name + 1, v, date))
                    return true;
            }
            return false;
        }
    }
    return *name == '\0' && is_date(&date, v);
}

/* ---- templates that meet ---- */

/* A longer part cannot be a file name. */
#define SIGNS_MAX 1024u

/* One character of a name, or any number of characters. */
struct sign {
    enum { SIGN_LITERAL, SIGN_DIGIT, SIGN_ANY } kind;
    char literal;
    bool any_number;
};

struct signs {
    struct sign items[SIGNS_MAX];
    size_t count;
    bool full;
};

static void add_sign(struct signs *s, struct sign one)
{
    s->full = s->count == SIGNS_MAX;
    if (!s->full)
        s->items[s->count++] = one;
}

static void add_text(struct signs *s, const char *text)
{
    for (; *text != '\0'; text++)
        add_sign(s, (struct sign){ .kind = SIGN_LITERAL, .literal = *text });
}

static void signs_of(const char *part, const char *job, struct signs *ret)
{
    char name[CLI_TEMPLATE_NAME_BYTES];
    ret->count = 0;
    ret->full = false;
    for (const char *s = part; *s != '\0'; s++) {
        const struct field *f = *s == '%' ? find_field(s[1]) : NULL;
        if (*s != '%') {
            add_sign(ret, (struct sign){ .kind = SIGN_LITERAL, .literal = *s });
            continue;
        }
        s++;
        for (unsigned i = 0; f != NULL && i < f->digits; i++)
            add_sign(ret, (struct sign){ .kind = SIGN_DIGIT });
        if (f != NULL)
            continue;
        if (*s == '%') {
            add_text(ret, "%");
        } else if (*s == 'J' && cli_template_spell(job, name)) {
            add_text(ret, name);
        } else {
            struct sign one = { .kind = *s == 'p' || *s == 's' ? SIGN_DIGIT : SIGN_ANY };
            add_sign(ret, one);
            one.any_number = true;
            add_sign(ret, one);
        }
    }
}

static bool same_character(const struct sign *a, const struct sign *b)
{
    if (a->kind == SIGN_ANY || b->kind == SIGN_ANY)
        return true;
    if (a->kind == SIGN_DIGIT || b->kind == SIGN_DIGIT)
        return (a->kind == SIGN_DIGIT || is_digit(a->literal)) &&
               (b->kind == SIGN_DIGIT || is_digit(b->literal));
    return a->literal == b->literal;
}

/* Is there a name that both A and B match?  NOW[j]: a name exists that matches the first i signs of
 * A and the first j of B. */
static bool meet(const struct signs *a, const struct signs *b)
{
    bool rows[2][SIGNS_MAX + 2] = { { true } };
    for (size_t i = 0; i <= a->count; i++) {
        bool *now = rows[i % 2], *next = rows[(i + 1) % 2];
        memset(next, 0, sizeof rows[0]);
        for (size_t j = 0; j <= b->count; j++) {
            const struct sign *x = i < a->count ? &a->items[i] : NULL,
                              *y = j < b->count ? &b->items[j] : NULL;
            if (!now[j])
                continue;
            next[j] = next[j] || (x != NULL && x->any_number);
            now[j + 1] = now[j + 1] || (y != NULL && y->any_number);
            if (x == NULL || y == NULL || !same_character(x, y))
                continue;
            bool *to = x->any_number ? now : next;
            to[y->any_number ? j : j + 1] = true;
        }
        if (i == a->count)
            return now[b->count];
    }
    return false;
}

bool cli_template_meets(const struct cli_template *a, const char *job_a,
                        const struct cli_template *b, const char *job_b)
{
    struct signs x, y;
    bool yes = a->count == b->count && a->absolute == b->absolute;
    for (unsigned i = 0; i < a->count && yes; i++) {
        signs_of(a->parts[i], job_a, &x);
        signs_of(b->parts[i], job_b, &y);
        yes = x.full || y.full || meet(&x, &y);
    }
    return yes;
}

/* ---- searching ---- */

struct search {
    const struct cli_template *t;
    const struct cli_template_values *values;
    cli_template_visit visit; /* NULL: folders are cleaned up */
    void *ctx;
    const uint64_t *removed;
    uint64_t *swept;
};

static bool search(const struct search *s, int dir_fd, unsigned part);

/* Visits NAME, which matches its part, in the folder DIR_FD. */
static bool found(const struct search *s, int dir_fd, const char *name, unsigned part)
{
    struct stat st;
    if (part + 1 == s->t->count)
        return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
               st.st_uid != geteuid() || s->visit(s->ctx, dir_fd, name, &st);
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t before = s->removed != NULL ? *s->removed : 0;
    bool ok = fd < 0 || search(s, fd, part + 1);
    int e = errno;
    if (fd >= 0)
        (void)close(fd);
    if (s->removed != NULL && *s->removed != before) /* fails without harm if not empty */
        (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
    errno = e;
    return ok;
}

/* Searches for the parts from PART on below the folder DIR_FD. */
static bool search(const struct search *s, int dir_fd, unsigned part)
{
    if (s->visit == NULL && part + 1 == s->t->count) {
        *s->swept += gcd_sink_sweep(dir_fd);
        return true;
    }
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL) {
        int e = errno;
        if (fd >= 0)
            (void)close(fd);
        errno = e;
        return false;
    }
    bool ok = true;
    for (struct dirent *entry; ok && (errno = 0, entry = readdir(d)) != NULL;)
        if (match(s->t->parts[part], entry->d_name, s->values, (struct date){ .year = 0 }))
            ok = found(s, dir_fd, entry->d_name, part);
    ok = ok && errno == 0;
    int e = errno;
    (void)closedir(d);
    errno = e;
    return ok;
}

bool cli_template_folder(const struct cli_template *t, char *ret, size_t cap)
{
    static const struct cli_template_values none = { .name = "", .host = "" };
    return expand(t, &none, folder_parts(t), ret, cap);
}

static bool search_all(const struct search *s)
{
    unsigned first = folder_parts(s->t);
    char path[PATH_MAX];
    errno = ENAMETOOLONG;
    if (!expand(s->t, s->values, first, path, sizeof path))
        return false;
    int fd = open_folder(path, false);
    if (fd < 0)
        return errno == ENOENT;
    bool ok = search(s, fd, first);
    int e = errno;
    (void)close(fd);
    errno = e;
    return ok;
}

bool cli_template_each(const struct cli_template *t, const struct cli_template_values *values,
                       cli_template_visit visit, void *ctx, const uint64_t *removed)
{
    return search_all(&(struct search){
        .t = t, .values = values, .visit = visit, .ctx = ctx, .removed = removed });
}

void cli_template_sweep(const struct cli_template *t, const struct cli_template_values *values)
{
    uint64_t swept = 0;
    (void)search_all(
        &(struct search){ .t = t, .values = values, .removed = &swept, .swept = &swept });
}
