#include "write/html/html_data.h"

#include <string.h>

#include <gcdumpc/unstable/blocked.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "write/json_put.h"

/* Maximum numbers of stacks, most frequent first, and of their frames; maximum bytes of a name. */
#define STACKS     1000u
#define FRAMES     6000u
#define NAME_BYTES 200u

enum { PROBABLE = 1, REPEATS = 2, CUT = 4 };

/* The used frames, numbered so that an awaited frame comes before those that wait for it; each name
 * once. */
struct numbering {
    const struct gcd_async_frame *frames;
    const struct gcd_alloc *alloc;
    struct gcd_idmap numbers, names; /* frame -> number; address of a name -> number */
    uint32_t *used;                  /* [FRAMES] frames */
    const char **texts;              /* [FRAMES] names */
    uint32_t count, text_count;
};

static bool use_frame(struct numbering *n, uint32_t frame)
{
    /* equal names have equal addresses, nearly always */
    uint64_t name = (uint64_t)(uintptr_t)n->frames[frame].name;
    if (gcd_idmap_get(&n->names, name) == GCD_IDMAP_NONE) {
        if (!gcd_idmap_put(&n->names, name, n->text_count))
            return false;
        n->texts[n->text_count++] = n->frames[frame].name;
    }
    n->used[n->count] = frame;
    return gcd_idmap_put(&n->numbers, frame, n->count++);
}

/* *RET_FITS: there was room for all frames of STACK. */
static bool use_stack(struct numbering *n, uint32_t stack, bool *ret_fits)
{
    uint32_t missing = 0;
    for (uint32_t f = stack; f != GCD_FRAME_NONE && gcd_idmap_get(&n->numbers, f) == GCD_IDMAP_NONE;
         f = n->frames[f].parent)
        missing++;
    *ret_fits = missing <= FRAMES - n->count;
    for (; *ret_fits && missing > 0; missing--) {
        uint32_t f = stack;
        for (uint32_t i = 1; i < missing; i++)
            f = n->frames[f].parent;
        if (!use_frame(n, f))
            return false;
    }
    return true;
}

/* One row per frame: the number of the frame that it waits for (-1: none), name, flags, -1 or the
 * name of a type. */
static void put_frames(const struct numbering *n, const uint32_t *type_names, struct json_put *j)
{
    json_put_open(j, "names", '[');
    for (uint32_t i = 0; i < n->text_count; i++)
        json_put_text(j, NULL, n->texts[i], NAME_BYTES);
    json_put_close(j, ']');
    json_put_open(j, "frames", '[');
    for (uint32_t i = 0; i < n->count; i++) {
        const struct gcd_async_frame *f = &n->frames[n->used[i]];
        uint32_t type = f->type != GCD_FRAME_NONE ? type_names[f->type] : UINT32_MAX;
        json_put_open(j, NULL, '[');
        json_put_signed(
            j, NULL,
            f->parent == GCD_FRAME_NONE ? -1 : (int64_t)gcd_idmap_get(&n->numbers, f->parent));
        json_put_number(j, NULL, gcd_idmap_get(&n->names, (uint64_t)(uintptr_t)f->name));
        json_put_number(j, NULL,
                        (f->probable ? PROBABLE : 0u) | (f->repeats ? REPEATS : 0u) |
                            (f->cut ? CUT : 0u));
        json_put_signed(j, NULL, type == UINT32_MAX ? -1 : (int64_t)type);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
}

/* One row per stack: its outermost frame, the number of such stacks, the number of old ones, the
 * bytes they keep alive. */
static void put_stacks(const struct numbering *n, const uint32_t *stacks, size_t count,
                       struct json_put *j)
{
    json_put_open(j, "rows", '[');
    for (size_t i = 0; i < count; i++) {
        const struct gcd_async_frame *f = &n->frames[stacks[i]];
        json_put_open(j, NULL, '[');
        json_put_number(j, NULL, gcd_idmap_get(&n->numbers, stacks[i]));
        json_put_number(j, NULL, f->stacks);
        json_put_number(j, NULL, f->old_stacks);
        json_put_number(j, NULL, f->bytes);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
}

/* JAM: a sentence about many calls that wait in one place; NULL = there is none. */
static bool put_waits(const struct html_data *h, const uint32_t *type_names, const char *jam,
                      struct numbering *n, struct json_put *j)
{
    struct gcd_async_totals t = gcd_async_totals(h->async);
    size_t all, shown = 0;
    const uint32_t *stacks = gcd_async_stacks(h->async, &all);
    bool fits = true;
    while (shown < all && shown < STACKS) {
        if (!use_stack(n, stacks[shown], &fits))
            return false;
        if (!fits)
            break;
        shown++;
    }
    json_put_open(j, "waits", '{');
    json_put_number(j, "operations", t.operations);
    json_put_number(j, "stacks", t.stacks);
    json_put_number(j, "different", all);
    json_put_number(j, "bytes", t.bytes);
    json_put_bool(j, "ages", t.ages_known);
    if (jam != NULL)
        json_put_text(j, "jam", jam, strlen(jam));
    put_frames(n, type_names, j);
    put_stacks(n, stacks, shown, j);
    json_put_close(j, '}');
    return true;
}

gcd_status html_put_waits(const struct html_data *h, const uint32_t *type_names, struct json_put *j,
                          struct gcd_error *err)
{
    size_t count;
    struct numbering n = { .frames = gcd_async_frames(h->async, &count), .alloc = &h->alloc };
    struct gcd_async_jam jam;
    char sentence[GCD_ASYNC_JAM_BYTES], place[GCD_ASYNC_PLACE_BYTES], threads[GCD_BLOCKED_BYTES];
    bool found;
    GCD_TRY(gcd_async_find_jam(h->async, h->origins, &h->alloc, &jam, &found, err));
    if (found) {
        const struct gcd_async_jam_of of = { .context = html_quietly(h),
                                             .graph = h->g,
                                             .fields = h->fields,
                                             .names = h->options->names,
                                             .origins = h->origins,
                                             .step = gcd_session_step,
                                             .steps = h->session };
        GCD_TRY(gcd_async_jam_place(h->async, &jam, &of, place, sizeof place, err));
        gcd_async_jam_text(h->async, &jam, place, sentence, sizeof sentence);
    }
    (void)gcd_blocked_text(h->g, found && jam.blocked > 0, threads, sizeof threads);
    if (threads[0] != '\0')
        json_put_text(j, "blocked", threads, strlen(threads));
    if (gcd_async_totals(h->async).operations == 0)
        return GCD_OK;
    gcd_idmap_init(&n.numbers, n.alloc);
    gcd_idmap_init(&n.names, n.alloc);
    n.used = gcd_mem_new_uncleared(n.alloc, FRAMES, sizeof *n.used);
    n.texts = gcd_mem_new_uncleared(n.alloc, FRAMES, sizeof *n.texts);
    bool done = n.used != NULL && n.texts != NULL &&
                put_waits(h, type_names, found ? sentence : NULL, &n, j);
    gcd_mem_free(n.alloc, n.used, FRAMES * sizeof *n.used);
    gcd_mem_free(n.alloc, n.texts, FRAMES * sizeof *n.texts);
    gcd_idmap_done(&n.names);
    gcd_idmap_done(&n.numbers);
    return done ? GCD_OK : gcd_fail_nomem(err, "numbering frames");
}
