/* What is said of threads that wait for locks or for tasks. */
#include <gcdumpc/unstable/blocked.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/mem.h"
#include "base/short_name.h"
#include "base/text.h"

#define LINES_MAX   512u
#define CIRCLE_TOLD 6u
#define NAME_BYTES  160u

enum { KIND, COUNT, METHOD, LOCK, OWNER, NEXT, FIELDS };

struct line {
    const char *text[FIELDS];
    int bytes[FIELDS];
    uint64_t count, lock, next;
};

struct said {
    const struct gcd_graph *g;
    struct line lines[LINES_MAX];
    size_t n;
    char *to;
    size_t left;
};

static void put(struct said *s, const char *text, int n)
{
    size_t have = (size_t)snprintf(s->to, s->left, "%.*s", n, text);
    have = have < s->left ? have : s->left - 1;
    s->to += have;
    s->left -= have;
}

static void put_text(struct said *s, const char *text)
{
    put(s, text, (int)strlen(text));
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
    ret->count = strtoull(ret->text[COUNT], NULL, 10);
    ret->lock = strtoull(ret->text[LOCK], NULL, 16);
    ret->next = strtoull(ret->text[NEXT], NULL, 16);
    *at = p;
    return true;
}

static bool is(const struct line *l, const char *kind)
{
    return (size_t)l->bytes[KIND] == strlen(kind) && memcmp(l->text[KIND], kind, strlen(kind)) == 0;
}

static const struct line *line_of(const struct said *s, uint64_t lock)
{
    for (size_t i = 0; i < s->n && lock != 0; i++)
        if (s->lines[i].lock == lock && is(&s->lines[i], "lock"))
            return &s->lines[i];
    return NULL;
}

/* "ScannerDriver.DriverLock", "Account 0x7f833fc0b138" */
static void put_lock(struct said *s, uint64_t lock)
{
    const struct gcd_summary *f = gcd_graph_summary(s->g);
    for (size_t i = 0; i < f->root_count; i++)
        if (f->roots[i].kind == GCD_ROOT_STATIC && f->roots[i].object == lock) {
            put_text(s, f->roots[i].label);
            return;
        }
    char name[NAME_BYTES] = "object", number[32];
    uint32_t node = gcd_graph_find(s->g, lock);
    if (node != GCD_NODE_NONE) {
        const struct gcd_type *t = &f->types[gcd_graph_node_type(s->g, node)];
        (void)gcd_short_name(t->name, t->raw_name, name, sizeof name);
    }
    (void)snprintf(number, sizeof number, " 0x%" PRIx64, lock);
    put_text(s, name);
    put_text(s, number);
}

/* Does the owner of L's lock wait for what leads back to that? */
static bool is_circle(const struct said *s, const struct line *l)
{
    const struct line *at = line_of(s, l->next);
    for (size_t i = 0; i < s->n && at != NULL && at->lock != l->lock; i++)
        at = line_of(s, at->next);
    return at != NULL && at->lock == l->lock && l->lock != 0;
}

/* How many threads there are of KIND; *RET_MOST: a line of the method with most of them. */
static uint64_t count_of(const struct said *s, const char *kind, const struct line **ret_most)
{
    uint64_t all = 0, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct line *l = &s->lines[i];
        uint64_t here = 0;
        if (!is(l, kind))
            continue;
        all += l->count;
        for (size_t k = 0; k < s->n; k++)
            here += is(&s->lines[k], kind) && s->lines[k].bytes[METHOD] == l->bytes[METHOD] &&
                            memcmp(s->lines[k].text[METHOD], l->text[METHOD],
                                   (size_t)l->bytes[METHOD]) == 0
                        ? s->lines[k].count
                        : 0;
        if (here > most) {
            most = here;
            *ret_most = l;
        }
    }
    return all;
}

static void put_method(struct said *s, const struct line *l)
{
    if (l == NULL || l->bytes[METHOD] == 0)
        return;
    put_text(s, " in ");
    put(s, l->text[METHOD], l->bytes[METHOD]);
}

static void say_circle(struct said *s, const struct line *l)
{
    const struct line *at = l;
    put_text(s, "Their owners wait for each other, a deadlock: ");
    for (unsigned i = 0; i < CIRCLE_TOLD && (i == 0 || at->lock != l->lock); i++) {
        put_text(s, i == 0 ? "thread " : ", which thread ");
        put(s, at->text[OWNER], at->bytes[OWNER]);
        put_text(s, " holds ");
        if (i == 0)
            put_lock(s, at->lock);
        put_text(s, i == 0 ? " and waits for " : "while it waits for ");
        put_lock(s, at->next);
        at = line_of(s, at->next);
    }
    put_text(s, at->lock != l->lock ? ", and so on. Take locks in one order everywhere."
                                    : ". Take locks in one order everywhere.");
}

static void say_locks(struct said *s)
{
    const struct line *most = NULL, *circle = NULL, *held = NULL;
    uint64_t all = count_of(s, "lock", &most);
    for (size_t i = 0; i < s->n; i++) {
        const struct line *l = &s->lines[i];
        if (is(l, "lock") && circle == NULL && is_circle(s, l))
            circle = l;
        if (is(l, "finalizer") && l->lock != 0)
            held = l;
        else if (is(l, "lock") && l->lock != 0 && l->count >= GCD_ASYNC_JAM &&
                 (held == NULL || l->count > held->count) &&
                 (held == NULL || !is(held, "finalizer")))
            held = l;
    }
    if (circle == NULL && held == NULL && all < GCD_ASYNC_JAM)
        return;
    if (all > 0) {
        put_text(s, GCD_DIGITS(all));
        put_text(s, all == 1 ? " thread waits for a lock" : " threads wait for locks");
        put_method(s, most);
        put_text(s, circle != NULL || held != NULL ? ". " : ".");
    }
    if (circle != NULL) {
        say_circle(s, circle);
    } else if (held != NULL) {
        put_text(s,
                 is(held, "finalizer") ? "The thread of the finalizers" : GCD_DIGITS(held->count));
        put_text(s, is(held, "finalizer") || held->count == 1 ? " waits for " : " wait for ");
        put_lock(s, held->lock);
        put_text(s, ", which thread ");
        put(s, held->text[OWNER], held->bytes[OWNER]);
        put_text(s, " holds.");
    }
}

static void say_tasks(struct said *s)
{
    const struct line *most = NULL;
    uint64_t all = count_of(s, "task", &most);
    /* where calls wait, each with a thread, is told by gcd_async_jam_text */
    if (all < GCD_ASYNC_JAM || most->bytes[METHOD] == 0 ||
        gcd_text_begins(most->text[METHOD], "System."))
        return;
    put_text(s, GCD_DIGITS(all));
    put_text(s, " threads block in Wait or Result of a task");
    put_method(s, most);
    put_text(s, ": await there instead.");
}

void gcd_blocked_text(const struct gcd_graph *g, char *ret, size_t cap)
{
    const char *at = gcd_graph_summary(g)->image.blocked;
    const struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct said *s = at != NULL && at[0] != '\0' ? gcd_mem_new(&alloc, sizeof *s) : NULL;
    ret[0] = '\0';
    if (s == NULL)
        return;
    s->g = g;
    s->to = ret;
    s->left = cap;
    while (s->n < LINES_MAX && read_line(&at, &s->lines[s->n]))
        s->n++;
    say_locks(s);
    if (ret[0] != '\0' && s->left > 1)
        put_text(s, " ");
    char *before = s->to;
    say_tasks(s);
    if (s->to == before && s->to > ret)
        *--s->to = '\0';
    gcd_mem_free(&alloc, s, sizeof *s);
}
