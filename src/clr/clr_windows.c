#include "clr/clr_windows.h"

#include <string.h>

#include "clr/clr_gc.h"

static void skip_user(struct gcd_cur *c, unsigned ptr_bytes)
{
    struct gcd_cur ahead = *c;
    if (gcd_cur_u32(&ahead) == 0) {
        gcd_cur_skip(c, 4);
        return;
    }
    gcd_cur_skip(c, 2 * ptr_bytes + 1);
    gcd_cur_skip(c, 6 + 4 * (size_t)gcd_cur_u8(c));
}

gcd_status gcd_windows_process(const struct gcd_event *ev, struct gcd_windows_process *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    struct gcd_windows_process p = { .process = 0 };
    if (ev->version < 3)
        return GCD_E_FORMAT;
    gcd_cur_skip(&c, ev->ptr_bytes);
    p.process = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 12 + ev->ptr_bytes + (ev->version >= 4 ? 4 : 0));
    skip_user(&c, ev->ptr_bytes);
    p.image = c.p;
    const uint8_t *end =
        c.err == GCD_OK && gcd_cur_left(&c) > 0 ? memchr(c.p, 0, gcd_cur_left(&c)) : NULL;
    if (end == NULL)
        return GCD_E_FORMAT;
    p.image_bytes = (size_t)(end - c.p);
    gcd_cur_skip(&c, p.image_bytes + 1);
    p.command_line = gcd_cur_utf16z(&c, &p.command_line_units);
    if (c.err == GCD_OK)
        *ret = p;
    return c.err;
}
