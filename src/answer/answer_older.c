/*
 * What is kept of an older dump: answer_older.h.
 */
#include "answer/answer_older.h"

#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"
#include "base/mem.h"

/* The names of some types are shorter. */
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)

void answer_older_free(struct answer_older *o)
{
    if (o == NULL)
        return;
    struct gcd_alloc alloc = o->alloc;
    gcd_textpool_done(&o->texts);
    gcd_mem_free(&alloc, o->places, o->place_room * sizeof *o->places);
    gcd_mem_free(&alloc, o->growths, o->growth_count * sizeof *o->growths);
    gcd_mem_free(&alloc, o->order, o->growth_count * sizeof *o->order);
    gcd_diff_free(o->types);
    gcd_tree_diff_free(o->paths);
    for (int i = 0; i < 2; i++) {
        gcd_textpool_done(&o->fills[i].text);
        answer_versions_done(&o->versions[i]);
    }
    gcd_mem_free(&alloc, o, sizeof *o);
}

/* Adds the types of S, which count as they do in diff. */
gcd_status answer_older_add_types(struct answer_older *o, const struct gcd_session *s,
                                  struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(gcd_session_graph(s));
    const struct gcd_names *names = gcd_session_names(s);
    size_t n = 0;
    struct gcd_diff_type *types =
        gcd_mem_new_array(&o->alloc, (size_t)summary->type_count + 1, sizeof *types);
    if (types == NULL)
        return gcd_fail_nomem(err, "comparing types");
    for (uint32_t i = 0; i < summary->type_count; i++)
        if (summary->types[i].objects > 0)
            types[n++] =
                (struct gcd_diff_type){ gcd_names_plain(names, i),
                                        summary->types[i].module_path,
                                        { summary->types[i].objects, summary->types[i].bytes, 0 } };
    gcd_status st = gcd_diff_add(o->types, types, n, err);
    gcd_mem_free(&o->alloc, types, ((size_t)summary->type_count + 1) * sizeof *types);
    return st;
}

/* Adds the paths of S, unless some of its roots are a guess: then O has none. */
gcd_status answer_older_add_paths(struct answer_older *o, struct gcd_session *s,
                                  struct gcd_error *err)
{
    struct answer_of_tree of = { .session = s, .names = gcd_session_names(s), .alloc = &o->alloc };
    struct gcd_merged_tree_options options = { .context.alloc = &o->alloc };
    struct gcd_merged_tree *tree = NULL;
    if (o->paths == NULL)
        return GCD_OK;
    GCD_TRY(gcd_session_paths(s, NULL, &options.paths, err));
    if (gcd_paths_pseudo_roots(options.paths) > 0) {
        gcd_tree_diff_free(o->paths);
        o->paths = NULL;
        return GCD_OK;
    }
    GCD_TRY(gcd_session_merge(s, NULL, &options, &tree, err));
    of.tree = tree;
    gcd_status st = answer_tree_add(o->paths, &of, err);
    gcd_merged_tree_free(tree);
    return st;
}

/* Those of the type that owned_by counts; UINT64_MAX = no collection */
uint64_t answer_older_elements(const struct gcd_suspect *s)
{
    return s->collection == NULL              ? UINT64_MAX
           : s->element.type != GCD_TYPE_NONE ? s->element.objects
                                              : s->elements;
}

/* The length of the array S; 0 = it is none. */
uint64_t answer_older_places(const struct gcd_suspect *s)
{
    return s->collection != NULL && strcmp(s->collection, "array") == 0 ? s->elements : 0;
}

/* The elements that nothing else holds; those of a small type may not be told. */
uint64_t answer_older_owned(const struct gcd_suspect *s)
{
    uint64_t owned = 0;
    for (size_t i = 0; i < s->held_count; i++)
        if (s->held[i].type == s->element.type)
            owned = s->held[i].objects;
    for (size_t i = 0; i < s->content_count; i++)
        if (s->content[i].type == s->element.type)
            owned = s->content[i].objects;
    /* below these may be more of their type: chains */
    return owned < s->element.objects ? owned : s->element.objects;
}

/* Objects of TYPE in S, one of those that growths may be told by. */
uint64_t answer_older_many(const struct gcd_suspect *s, uint32_t type)
{
    uint64_t most = s->type == type ? s->objects : 0;
    /* of all that waits for its finalizer */
    for (size_t i = 0; i < s->content_count && s->kind == GCD_SUSPECT_FINALIZERS; i++)
        if (s->content[i].type == type && s->content[i].objects < most)
            most = s->content[i].objects;
    if (s->collection != NULL && s->element.type == type)
        most = s->element.objects;
    for (size_t i = 0; i < s->held_count; i++)
        if (s->held[i].type == type && (s->collection == NULL || s->element.type != type))
            most = s->held[i].objects;
    return s->own_count > 0 && s->own[0].type == type && s->own[0].objects > most
               ? s->own[0].objects
               : most;
}

static gcd_status keep(struct answer_older *o, const char *text, const char **ret,
                       struct gcd_error *err)
{
    return gcd_textpool_add(&o->texts, text, strlen(text), ret) == GCD_OK
               ? GCD_OK
               : gcd_fail_nomem(err, "comparing suspects");
}

static gcd_status add_place(struct answer_older *o, const struct gcd_session *older,
                            const struct gcd_suspect *s, struct gcd_error *err)
{
    struct place p = { .kind = s->kind,
                       .bytes = s->bytes,
                       .elements = answer_older_elements(s),
                       .owned = answer_older_owned(s),
                       .places = answer_older_places(s) };
    uint32_t types[GCD_SUSPECT_HOLDERS + 3] = { s->type, s->element.type,
                                                s->own_count > 0 ? s->own[0].type : GCD_TYPE_NONE };
    for (size_t i = 0; i < s->held_count; i++)
        types[i + 3] = s->held[i].type;
    for (size_t i = 0; i < s->held_count + 3; i++) {
        if (types[i] == GCD_TYPE_NONE || answer_older_many(s, types[i]) == 0)
            continue;
        struct many *m = &p.many[p.many_count++];
        m->objects = answer_older_many(s, types[i]);
        GCD_TRY(keep(o, gcd_names_plain(gcd_session_names(older), types[i]), &m->type, err));
    }
    GCD_TRY(keep(o, s->place, &p.name, err));
    GCD_TRY(keep(o, s->what, &p.what, err));
    if (!gcd_vec_reserve(&o->alloc, &o->places, &o->place_room, o->place_count + 1,
                         sizeof *o->places, SIZE_MAX))
        return gcd_fail_nomem(err, "comparing suspects");
    o->places[o->place_count++] = p;
    return GCD_OK;
}

uint64_t answer_older_native(const struct gcd_session *s)
{
    const struct gcd_process_memory *m = &gcd_graph_summary(gcd_session_graph(s))->memory;
    return m->resident_bytes > 0 && m->gc_known ? gcd_native_bytes(m) : UINT64_MAX;
}

uint64_t answer_older_own_bytes(const struct gcd_suspects *s)
{
    uint64_t heap = gcd_suspects_heap_bytes(s), observed = gcd_suspects_observed_bytes(s);
    return heap > observed ? heap - observed : 0;
}

gcd_status answer_older_new(struct gcd_session *older, const struct gcd_suspects *suspects,
                            bool paths, const struct gcd_alloc *alloc, struct answer_older **ret,
                            struct gcd_error *err)
{
    struct gcd_alloc used = gcd_alloc_or_default(alloc);
    struct answer_older *o = *ret = gcd_mem_new(&used, sizeof *o);
    if (o == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    o->alloc = used;
    gcd_textpool_init(&o->texts, &o->alloc, TEXT_BYTES_MAX);
    for (int i = 0; i < 2; i++)
        gcd_textpool_init(&o->fills[i].text, &o->alloc, TEXT_BYTES_MAX);
    o->heap_bytes[0] = gcd_suspects_heap_bytes(suspects);
    o->own_bytes[0] = answer_older_own_bytes(suspects);
    o->native_bytes[0] = answer_older_native(older);
    o->complete[0] = !gcd_suspects_lack_references(suspects);
    GCD_TRY(gcd_diff_new(&o->alloc, &o->types, err));
    GCD_TRY(answer_older_add_types(o, older, err));
    GCD_TRY(answer_fills_count(older, &o->alloc, &o->fills[0], err));
    GCD_TRY(answer_versions_count(older, &o->alloc, &o->versions[0], err));
    if (paths)
        GCD_TRY(gcd_tree_diff_new(&o->alloc, &o->paths, err));
    GCD_TRY(answer_older_add_paths(o, older, err));
    for (size_t i = 0; i < gcd_suspects_count(suspects); i++)
        GCD_TRY(add_place(o, older, gcd_suspects_get(suspects, i), err));
    for (size_t i = 0; i < gcd_suspects_note_count(suspects); i++)
        GCD_TRY(add_place(o, older, gcd_suspects_note(suspects, i), err));
    return GCD_OK;
}

bool answer_older_unobserved(const struct answer_older *o)
{
    return o->heap_bytes[0] - o->own_bytes[0] < ANSWER_GROWN_BYTES;
}

bool answer_older_native_bytes(const struct answer_older *o, uint64_t ret[2])
{
    memcpy(ret, o->native_bytes, sizeof o->native_bytes);
    return ret[0] != UINT64_MAX && ret[1] != UINT64_MAX;
}

uint64_t answer_older_heap_bytes(const struct answer_older *o)
{
    return o->heap_bytes[0];
}
