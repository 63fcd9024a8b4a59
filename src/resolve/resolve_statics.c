/*
 * The class of each static variable.  The runtime sends the name of the field and the object in it;
 * the files tell which classes have a field of that name that can hold the object.  Candidates that
 * the order of the events excludes are dropped (resolve_order.c).
 *
 * Generic classes have a variable per instantiation, which the runtime does not report (measured,
 * .NET 8 to 10): their fields are not candidates.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "base/sort.h"
#include "resolve/resolve.h"

#define TYPE_SEALED    0x100u /* ECMA-335 II.23.1.15 */
#define CANDIDATES_MAX ((size_t)1 << 20)
#define WORK_MAX       (UINT64_C(1) << 26)
#define NAMED_MAX      3u /* classes of one variable that a label names */

static uint64_t hash_of(const char *s)
{
    return gcd_text_hash(s, strlen(s), GCD_TEXT_HASH);
}

/* ---- the variables, and the types of the objects in them ---- */

static void describe_stored(struct resolve *r, uint32_t stored, uint32_t type)
{
    struct resolve_stored *s = &r->stored[stored];
    const struct gcd_type *t = &r->d->types[type], *definition = r->types[type].definition;
    uint32_t module = r->types[type].module;
    *s = (struct resolve_stored){ .type = type, .next = RESOLVE_NONE };
    s->array = t->element_type == ELEMENT_SZARRAY || t->element_type == ELEMENT_ARRAY;
    s->holds_values = s->array && definition != NULL && definition->element_type != ELEMENT_CLASS;
    if (module != GCD_MODULE_NONE && !s->array) {
        s->next = r->modules[module].first_stored;
        r->modules[module].first_stored = stored;
    }
}

static gcd_status add_variable(struct resolve *r, struct gcd_root *root,
                               struct gcd_idmap *stored_by_type, struct gcd_error *err)
{
    uint32_t stored = gcd_idmap_get(stored_by_type, root->type);
    if (stored == GCD_IDMAP_NONE) {
        stored = (uint32_t)r->stored_count;
        if (!gcd_vec_reserve(r->alloc, &r->stored, &r->stored_cap, r->stored_count + 1,
                             sizeof *r->stored, RESOLVE_NONE) ||
            !gcd_idmap_put(stored_by_type, root->type, stored))
            return gcd_fail_nomem(err, "completing names");
        r->stored_count++;
        describe_stored(r, stored, root->type);
    }
    uint64_t name = hash_of(root->name);
    uint32_t v = (uint32_t)r->variable_count++;
    r->variables[v] = (struct resolve_variable){
        .root = root, .stored = stored, .next = gcd_idmap_get(&r->variable_by_name, name)
    };
    return gcd_idmap_put(&r->variable_by_name, name, v) ? GCD_OK
                                                        : gcd_fail_nomem(err, "completing names");
}

gcd_status resolve_statics_begin(struct resolve *r, struct gcd_error *err)
{
    const struct gcd_summary *s = &r->d->summary;
    struct gcd_idmap stored_by_type;
    gcd_status st = GCD_OK;
    r->work = WORK_MAX;
    r->variables = gcd_mem_new_array(r->alloc, (size_t)s->statics, sizeof *r->variables);
    if (r->variables == NULL)
        return gcd_fail_nomem(err, "completing names");
    gcd_idmap_init(&stored_by_type, r->alloc);
    for (size_t i = 0; i < s->root_count && st == GCD_OK; i++) {
        struct gcd_root *root = &r->d->roots[i];
        if (root->kind == GCD_ROOT_STATIC && root->class_name[0] == '\0' && root->name[0] != '\0')
            st = add_variable(r, root, &stored_by_type, err);
    }
    gcd_idmap_done(&stored_by_type);
    return st;
}

gcd_status resolve_statics_names(struct resolve *r, struct gcd_error *err)
{
    for (size_t i = 0; i < r->stored_count; i++) {
        struct resolve_stored *s = &r->stored[i];
        const struct gcd_type *t = &r->d->types[s->type];
        uint32_t module = r->types[s->type].module;
        s->bare = module == GCD_MODULE_NONE || r->d->modules[module].state != GCD_MODULE_READ;
        if (csharp_name(&r->spelling, t->name, t->element_type != 0) != GCD_OK ||
            gcd_textpool_add(&r->text, r->spelling.out, r->spelling.n, &s->name) != GCD_OK)
            return gcd_fail_nomem(err, "completing names");
        s->hash = hash_of(s->name);
    }
    return GCD_OK;
}

/* ---- the candidates of a module ---- */

gcd_status resolve_statics_ancestors(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                                     struct gcd_error *err)
{
    for (uint32_t i = r->modules[module].first_stored; i != RESOLVE_NONE; i = r->stored[i].next)
        GCD_TRY(resolve_holds_ancestors(r, &r->stored[i], m,
                                        r->types[r->stored[i].type].definition->name_token, err));
    return GCD_OK;
}

static gcd_status add_candidate(struct resolve *r, const struct resolve_candidate *c,
                                struct gcd_error *err)
{
    if (r->candidate_count == CANDIDATES_MAX) {
        r->work = 0;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(r->alloc, &r->candidates, &r->candidate_cap, r->candidate_count + 1,
                         sizeof *r->candidates, CANDIDATES_MAX))
        return gcd_fail_nomem(err, "completing names");
    r->candidates[r->candidate_count++] = *c;
    return GCD_OK;
}

/* Is TOKEN a sealed class, so that its fields hold only objects of itself?  False if it is defined
 * elsewhere. */
static bool is_sealed(struct gcd_metadata *m, uint32_t token)
{
    struct gcd_type_definition d;
    return token >> 24 == GCD_TOKEN_TYPE >> 24 && gcd_metadata_type(m, token, &d, NULL) == GCD_OK &&
           (d.flags & TYPE_SEALED) != 0;
}

/* Adds field F as a candidate of the variables that it can be; number V is the first with its name.
 */
static gcd_status add_field(struct resolve *r, struct gcd_metadata *m,
                            const struct gcd_static_field *f, uint32_t v,
                            struct resolve_candidate *c, struct gcd_error *err)
{
    const char *declared, *field;
    if (gcd_textpool_add(&r->text, f->name, strlen(f->name), &field) != GCD_OK)
        return gcd_fail_nomem(err, "completing names");
    GCD_TRY(gcd_metadata_field_type(m, f, &declared, err));
    bool sealed = is_sealed(m, f->type_token);
    if (gcd_textpool_add(&r->text, declared, strlen(declared), &declared) != GCD_OK)
        return gcd_fail_nomem(err, "completing names");
    c->class_name = NULL;
    for (; v != RESOLVE_NONE && r->work > 0; v = r->variables[v].next, r->work--) {
        if (strcmp(r->variables[v].root->name, field) != 0 ||
            !resolve_holds(f, declared, sealed, &r->stored[r->variables[v].stored]))
            continue;
        if (c->class_name == NULL) {
            const char *name;
            GCD_TRY(gcd_metadata_reflection_name(m, f->class_token, &name, NULL, err));
            if (gcd_textpool_add(&r->text, name, strlen(name), &c->class_name) != GCD_OK)
                return gcd_fail_nomem(err, "completing names");
        }
        c->variable = v;
        GCD_TRY(add_candidate(r, c, err));
    }
    return GCD_OK;
}

gcd_status resolve_statics_add(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                               struct gcd_error *err)
{
    struct gcd_static_field f = { 0 };
    struct gcd_type_definition class = { 0 };
    uint32_t class_token = 0;
    gcd_status st;
    while ((st = gcd_metadata_next_static(m, &f, err)) == GCD_OK) {
        uint32_t v = gcd_idmap_get(&r->variable_by_name, hash_of(f.name));
        if (v == GCD_IDMAP_NONE || f.thread_static)
            continue;
        if (class_token != f.class_token)
            GCD_TRY(gcd_metadata_type(m, f.class_token, &class, err));
        class_token = f.class_token;
        struct resolve_candidate c = { .module = module, .token = f.token };
        if (class.parameters == 0)
            GCD_TRY(add_field(r, m, &f, v, &c, err));
    }
    return st == GCD_END ? GCD_OK : st;
}

/* ---- the decision ---- */

static int by_variable(const void *ctx, uint32_t a, uint32_t b)
{
    const struct resolve_candidate *x = (const struct resolve_candidate *)ctx + a,
                                   *y = (const struct resolve_candidate *)ctx + b;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

/* Those of one variable are adjacent, in the order of the modules and of their fields. */
static gcd_status sort_candidates(struct resolve *r, struct gcd_error *err)
{
    uint32_t *order = gcd_sort_order(r->alloc, r->candidate_count, by_variable, r->candidates);
    struct resolve_candidate *sorted =
        gcd_mem_new_array(r->alloc, r->candidate_count, sizeof *sorted);
    if (order != NULL && sorted != NULL) {
        for (size_t i = 0; i < r->candidate_count; i++) {
            struct resolve_variable *v = &r->variables[r->candidates[order[i]].variable];
            sorted[i] = r->candidates[order[i]];
            v->first = v->count++ == 0 ? (uint32_t)i : v->first;
        }
        gcd_mem_free(r->alloc, r->candidates, r->candidate_cap * sizeof *r->candidates);
        r->candidates = sorted;
        r->candidate_cap = r->candidate_count;
    } else {
        gcd_mem_free(r->alloc, sorted, r->candidate_count * sizeof *sorted);
    }
    gcd_mem_free(r->alloc, order, r->candidate_count * sizeof *order);
    return order != NULL && sorted != NULL ? GCD_OK : gcd_fail_nomem(err, "completing names");
}

/* The number of different classes among the candidates of V, the first of them in RET.  SEEN:
 * scratch space, hash of a name -> candidate. */
static gcd_status classes_of(const struct resolve *r, const struct resolve_variable *v,
                             struct gcd_idmap *seen, const char *ret[NAMED_MAX], size_t *ret_n)
{
    size_t n = 0;
    gcd_idmap_clear(seen);
    for (uint32_t i = v->first; i < v->first + v->count; i++) {
        const struct resolve_candidate *c = &r->candidates[i];
        if (c->gone)
            continue;
        uint64_t hash = hash_of(c->class_name);
        uint32_t same = gcd_idmap_get(seen, hash);
        if (same != GCD_IDMAP_NONE && strcmp(r->candidates[same].class_name, c->class_name) == 0)
            continue;
        if (!gcd_idmap_put(seen, hash, i))
            return GCD_E_NOMEM;
        if (n < NAMED_MAX)
            ret[n] = c->class_name;
        n++;
    }
    *ret_n = n;
    return GCD_OK;
}

/* "Shop.A.s_items or Shop.B.s_items" in r->spelling */
static gcd_status spell_label(struct resolve *r, const struct gcd_root *root,
                              const char *const *classes, size_t n, bool more)
{
    struct csharp label;
    char rest[48] = "";
    size_t named = n <= NAMED_MAX ? n : 1;
    bool room = true;
    csharp_init(&label, r->alloc);
    for (size_t i = 0; i < named && room; i++)
        room = csharp_name(&r->spelling, classes[i], true) == GCD_OK &&
               (i == 0 || csharp_put(&label, " or ", 4)) &&
               csharp_put(&label, r->spelling.out, r->spelling.n) && csharp_put(&label, ".", 1) &&
               csharp_put(&label, root->name, strlen(root->name));
    if (n > named && !more)
        (void)snprintf(rest, sizeof rest, " or one of %zu others", n - named);
    else if (more)
        (void)snprintf(rest, sizeof rest, " or another");
    room = room && csharp_put(&label, rest, strlen(rest));
    r->spelling.n = 0;
    room = room && csharp_put(&r->spelling, label.out, label.n);
    csharp_done(&label);
    return room ? GCD_OK : GCD_E_NOMEM;
}

/* Is the type of the object in the assembly of all its candidates?  Then nobody else has a field of
 * that name for it. */
static bool has_witness(const struct resolve *r, const struct resolve_variable *v)
{
    uint32_t home = r->types[r->stored[v->stored].type].module;
    const struct gcd_module *modules = r->d->modules;
    bool same = home != GCD_MODULE_NONE;
    for (uint32_t i = v->first; i < v->first + v->count && same; i++)
        same = r->candidates[i].gone || memcmp(modules[r->candidates[i].module].mvid,
                                               modules[home].mvid, sizeof modules->mvid) == 0;
    return same;
}

static gcd_status decide(struct resolve *r, const struct resolve_variable *v,
                         struct gcd_idmap *seen, struct gcd_error *err)
{
    const char *classes[NAMED_MAX];
    struct gcd_root *root = v->root;
    size_t n;
    if (classes_of(r, v, seen, classes, &n) != GCD_OK)
        return gcd_fail_nomem(err, "completing names");
    bool more = v->open && !has_witness(r, v), recorded = strcmp(root->label, root->name) != 0;
    if (n == 0 || (recorded && (n > 1 || more))) /* whoever recorded the process knew more */
        return GCD_OK;
    if (spell_label(r, root, classes, n, more) != GCD_OK)
        return gcd_fail_nomem(err, "completing names");
    GCD_TRY(heap_text(r->d->heap, r->spelling.out, r->spelling.n, &root->label, err));
    return n == 1 && !more
               ? heap_text(r->d->heap, classes[0], strlen(classes[0]), &root->class_name, err)
               : GCD_OK;
}

gcd_status resolve_statics_end(struct resolve *r, struct gcd_error *err)
{
    if (r->candidate_count == 0 ||
        r->work == 0) /* too many candidates or comparisons: nothing is certain */
        return GCD_OK;
    GCD_TRY(sort_candidates(r, err));
    GCD_TRY(resolve_order(r, err));
    struct gcd_idmap seen;
    gcd_status st = GCD_OK;
    gcd_idmap_init(&seen, r->alloc);
    for (uint32_t v = 0; v < r->variable_count && st == GCD_OK; v++)
        st = decide(r, &r->variables[v], &seen, err);
    gcd_idmap_done(&seen);
    return st;
}
