/*
 * The threads of the runtime, and what they are called.
 *
 * A Thread (vm/threads.h) has handles to its object, a System.Threading.Thread, whose field
 * _DONT_USE_InternalThread leads back to it.  So the offset of such a handle is found by search, in
 * every version, and nothing but the right object is believed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "image/clr/clr.h"

#define THREAD_BYTES 1280u /* the handles are within, in .NET 8 to 11 */
#define OBJECT_BYTES 128u  /* the field that leads back is within */
#define SEARCHES_MAX 8u
#define NAME_UNITS   256u

#define THREADS_MAX 1000000u

gcd_status clr_each_thread(struct clr *c,
                           gcd_status (*fn)(struct clr *c, uint64_t thread, struct gcd_error *err),
                           struct gcd_error *err)
{
    /* the entry four before that of the collector: ThreadStore::s_pThreadStore */
    uint64_t entry = image_u64(c->image, c->dac + 8 * (uint64_t)(c->dac_index - 4));
    uint64_t store = image_u64(c->image, entry);
    uint64_t link = store != 0 ? image_u64(c->image, store + c->layout.thread_list) : 0;
    uint64_t first = link;
    for (unsigned n = 0; link != 0 && n < THREADS_MAX; n++) {
        uint64_t thread = c->layout.list_of_threads ? link : link - c->layout.thread_link;
        GCD_TRY(fn(c, thread, err));
        link = image_u64(c->image, thread + c->layout.thread_link);
        if (link == first)
            break;
    }
    return GCD_OK;
}

/* The object of the handle in THREAD at OFFSET, if it is that of THREAD. */
static uint64_t object_at(struct clr *c, uint64_t thread, uint32_t offset)
{
    uint64_t handle = image_u64(c->image, thread + offset);
    uint64_t object = handle != 0 && handle % 8 == 0 ? image_u64(c->image, handle) : 0;
    if (object == 0 || object % 8 != 0 || clr_region_at(c, object) == NULL)
        return 0;
    for (uint32_t at = 8; at < OBJECT_BYTES; at += 8)
        if (image_u64(c->image, object + at) == thread)
            return object;
    return 0;
}

uint64_t clr_thread_object(struct clr *c, uint64_t thread)
{
    if (c->thread_object != 0)
        return object_at(c, thread, c->thread_object);
    for (uint32_t at = 8; at < THREAD_BYTES && c->thread_searches < SEARCHES_MAX; at += 8) {
        uint64_t object = object_at(c, thread, at);
        if (object == 0)
            continue;
        c->thread_object = at;
        return object;
    }
    c->thread_searches++;
    return 0;
}

/* ---- names ---- */

/* The entry three before that of the collector: g_pFinalizerThread. */
bool clr_is_finalizer(const struct clr *c, const struct clr_thread *t)
{
    uint64_t entry = image_u64(c->image, c->dac + 8 * (uint64_t)(c->dac_index - 3));
    return entry != 0 && image_u64(c->image, entry) == t->thread;
}

void clr_thread_label(const struct clr_thread *t, const char *prefix, const char *what, char *ret,
                      size_t cap)
{
    bool named = t->name[0] != '\0',
         same = strncmp(t->name, t->kernel_name, strlen(t->kernel_name)) == 0;
    (void)snprintf(ret, cap, "%" PRIu32 "%s%s%s%s%s%s%s%s", t->id, named ? " \"" : "", t->name,
                   named ? "\"" : "", same ? "" : " (", same ? "" : t->kernel_name,
                   same ? "" : ")", prefix, what);
}

/* The only text that a System.Threading.Thread refers to is its name. */
static gcd_status read_name(struct clr *c, struct clr_thread *t, struct gcd_error *err)
{
    struct clr_object o, text;
    struct clr_slots slots;
    uint64_t target, slot;
    gcd_status st = GCD_OK;
    t->name = "";
    if (t->object == 0 || !clr_object_at(c, t->object, &o, &st) ||
        strcmp(c->types[o.type].raw_name, "System.Threading.Thread") != 0)
        return st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "reading the names of threads");
    clr_slots_begin(&slots, c, &o);
    for (; clr_slots_next(&slots, &target, &slot); clr_slots_resume(&slots))
        if (clr_region_at(c, target) != NULL && clr_object_at(c, target, &text, &st) &&
            strcmp(c->types[text.type].raw_name, "System.String") == 0)
            return image_text(c->image, target + CLR_STRING_TEXT, NAME_UNITS, &t->name, err);
    return st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "reading the names of threads");
}

gcd_status clr_name_threads(struct clr *c, struct gcd_error *err)
{
    for (size_t i = 0; i < c->thread_count; i++) {
        struct clr_thread *t = &c->threads[i];
        GCD_TRY(read_name(c, t, err));
        /* a core file has no names of the kernel: this one is the same everywhere */
        if (t->kernel_name[0] == '\0' && clr_is_finalizer(c, t))
            (void)snprintf(t->kernel_name, sizeof t->kernel_name, ".NET Finalizer");
    }
    return GCD_OK;
}
