/* Values of tasks, timers and requests: see gcdumpc/unstable/async_values.h. */
#include <gcdumpc/unstable/async_values.h>

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"

#define CHECK_EVERY UINT32_C(65536)
#define DOING       "reading tasks and timers"
#define TIMER       "System.Threading.TimerQueueTimer"
#define KESTREL     "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http"
#define STATUS      "_requestProcessingStatus"

enum of_type { TYPE_UNKNOWN, TYPE_NONE, TYPE_TASK, TYPE_TIMER, TYPE_REQUEST };

struct gcd_async_values {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_values *texts;
    struct gcd_image_numbers *flags, *all; /* of the field m_stateFlags; of all fields */
    struct gcd_tasks tasks[GCD_TASK_STATES];
    struct gcd_timers *timers; /* [timer_count] */
    size_t timer_count, timer_cap;
    struct gcd_requests *requests; /* [request_count] */
    size_t request_count, request_cap;
};

/* What is needed only while they are found. */
struct reading {
    struct gcd_async_values *v;
    uint8_t *types; /* [type_count] enum of_type */
    /* due, period -> a; a, type -> a timer; the address of a method -> b; b, path -> a request */
    struct gcd_idmap by_time, by_timer, by_method, by_request;
};

const char *gcd_task_state_name(enum gcd_task_state state)
{
    static const char *const names[GCD_TASK_STATES] = { "created", "queued",    "running",
                                                        "waiting", "completed", "canceled",
                                                        "faulted" };
    return names[state];
}

/* The field NAME of the object at ADDRESS; false: it has none, or the image lacks it. */
static bool field(const struct gcd_async_values *v, uint64_t address, const char *name,
                  struct gcd_number *ret)
{
    uint32_t n = gcd_image_field_count(v->all, address);
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(v->all, address, i);
        if (strcmp(f.name, name) != 0)
            continue;
        *ret = f.number;
        return f.known;
    }
    return false;
}

/* What the field NAME of the object at ADDRESS refers to; 0 = nothing, or it is unknown. */
static uint64_t target(const struct gcd_async_values *v, uint64_t address, const char *name)
{
    struct gcd_number n;
    return field(v, address, name, &n) && n.kind == GCD_NUMBER_REFERENCE ? n.bits : 0;
}

/* ---- tasks ---- */

/* Task.m_stateFlags; a task that is over keeps the bits of what it was before. */
static const struct {
    uint32_t flag;
    enum gcd_task_state state;
} states[] = {
    { 0x200000, GCD_TASK_FAULTED },    { 0x400000, GCD_TASK_CANCELED },
    { 0x1000000, GCD_TASK_COMPLETED }, { 0x800000, GCD_TASK_WAITING }, /* for children */
    { 0x20000, GCD_TASK_RUNNING },     { 0x10000, GCD_TASK_QUEUED },
    { 0x2000000, GCD_TASK_WAITING },
};

static enum gcd_task_state state_of(uint32_t flags)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if ((flags & states[i].flag) != 0)
            return states[i].state;
    return GCD_TASK_CREATED;
}

static void add_task(struct gcd_async_values *v, uint32_t node)
{
    struct gcd_number flags;
    if (gcd_image_number(v->flags, gcd_graph_node_address(v->g, node), &flags) != GCD_OK)
        return;
    struct gcd_tasks *t = &v->tasks[state_of((uint32_t)flags.bits)];
    t->node = t->count == 0 ? node : t->node;
    t->count++;
    gcd_add_saturating(&t->bytes, gcd_graph_node_size(v->g, node));
}

/* ---- timers ---- */

static uint32_t type_at(const struct gcd_async_values *v, uint64_t address)
{
    uint32_t node = address != 0 ? gcd_graph_find(v->g, address) : GCD_NODE_NONE;
    return node != GCD_NODE_NONE ? gcd_graph_node_type(v->g, node) : GCD_TYPE_NONE;
}

/* Is it a class that the compiler makes for methods without an object? */
static bool is_compilers(const struct gcd_async_values *v, uint32_t type)
{
    const char *name = gcd_graph_summary(v->g)->types[type].name;
    return gcd_text_ends(name, "<>c");
}

/* The type of the object whose method the timer at ADDRESS calls; of what it gives to a method
 * without one. */
static uint32_t type_for_timer(const struct gcd_async_values *v, uint64_t address)
{
    uint64_t call = target(v, address, "_timerCallback");
    uint64_t object = call != 0 ? target(v, call, "_target") : 0;
    uint32_t type = object != call ? type_at(v, object) : GCD_TYPE_NONE;
    if (type != GCD_TYPE_NONE && !is_compilers(v, type))
        return type;
    uint32_t state = type_at(v, target(v, address, "_state"));
    return state != GCD_TYPE_NONE ? state : type;
}

static bool add_timer(struct reading *r, uint32_t node)
{
    struct gcd_async_values *v = r->v;
    uint64_t address = gcd_graph_node_address(v->g, node);
    struct gcd_number due, period;
    if (!field(v, address, "_dueTime", &due) || !field(v, address, "_period", &period))
        return true;
    struct gcd_timers t = { .due_ms = (uint32_t)due.bits,
                            .period_ms = (uint32_t)period.bits,
                            .type = type_for_timer(v, address),
                            .node = node,
                            .count = 1 };
    if (t.period_ms == 0 || t.due_ms == GCD_TIMER_NEVER)
        t.period_ms = GCD_TIMER_NEVER;
    uint32_t time = gcd_idmap_number(&r->by_time, (uint64_t)t.due_ms << 32 | t.period_ms);
    uint32_t i = gcd_idmap_pair(&r->by_timer, time, t.type);
    if (i < v->timer_count)
        v->timers[i].count++;
    else if (i == GCD_IDMAP_NONE || !gcd_vec_reserve(&v->alloc, &v->timers, &v->timer_cap, i + 1,
                                                     sizeof *v->timers, GCD_IDMAP_NONE))
        return false;
    else
        v->timers[v->timer_count++] = t;
    return true;
}

static int compare_timers(const void *a, const void *b)
{
    const struct gcd_timers *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->due_ms != y->due_ms)
        return x->due_ms < y->due_ms ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* ---- requests ---- */

/* Between its headers and the end of the answer? */
static bool is_at_work(const struct gcd_number *status)
{
    static const char *const names[] = { "AppStarted", "HeadersCommitted", "HeadersFlushed" };
    for (size_t i = 0; i < sizeof names / sizeof *names && status->name != NULL; i++)
        if (strcmp(status->name, names[i]) == 0)
            return true;
    return false;
}

static bool add_request(struct reading *r, uint32_t node)
{
    struct gcd_async_values *v = r->v;
    uint64_t address = gcd_graph_node_address(v->g, node);
    struct gcd_number status, method;
    if (!field(v, address, STATUS, &status) || !is_at_work(&status))
        return true;
    struct gcd_requests q = { .method = "", .path = GCD_TEXT_NONE, .node = node, .count = 1 };
    if (field(v, address, "Method", &method) && method.name != NULL &&
        strcmp(method.name, "None") != 0 && strcmp(method.name, "Custom") != 0)
        q.method = method.name;
    uint64_t path = v->texts != NULL ? target(v, address, "Path") : 0;
    if (path != 0)
        q.path = gcd_values_find(v->texts, path);
    uint32_t named = gcd_idmap_number(&r->by_method, (uintptr_t)q.method);
    uint32_t i = gcd_idmap_pair(&r->by_request, named, q.path);
    if (i < v->request_count)
        v->requests[i].count++;
    else if (i == GCD_IDMAP_NONE || !gcd_vec_reserve(&v->alloc, &v->requests, &v->request_cap,
                                                     i + 1, sizeof *v->requests, GCD_IDMAP_NONE))
        return false;
    else
        v->requests[v->request_count++] = q;
    return true;
}

static int compare_requests(const void *a, const void *b)
{
    const struct gcd_requests *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* ---- all objects ---- */

/* What objects of the type of NODE are. */
static enum of_type look_at_type(const struct gcd_async_values *v, uint32_t node)
{
    uint64_t address = gcd_graph_node_address(v->g, node);
    const char *name = gcd_graph_summary(v->g)->types[gcd_graph_node_type(v->g, node)].name;
    struct gcd_number x;
    if (strcmp(name, TIMER) == 0)
        return TYPE_TIMER;
    if (gcd_text_begins(name, KESTREL) && field(v, address, STATUS, &x))
        return TYPE_REQUEST;
    return gcd_image_number(v->flags, address, &x) == GCD_OK ? TYPE_TASK : TYPE_NONE;
}

static gcd_status read_all(struct reading *r, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    struct gcd_async_values *v = r->v;
    uint32_t n = gcd_graph_node_count(v->g);
    for (uint32_t node = 0; node < n; node++) {
        uint32_t type = gcd_graph_node_type(v->g, node);
        bool ok = true;
        if (node % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        if (r->types[type] == TYPE_UNKNOWN)
            r->types[type] = (uint8_t)look_at_type(v, node);
        if (r->types[type] == TYPE_TASK)
            add_task(v, node);
        else if (r->types[type] == TYPE_TIMER)
            ok = add_timer(r, node);
        else if (r->types[type] == TYPE_REQUEST)
            ok = add_request(r, node);
        if (!ok)
            return gcd_fail_nomem(err, DOING);
    }
    if (v->timer_count > 0)
        qsort(v->timers, v->timer_count, sizeof *v->timers, compare_timers);
    if (v->request_count > 0)
        qsort(v->requests, v->request_count, sizeof *v->requests, compare_requests);
    return GCD_OK;
}

static gcd_status read_with(struct gcd_async_values *v, const struct gcd_async_values_of *of,
                            struct gcd_error *err)
{
    struct reading r = { .v = v };
    struct gcd_idmap *const maps[] = { &r.by_time, &r.by_timer, &r.by_method, &r.by_request };
    size_t types = (size_t)gcd_graph_summary(v->g)->type_count + 1;
    gcd_status st = gcd_image_numbers_new(&of->view, "m_stateFlags", &v->alloc, &v->flags, err);
    if (st == GCD_OK)
        st = gcd_image_numbers_new(&of->view, NULL, &v->alloc, &v->all, err);
    if (st != GCD_OK)
        return st;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_init(maps[i], &v->alloc);
    r.types = gcd_mem_new_array(&v->alloc, types, sizeof *r.types);
    st = r.types != NULL ? read_all(&r, of->context.cancel, err) : gcd_fail_nomem(err, DOING);
    gcd_mem_free(&v->alloc, r.types, types * sizeof *r.types);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_done(maps[i]);
    return st;
}

gcd_status gcd_async_values_new(const struct gcd_graph *g, const struct gcd_async_values_of *of,
                                struct gcd_async_values **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(of->context.alloc);
    struct gcd_async_values *v = gcd_mem_new(&a, sizeof *v);
    if (v == NULL)
        return gcd_fail_nomem(err, DOING);
    *v = (struct gcd_async_values){
        .alloc = a, .g = g, .texts = of->view.show != GCD_SHOW_EQUAL ? of->view.values : NULL
    };
    for (size_t i = 0; i < GCD_TASK_STATES; i++)
        v->tasks[i].node = GCD_NODE_NONE;
    gcd_status st = read_with(v, of, err);
    if (st == GCD_OK)
        *ret = v;
    else
        gcd_async_values_free(v);
    return st;
}

void gcd_async_values_free(struct gcd_async_values *v)
{
    if (v == NULL)
        return;
    struct gcd_alloc a = v->alloc;
    gcd_image_numbers_free(v->flags);
    gcd_image_numbers_free(v->all);
    gcd_mem_free(&a, v->timers, v->timer_cap * sizeof *v->timers);
    gcd_mem_free(&a, v->requests, v->request_cap * sizeof *v->requests);
    gcd_mem_free(&a, v, sizeof *v);
}

const struct gcd_tasks *gcd_async_tasks(const struct gcd_async_values *v)
{
    return v->tasks;
}

const struct gcd_timers *gcd_async_timers(const struct gcd_async_values *v, size_t *ret_n)
{
    *ret_n = v->timer_count;
    return v->timers;
}

const struct gcd_requests *gcd_async_requests(const struct gcd_async_values *v, size_t *ret_n)
{
    *ret_n = v->request_count;
    return v->requests;
}
