#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "base/short_name.h"

/* "(1,234 types together)" */
#define ANSWER_NOTE_BYTES 256

const char *answer_short_type(const struct gcd_session *s, uint32_t type,
                              char ret[GCD_ASYNC_STEP_BYTES])
{
    return gcd_short_name(gcd_names_get(gcd_session_names(s), type),
                          gcd_graph_summary(gcd_session_graph(s))->types[type].name, ret,
                          GCD_ASYNC_STEP_BYTES);
}

const char *answer_short_step(const char *name, char ret[GCD_ASYNC_STEP_BYTES])
{
    char raw[GCD_ASYNC_STEP_BYTES];
    (void)snprintf(raw, sizeof raw, "%s", name);
    char *dot = strrchr(raw, '.');
    if (dot != NULL && strchr(dot, '>') == NULL)
        *dot = '+'; /* as if the method were a type in its class */
    return gcd_short_name(name, raw, ret, GCD_ASYNC_STEP_BYTES);
}

bool answer_is_untold(const struct gcd_unnamed *u, uint64_t n)
{
    return n == 0 && u->most;
}

const char *answer_nothing_waits(const struct gcd_summary *s, const struct gcd_async_totals *t)
{
    if (t->runtime_async > 0 || t->fsharp_async > 0)
        return "No async method with a state machine waits.";
    return s->verdict.complete ? "No asynchronous operation waits."
                               : "No asynchronous operation was found; the dump is incomplete, so "
                                 "some may be missing.";
}

const char *answer_may_be_missing(bool complete)
{
    return complete ? "" : " The dump is incomplete, so some may be missing.";
}

const char *answer_untold(const struct gcd_unnamed *u, uint64_t n, const char *what,
                          char ret[ANSWER_UNTOLD_BYTES])
{
    ret[0] = '\0';
    if (answer_is_untold(u, n))
        (void)snprintf(ret, ANSWER_UNTOLD_BYTES, "%s cannot be told: %s.", what, u->text);
    else if (u->most || (u->types > 0 && n == 0))
        (void)snprintf(ret, ANSWER_UNTOLD_BYTES, "There may be %s: %s.", n > 0 ? "more" : "some",
                       u->text);
    return ret;
}

const char *answer_root_key(const struct gcd_root *r)
{
    return r != NULL ? gcd_root_group_label(gcd_root_group(r))->key : "stand_in";
}

static struct gcd_static_words words_of(const struct gcd_graph *g, const struct gcd_names *names,
                                        const struct gcd_root *r)
{
    return r != NULL ? gcd_static_words(g, names, r)
                     : (struct gcd_static_words){ "", { "", "", "" } };
}

void answer_root_parts(const struct gcd_graph *g, const struct gcd_names *names,
                       const struct gcd_root *r, const char *ret[ANSWER_ROOT_PARTS])
{
    const struct gcd_static_words w = words_of(g, names, r);
    ret[0] = r == NULL                         ? ANSWER_NO_ROOT
             : gcd_root_is_thread_static(g, r) ? "thread-static variable"
             : gcd_static_is_property(r)       ? "static property"
                                               : gcd_root_group_label(gcd_root_group(r))->one;
    ret[1] = w.label[0][0] != '\0' ? " " : "";
    for (size_t i = 0; i < 3; i++)
        ret[2 + i] = w.label[i];
}

void answer_root_label(struct answer *a, const char *key, const struct gcd_session *s,
                       const struct gcd_root *r)
{
    const char *p[ANSWER_ROOT_PARTS];
    answer_root_parts(gcd_session_graph(s), gcd_session_names(s), r, p);
    answer_format(a, key, "%s%s%s%s%s", p[0], p[1], p[2], p[3], p[4]);
}

void answer_static(struct answer *a, const struct gcd_session *s, const struct gcd_root *r)
{
    const struct gcd_static_words w = words_of(gcd_session_graph(s), gcd_session_names(s), r);
    answer_known(a, "field", r != NULL && r->kind == GCD_ROOT_STATIC ? r->name : NULL);
    answer_known(a, "class", w.class_name);
    if (w.label[0][0] != '\0')
        answer_format(a, "label", "%s%s%s", w.label[0], w.label[1], w.label[2]);
}

const char *answer_object_text(const struct gcd_graph *g, uint32_t node,
                               char buf[ANSWER_OBJECT_BYTES])
{
    bool known = !gcd_graph_notes(g)->addresses_made_up;
    (void)snprintf(buf, ANSWER_OBJECT_BYTES, known ? "0x%" PRIx64 : "%" PRIu64,
                   known ? gcd_graph_node_address(g, node) : (uint64_t)node);
    return buf;
}

void answer_type(struct answer *a, const struct gcd_names *names, uint32_t type)
{
    char step[GCD_ASYNC_STEP_BYTES];
    answer_text(a, "type", gcd_names_get(names, type));
    answer_text(a, "shown", gcd_names_step(names, type, step));
}

void answer_types_note(struct answer *a, const char *form, ...)
{
    char text[ANSWER_NOTE_BYTES];
    va_list args;
    va_start(args, form);
    (void)vsnprintf(text, sizeof text, form, args);
    va_end(args);
    answer_text(a, "type", text);
    answer_text(a, "shown", text);
}

void answer_object(struct answer *a, const struct gcd_session *s, uint32_t node)
{
    const struct gcd_graph *g = gcd_session_graph(s);
    char text[ANSWER_OBJECT_BYTES];
    answer_text(a, "object", answer_object_text(g, node, text));
    if (!gcd_graph_notes(g)->addresses_made_up)
        answer_count(a, "address", gcd_graph_node_address(g, node));
    answer_count(a, "node", node);
}

const char *answer_hidden_text(uint64_t n, uint64_t library, char buf[ANSWER_HIDDEN_BYTES])
{
    const char *whose = library == 0   ? "framework"
                        : library == n ? "library"
                                       : "framework and library";
    (void)snprintf(buf, ANSWER_HIDDEN_BYTES, "... %s %s step%s", GCD_DIGITS(n), whose,
                   gcd_plural(n));
    return buf;
}

void answer_elements_text(uint64_t n, uint64_t least, uint64_t most,
                          char ret[ANSWER_ELEMENTS_BYTES])
{
    ret[0] = '\0';
    if (n > 0 || least == most)
        (void)snprintf(ret, ANSWER_ELEMENTS_BYTES, " (%s%s element%s)", gcd_bound(n, least, most),
                       GCD_DIGITS(n), gcd_plural(n));
}

gcd_status answer_elements_of(struct gcd_session *s, const struct gcd_context *call, uint32_t node,
                              char ret[ANSWER_ELEMENTS_BYTES], struct gcd_error *err)
{
    const struct gcd_collections *c;
    struct gcd_collection it;
    ret[0] = '\0';
    gcd_status st = gcd_session_collections(s, call, &c, err);
    if (st != GCD_OK || gcd_collections_kind(c, gcd_graph_node_type(gcd_session_graph(s), node)) <=
                            GCD_COLLECTION_ARRAY)
        return st;
    st = gcd_session_collection(s, call, node, &it, err);
    if (st != GCD_OK)
        return st == GCD_END ? GCD_OK : st;
    uint64_t n = it.elements, seen = it.elements_of_count > 0 ? it.elements_of[0].objects : 0;
    answer_elements_text(n < seen && !gcd_collection_is_exact(&it) ? seen : n, it.at_least,
                         it.at_most, ret); /* as suspects say it */
    return GCD_OK;
}

const char *answer_fold_name(enum gcd_fold fold)
{
    static const char *const folds[] = { "shown", "inside", "hidden" }; /* enum gcd_fold */
    return folds[fold];
}

void answer_fold(struct answer *a, const struct gcd_origins *o, uint32_t type, enum gcd_fold fold)
{
    answer_text(a, "origin", gcd_origin_name(gcd_origins_get(o, type)));
    answer_text(a, "fold", answer_fold_name(fold));
}
