/*
 * Pools: memory that the framework keeps on purpose, for the next time it is needed.  Nobody forgot
 * it, so a pool is a note and not a suspect; it takes the place of suspects that consist of it.
 *
 * Facts from .NET 8 to 10: ArrayPool.Shared keeps arrays in an array for each thread
 * (SharedArrayPoolThreadLocalArray[]) and in partitions; a pool of the program is a
 * ConfigurableArrayPool; Kestrel's blocks are in a PinnedBlockMemoryPool (SlabMemoryPool before
 * .NET 5); HttpClient keeps idle connections on a stack.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

static const char *name_of(const struct findings *f, uint32_t node)
{
    return f->types[suspects_type_of(f->w, node)].name;
}

/* ---- ArrayPool.Shared ---- */

#define SHARED "System.Buffers.SharedArrayPool"

static bool is_shared(const struct gcd_type *t)
{
    static const char *const parts[] = { SHARED "ThreadLocalArray[]", SHARED "Partitions[]" };
    return strcmp(t->name, parts[0]) == 0 || strcmp(t->name, parts[1]) == 0;
}

/* The type of the arrays that a thread has returned. */
static uint32_t returned_type(const struct findings *f, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    bool of_thread = strcmp(name_of(f, node), SHARED "ThreadLocalArray[]") == 0;
    return of_thread && n > 0 ? suspects_type_of(f->w, edges[0]) : GCD_TYPE_NONE;
}

/* ---- pools of the program, memory pools ---- */

static bool is_made(const struct gcd_type *t)
{
    return gcd_text_begins(t->name, "System.Buffers.ConfigurableArrayPool`1[") &&
           strchr(t->name, '+') == NULL;
}

static bool look_at_each(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    (void)f;
    ret->group = ret->node = node;
    return true;
}

static bool is_memory_pool(const struct gcd_type *t)
{
    return findings_is_named(t->name, "Microsoft.AspNetCore.", "PinnedBlockMemoryPool") ||
           findings_is_named(t->name, "System.Buffers.", "PinnedBlockMemoryPool") ||
           findings_is_named(t->name, "System.Buffers.", "SlabMemoryPool") ||
           findings_is_named(t->name, "Microsoft.IO.", "RecyclableMemoryStreamManager");
}

/* ---- pools of objects ---- */

static bool is_object_pool(const struct gcd_type *t)
{
    return findings_is_named(t->name, "Microsoft.Extensions.ObjectPool.", "DefaultObjectPool") ||
           findings_is_named(t->name, "Microsoft.Extensions.ObjectPool.", "DisposableObjectPool");
}

/* ---- idle connections ---- */

static bool is_connection(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Net.Http.", "HttpConnection");
}

static bool is_stacked(const struct gcd_type *t)
{
    return gcd_text_begins(t->name, "System.Collections.Concurrent.ConcurrentStack`1+Node["
                                    "System.Net.Http.HttpConnection");
}

/* What is on the stack is idle, even if something still refers to its last response. */
static bool look_at_place(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        ret->type = suspects_type_of(f->w, edges[i]);
        if (is_connection(&f->types[ret->type]))
            return true;
    }
    return false;
}

#define POOL .kind = GCD_SUSPECT_POOLS, .least = 1, .only_large = true, .replaces = true

const struct finding_rule finding_pool_shared = { POOL, .is_type = is_shared, .look = findings_any,
                                                  .who = returned_type };
const struct finding_rule finding_pool_made = { POOL, .is_type = is_made, .look = look_at_each,
                                                .who = findings_nobody };
const struct finding_rule finding_pool_memory = { POOL, .is_type = is_memory_pool,
                                                  .look = findings_any, .who = findings_nobody };
const struct finding_rule finding_pool_objects = { POOL, .is_type = is_object_pool,
                                                   .look = look_at_each, .who = findings_nobody };
const struct finding_rule finding_pool_http = { POOL, .is_type = is_stacked, .look = look_at_place,
                                                .who = findings_nobody };

/* ---- the words ---- */

enum pool { POOL_SHARED, POOL_MADE, POOL_OBJECTS, POOL_MEMORY, POOL_HTTP };

static enum pool pool_of(const struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_type *t = &gcd_graph_summary(s->w->g)->types[x->pub.type];
    return is_shared(t)        ? POOL_SHARED
           : is_object_pool(t) ? POOL_OBJECTS
           : is_made(t)        ? POOL_MADE
           : is_connection(t)  ? POOL_HTTP
                               : POOL_MEMORY;
}

/* "<Byte>" of "System.Byte[]", or of a pool of System.Byte. */
static void put_element(struct suspect_words *s, const char *name)
{
    const char *from = strchr(name, '['), *end;
    if (from != NULL && from[1] != ']') { /* a type argument */
        name = from + 1;
        end = strrchr(name, ']');
    } else {
        end = from;
    }
    for (const char *p = name; end != NULL && p < end; p++)
        if (*p == '.')
            name = p + 1;
    if (end != NULL && end > name)
        suspects_put(s, "<%.*s>", (int)(end - name), name);
}

static const char *raw_type(const struct suspect_words *s, uint32_t type)
{
    return gcd_graph_summary(s->w->g)->types[type].name;
}

/* The arrays that a pool of the program has: in an array of arrays of each of its buckets. */
struct returned {
    uint64_t count, bytes, largest;
};

#define BUCKETS_DEEP 4u

static void count_returned(const struct suspects_work *w, uint32_t node, unsigned depth,
                           struct returned *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = gcd_graph_node_size(w->g, edges[i]);
        if (suspects_parent(w, edges[i]) != node)
            continue;
        if (depth < BUCKETS_DEEP) {
            count_returned(w, edges[i], depth + 1, ret);
            continue;
        }
        ret->count++;
        ret->bytes += bytes;
        ret->largest = bytes > ret->largest ? bytes : ret->largest;
    }
}

/* "20 returned arrays of 1.0 MiB each", "20 returned arrays, 12.0 MiB" */
static void put_returned(struct suspect_words *s, const struct suspect *x)
{
    struct returned r = { .count = 0 };
    count_returned(s->w, x->pub.node, 1, &r);
    if (r.count == 0) {
        suspects_put_bytes(s, x->pub.bytes);
        suspects_put(s, " of returned arrays");
        return;
    }
    suspects_put_count(s, r.count, "returned array", "returned arrays");
    bool same = r.count > 1 && r.bytes == r.count * r.largest;
    suspects_put(s, same ? " of " : ", ");
    suspects_put_bytes(s, same ? r.largest : x->pub.bytes);
    suspects_put(s, same ? " each" : "");
}

void suspects_say_pools(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    switch (pool_of(s, x)) {
    case POOL_SHARED:
        suspects_put(s, "ArrayPool");
        if (p->held_count > 0)
            put_element(s, raw_type(s, p->held[0].type));
        suspects_put(s, ".Shared keeps ");
        suspects_put_bytes(s, p->bytes);
        suspects_put(s, " of returned arrays, most of them for ");
        suspects_put_count(s, p->held_objects, "thread", "threads");
        break;
    case POOL_MADE:
    case POOL_OBJECTS:
        suspects_put(s, pool_of(s, x) == POOL_MADE ? "An ArrayPool" : "An ObjectPool");
        put_element(s, raw_type(s, p->type));
        if (suspects_in_own_static(s->w, p)) {
            suspects_put(s, " (");
            suspects_put_root(s, p->root);
            suspects_put(s, ")");
        } else if (p->owner != GCD_TYPE_NONE) {
            suspects_put(s, " of ");
            suspects_put_who(s, p->owner);
        }
        suspects_put(s, " keeps ");
        if (pool_of(s, x) == POOL_MADE) {
            put_returned(s, x);
        } else {
            suspects_put_bytes(s, p->bytes);
            suspects_put(s, " of returned objects");
        }
        break;
    case POOL_MEMORY:
        suspects_put_count(s, p->objects, "memory pool (", "memory pools (");
        suspects_put_type(s, p->type);
        suspects_put(s, p->objects == 1 ? ") keeps " : ") keep ");
        suspects_put_bytes(s, p->bytes);
        suspects_put(s, " of free blocks after a peak");
        break;
    case POOL_HTTP:
        suspects_put(s, "HttpClient keeps ");
        suspects_put_count(s, p->objects, "idle connection", "idle connections");
        suspects_put(s, " with ");
        suspects_put_bytes(s, p->bytes);
        suspects_put(s, " of buffers");
    }
    suspects_put(s, ", ");
    suspects_put_share(s, p->share);
    suspects_put(s, ".");
}

void suspects_advise_pools(struct suspect_words *s, const struct suspect *x)
{
    /* in parentheses, because a comma is not missing between the lines */
    static const char *const texts[] = {
        [POOL_SHARED] = ("This is how it works: it frees them when memory is short. Limits: "
                         "DOTNET_SYSTEM_BUFFERS_SHAREDARRAYPOOL_MAXARRAYSPERPARTITION and "
                         "_MAXPARTITIONCOUNT."),
        [POOL_MADE] = ("It never frees them: create it with smaller limits, or use "
                       "ArrayPool.Shared, which frees them when memory is short."),
        [POOL_OBJECTS] = ("It keeps at most as many as its maximumRetained (twice the processors "
                          "unless it is set), and never frees them."),
        [POOL_MEMORY] = "They are for the next peak; nothing has to be done.",
        [POOL_HTTP] = "They close after PooledConnectionIdleTimeout (1 minute unless it is set).",
    };
    suspects_put(s, "%s", texts[pool_of(s, x)]);
}
