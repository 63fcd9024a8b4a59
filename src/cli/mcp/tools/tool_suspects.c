/*
 * suspects: possible leaks, in the sentences of the command leaks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "mcp/mcp_call.h"
#include "mcp/mcp_words.h"
#include "output/json_out.h"
#include "output/root_labels.h"
#include "term/term.h"

#define PARTS 3u

static json_t *parts(struct mcp_call *c, const struct gcd_suspect_part *p, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n && i < PARTS; i++) {
        json_t *o = json_object();
        mcp_put_name(c, o, "type", gcd_names_get(c->heap->d.names, p[i].type));
        mcp_put_count(o, "objects", p[i].objects);
        mcp_put_count(o, "bytes", p[i].bytes);
        (void)json_array_append_new(all, o);
    }
    return all;
}

static void add_step(struct mcp_path *p, const struct gcd_suspect_step *s)
{
    char text[96] = "";
    if (s->fold == GCD_FOLD_INSIDE)
        return;
    if (s->fold == GCD_FOLD_HIDDEN) {
        mcp_path_hide(p, s->origin == GCD_ORIGIN_LIBRARY);
        return;
    }
    if (s->skipped) {
        (void)snprintf(text, sizeof text, "(%s more objects)", GCD_DIGITS(s->repeats));
        mcp_path_text(p, text);
        return;
    }
    if (s->repeats > 1)
        (void)snprintf(text, sizeof text, ", %s of them one behind the other%s",
                       GCD_DIGITS(s->repeats), s->dependent ? " (dependent handle)" : "");
    else if (s->dependent)
        (void)snprintf(text, sizeof text, " (dependent handle)");
    mcp_path_step(p, s->type, s->node, text);
}

static json_t *path_of(struct mcp_call *c, const struct gcd_suspect *s)
{
    struct mcp_path p;
    mcp_path_begin(&p, c);
    if (s->path_count > 0)
        mcp_path_root(&p, s->root);
    for (size_t i = 0; i < s->path_count; i++)
        add_step(&p, &s->path[i]);
    return mcp_path_end(&p);
}

static json_t *suspect(struct mcp_call *c, const struct gcd_suspect *s, uint64_t number)
{
    json_t *o = json_object();
    mcp_put_count(o, "number", number);
    mcp_put(o, "kind", json_string(gcd_suspect_kind_name(s->kind)));
    mcp_put(o, "sentence", cli_json_text(s->sentence));
    mcp_put_text(o, "advice", s->advice);
    mcp_put_count(o, "bytes", s->bytes);
    mcp_put_count(o, "objects", s->objects);
    mcp_put(o, "share", json_real((double)(int64_t)(s->share * 10000 + 0.5) / 10000));
    mcp_put_name(c, o, "type", gcd_names_get(c->heap->d.names, s->type));
    mcp_put(o, "object", s->node != GCD_NODE_NONE ? mcp_object_id(c, s->node) : json_null());
    mcp_put_name(c, o, "owner",
                 s->owner != GCD_TYPE_NONE ? gcd_names_get(c->heap->d.names, s->owner) : NULL);
    mcp_put(o, "path", path_of(c, s));
    mcp_put(o, "holds", parts(c, s->held, s->held_count));
    mcp_put(o, "own_types", parts(c, s->own, s->own_count));
    return o;
}

static void put_consumers(struct mcp_call *c, const struct gcd_suspects *s,
                          const struct gcd_suspects *largest)
{
    char n[CLI_NUMBER_BYTES], *text = NULL;
    size_t count = gcd_suspects_consumer_count(s);
    if (asprintf(&text, "No suspects%s: nothing%s retains %s or more.",
                 gcd_suspects_check(s, GCD_SUSPECT_SPARSE)->unknown ? " in what has arrived" : "",
                 gcd_suspects_note_count(s) > 0 ? " but what is in notes" : "",
                 cli_size(gcd_suspects_threshold(s), n)) < 0)
        text = NULL;
    mcp_put_text(c->out, "none", text);
    free(text);
    if (largest != NULL)
        mcp_put(c->out, "largest", suspect(c, gcd_suspects_get(largest, 0), 1));
    mcp_put(c->out, "consumers", parts(c, count > 0 ? gcd_suspects_consumer(s, 0) : NULL, count));
}

static json_t *notes(const struct gcd_suspects *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gcd_suspects_note_count(s); i++) {
        const struct gcd_suspect *x = gcd_suspects_note(s, i);
        (void)json_array_append_new(list,
                                    json_pack("{s:s, s:s, s:I}", "sentence", x->sentence, "advice",
                                              x->advice, "bytes", (json_int_t)x->bytes));
    }
    return list;
}

static enum mcp_outcome run_suspects(struct mcp_call *c)
{
    struct gcd_context looking = mcp_context(c, "looking for suspects"),
                       finding = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *session = c->heap->d.session;
    const struct gcd_suspects *s = NULL, *largest = NULL;
    const struct gcd_dominators *d;
    const struct gcd_paths *paths;
    gcd_status st = gcd_session_paths_with_dominators(session, &finding, &d, &paths, &err);
    if (st == GCD_OK)
        st = gcd_session_suspects(session, &looking, &s, &err);
    if (st == GCD_OK)
        st = gcd_session_largest_consumer(session, &looking, &largest, &err);
    if (st != GCD_OK)
        return mcp_fail_by(c, &err);
    mcp_page_total(c, gcd_suspects_count(s));
    while (mcp_page_wants(c))
        mcp_page_add(c, suspect(c, gcd_suspects_get(s, (size_t)c->page.next), c->page.next + 1));
    mcp_put_count(c->out, "heap_bytes", gcd_suspects_heap_bytes(s));
    mcp_put_count(c->out, "guessed_roots", gcd_dominators_pseudo_roots(d));
    mcp_page_end(c, "suspects");
    mcp_put(c->out, "notes", notes(s));
    if (gcd_suspects_count(s) == 0)
        put_consumers(c, s, largest);
    return MCP_DONE;
}

#define PARTS_SHAPE "[type:s objects:i bytes:i]"
#define SUSPECT_SHAPE                                                                           \
    "number:i kind:s sentence:s advice:s? bytes:i objects:i share:n type:s object:s? owner:s? " \
    "path[] "                                                                                   \
    "holds" PARTS_SHAPE " own_types" PARTS_SHAPE

static const struct mcp_arg suspect_args[] = { { .name = NULL } };

const struct mcp_tool mcp_suspects = {
    "suspects",
    "Possible leaks",
    "What keeps a large part of the heap alive, each with a "
    "sentence, advice where to look, and the path from its "
    "root.  Of the types in it holds and own_types have the "
    "three largest; type and paths have more.  Without "
    "suspects, the largest consumers.  Begin here.",
    suspect_args,
    "heap_bytes:i guessed_roots:i suspects[" SUSPECT_SHAPE
    "] notes[sentence:s advice:s bytes:i] none:s~ largest{" SUSPECT_SHAPE "}~ consumers" PARTS_SHAPE
    "~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_suspects,
    { NULL }
};
