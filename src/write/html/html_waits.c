#include "write/html/html_data.h"
#include "write/json_put.h"

/* Stacks, frames of one and bytes of a name; the innermost frames count. */
#define STACKS 60u
#define FRAMES 40u
#define NAME_BYTES 200u

static void put_frames(struct json_put *j, const struct gcd_async_frame *frames, uint32_t stack)
{
    uint32_t path[FRAMES], n = 0;
    for (uint32_t f = stack; f != GCD_FRAME_NONE; f = frames[f].parent)
        if (frames[f].depth < FRAMES)
            path[n++] = f;
    json_put_open(j, NULL, '[');
    while (n > 0) {
        const struct gcd_async_frame *f = &frames[path[--n]];
        json_put_open(j, NULL, '[');
        json_put_text(j, NULL, f->name, NAME_BYTES);
        json_put_bool(j, NULL, f->probable);
        json_put_bool(j, NULL, f->repeats);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
}

/* A row a stack: how many, of them old ones, what they keep alive, the number of outer frames that are left out, frames. */
void html_put_waits(const struct html_data *h, struct json_put *j)
{
    struct gcd_async_totals t = gcd_async_totals(h->async);
    size_t n, count;
    const struct gcd_async_frame *frames = gcd_async_frames(h->async, &count);
    const uint32_t *stacks = gcd_async_stacks(h->async, &n);
    if (t.operations == 0)
        return;
    json_put_open(j, "waits", '{');
    json_put_number(j, "operations", t.operations);
    json_put_number(j, "stacks", t.stacks);
    json_put_number(j, "different", n);
    json_put_number(j, "bytes", t.bytes);
    json_put_bool(j, "ages", t.ages_known);
    json_put_open(j, "rows", '[');
    for (size_t i = 0; i < n && i < STACKS; i++) {
        const struct gcd_async_frame *f = &frames[stacks[i]];
        json_put_open(j, NULL, '[');
        json_put_number(j, NULL, f->stacks);
        json_put_number(j, NULL, f->old_stacks);
        json_put_number(j, NULL, f->bytes);
        json_put_number(j, NULL, f->depth >= FRAMES ? f->depth - FRAMES + 1 : 0);
        put_frames(j, frames, stacks[i]);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
    json_put_close(j, '}');
}
