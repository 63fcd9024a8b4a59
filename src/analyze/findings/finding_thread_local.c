/*
 * ThreadLocal<T> in each instance of a class.  The runtime keeps a slot for each pair of a thread
 * and a ThreadLocal, and no single object holds these slots, whose type is in no program.  What its
 * authors know is the class that has the ThreadLocal, and the field.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include <gcdumpc/unstable/fields.h>

#include "base/error.h"
#include "base/mem.h"

#define LOCAL "System.Threading.ThreadLocal`1"
#define SLOT  LOCAL "+LinkedSlot["

/* "[Shop.Scratch]" of both types; NULL = NAME is not of a slot. */
static const char *arguments_of_slot(const char *name)
{
    return gcd_text_begins(name, SLOT) ? name + sizeof SLOT - 2 : NULL;
}

static bool is_local(const char *name, const char *arguments)
{
    return gcd_text_begins(name, LOCAL) && strcmp(name + sizeof LOCAL - 1, arguments) == 0;
}

struct users {
    uint64_t *of_type; /* [types] references to a ThreadLocal */
    uint32_t *node;    /* [types] an object that has one */
    uint32_t local;    /* type */
};

static gcd_status count_users(const struct suspects_work *w, struct users *u, struct gcd_error *err)
{
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t type = suspects_type_of(w, node);
        size_t n;
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (!w->is_own[type])
            continue;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        for (size_t i = 0; i < n; i++)
            if (suspects_type_of(w, edges[i]) == u->local && u->of_type[type]++ == 0)
                u->node[type] = node;
    }
    return GCD_OK;
}

/* The class that most of the ThreadLocals are in. */
static void choose(const struct suspects_work *w, const struct users *u, struct suspect *x)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < w->types; i++)
        if (u->of_type[i] > u->of_type[most])
            most = i;
    if (u->of_type[most] < 2 ||
        u->of_type[most] <= gcd_graph_summary(w->g)->types[u->local].objects / 2)
        return;
    x->local = u->local;
    x->locals = u->of_type[most];
    x->local_user = u->node[most];
}

static gcd_status find_users(struct suspects_work *w, struct suspect *x, uint32_t local,
                             struct gcd_error *err)
{
    struct users u = { .of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *u.of_type),
                       .node = gcd_mem_new_array(w->alloc, w->types, sizeof *u.node),
                       .local = local };
    gcd_status st = u.of_type != NULL && u.node != NULL
                        ? count_users(w, &u, err)
                        : gcd_fail_nomem(err, "looking for what has thread-local values");
    if (st == GCD_OK)
        choose(w, &u, x);
    gcd_mem_free(w->alloc, u.of_type, w->types * sizeof *u.of_type);
    gcd_mem_free(w->alloc, u.node, w->types * sizeof *u.node);
    return st;
}

gcd_status suspects_thread_locals(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        const char *arguments =
            x->pub.kind == GCD_SUSPECT_TYPE ? arguments_of_slot(types[x->pub.type].name) : NULL;
        for (uint32_t t = 0; t < w->types && arguments != NULL; t++)
            if (types[t].objects > 0 && is_local(types[t].name, arguments)) {
                GCD_TRY(find_users(w, x, t, err));
                break;
            }
    }
    return GCD_OK;
}

static struct gcd_field field_of(const struct suspect_words *s, const struct suspect *x)
{
    size_t n, i = 0;
    const uint32_t *edges = gcd_graph_node_edges(s->w->g, x->local_user, &n);
    while (i + 1 < n && suspects_type_of(s->w, edges[i]) != x->local)
        i++;
    return s->w->o->fields != NULL && n > 0
               ? gcd_fields_between(s->w->o->fields, x->local_user, edges[i])
               : GCD_FIELD_UNKNOWN;
}

/* "Parser._scratch", "Parser" */
void suspects_put_local_place(struct suspect_words *s, const struct suspect *x)
{
    char label[GCD_FIELD_LABEL_BYTES];
    struct gcd_field f = field_of(s, x);
    suspects_put_type(s, suspects_type_of(s->w, x->local_user));
    suspects_put_name(s, gcd_field_suffix(&f, label));
}

void suspects_say_locals(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_number(s, x->locals);
    suspects_put(s, " ");
    suspects_put_type(s, x->local);
    suspects_put(s, " in ");
    suspects_put_local_place(s, x);
    suspects_put(s, " together");
    suspects_put_kept(s, &x->pub, true);
    suspects_put(s, ": one value for each thread that has used one, until it is disposed of.");
    suspects_put_own(s, &x->pub);
}

void suspects_advise_locals(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "Make the ThreadLocal in ");
    suspects_put_local_place(s, x);
    suspects_put(s, " static, or dispose of it with its ");
    suspects_put_type(s, suspects_type_of(s->w, x->local_user));
    suspects_put(s, ".");
}
