#include "gh_script.h"

#include <stdio.h>
#include <string.h>

#include "gh_bytes.h"

static const struct gh_emit plain = { .kind = GH_K_RUNDOWN };
static const struct gh_emit foreign = { .kind = GH_K_NOISE };

static bool emit(struct gh_script *s, struct gh_thread *t, enum gh_meta meta, enum gh_kind kind,
                 const uint8_t *from, const uint8_t *end)
{
    struct gh_emit how = { .kind = kind };

    return gh_pipe_event(s->pipe, t, meta, how, from, (size_t)(end - from));
}

/* ---- collections
 * ----------------------------------------------------------------------------------------- */

static void gc_start(struct gh_script *s, struct gh_thread *t, enum gh_kind kind, uint32_t count,
                     uint32_t depth, uint32_t reason, uint32_t type)
{
    uint8_t buf[32], *p = buf;

    p = gh_put_u32(p, count);
    p = gh_put_u32(p, depth);
    p = gh_put_u32(p, reason);
    p = gh_put_u32(p, type);
    p = gh_put_u16(p, 0);
    p = gh_put_u64(p, 0);
    emit(s, t, GH_M_GCSTART, kind, buf, p);
}

static void gc_end(struct gh_script *s, struct gh_thread *t, enum gh_kind kind, uint32_t count,
                   uint32_t depth)
{
    uint8_t buf[16];

    emit(s, t, GH_M_GCEND, kind, buf, gh_put_u16(gh_put_u32(gh_put_u32(buf, count), depth), 0));
}

static void suspend(struct gh_script *s, struct gh_thread *t, enum gh_kind kind, uint32_t count)
{
    uint8_t buf[16];

    emit(s, t, GH_M_SUSPEND_BEGIN, kind, buf, gh_put_u16(gh_put_u32(gh_put_u32(buf, 1), count), 0));
    gh_pipe_wait(s->pipe, 40000);
    emit(s, t, GH_M_SUSPEND_END, kind, buf, gh_put_u16(buf, 0));
}

static void restart(struct gh_script *s, struct gh_thread *t, enum gh_kind kind)
{
    uint8_t buf[2];

    gh_put_u16(buf, 0);
    emit(s, t, GH_M_RESTART_BEGIN, kind, buf, buf + 2);
    emit(s, t, GH_M_RESTART_END, kind, buf, buf + 2);
}

/* Sizes of generations 0 … 4; after a full collection, everything that exists has survived. */
static void heap_stats(struct gh_script *s, struct gh_thread *t, enum gh_kind kind,
                       const uint64_t *size)
{
    uint8_t buf[128], *p = buf;
    unsigned g;

    for (g = 0; g < 4; g++) {
        p = gh_put_u64(p, size[g]);
        p = gh_put_u64(p, size[g]);
    }
    p = gh_put_u64(gh_put_u64(p, 0), 0);
    p = gh_put_u32(gh_put_u32(gh_put_u32(p, 2), 7), 311);
    p = gh_put_u16(p, 0);
    p = gh_put_u64(gh_put_u64(p, size[4]), size[4]);
    emit(s, t, GH_M_HEAPSTATS, kind, buf, p);
}

struct range_ctx {
    struct gh_script *s;
    struct gh_thread *t;
    bool before;
};

static void one_range(void *v, const struct gh_range *r)
{
    const struct range_ctx *c = v;
    unsigned ptr = c->s->o->ptr_bytes;
    uint64_t shift = c->before ? 0x100000 : 0;
    uint8_t buf[32], *p = buf;

    /* the layout before the collection: other addresses, everything in generation 0 */
    p = gh_put_u8(p, c->before && r->gen <= GH_GEN2 ? 0 : (unsigned)r->gen);
    p = gh_put_ptr(p, r->start + shift, ptr);
    p = gh_put_u64(p, r->used_bytes / (c->before ? 2 : 1));
    p = gh_put_u64(p, r->reserved_bytes);
    p = gh_put_u16(p, 0);
    emit(c->s, c->t, GH_M_RANGE, GH_K_RANGE, buf, p);
}

static void ranges(struct gh_script *s, struct gh_thread *t, bool before)
{
    struct range_ctx c = { s, t, before };

    if (s->o->ranges)
        gh_model_ranges(s->m, one_range, &c);
}

static void mark(struct gh_script *s, struct gh_thread *t, uint32_t heap, uint32_t type)
{
    uint8_t buf[32], *p = buf;

    p = gh_put_u32(p, heap);
    p = gh_put_u16(p, 0);
    p = gh_put_u32(p, type);
    p = gh_put_u64(p, UINT64_C(4096) * (type + 1));
    emit(s, t, GH_M_MARK, GH_K_RUNDOWN, buf, p);
}

static void global_history(struct gh_script *s, struct gh_thread *t, uint32_t count)
{
    uint8_t buf[128], *p = buf;
    uint32_t i;

    p = gh_put_u64(p, 262144);
    p = gh_put_u32(p, s->o->n_heaps);
    p = gh_put_u32(p, 2); /* condemned generation */
    p = gh_put_u32(p, 0);
    p = gh_put_u32(p, 1); /* induced */
    p = gh_put_u32(p, 4);
    p = gh_put_u16(p, 0);
    p = gh_put_u32(p, 1);
    p = gh_put_u32(p, 40);
    p = gh_put_u32(gh_put_u32(p, 0x20), 0);
    p = gh_put_u32(p, 3);
    for (i = 0; i < 3; i++)
        p = gh_put_u32(p, count * 100 + i);
    emit(s, t, GH_M_GLOBAL, GH_K_RUNDOWN, buf, p);
}

/* ---- noise
 * -----------------------------------------------------------------------------------------------
 */

static uint64_t dice(struct gh_script *s)
{
    return gh_mix(s->noise_rng++ ^ s->m->seed);
}

static void noise_event(struct gh_script *s, struct gh_thread *t)
{
    static uint8_t buf[GH_PAYLOAD_MAX];
    struct gh_emit how = { .kind = GH_K_NOISE };
    uint64_t h = dice(s), n, i;
    enum gh_meta meta = GH_M_SAMPLE;
    uint8_t *p = buf;

    how.activity = (uint8_t)(h >> 32 & (GH_ACTIVITIES - 1));
    switch (h % 8) {
    case 0: /* written by one thread about another */
        t = s->sampler;
        how.about = s->user[h >> 8 & 1];
        how.stack = (uint8_t)(1 + (h >> 16) % (GH_STACKS - 1));
        how.activity = 0;
        p = gh_put_u32(p, 1);
        break;
    case 1:
        meta = GH_M_ORDER_START;
        p = gh_put_u32(p, (uint32_t)h);
        break;
    case 2:
        meta = GH_M_ORDER_STOP;
        p = gh_put_u32(p, (uint32_t)h);
        break;
    case 3:
        meta = GH_M_ORDER_PLACED;
        p = gh_put_utf16z(p, h & 0x100 ? "Gr\xC3\xBCn GmbH" : "");
        p = gh_put_u32(p, (uint32_t)h);
        p = gh_put_u64(p, UINT64_C(0x4058FF5C28F5C28F));
        p = gh_put_u32(p, 1);
        p = gh_put_u64(gh_put_u64(p, h), ~h);
        break;
    case 4:
        meta = GH_M_ORDER_ITEMS;
        n = h >> 40 & 31;
        p = gh_put_u32(p, (uint32_t)h);
        p = gh_put_u16(p, (unsigned)n);
        for (i = 0; i < n; i++)
            p = gh_put_u32(p, (uint32_t)i);
        break;
    case 5: /* sometimes a long one */
        meta = GH_M_ORDER_TEXT;
        n = h >> 40 & (h >> 60 ? 31 : 8191);
        for (i = 0; i < n; i++)
            p = gh_put_u16(p, 'a' + (unsigned)(i % 26));
        p = gh_put_u16(p, 0);
        break;
    case 6: /* truncated by another tool: no payload at all */
        meta = GH_M_DYNAMIC;
        break;
    default:
        meta = GH_M_TICK;
        for (i = 0; i < 48; i++)
            p = gh_put_u8(p, (unsigned)(h >> i % 56));
        break;
    }
    gh_pipe_event(s->pipe, t, meta, how, buf, (size_t)(p - buf));
}

static void noise_burst(struct gh_script *s, unsigned max)
{
    uint64_t n = dice(s) % (max + 1);

    while (s->o->noise && n--)
        noise_event(s, s->user[dice(s) % 3]);
}

/* During the walk: events of other threads, and sometimes the file writer runs. */
static void noise_between(void *v)
{
    struct gh_script *s = v;

    noise_burst(s, 4);
    if (++s->since_pass >= 40 + s->noise_rng % 20) {
        s->since_pass = 0;
        gh_pipe_end_pass(s->pipe);
    }
}

/* A collection that a reader must not choose. */
static void other_gc(struct gh_script *s, struct gh_thread *t, uint32_t depth, uint32_t reason,
                     uint32_t type)
{
    static const uint64_t small[5] = { 1000, 2000, 3000, 0, 0 };
    uint32_t count = ++s->n_gcs;

    suspend(s, t, GH_K_NOISE, count);
    gc_start(s, t, GH_K_NOISE, count, depth, reason, type);
    gh_pipe_wait(s->pipe, 900000);
    gc_end(s, t, GH_K_NOISE, count, depth);
    heap_stats(s, t, GH_K_NOISE, small);
    restart(s, t, GH_K_NOISE);
}

static void noise_before(struct gh_script *s)
{
    uint8_t buf[64], *p = buf;
    unsigned i;

    if (!s->o->noise)
        return;
    /* of a background GC that began before the session */
    gc_end(s, s->user[2], GH_K_NOISE, ++s->n_gcs, 2);
    noise_burst(s, 20);
    for (i = 0; i < 3; i++) {
        other_gc(s, s->user[i % 2], i % 2, 0, 0);
        noise_burst(s, 10);
    }
    other_gc(s, s->user[2], 2, 0, 1); /* background */
    /* induced and full, but without a walk */
    other_gc(s, s->diag, 2, 1, 0);
    gh_pipe_end_pass(s->pipe);
    p = gh_put_u16(gh_put_u32(gh_put_u32(p, 0), 2), 0); /* survivors: neither nodes nor edges */
    for (i = 0; i < 2; i++)
        p = gh_put_u64(gh_put_ptr(p, 0x1000 + i * 0x100, s->o->ptr_bytes), 64);
    emit(s, s->user[0], GH_M_SURVIVORS, GH_K_NOISE, buf, p);
    noise_burst(s, 20);
    gh_pipe_end_pass(s->pipe);
}

static void noise_after(struct gh_script *s)
{
    if (!s->o->noise)
        return;
    gh_pipe_wait(s->pipe, 100000000);
    noise_burst(s, 20);
    other_gc(s, s->user[1], 0, 0, 0);
    other_gc(s, s->user[0], 1, 0, 2);
    noise_burst(s, 20);
    gh_pipe_end_pass(s->pipe);
}

/* ---- a dump
 * ---------------------------------------------------------------------------------------------- */

static void dump(struct gh_script *s, uint32_t number)
{
    bool server = s->o->server;
    struct gh_thread *walker = server ? s->gc[0] : s->diag;
    uint32_t count = ++s->n_gcs, i;
    uint8_t buf[16];

    gh_pipe_dump(s->pipe, (int32_t)number);
    if (server) {
        emit(s, s->diag, GH_M_TRIGGERED, GH_K_RUNDOWN, buf, gh_put_u16(gh_put_u32(buf, 1), 0));
        gh_pipe_end_pass(s->pipe); /* the walker's run begins with the next event */
        suspend(s, walker, GH_K_SUSPEND, count);
    } else {
        suspend(s, walker, GH_K_SUSPEND, count);
        emit(s, walker, GH_M_TRIGGERED, GH_K_RUNDOWN, buf, gh_put_u16(gh_put_u32(buf, 1), 0));
    }
    gc_start(s, server ? s->gc[1] : walker, GH_K_GCSTART, count, 2, 1, 0);
    ranges(s, walker, true);
    for (i = 0; i < 4; i++)
        mark(s, server ? s->gc[(i + 2) % 3] : walker, server ? i : 0, i % 2);
    global_history(s, walker, count);
    gh_pipe_wait(s->pipe, 2000000);

    s->since_pass = 0;
    s->walk->between = s->o->noise ? noise_between : NULL;
    s->walk->between_ctx = s;
    s->walk->holds = s->o->truth_path && number == 0 ? &s->holds : NULL;
    gh_walk_run(s->walk, walker);
    s->totals[number] = s->walk->totals;

    ranges(s, walker, false);
    gc_end(s, walker, GH_K_GCEND, count, 2);
    heap_stats(s, walker, GH_K_HEAPSTATS, s->walk->totals.gen_bytes);
    restart(s, walker, GH_K_SUSPEND);
    gh_pipe_dump(s->pipe, -1);
    gh_pipe_end_pass(s->pipe);
}

/* ---- end of the session
 * ---------------------------------------------------------------------------------- */

static void process_info(struct gh_script *s)
{
    uint8_t buf[256], *p = buf;

    p = gh_put_utf16z(p, "/app/Acme.Host --serve");
    p = gh_put_utf16z(p, "Linux");
    p = gh_put_utf16z(p, s->o->ptr_bytes == 8 ? "x64" : "x86");
    emit(s, s->diag, GH_M_PROCESS_INFO, GH_K_PROCESSINFO, buf, p);
}

static void runtime_info(struct gh_script *s)
{
    static const unsigned version[8] = { 8, 0, 33, 0, 8, 0, 33, 0 };
    uint8_t buf[512], *p = buf;
    unsigned i;

    p = gh_put_u16(p, 0);
    p = gh_put_u16(p, 2); /* CoreCLR */
    for (i = 0; i < 8; i++)
        p = gh_put_u16(p, version[i]);
    p = gh_put_u32(p, s->o->server ? 2 : 0);
    p = gh_put_u8(p, 1);
    p = gh_put_utf16z(p, "/app/Acme.Host --serve");
    memset(p, 0, 16);
    p = gh_put_utf16z(p + 16, "/app/runtime/libcoreclr.so");
    emit(s, s->diag, GH_M_RUNTIME_INFO, GH_K_RUNDOWN, buf, p);
}

static void module_end(struct gh_script *s, uint32_t i)
{
    const struct gh_module *mod = &s->m->types->modules[i];
    uint64_t domain = mod->id & ~UINT64_C(0xFFFFFF);
    char name[160];
    uint8_t buf[1024], *p = buf;

    p = gh_put_u64(p, mod->id);
    p = gh_put_u64(p, mod->assembly_id);
    p = gh_put_u64(p, domain);
    p = gh_put_u32(p, 0x28);
    p = gh_put_u32(p, 0);
    p = gh_put_utf16z(p, mod->path);
    p = gh_put_utf16z(p, "");
    p = gh_put_u16(p, 0);
    gh_pipe_event(s->pipe, s->diag, GH_M_DOMAIN_MODULE, plain, buf, (size_t)(p - buf));

    p = buf;
    p = gh_put_u64(p, mod->id);
    p = gh_put_u64(p, mod->assembly_id);
    p = gh_put_u32(p, 0x28); /* manifest, ready to run */
    p = gh_put_u32(p, 0);
    p = gh_put_utf16z(p, mod->path);
    p = gh_put_utf16z(p, "");
    p = gh_put_u16(p, 0);
    p = gh_put_u64(gh_put_u64(p, gh_mix(i)), gh_mix(i + 100));
    p = gh_put_u32(p, 1);
    snprintf(name, sizeof name, "/src/obj/%s.pdb", mod->assembly);
    p = gh_put_utf16z(p, name);
    p = gh_put_u64(gh_put_u64(p, 0), 0);
    p = gh_put_u32(p, 0);
    p = gh_put_utf16z(p, "");
    emit(s, s->diag, GH_M_MODULE, GH_K_MODULE, buf, p);

    p = buf;
    p = gh_put_u64(p, mod->assembly_id);
    p = gh_put_u64(p, domain);
    p = gh_put_u64(p, 0);
    p = gh_put_u32(p, 0x10);
    snprintf(name, sizeof name, "%s, Version=8.0.0.0, Culture=neutral, PublicKeyToken=null",
             mod->assembly);
    p = gh_put_utf16z(p, name);
    p = gh_put_u16(p, 0);
    gh_pipe_event(s->pipe, s->diag, GH_M_ASSEMBLY, plain, buf, (size_t)(p - buf));
}

static void rundown(struct gh_script *s)
{
    uint8_t buf[256], *p = buf;
    uint32_t i;

    process_info(s);
    runtime_info(s);
    gh_put_u16(buf, 0);
    gh_pipe_event(s->pipe, s->diag, GH_M_DCEND_INIT, plain, buf, 2);
    for (i = 0; i < GH_MODULES; i++) {
        module_end(s, i);
        if (s->o->noise && i == 2)
            gh_pipe_event(s->pipe, s->user[0], GH_M_DYNAMIC, foreign, buf, 2);
    }
    p = gh_put_u64(p, s->m->types->modules[0].id & ~UINT64_C(0xFFFFFF));
    p = gh_put_u32(p, 3);
    p = gh_put_utf16z(p, "clrhost");
    p = gh_put_u32(p, 1);
    p = gh_put_u16(p, 0);
    gh_pipe_event(s->pipe, s->diag, GH_M_APPDOMAIN, plain, buf, (size_t)(p - buf));
    gh_put_u16(buf, 0);
    gh_pipe_event(s->pipe, s->diag, GH_M_DCEND_COMPLETE, plain, buf, 2);
    gh_pipe_end_pass(s->pipe);
}

/* A thread ends and the system gives its id to a new one, whose numbers begin at 1. */
static void reuse_thread(struct gh_script *s, struct gh_thread **user)
{
    struct gh_thread *old = *user;
    unsigned i;

    for (i = 0; i < 5; i++)
        noise_event(s, old);
    gh_pipe_end_pass(s->pipe);
    gh_pipe_thread_ends(s->pipe, old);
    *user = gh_pipe_thread(s->pipe, old->id, "worker, second of its id", old->processor);
    for (i = 0; i < 3; i++)
        noise_event(s, *user);
    gh_pipe_end_pass(s->pipe);
}

/* The dumps differ, to detect a reader that chooses the wrong one. */
static uint64_t dump_objects(const struct gh_opts *o, uint32_t number)
{
    return o->n_objects ? o->n_objects + number * (o->n_objects / 100 + 1) : 0;
}

bool gh_script_run(struct gh_script *s)
{
    static const char *const gc_names[3] = { ".NET Server GC", ".NET Server GC", ".NET Server GC" };
    uint32_t i;

    s->diag = gh_pipe_thread(s->pipe, 4224, ".NET SynchManager", 3);
    for (i = 0; i < 3; i++) {
        s->gc[i] = gh_pipe_thread(s->pipe, 4230 + i, gc_names[i], i);
        s->user[i] = gh_pipe_thread(s->pipe, 4240 + i * 3, "worker", 4 + i);
    }
    s->sampler = gh_pipe_thread(s->pipe, 4260, "sampler", 7);

    noise_before(s);
    for (i = 0; i < s->o->n_dumps; i++) {
        if (!gh_model_resize(s->m, dump_objects(s->o, i)))
            return false;
        dump(s, i);
        noise_after(s);
        if (s->o->thread_reuse && i == 0)
            reuse_thread(s, &s->user[1]);
    }
    rundown(s);
    if (s->o->final_sp)
        gh_pipe_sequence_point(s->pipe);
    if (s->pipe->no_memory || s->holds.no_memory) {
        fprintf(stderr, "genheap: no memory\n");
        return false;
    }
    return true;
}
