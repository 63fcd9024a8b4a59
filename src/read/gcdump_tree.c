/*
 * The made-up nodes below the root, "[.NET Roots]", "[static vars]", "[local vars]", ... : finds
 * them, and what they tell about the objects below them.  Names are those of dotnet-gcdump,
 * PerfView's converter and PerfView's process dumper; nodes with other names are treated like their
 * parent.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "read/gcdump_in.h"

static const struct {
    const char *name;
    unsigned kind;
    uint32_t flags;
} groups[] = {
    { "[static vars]", GCD_ROOT_STATIC, 0 },
    { "[thread static vars]", GCD_ROOT_STATIC, 0 },
    { "[local vars]", GCD_ROOT_STACK, 0 },
    { "[other roots]", GCD_ROOT_OTHER, 0 },
    { "[strong Handles]", GCD_ROOT_HANDLE, 0 },
    { "[StrongHandle]", GCD_ROOT_HANDLE, 0 },
    { "[pinning Handles]", GCD_ROOT_HANDLE, GCD_ROOT_PINNED },
    { "[PinnedHandle]", GCD_ROOT_HANDLE, GCD_ROOT_PINNED },
    { "[finalizer Handles]", GCD_ROOT_FINALIZER, 0 },
    { "[FinalizerQueue]", GCD_ROOT_FINALIZER, 0 },
    { "[other Handles]", GCD_ROOT_OTHER, 0 },
    /* The file does not say which key keeps them alive, so they have no owner: do not call their
       root weak. */
    { "[Dependent Handles]", GCD_ROOT_OTHER, 0 },
};
static const char com_name[] = "[COM/WinRT Objects]";
static const char *const static_prefixes[] = { "[static var ", "[thread static var " };

static bool name_is(const struct gcdump_in *f, uint32_t type, const char *text)
{
    const struct gcdump_string *s = &f->types[type].name;
    return s->bytes == strlen(text) && memcmp(f->file + s->off, text, s->bytes) == 0;
}

/* Length of the prefix in the name of a static variable's node, 0 = not one. */
static size_t static_prefix(const struct gcdump_in *f, uint32_t type)
{
    const struct gcdump_string *s = &f->types[type].name;
    for (size_t i = 0; i < sizeof static_prefixes / sizeof *static_prefixes; i++) {
        size_t n = strlen(static_prefixes[i]);
        if (f->types[type].bracketed && s->bytes > n &&
            memcmp(f->file + s->off, static_prefixes[i], n) == 0)
            return n;
    }
    return 0;
}

static struct gcdump_made_up describe(const struct gcdump_in *f, uint32_t node, uint32_t type,
                                      const struct gcdump_made_up *parent)
{
    struct gcdump_made_up m = *parent;
    m.node = node;
    if (static_prefix(f, type) > 0) {
        m.kind = GCD_ROOT_STATIC;
        m.flags = 0;
        m.name_type = type;
    } else if (name_is(f, type, com_name)) {
        /* below the root: wrappers that native code holds; below "[other roots]": handles of that
         * kind */
        bool wrappers = parent->node == f->root;
        m.kind = wrappers ? GCD_ROOT_COM : GCD_ROOT_HANDLE;
        m.flags = GCD_ROOT_REFCOUNTED;
        m.name_type = GCDUMP_NONE;
    } else {
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if (name_is(f, type, groups[i].name)) {
                m.kind = groups[i].kind;
                m.flags = groups[i].flags;
                /* even below a static variable: its name is not theirs */
                m.name_type = GCDUMP_NONE;
            }
    }
    return m;
}

/* If any object has an address, all have; otherwise the name decides. */
static bool is_made_up(const struct gcdump_in *f, uint32_t n, uint32_t type)
{
    return f->has_addresses ? gcdump_address(f, n) == 0 : f->types[type].bracketed;
}

static gcd_status add(struct gcdump_in *f, uint32_t node, uint32_t type,
                      const struct gcdump_made_up *parent, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&f->alloc, &f->tree, &f->tree_room, f->tree_count + 1, sizeof *f->tree,
                         SIZE_MAX / sizeof *f->tree))
        return gcd_fail_nomem(err, "reading the roots");
    gcdump_set_bit(f->in_tree, node);
    f->tree[f->tree_count++] = describe(f, node, type, parent);
    return GCD_OK;
}

gcd_status gcdump_find_tree(struct gcdump_in *f, struct gcd_error *err)
{
    static const struct gcdump_made_up nothing = { .node = GCDUMP_NONE,
                                                   .name_type = GCDUMP_NONE,
                                                   .kind = GCD_ROOT_OTHER };
    struct gcdump_node node;
    uint64_t children = 0;
    if (gcdump_offset(f, f->root) == 0)
        return gcdump_bad(f->offsets + (uint64_t)f->root * 4, "the root is not described", err);
    GCD_TRY(gcdump_get_node(f, f->root, &node, err));
    if (is_made_up(f, f->root, node.type))
        GCD_TRY(add(f, f->root, node.type, &nothing, err));
    for (size_t i = 0; i < f->tree_count; i++) {
        uint32_t self = f->tree[i].node;
        GCD_TRY(gcdump_get_node(f, self, &node, err));
        children += node.children;
        if (children > f->blob_bytes)
            return gcdump_bad(f->blob, "the nodes overlap", err);
        for (uint32_t k = 0; k < node.children; k++) {
            uint32_t child;
            struct gcdump_node c;
            GCD_TRY(gcdump_next_child(f, self, &node, &child, err));
            if (gcdump_offset(f, child) == 0 || gcdump_bit(f->in_tree, child))
                continue;
            GCD_TRY(gcdump_get_node(f, child, &c, err));
            struct gcdump_made_up parent = f->tree[i];
            if (is_made_up(f, child, c.type))
                GCD_TRY(add(f, child, c.type, &parent, err));
        }
    }
    return GCD_OK;
}

/* ---- names of static variables ---- */

/* FNV-1a, so that hashing all prefixes of a name costs no more than hashing the whole; the map
 * mixes it with a seed. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
static uint64_t hash_byte(uint64_t h, uint8_t byte)
{
    return (h ^ byte) * UINT64_C(0x100000001b3);
}

static uint64_t hash(const struct gcdump_in *f, size_t off, size_t n)
{
    uint64_t h = HASH_BEGIN;
    for (size_t i = 0; i < n; i++)
        h = hash_byte(h, f->file[off + i]);
    return h;
}

static gcd_status hash_names(struct gcdump_in *f, struct gcd_error *err)
{
    /* the first of several types with the same name stays */
    for (uint32_t t = f->type_count; t-- > 1;) {
        const struct gcdump_string *s = &f->types[t].name;
        if (s->bytes > 0 && !gcd_idmap_put(&f->type_by_name, hash(f, s->off, s->bytes), t))
            return gcd_fail_nomem(err, "reading the static variables");
    }
    f->names_hashed = true;
    return GCD_OK;
}

/* The owner of the name of N bytes at OFF with hash H: a type, type_count + an extra, or
 * GCD_IDMAP_NONE. */
static uint32_t find_name(const struct gcdump_in *f, uint64_t h, size_t off, size_t n)
{
    uint32_t at = gcd_idmap_get(&f->type_by_name, h);
    if (at == GCD_IDMAP_NONE)
        return at;
    const struct gcdump_string *s =
        at < f->type_count ? &f->types[at].name : &f->extras[at - f->type_count].name;
    return s->bytes == n && memcmp(f->file + s->off, f->file + off, n) == 0 ? at : GCD_IDMAP_NONE;
}

/* A substring. */
static struct gcdump_string part(const struct gcdump_in *f, size_t off, size_t n)
{
    struct gcdump_string s = { .off = off, .bytes = n };
    for (size_t i = 0; i < n; s.units++)
        i += f->file[off + i] < 0x80 ? 1 : f->file[off + i] < 0xe0 ? 2 : 3;
    return s;
}

/* A class without objects and without other mention. */
static gcd_status add_extra(struct gcdump_in *f, struct gcd_build *b, size_t off, size_t n,
                            uint32_t *ret, struct gcd_error *err)
{
    struct gcdump_extra x = { .name = part(f, off, n) };
    uint64_t h = hash(f, off, n);
    GCD_TRY(gcdump_text(f, &x.name, &f->text, &f->text_room, err));
    if (!f->ours)
        gcdump_undo_brackets(f->text);
    const struct gcd_type t = { .name = n > 0 ? f->text : "?", .module_path = "", .named = n > 0 };
    GCD_TRY(gcd_build_type(b, &t, &x.number, err));
    if (!gcd_vec_reserve(&f->alloc, &f->extras, &f->extra_room, f->extra_count + 1, sizeof x,
                         UINT32_MAX - f->type_count) ||
        !gcd_idmap_put(&f->type_by_name, h, f->type_count + (uint32_t)f->extra_count))
        return gcd_fail_nomem(err, "reading the static variables");
    f->extras[f->extra_count++] = x;
    *ret = x.number;
    return GCD_OK;
}

/* Outside brackets; SIZE_MAX: there is none. */
static size_t last_dot(const uint8_t *p, size_t n)
{
    int depth = 0;
    for (size_t i = n; i-- > 0;) {
        if (p[i] == '>' || p[i] == ']')
            depth++;
        else if ((p[i] == '<' || p[i] == '[') && depth > 0)
            depth--;
        else if (p[i] == '.' && depth == 0)
            return i;
    }
    return SIZE_MAX;
}

/*
 * The dot between class and field: the last one after a known class, otherwise the last one outside
 * brackets, because generic classes and compiler-generated fields have dots inside.  SIZE_MAX:
 * there is none.
 */
static size_t find_dot(const struct gcdump_in *f, size_t off, size_t n, uint32_t *ret_known)
{
    const uint8_t *p = f->file + off;
    size_t dot = SIZE_MAX;
    uint64_t h = HASH_BEGIN;
    *ret_known = GCD_IDMAP_NONE;
    for (size_t i = 0; i < n; h = hash_byte(h, p[i++])) {
        uint32_t at = p[i] == '.' ? find_name(f, h, off, i) : GCD_IDMAP_NONE;
        if (at != GCD_IDMAP_NONE) {
            *ret_known = at;
            dot = i;
        }
    }
    return dot != SIZE_MAX ? dot : last_dot(p, n);
}

/* No class name is longer: longer names are never compared, because a small file could demand many
 * such comparisons. */
#define CLASS_BYTES_MAX 4096

static gcd_status keep_text(struct gcdump_in *f, struct gcd_build *b, size_t off, size_t n,
                            const char **ret, struct gcd_error *err)
{
    struct gcdump_string s = part(f, off, n);
    GCD_TRY(gcdump_text(f, &s, &f->text, &f->text_room, err));
    return gcd_build_text(b, f->text, strlen(f->text), ret, err);
}

/* "[static var TYPE.FIELD or TYPE.FIELD]", as our writer spells it.  RET->label stays NULL for any
 * other name. */
static gcd_status read_several(struct gcdump_in *f, struct gcd_build *b, size_t off, size_t n,
                               struct gcdump_static *ret, struct gcd_error *err)
{
    static const char between[] = " or ";
    const uint8_t *p = f->file + off, *end = memmem(p, n, between, sizeof between - 1);
    size_t dot = end != NULL ? last_dot(p, (size_t)(end - p)) : SIZE_MAX;
    if (dot == SIZE_MAX)
        return GCD_OK;
    GCD_TRY(keep_text(f, b, off + dot + 1, (size_t)(end - p) - dot - 1, &ret->field, err));
    return keep_text(f, b, off, n, &ret->label, err);
}

/* "[static var TYPE.FIELD]".  TYPE is that of the object or the declaring class, as known to the
 * program that wrote the file. */
static gcd_status read_static(struct gcdump_in *f, struct gcd_build *b, uint32_t name_type,
                              struct gcdump_static *ret, struct gcd_error *err)
{
    size_t prefix = static_prefix(f, name_type);
    size_t off = f->types[name_type].name.off + prefix,
           n = f->types[name_type].name.bytes - prefix - 1;
    *ret = (struct gcdump_static){ .field = "", .class_off = off, .asked = GCDUMP_NONE };
    GCD_TRY(read_several(f, b, off, n, ret, err));
    if (ret->label != NULL)
        return GCD_OK;
    if (!f->names_hashed)
        GCD_TRY(hash_names(f, err));
    size_t dot = find_dot(f, off, n, &ret->known);
    ret->class_n = dot;
    ret->same = ret->known;
    if (ret->known < f->type_count) {
        GCD_TRY(gcdump_put_type(f, b, ret->known, err));
        ret->number = f->types[ret->known].number;
    } else if (ret->known != GCD_IDMAP_NONE) {
        ret->number = f->extras[ret->known - f->type_count].number;
    } else if (dot != SIZE_MAX) {
        GCD_TRY(add_extra(f, b, off, dot, &ret->number, err));
    }
    size_t skip = dot == SIZE_MAX ? 0 : dot + 1;
    return keep_text(f, b, off + skip, n - skip, &ret->field, err);
}

/* Computed once per name, because any number of nodes can have the same one.  *RET is valid until
 * the next call. */
static gcd_status find_static(struct gcdump_in *f, struct gcd_build *b, uint32_t name_type,
                              struct gcdump_static **ret, struct gcd_error *err)
{
    uint32_t at = gcd_idmap_get(&f->static_of_type, name_type);
    if (at == GCD_IDMAP_NONE) {
        at = (uint32_t)f->static_count;
        if (!gcd_vec_reserve(&f->alloc, &f->statics, &f->static_room, f->static_count + 1,
                             sizeof *f->statics, UINT32_MAX - 1) ||
            !gcd_idmap_put(&f->static_of_type, name_type, at))
            return gcd_fail_nomem(err, "reading the static variables");
        GCD_TRY(read_static(f, b, name_type, &f->statics[at], err));
        f->static_count++;
    }
    *ret = &f->statics[at];
    return GCD_OK;
}

/* Among several types with the name of the class, prefers that of the object. */
static gcd_status choose_class(struct gcdump_in *f, struct gcd_build *b, struct gcdump_static *s,
                               uint32_t object_type, struct gcd_root *r, struct gcd_error *err)
{
    r->type = s->number;
    if (s->known >= f->type_count || object_type == GCDUMP_NONE)
        return GCD_OK;
    if (s->asked != object_type) {
        const struct gcdump_string *own = &f->types[object_type].name;
        bool same = own->bytes == s->class_n && own->bytes <= CLASS_BYTES_MAX &&
                    memcmp(f->file + own->off, f->file + s->class_off, own->bytes) == 0;
        s->asked = object_type;
        s->same = same ? object_type : s->known;
        GCD_TRY(gcdump_put_type(f, b, s->same, err));
    }
    r->type = f->types[s->same].number;
    return GCD_OK;
}

/* ---- roots ---- */

/* NAME NULL: not a static variable. */
static gcd_status put_root(struct gcdump_in *f, struct gcd_build *b, const struct gcdump_made_up *m,
                           struct gcdump_static *name, uint32_t child, struct gcd_error *err)
{
    struct gcd_root r = {
        .node = gcdump_graph_node(f, child), .name = "", .flags = m->flags, .kind = m->kind
    };
    uint32_t object_type = GCDUMP_NONE;
    if (r.node != GCD_NODE_NONE) {
        struct gcdump_node node;
        GCD_TRY(gcdump_get_node(f, child, &node, err));
        object_type = node.type;
        r.type = f->types[node.type].number;
    }
    if (name != NULL) {
        r.name = name->field;
        r.label = name->label;
        if (name->label == NULL)
            GCD_TRY(choose_class(f, b, name, object_type, &r, err));
    }
    return gcd_build_root_kept(b, &r, err);
}

static gcd_status put_children(struct gcdump_in *f, struct gcd_build *b,
                               const struct gcdump_made_up *m, struct gcd_error *err)
{
    struct gcdump_node node;
    struct gcdump_static *name = NULL;
    GCD_TRY(gcdump_get_node(f, m->node, &node, err));
    if (m->name_type != GCDUMP_NONE)
        GCD_TRY(find_static(f, b, m->name_type, &name, err));
    for (uint32_t k = 0; k < node.children; k++) {
        uint32_t child;
        GCD_TRY(gcdump_next_child(f, m->node, &node, &child, err));
        if (k % GCDUMP_CHECK_EVERY == 0 && gcd_is_canceled(f->options->context.cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        if (!gcdump_bit(f->in_tree, child) && child != f->null_node)
            GCD_TRY(put_root(f, b, m, name, child, err));
    }
    return GCD_OK;
}

/* Roots of one kind at a time: static variables come first in a graph, COM wrappers last. */
static gcd_status put_roots_of(struct gcdump_in *f, struct gcd_build *b, unsigned first_kind,
                               unsigned last_kind, struct gcd_error *err)
{
    for (size_t i = 0; i < f->tree_count; i++) {
        const struct gcdump_made_up *m = &f->tree[i];
        if (m->kind < first_kind || m->kind > last_kind)
            continue;
        if (gcd_is_canceled(f->options->context.cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        GCD_TRY(put_children(f, b, m, err));
    }
    return GCD_OK;
}

gcd_status gcdump_put_roots(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    if (f->tree_count == 0) { /* the root itself is an object */
        static const struct gcdump_made_up self = { .name_type = GCDUMP_NONE,
                                                    .kind = GCD_ROOT_OTHER };
        return put_root(f, b, &self, NULL, f->root, err);
    }
    GCD_TRY(put_roots_of(f, b, GCD_ROOT_STATIC, GCD_ROOT_STATIC, err));
    GCD_TRY(put_roots_of(f, b, 0, GCD_ROOT_KINDS - 1, err));
    return put_roots_of(f, b, GCD_ROOT_COM, GCD_ROOT_COM, err);
}
