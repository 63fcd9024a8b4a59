#include <gcdumpc/names.h>

#define LABEL(key, one, many)        \
    {                                \
        key, one, many, "[" many "]" \
    }

const struct gcd_root_label *gcd_root_group_label(enum gcd_root_group group)
{
    static const struct gcd_root_label labels[GCD_GROUPS] = {
        [GCD_GROUP_STATICS] = LABEL("statics", "static variable", "static variables"),
        [GCD_GROUP_LOCALS] = LABEL("locals", "thread stack", "thread stacks"),
        [GCD_GROUP_FINALIZER] = LABEL("finalizer", "finalizer queue", "finalizer queue"),
        [GCD_GROUP_STRONG_HANDLES] = LABEL("strong_handles", "strong handle", "strong handles"),
        [GCD_GROUP_PINNED_HANDLES] = LABEL("pinned_handles", "pinned handle", "pinned handles"),
        [GCD_GROUP_REFCOUNTED] = LABEL("refcounted", "ref-counted handle", "ref-counted handles"),
        [GCD_GROUP_OTHER] = LABEL("other", "other root", "other roots"),
        [GCD_GROUP_WEAK] = LABEL("weak", "weak root", "weak roots"),
    };
    return &labels[group];
}
