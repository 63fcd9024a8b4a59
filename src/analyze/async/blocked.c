/* What is said of threads that wait for locks or for tasks. */
#include <gcdumpc/unstable/blocked.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/mem.h"
#include "base/ovf.h"
#include "base/short_name.h"
#include "base/text.h"

#define LINES_MAX   512u
#define CIRCLE_TOLD 6u
#define NAME_BYTES  160u

enum { KIND, COUNT, METHOD, LOCK, OWNER, NEXT, FIELDS };

enum kind { OTHER_KIND, WAITS_FOR_LOCK, WAITS_FOR_TASK, FINALIZER };

struct line {
    const char *text[FIELDS];
    int bytes[FIELDS];
    enum kind kind;
    uint64_t count, lock, next;
};

struct said {
    const struct gcd_graph *g;
    struct line lines[LINES_MAX];
    size_t count;
    char *to; /* [cap], of which N are used */
    size_t cap, n;
    uint64_t threads;
};

GCD_PRINTF(2, 3)
static void put(struct said *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    gcd_text_append(s->to, s->cap, &s->n, fmt, args);
    va_end(args);
}

static enum kind kind_of(const char *p, int n)
{
    static const char *const names[] = { "", "lock", "task", "finalizer" };
    for (unsigned i = WAITS_FOR_LOCK; i < sizeof names / sizeof *names; i++)
        if ((size_t)n == strlen(names[i]) && memcmp(p, names[i], (size_t)n) == 0)
            return (enum kind)i;
    return OTHER_KIND;
}

static bool read_line(const char **at, struct line *ret)
{
    const char *p = *at;
    for (unsigned i = 0; i < FIELDS; i++) {
        size_t n = strcspn(p, "\t\n");
        if (p[n] != (i == NEXT ? '\n' : '\t'))
            return false;
        ret->text[i] = p;
        ret->bytes[i] = (int)n;
        p += n + 1;
    }
    ret->kind = kind_of(ret->text[KIND], ret->bytes[KIND]);
    ret->count = strtoull(ret->text[COUNT], NULL, 10);
    ret->lock = strtoull(ret->text[LOCK], NULL, 16);
    ret->next = strtoull(ret->text[NEXT], NULL, 16);
    *at = p;
    return true;
}

static const struct line *line_of(const struct said *s, uint64_t lock)
{
    for (size_t i = 0; i < s->count && lock != 0; i++)
        if (s->lines[i].lock == lock && s->lines[i].kind == WAITS_FOR_LOCK)
            return &s->lines[i];
    return NULL;
}

/* "ScannerDriver.DriverLock", "Account 0x7f833fc0b138" */
static void put_lock(struct said *s, uint64_t lock)
{
    const struct gcd_summary *f = gcd_graph_summary(s->g);
    for (size_t i = 0; i < f->root_count; i++)
        if (f->roots[i].kind == GCD_ROOT_STATIC && f->roots[i].object == lock) {
            put(s, "%s", f->roots[i].label);
            return;
        }
    char name[NAME_BYTES] = "object";
    uint32_t node = gcd_graph_find(s->g, lock);
    if (node != GCD_NODE_NONE) {
        const struct gcd_type *t = &f->types[gcd_graph_node_type(s->g, node)];
        (void)gcd_short_name(t->name, t->raw_name, name, sizeof name);
    }
    put(s, "%s 0x%" PRIx64, name, lock);
}

/* Does the owner of L's lock wait for what leads back to that? */
static bool is_circle(const struct said *s, const struct line *l)
{
    const struct line *at = line_of(s, l->next);
    for (size_t i = 0; i < s->count && at != NULL && at->lock != l->lock; i++)
        at = line_of(s, at->next);
    return at != NULL && at->lock == l->lock && l->lock != 0;
}

static bool is_same_method(const struct line *a, const struct line *b)
{
    return a->bytes[METHOD] == b->bytes[METHOD] &&
           memcmp(a->text[METHOD], b->text[METHOD], (size_t)a->bytes[METHOD]) == 0;
}

/* How many threads there are of KIND; *RET_MOST: a line of the method with most of them. */
static uint64_t count_of(const struct said *s, enum kind kind, const struct line **ret_most)
{
    uint64_t all = 0, most = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct line *l = &s->lines[i];
        uint64_t here = 0;
        if (l->kind != kind)
            continue;
        gcd_add_saturating(&all, l->count);
        for (size_t k = 0; k < s->count; k++)
            if (s->lines[k].kind == kind && is_same_method(&s->lines[k], l))
                gcd_add_saturating(&here, s->lines[k].count);
        if (here > most) {
            most = here;
            *ret_most = l;
        }
    }
    return all;
}

static void put_method(struct said *s, const struct line *l)
{
    if (l != NULL && l->bytes[METHOD] > 0)
        put(s, " in %.*s", l->bytes[METHOD], l->text[METHOD]);
}

static void say_circle(struct said *s, const struct line *l)
{
    const struct line *at = l;
    put(s, "Their owners wait for each other, a deadlock: ");
    for (unsigned i = 0; i < CIRCLE_TOLD && (i == 0 || at->lock != l->lock); i++) {
        put(s, "%sthread %.*s holds ", i == 0 ? "" : ", which ", at->bytes[OWNER], at->text[OWNER]);
        if (i == 0)
            put_lock(s, at->lock);
        put(s, i == 0 ? " and waits for " : "while it waits for ");
        put_lock(s, at->next);
        at = line_of(s, at->next);
    }
    put(s, "%s. Take locks in one order everywhere.", at->lock != l->lock ? ", and so on" : "");
}

static void say_held(struct said *s, const struct line *held)
{
    if (held->kind == FINALIZER)
        put(s, "The thread of the finalizers waits for ");
    else
        put(s, "%s wait%s for ", GCD_DIGITS(held->count), gcd_by_number(held->count, "s", ""));
    put_lock(s, held->lock);
    put(s, ", which thread %.*s holds.", held->bytes[OWNER], held->text[OWNER]);
}

/* The lock that most wait for, or that the thread of the finalizers does. */
static const struct line *find_held(const struct said *s)
{
    const struct line *held = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const struct line *l = &s->lines[i];
        if (l->lock == 0)
            continue;
        if (l->kind == FINALIZER)
            return l;
        if (l->kind == WAITS_FOR_LOCK && l->count >= GCD_ASYNC_JAM &&
            (held == NULL || l->count > held->count))
            held = l;
    }
    return held;
}

static void say_locks(struct said *s)
{
    const struct line *most = NULL, *circle = NULL, *held = find_held(s);
    uint64_t all = count_of(s, WAITS_FOR_LOCK, &most);
    for (size_t i = 0; i < s->count && circle == NULL; i++)
        if (s->lines[i].kind == WAITS_FOR_LOCK && is_circle(s, &s->lines[i]))
            circle = &s->lines[i];
    if (circle == NULL && held == NULL && all < GCD_ASYNC_JAM)
        return;
    gcd_add_saturating(&s->threads, all);
    if (all > 0) {
        put(s, "%s thread%s wait%s for %s", GCD_DIGITS(all), gcd_plural(all),
            gcd_by_number(all, "s", ""), gcd_by_number(all, "a lock", "locks"));
        put_method(s, most);
        put(s, circle != NULL || held != NULL ? ". " : ".");
    }
    if (circle != NULL)
        say_circle(s, circle);
    else if (held != NULL)
        say_held(s, held);
}

static void say_tasks(struct said *s)
{
    const struct line *most = NULL;
    uint64_t all = count_of(s, WAITS_FOR_TASK, &most);
    /* where calls wait, each with a thread, is told by gcd_async_jam_text */
    if (all < GCD_ASYNC_JAM || most->bytes[METHOD] == 0 ||
        gcd_text_begins(most->text[METHOD], "System."))
        return;
    gcd_add_saturating(&s->threads, all);
    put(s, "%s%s threads block in Wait or Result of a task", s->n > 0 ? " " : "", GCD_DIGITS(all));
    put_method(s, most);
    put(s, ": await there instead.");
}

uint64_t gcd_blocked_text(const struct gcd_graph *g, bool tasks_told, char *ret, size_t cap)
{
    const char *at = gcd_graph_summary(g)->image.blocked;
    const struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct said *s = at != NULL && at[0] != '\0' ? gcd_mem_new(&alloc, sizeof *s) : NULL;
    ret[0] = '\0';
    if (s == NULL)
        return 0;
    s->g = g;
    s->to = ret;
    s->cap = cap;
    while (s->count < LINES_MAX && read_line(&at, &s->lines[s->count]))
        s->count++;
    say_locks(s);
    if (!tasks_told)
        say_tasks(s);
    uint64_t threads = s->threads;
    gcd_mem_free(&alloc, s, sizeof *s);
    return threads;
}
