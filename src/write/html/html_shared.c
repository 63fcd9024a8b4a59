/* What several holders keep alive together, with the path to each of them. */
#include "write/html/html_data.h"

#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define DOING "looking at what several hold"

/* What an array or a delegate holds belongs to who has it. */
static void choose(const struct html_data *h, uint8_t *types, uint8_t *roots)
{
    const struct gcd_summary *s = gcd_graph_summary(h->g);
    for (uint32_t i = 0; i < s->type_count; i++)
        types[i] = html_origin(h, i) == GCD_ORIGIN_OWN &&
                   (s->types[i].flags & GCD_TYPE_DELEGATE) == 0 &&
                   !gcd_text_is_array(s->types[i].name);
    for (size_t i = 0; i < s->root_count; i++)
        roots[i] =
            s->roots[i].node != GCD_NODE_NONE && gcd_static_is_own(h->g, h->origins, &s->roots[i]);
}

/* From the holder up to the root, then turned round; consecutive objects of one type are one step.
 */
static void climb(const struct html_data *h, const struct gcd_paths *paths, uint32_t node,
                  struct html_shared_path *ret)
{
    ret->root = gcd_paths_root(paths, node);
    for (; node < GCD_NODE_ROOT; node = gcd_paths_parent(paths, node)) {
        uint32_t type = gcd_graph_node_type(h->g, node);
        struct gcd_suspect_step *last = &ret->steps[ret->count - (ret->count > 0)];
        if (ret->count > 1 && (last->type == type || ret->count > HTML_SHARED_STEPS)) {
            last->skipped = ret->count > HTML_SHARED_STEPS;
            last->node = node;
            last->repeats++;
        } else {
            ret->steps[ret->count++] =
                (struct gcd_suspect_step){
                    .node = node, .type = type, .repeats = 1, .last = node
                };
        }
    }
    for (size_t i = 0; i < ret->count / 2; i++) {
        struct gcd_suspect_step step = ret->steps[i];
        ret->steps[i] = ret->steps[ret->count - 1 - i];
        ret->steps[ret->count - 1 - i] = step;
    }
}

static gcd_status fold(const struct html_data *h, struct html_shared_path *path,
                       struct gcd_error *err)
{
    struct gcd_fold_step steps[HTML_SHARED_STEPS + 1];
    struct gcd_context quiet = html_quietly(h);
    for (size_t i = 0; i < path->count; i++)
        steps[i] = (struct gcd_fold_step){ .type = path->steps[i].skipped ? GCD_TYPE_NONE
                                                                          : path->steps[i].type };
    GCD_TRY(gcd_session_fold_path(h->session, &quiet, steps, path->count, err));
    for (size_t i = 0; i < path->count; i++)
        path->steps[i].fold = (unsigned)steps[i].fold;
    return GCD_OK;
}

gcd_status html_shared_climb(struct html_data *h, const struct gcd_paths *paths,
                             struct gcd_error *err)
{
    size_t n;
    const struct gcd_shared_row *rows = gcd_shared_rows(h->shared, &n);
    for (size_t i = 0; i < n * GCD_SHARED_HOLDERS; i++) {
        const struct gcd_shared_row *row = &rows[i / GCD_SHARED_HOLDERS];
        const struct gcd_shared_holder *holder = &row->holders[i % GCD_SHARED_HOLDERS];
        struct html_shared_path *path = &h->shared_paths[i];
        path->root = holder->root;
        if (i % GCD_SHARED_HOLDERS >= row->holder_count || holder->type == GCD_TYPE_NONE)
            continue;
        climb(h, paths, holder->node, path);
        GCD_TRY(fold(h, path, err));
    }
    return GCD_OK;
}

gcd_status html_shared_find(struct html_data *h, const struct gcd_paths *paths,
                            struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(h->g);
    uint8_t *types = gcd_mem_new(&h->alloc, (size_t)s->type_count + 1),
            *roots = gcd_mem_new(&h->alloc, s->root_count + 1);
    struct gcd_shared_of of = { .context = html_quietly(h),
                                .fields = h->fields,
                                .preorder = h->preorder,
                                .types = types,
                                .roots = roots,
                                .min_bytes = h->reachable_bytes / HTML_SHARED_PART + 1,
                                .max = HTML_SHARED };
    of.context.alloc = &h->alloc;
    h->shared_paths =
        gcd_mem_new_array(&h->alloc, HTML_SHARED * GCD_SHARED_HOLDERS, sizeof *h->shared_paths);
    gcd_status st = types != NULL && roots != NULL && h->shared_paths != NULL
                        ? GCD_OK
                        : gcd_fail_nomem(err, DOING);
    if (st == GCD_OK) {
        choose(h, types, roots);
        st = gcd_shared_new(h->g, h->dominators, paths, &of, &h->shared, err);
    }
    gcd_mem_free(&h->alloc, types, (size_t)s->type_count + 1);
    gcd_mem_free(&h->alloc, roots, s->root_count + 1);
    return st;
}

void html_shared_done(struct html_data *h)
{
    gcd_shared_free(h->shared);
    gcd_mem_free(&h->alloc, h->shared_paths,
                 HTML_SHARED * GCD_SHARED_HOLDERS * sizeof *h->shared_paths);
}

const struct html_shared_path *html_shared_path(const struct html_data *h, size_t row, size_t i,
                                                char buf[GCD_FIELD_LABEL_BYTES])
{
    size_t n;
    const struct gcd_shared_holder *holder = &gcd_shared_rows(h->shared, &n)[row].holders[i];
    struct gcd_field field = GCD_FIELD_UNKNOWN;
    if (holder->slot != GCD_SLOT_NONE) {
        field.name = gcd_fields_slot_name(h->fields, holder->slot);
        field.slot = holder->slot;
    }
    (void)gcd_field_suffix(&field, buf);
    return &h->shared_paths[row * GCD_SHARED_HOLDERS + i];
}
