/* Where many calls of the program wait at once, and for what: see gcdumpc/unstable/async.h. */
#include <gcdumpc/unstable/async.h>

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "analyze/async/async_gates.h"
#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"

#define CHECK_EVERY UINT32_C(65536)
#define DOING       "finding where calls wait"
#define SEMAPHORE   "System.Threading.SemaphoreSlim"
/* the frame of a ContinueWith with a lambda, see async_kinds.c */
#define LAMBDA "lambda in "
/* between a semaphore and the object of the program that has it */
#define LEVELS 7u
/* of what put_others writes */
#define OTHERS_BYTES 600u

/* ---- the method ---- */

/* Does a program that waits so hang, if it waits in many places at once? */
static bool must_end(enum gcd_async_kind kind)
{
    return kind == GCD_ASYNC_SEMAPHORE || kind == GCD_ASYNC_TASK_SOURCE ||
           kind == GCD_ASYNC_THREAD || kind == GCD_ASYNC_CHANNEL_WRITER || kind == GCD_ASYNC_CIRCLE;
}

static bool is_own(const struct gcd_async_frame *f, const struct gcd_origins *origins)
{
    return (f->kind == GCD_ASYNC_METHOD || f->kind == GCD_ASYNC_RUNTIME_METHOD) &&
           f->type != GCD_FRAME_NONE && gcd_origins_get(origins, f->type) == GCD_ORIGIN_OWN;
}

/* What is known of a frame. */
struct place {
    /* the innermost frame of the program in its stack, and of all; METHOD also has the sums */
    struct gcd_async_jam jam;
    uint64_t others; /* of an innermost frame, and of a method: other calls that wait for it */
    bool other;      /* a method of the jam called it, or is it */
};

static void find_method(const struct gcd_async_frame *frames, size_t n,
                        const struct gcd_origins *origins, struct place *places,
                        struct gcd_async_jam *ret)
{
    for (uint32_t i = 0; i < n; i++) { /* a frame comes after the one that it waits for */
        const struct gcd_async_frame *f = &frames[i];
        struct gcd_async_jam *jam = &places[i].jam;
        *jam = (struct gcd_async_jam){ .method = GCD_FRAME_NONE,
                                       .waits_for = i,
                                       .others_wait_for = GCD_FRAME_NONE,
                                       .others_method = GCD_FRAME_NONE };
        if (f->parent != GCD_FRAME_NONE) {
            jam->method = places[f->parent].jam.method;
            jam->waits_for = places[f->parent].jam.waits_for;
        }
        if (jam->method == GCD_FRAME_NONE && is_own(f, origins))
            jam->method = i;
        bool blocks = f->kind == GCD_ASYNC_THREAD;
        if (jam->method == GCD_FRAME_NONE || !(blocks || must_end(frames[jam->waits_for].kind)))
            continue;
        struct gcd_async_jam *sum = &places[jam->method].jam;
        gcd_add_saturating(&sum->stacks, f->stacks);
        gcd_add_saturating(&sum->old_stacks, f->old_stacks);
        gcd_add_saturating(&sum->threads, blocks ? f->stacks : 0);
        if (sum->stacks > ret->stacks)
            *ret = *sum;
    }
}

/* Where most of the others wait: in a method that the methods of RET call, or in one of these. */
static void find_others_method(const struct gcd_async_frame *frames, size_t n,
                               const struct place *places, const struct gcd_idmap *names,
                               struct gcd_async_jam *ret)
{
    uint32_t most = GCD_FRAME_NONE;
    ret->others_there = places[ret->others_wait_for].others;
    for (uint32_t i = 0; i < n; i++)
        if (places[i].jam.method == i && places[i].jam.waits_for == ret->others_wait_for &&
            places[i].others >
                (most == GCD_FRAME_NONE ? ret->others_there / 2 : places[most].others))
            most = i;
    if (most != GCD_FRAME_NONE &&
        gcd_idmap_get(names, (uintptr_t)frames[most].name) == GCD_IDMAP_NONE)
        ret->others_method = most;
}

/*
 * Who could end the wait: other calls of the methods in which they wait, which wait for something
 * else, or run.  Frames of equal names have the same text (async_label), so its address tells them.
 */
static bool find_others(const struct gcd_async_frame *frames, size_t n,
                        const struct gcd_origins *origins, struct place *places,
                        struct gcd_idmap *names, struct gcd_async_jam *ret)
{
    for (uint32_t i = ret->method; i < n; i++)
        if (places[i].jam.method == ret->method && is_own(&frames[i], origins) &&
            !gcd_idmap_put(names, (uintptr_t)frames[i].name, 1))
            return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct gcd_async_frame *f = &frames[i];
        struct place *p = &places[i], *inner = &places[p->jam.waits_for];
        p->other =
            (f->parent != GCD_FRAME_NONE && places[f->parent].other) ||
            (is_own(f, origins) && gcd_idmap_get(names, (uintptr_t)f->name) != GCD_IDMAP_NONE);
        if (!p->other || p->jam.waits_for == ret->waits_for)
            continue;
        gcd_add_saturating(&ret->others, f->stacks);
        gcd_add_saturating(&inner->others, f->stacks);
        if (p->jam.method != GCD_FRAME_NONE && p->jam.method != p->jam.waits_for)
            gcd_add_saturating(&places[p->jam.method].others, f->stacks);
        if (ret->others_wait_for == GCD_FRAME_NONE ||
            inner->others > places[ret->others_wait_for].others)
            ret->others_wait_for = p->jam.waits_for;
    }
    if (ret->others_wait_for != GCD_FRAME_NONE)
        find_others_method(frames, n, places, names, ret);
    return true;
}

gcd_status gcd_async_find_jam(const struct gcd_async *a, const struct gcd_origins *origins,
                              const struct gcd_alloc *alloc, struct gcd_async_jam *ret,
                              bool *ret_found, struct gcd_error *err)
{
    size_t n;
    const struct gcd_async_frame *frames = gcd_async_frames(a, &n);
    const struct gcd_alloc with = gcd_alloc_or_default(alloc);
    struct place *places = gcd_mem_new_array(&with, n + 1, sizeof *places);
    struct gcd_idmap names;
    if (places == NULL)
        return gcd_fail_nomem(err, DOING);
    *ret = (struct gcd_async_jam){ .method = GCD_FRAME_NONE,
                                   .waits_for = GCD_FRAME_NONE,
                                   .others_wait_for = GCD_FRAME_NONE,
                                   .others_method = GCD_FRAME_NONE };
    gcd_idmap_init(&names, &with);
    find_method(frames, n, origins, places, ret);
    *ret_found = ret->stacks >= GCD_ASYNC_JAM;
    bool ok = !*ret_found || find_others(frames, n, origins, places, &names, ret);
    gcd_idmap_done(&names);
    gcd_mem_free(&with, places, (n + 1) * sizeof *places);
    return ok ? GCD_OK : gcd_fail_nomem(err, DOING);
}

/* ---- the semaphore ---- */

/* What an object may be between a semaphore and the program. */
enum passage {
    CLOSED,
    OWN,    /* of a class in the source: it is told */
    PASSAGE /* inside a collection, or one */
};

/* Where the semaphores are. */
struct holder {
    uint32_t type;     /* GCD_TYPE_NONE: a static variable, or not found */
    const char *field; /* "" = not known */
    size_t root;       /* SIZE_MAX = none */
    uint64_t found;    /* how many */
    bool several;      /* there are other places */
};

static bool find_types(struct gates *w)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    w->semaphore = w->waiter = GCD_TYPE_NONE;
    for (uint32_t i = 0; i < summary->type_count; i++) {
        const char *name = summary->types[i].name;
        if (strcmp(name, SEMAPHORE) == 0)
            w->semaphore = i;
        else if (strcmp(name, SEMAPHORE "+TaskNode") == 0)
            w->waiter = i;
    }
    return w->semaphore != GCD_TYPE_NONE && w->waiter != GCD_TYPE_NONE;
}

/* Has a compiler made the type NAME, in the runtime's spelling, for the variables of a method? */
static bool is_made(const char *name)
{
    return strstr(name, "StateMachineBox`1") != NULL || gcd_made_of(name) != GCD_MADE_OF_NOTHING;
}

static void find_passages(struct gates *w)
{
    static const char *const inside[] = { "System.Collections.", "System.Lazy`1",
                                          "Microsoft.Extensions.Caching.Memory." };
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    for (uint32_t i = 0; i < summary->type_count; i++) {
        const char *name = summary->types[i].name;
        if (gcd_text_ends(name, "[]"))
            w->passages[i] = PASSAGE;
        else if (gcd_origins_get(w->of->origins, i) == GCD_ORIGIN_OWN)
            w->passages[i] = is_made(name) ? CLOSED : OWN;
        for (size_t k = 0; k < sizeof inside / sizeof *inside; k++)
            if (gcd_text_begins(name, inside[k]))
                w->passages[i] = PASSAGE;
    }
}

/* How many wait in the queue of the semaphore NODE, whose waiters refer to each other. */
static uint64_t waiting(struct gates *w, uint32_t node)
{
    size_t first = w->queued;
    for (size_t at = first;; at++) { /* those that were found are looked at in turn */
        size_t n;
        const uint32_t *edges =
            gcd_graph_node_edges(w->g, at == first ? node : w->queue[at - 1].node, &n);
        for (size_t i = 0; i < n; i++) {
            uint64_t bit = UINT64_C(1) << edges[i] % 64;
            if (gcd_graph_type_at(&w->type_of, edges[i]) != w->waiter ||
                (w->seen[edges[i] / 64] & bit) != 0)
                continue;
            w->seen[edges[i] / 64] |= bit;
            w->queue[w->queued++] = (struct gate_waiter){ edges[i], node };
        }
        if (at == w->queued)
            return w->queued - first;
    }
}

/* The semaphore that nearly all of the JAM wait for, or else all if nearly all that wait for one
 * are of the jam; none in W->wanted: neither is so. */
static gcd_status find_gates(struct gates *w, struct gcd_async_jam *jam, struct gcd_error *err)
{
    uint32_t nodes = gcd_graph_node_count(w->g), gate = GCD_NODE_NONE;
    uint64_t most = 0, all = 0, nearly = jam->stacks - jam->stacks / 10;
    for (uint32_t i = 0; i < nodes; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->cancel, err));
        uint64_t n = gcd_graph_type_at(&w->type_of, i) == w->semaphore ? waiting(w, i) : 0;
        if (n == 0)
            continue;
        all += n;
        jam->gates++;
        bits_set(w->seen, i);
        bits_set(w->wanted, i);
        if (n > most) {
            most = n;
            gate = i;
        }
    }
    w->count = jam->gates;
    if (most < nearly && all >= nearly && all - all / 10 <= jam->stacks)
        return GCD_OK;
    memset(w->wanted, 0, ((size_t)nodes / 64 + 1) * sizeof *w->wanted);
    w->count = most >= nearly && gate != GCD_NODE_NONE;
    if (w->count > 0)
        bits_set(w->wanted, gate);
    return GCD_OK;
}

/* ---- who has it ---- */

static void add_place(struct holder *h, uint32_t type, const char *field, size_t root)
{
    if (h->found == 0) {
        h->type = type;
        h->field = field;
        h->root = root;
    }
    bool same = h->type == type && h->root == root && strcmp(h->field, field) == 0;
    h->found += same;
    h->several = h->several || !same;
}

/* What NODE of an open type refers to among what is wanted. */
static void look_at(struct gates *w, uint32_t node, enum passage passage, struct holder *h)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t k = 0; k < n; k++) {
        if (!bits_get(w->wanted, edges[k]))
            continue;
        if (passage == OWN) {
            struct gcd_field f =
                w->of->fields != NULL ? gcd_fields_get(w->of->fields, node, k) : GCD_FIELD_UNKNOWN;
            add_place(h, gcd_graph_type_at(&w->type_of, node),
                      f.name != NULL && f.other == NULL ? f.name : "", SIZE_MAX);
        } else if (!bits_get(w->seen, node)) {
            bits_set(w->seen, node);
            bits_set(w->next, node);
            w->more = true;
        }
    }
}

/* The static variables, and the fields of objects of the program, that refer to what is wanted; and
 * what may lead to it. */
static gcd_status look_once(struct gates *w, struct holder *h, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    uint32_t nodes = gcd_graph_node_count(w->g);
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        if (r->node != GCD_NODE_NONE && bits_get(w->wanted, r->node) &&
            gcd_static_is_own(w->g, w->of->origins, r))
            add_place(h, GCD_TYPE_NONE, "", i);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->cancel, err));
        enum passage passage = (enum passage)w->passages[gcd_graph_type_at(&w->type_of, i)];
        if (passage != CLOSED)
            look_at(w, i, passage, h);
    }
    return GCD_OK;
}

/* Passes from the semaphores to what has them: a ConcurrentDictionary has three levels inside. */
static gcd_status find_holder(struct gates *w, struct holder *ret, struct gcd_error *err)
{
    static const struct holder none = { .type = GCD_TYPE_NONE, .field = "", .root = SIZE_MAX };
    size_t bytes = ((size_t)gcd_graph_node_count(w->g) / 64 + 1) * sizeof *w->seen;
    *ret = none;
    memset(w->seen, 0, bytes);
    for (unsigned level = 0; level < LEVELS && w->count > 0; level++) {
        uint64_t *last = w->wanted;
        w->more = false;
        GCD_TRY(look_once(w, ret, err));
        /* each semaphore, or the collection of all */
        bool told =
            ret->found > 0 && (level == 0 ? ret->found >= w->count - w->count / 10 : !ret->several);
        if (told)
            return GCD_OK;
        bool ends = !w->more || (level > 0 && ret->several);
        *ret = none;
        if (ends)
            return GCD_OK;
        w->wanted = w->next;
        w->next = last;
        memset(w->next, 0, bytes);
    }
    return GCD_OK;
}

static void put_holder(const struct gates *w, const struct holder *h, char *ret, size_t cap)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    if (h->found == 0)
        return;
    if (h->root != SIZE_MAX) {
        struct gcd_static_words words =
            gcd_static_words(w->g, w->of->names, &summary->roots[h->root]);
        (void)snprintf(ret, cap, "%s%s%s", words.label[0], words.label[1], words.label[2]);
        return;
    }
    (void)snprintf(ret, cap, "%.300s%s%.150s",
                   w->of->names != NULL ? gcd_names_plain(w->of->names, h->type)
                                        : summary->types[h->type].name,
                   h->field[0] != '\0' ? "." : "", h->field);
}

static gcd_status put_place(struct gates *w, struct gcd_async_jam *jam, char *ret, size_t cap,
                            struct gcd_error *err)
{
    struct holder h;
    if (w->seen == NULL || w->wanted == NULL || w->next == NULL || w->queue == NULL ||
        w->passages == NULL)
        return gcd_fail_nomem(err, DOING);
    find_passages(w);
    GCD_TRY(find_gates(w, jam, err));
    jam->semaphores = w->count;
    GCD_TRY(async_find_order(w, jam, err));
    GCD_TRY(find_holder(w, &h, err));
    put_holder(w, &h, ret, cap);
    return GCD_OK;
}

gcd_status gcd_async_jam_place(const struct gcd_async *a, struct gcd_async_jam *jam,
                               const struct gcd_async_jam_of *of, char *ret, size_t cap,
                               struct gcd_error *err)
{
    size_t n;
    struct gates w = { .g = of->graph, .of = of, .cancel = of->context.cancel };
    const struct gcd_alloc alloc = gcd_alloc_or_default(of->context.alloc);
    ret[0] = '\0';
    if (gcd_async_frames(a, &n)[jam->waits_for].kind != GCD_ASYNC_SEMAPHORE) {
        if (jam->threads > 0)
            async_find_blocked(of, jam, ret, cap);
        return GCD_OK;
    }
    if (!find_types(&w))
        return GCD_OK;
    w.type_of = gcd_graph_types(of->graph);
    uint32_t nodes = gcd_graph_node_count(of->graph),
             types = gcd_graph_summary(of->graph)->type_count;
    for (uint32_t i = 0; i < nodes; i++)
        w.waiters += gcd_graph_type_at(&w.type_of, i) == w.waiter;
    size_t words = nodes / 64 + 1;
    uint64_t **const bits[] = { &w.seen, &w.wanted, &w.next };
    for (size_t i = 0; i < 3; i++)
        *bits[i] = gcd_mem_new_array(&alloc, words, sizeof **bits[i]);
    w.queue = gcd_mem_new_uncleared(&alloc, w.waiters + 1, sizeof *w.queue);
    w.passages = gcd_mem_new(&alloc, (size_t)types + 1);
    gcd_status st = put_place(&w, jam, ret, cap, err);
    gcd_mem_free(&alloc, w.passages, (size_t)types + 1);
    gcd_mem_free(&alloc, w.queue, (w.waiters + 1) * sizeof *w.queue);
    for (size_t i = 0; i < 3; i++)
        gcd_mem_free(&alloc, *bits[i], words * sizeof **bits[i]);
    return st;
}

/* ---- the sentence ---- */

/* No call that does something else could release it: one of those that wait may have it. */
static void put_nobody(const struct gcd_async_jam *jam, char *buf, size_t cap)
{
    if (jam->later > 0)
        (void)snprintf(buf, cap,
                       " %s of them wait%s in a later step than the others and for another "
                       "semaphore: %s may hold the one that the others wait for. Look for "
                       "semaphores that calls take in different orders.",
                       GCD_DIGITS(jam->later), gcd_by_number(jam->later, "s", ""),
                       gcd_by_number(jam->later, "it", "they"));
    else if (jam->again > 0)
        (void)snprintf(buf, cap,
                       " %s of them wait%s for it in a later step than the others, and may hold it "
                       "already: who has a SemaphoreSlim cannot enter it again.",
                       GCD_DIGITS(jam->again), gcd_by_number(jam->again, "s", ""));
    else if (jam->gates > 1 && !jam->steps_known)
        (void)snprintf(buf, cap,
                       " No other call of these methods is under way that could release one: calls "
                       "that wait may hold one and wait for another that was taken in a different "
                       "order, or an exception may have skipped a Release.");
    else
        (void)snprintf(buf, cap,
                       " No other call of these methods is under way that could release it: an "
                       "exception may have skipped a Release, which belongs into a finally.");
}

/* Who could release the semaphore, in BUF[CAP]. */
static void put_others(const struct gcd_async_frame *frames, const struct gcd_async_jam *jam,
                       char *buf, size_t cap)
{
    if (jam->crossing > 0) {
        (void)snprintf(buf, cap,
                       " %s of them ha%s a second semaphore that calls wait for, and may hold it "
                       "while %s for the other: check that all calls take them in the same order.",
                       GCD_DIGITS(jam->crossing), gcd_by_number(jam->crossing, "s", "ve"),
                       gcd_by_number(jam->crossing, "it waits", "they wait"));
        return;
    }
    /* a circle of calls does not end because others go on */
    if (jam->others == 0 || jam->later_differ) {
        put_nobody(jam, buf, cap);
        return;
    }
    const struct gcd_async_frame *what = &frames[jam->others_wait_for];
    bool waits = what->kind >= GCD_ASYNC_DELAY && what->kind <= GCD_ASYNC_OTHER;
    bool elsewhere = waits && jam->others_method != GCD_FRAME_NONE;
    (void)snprintf(buf, cap,
                   " %s other call%s of these methods may have to release it%s%.200s%s%.200s.",
                   GCD_DIGITS(jam->others), gcd_plural(jam->others),
                   !waits ? ""
                   : jam->others_there == jam->others
                       ? gcd_by_number(jam->others, "; it waits for ", "; they wait for ")
                       : "; most of them wait for ",
                   waits ? what->name : "", elsewhere ? " in " : "",
                   elsewhere ? frames[jam->others_method].name : "");
}

void gcd_async_jam_text(const struct gcd_async *a, const struct gcd_async_jam *jam,
                        const char *place, char *ret, size_t cap)
{
    size_t n;
    const struct gcd_async_frame *frames = gcd_async_frames(a, &n), *what = &frames[jam->waits_for];
    char others[OTHERS_BYTES] = "", several[64] = "";
    if (what->kind == GCD_ASYNC_SEMAPHORE && jam->semaphores > 1)
        (void)snprintf(several, sizeof several, " of %s semaphores%s", GCD_DIGITS(jam->semaphores),
                       place[0] != '\0' ? "," : "");
    if (what->kind == GCD_ASYNC_SEMAPHORE)
        put_others(frames, jam, others, sizeof others);
    else if (jam->blocked > 0)
        (void)snprintf(others, sizeof others,
                       " %s thread%s%s block%s in %.300s, in Wait or Result: await instead.",
                       GCD_DIGITS(jam->blocked), gcd_plural(jam->blocked),
                       jam->pool ? " of the thread pool" : "", gcd_by_number(jam->blocked, "s", ""),
                       place);
    else if (jam->threads > 0)
        (void)snprintf(others, sizeof others,
                       " For %s of them a thread blocks in Wait or Result: await instead.",
                       jam->threads == jam->stacks ? "each" : GCD_DIGITS(jam->threads));
    if (gcd_text_begins(frames[jam->method].name, LAMBDA)) {
        /* what ContinueWith will call: no call waits there */
        (void)snprintf(
            ret, cap, "%s continuations wait for %.300s%s: each runs a %.500s when it completes.%s",
            GCD_DIGITS(jam->stacks), what->name,
            jam->old_stacks == jam->stacks ? ", all since before the last collection" : "",
            frames[jam->method].name, others);
        return;
    }
    (void)snprintf(ret, cap, "%s calls wait in %.500s for %.300s%s%s%.460s%s.%s",
                   GCD_DIGITS(jam->stacks), frames[jam->method].name, what->name, several,
                   place[0] == '\0' || jam->blocked > 0 ? ""
                   : several[0] != '\0'                 ? " "
                                                        : " of ",
                   jam->blocked > 0 ? "" : place,
                   jam->old_stacks == jam->stacks ? ", all since before the last collection" : "",
                   others);
}
