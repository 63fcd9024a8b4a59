#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"

/* ---- columns ---- */

static const struct answer_column part_columns[] = {
    COLUMN("objects", "Objects", ANSWER_COUNT), COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),     FIELD("type", ANSWER_TEXT),
    PEOPLE("name", "Type", ANSWER_TEXT),
};
const struct answer_shape answer_parts_shape = ANSWER_SHAPE(part_columns);

static const struct answer_column path_columns[] = {
    FIELD("depth", ANSWER_COUNT),
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    COLUMN("object", "Object", ANSWER_TEXT),
    FIELD("node", ANSWER_COUNT),
    FIELD("address", ANSWER_ADDRESS),
    FIELD("repeats", ANSWER_COUNT),
    FIELD("dependent", ANSWER_FLAG),
    FIELD("type", ANSWER_TEXT),
    PEOPLE("step", "Path", ANSWER_TREE),
    FIELD("origin", ANSWER_TEXT),
    FIELD("fold", ANSWER_TEXT),
    FIELD("field", ANSWER_TEXT),
    FIELD("element", ANSWER_COUNT),
    FIELD("key", ANSWER_TEXT),
};
static const struct answer_shape path_shape = ANSWER_SHAPE(path_columns);

static const struct answer_column line_columns[] = { FIELD(NULL, ANSWER_TEXT) };
static const struct answer_shape lines_shape = ANSWER_SHAPE(line_columns);

static const struct answer_column way_columns[] = {
    FIELD("owner", ANSWER_TEXT), FIELD("owner_node", ANSWER_COUNT), FIELD("root_kind", ANSWER_TEXT),
    FIELD("root", ANSWER_TEXT),  FIELD("share", ANSWER_SHARE),
};
static const struct answer_shape ways_shape = ANSWER_SHAPE(way_columns);

static const struct answer_column also_columns[] = {
    FIELD("kind", ANSWER_TEXT), FIELD("objects", ANSWER_COUNT), FIELD("bytes", ANSWER_BYTES),
    FIELD("type", ANSWER_TEXT), FIELD("sentence", ANSWER_TEXT), FIELD("advice", ANSWER_TEXT),
};
static const struct answer_shape also_shape = ANSWER_SHAPE(also_columns);

static const struct answer_column note_columns[] = {
    FIELD("kind", ANSWER_TEXT),
    FIELD("objects", ANSWER_COUNT),
    FIELD("bytes", ANSWER_BYTES),
    FIELD("type", ANSWER_TEXT),
    FIELD("sentence", ANSWER_TEXT),
    FIELD("keys", ANSWER_TEXT),
    ROWS("key_beginnings", ANSWER_FOR_PROGRAMS, &answer_keys_shape),
    FIELD("advice", ANSWER_TEXT),
};
const struct answer_shape answer_notes_shape = ANSWER_SHAPE(note_columns);

static const struct answer_column suspect_columns[] = {
    COLUMN("number", "No.", ANSWER_COUNT),
    FIELD("level", ANSWER_TEXT),
    FIELD("kind", ANSWER_TEXT),
    DETAIL("title", ANSWER_TEXT),
    COLUMN("place", "Where", ANSWER_TEXT),
    FIELD("objects", ANSWER_COUNT),
    DETAIL("shallow_bytes", ANSWER_BYTES),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    DETAIL("retained_bytes", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),
    DETAIL("bytes_before", ANSWER_BYTES),
    COLUMN("bytes_delta", "+/-", ANSWER_BYTES_DELTA),
    FIELD("grown", ANSWER_TEXT),
    COLUMN("what", "Holds", ANSWER_TEXT),
    DETAIL("overlaps", ANSWER_FLAG),
    FIELD("type", ANSWER_TEXT),
    FIELD("object", ANSWER_TEXT),
    DETAIL("node", ANSWER_COUNT),
    DETAIL("address", ANSWER_ADDRESS),
    DETAIL("root_kind", ANSWER_TEXT),
    DETAIL("root", ANSWER_TEXT),
    FIELD("sentence", ANSWER_TEXT),
    FIELD("allocated", ANSWER_TEXT),
    DETAIL("field", ANSWER_TEXT),
    DETAIL("class", ANSWER_TEXT),
    DETAIL("label", ANSWER_TEXT),
    FIELD("advice", ANSWER_TEXT),
    FIELD("evidence", ANSWER_TEXT),
    DETAIL("size_only", ANSWER_FLAG),
    DETAIL("collection", ANSWER_TEXT),
    DETAIL("elements", ANSWER_COUNT),
    DETAIL("elements_at_least", ANSWER_COUNT),
    DETAIL("elements_at_most", ANSWER_COUNT),
    DETAIL("element", ANSWER_TEXT),
    FIELD("owner", ANSWER_TEXT),
    DETAIL("owner_module", ANSWER_TEXT),
    DETAIL("owner_node", ANSWER_COUNT),
    ROWS("also", ANSWER_FOR_PROGRAMS, &also_shape),
    ROWS("path", ANSWER_FOR_PROGRAMS, &path_shape),
    ROWS("lines", ANSWER_FOR_ALL, &lines_shape),
    ROWS("ways", ANSWER_FOR_PROGRAMS, &ways_shape),
    ROWS("holds", ANSWER_FOR_ALL, &answer_parts_shape),
    ROWS("content", ANSWER_FOR_PROGRAMS, &answer_parts_shape),
    ROWS("own_types", ANSWER_FOR_ALL, &answer_parts_shape),
    ROWS("sites", ANSWER_FOR_PROGRAMS, &answer_site_parts_shape),
    FIELD("keys", ANSWER_TEXT),
    ROWS("key_beginnings", ANSWER_FOR_PROGRAMS, &answer_keys_shape),
    DETAIL("owner_field", ANSWER_TEXT),
};
const struct answer_shape answer_suspects_shape = ANSWER_SHAPE(suspect_columns);

static const struct answer_column check_columns[] = {
    FIELD("kind", ANSWER_TEXT),
    COLUMN("title", "Looked for", ANSWER_TEXT),
    COLUMN("found", "Found", ANSWER_COUNT),
    COLUMN("objects", "Most", ANSWER_COUNT),
    COLUMN("least_objects", "Limit", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("least_bytes", "Limit", ANSWER_BYTES),
    COLUMN("what", "Of", ANSWER_TEXT),
    FIELD("known", ANSWER_FLAG),
};
static const struct answer_shape checks_shape = ANSWER_SHAPE(check_columns);

/* ---- parts ---- */

static const char *name_of(const struct gcd_session *s, uint32_t type)
{
    return type != GCD_TYPE_NONE ? gcd_names_get(gcd_session_names(s), type) : NULL;
}

static const struct gcd_root *root_of(const struct gcd_session *s, size_t root)
{
    return root != SIZE_MAX ? &gcd_graph_summary(gcd_session_graph(s))->roots[root] : NULL;
}

static void put_parts(struct answer *a, const struct answer_of_suspects *of,
                      const struct gcd_suspect_part *parts, size_t n)
{
    char step[GCD_ASYNC_STEP_BYTES];
    for (size_t i = 0; i < n; i++) {
        answer_row(a);
        answer_count(a, "objects", parts[i].objects);
        answer_count(a, "bytes", parts[i].bytes);
        answer_share(a, "share", parts[i].bytes, gcd_suspects_heap_bytes(of->suspects));
        answer_text(a, "type", name_of(of->session, parts[i].type));
        answer_text(a, "name", gcd_names_step(gcd_session_names(of->session), parts[i].type, step));
    }
}

struct answer *answer_parts(const struct answer_of_suspects *of,
                            const struct gcd_suspect_part *parts, size_t n)
{
    struct answer *a = answer_new(NULL, &answer_parts_shape);
    put_parts(a, of, parts, n);
    return a;
}

/* ---- the path ---- */

void answer_field(struct answer *a, const struct gcd_field *f)
{
    if (f->name != NULL && f->name[0] != '\0' && f->other == NULL)
        answer_text(a, "field", f->name);
    if (f->element != GCD_ELEMENT_NONE)
        answer_count(a, "element", f->element);
}

/* By which field the object of step I holds that of the next one. */
static struct gcd_field field_of_step(const struct answer_of_suspects *of,
                                      const struct gcd_suspect *s, size_t i)
{
    const struct gcd_fields *fields;
    /* made for the suspects, so there is nothing left that could fail */
    return gcd_session_fields(of->session, NULL, &fields, NULL) == GCD_OK
               ? gcd_suspect_field(s, i, fields)
               : GCD_FIELD_UNKNOWN;
}

/* "[\"tenant-42\"]" for the key by which step I holds the next one; and the cell CELL. */
static const char *put_key(struct answer *a, const char *cell, const struct answer_of_suspects *of,
                           const struct gcd_suspect *s, size_t i)
{
    struct gcd_session_entry e;
    return gcd_session_step_entry(s, i, &e) ? answer_key(a, cell, of->session, &e) : "";
}

/* The text of step I, which is the type of its object with a remark, after BEFORE. */
static void put_step_text(struct answer *a, const char *key, const struct answer_of_suspects *of,
                          const struct gcd_suspect *s, size_t i, const char *before)
{
    const struct gcd_suspect_step *step = &s->path[i];
    char call[GCD_ASYNC_STEP_BYTES], elements[ANSWER_ELEMENTS_BYTES] = "";
    const char *type = step->skipped ? "" : name_of(of->session, step->type),
               *remark = step->dependent ? " (dependent handle)" : "";
    struct gcd_field via = field_of_step(of, s, i);
    char field[GCD_FIELD_LABEL_BYTES] = "";
    if (i + 1 < s->path_count && s->path[i + 1].fold != GCD_FOLD_INSIDE)
        (void)gcd_field_suffix(&via, field);
    if (!step->skipped)
        type = gcd_names_step(gcd_session_names(of->session), step->type, call);
    if (s->collection != NULL && step->node == s->node)
        answer_elements_text(s->elements, s->elements_at_least, s->elements_at_most, elements);
    if (step->skipped)
        answer_format(a, key, "(%s more object%s)", GCD_DIGITS(step->repeats),
                      gcd_plural(step->repeats));
    else if (step->repeats > 1)
        answer_format(a, key, "%s%s, %s of them one behind the other%s", before, type,
                      GCD_DIGITS(step->repeats), remark);
    else
        answer_format(a, key, "%s%s%s%s%s%s", before, type, field, put_key(a, NULL, of, s, i),
                      elements, remark);
}

/* The end of the hidden steps from I on, and the text for them. */
static size_t hidden_end(const struct gcd_suspect *s, size_t i, char text[ANSWER_HIDDEN_BYTES])
{
    size_t first = i;
    uint64_t library = 0;
    for (; i < s->path_count && s->path[i].fold == GCD_FOLD_HIDDEN; i++)
        library += s->path[i].origin == GCD_ORIGIN_LIBRARY;
    (void)answer_hidden_text(i - first, library, text);
    return i;
}

static void put_step(struct answer *a, const struct answer_of_suspects *of,
                     const struct gcd_suspect *s, size_t i)
{
    const struct gcd_suspect_step *step = &s->path[i];
    const char *type = step->skipped ? NULL : name_of(of->session, step->type);
    answer_count(a, "retained_bytes", gcd_dominators_retained(of->dominators, step->node));
    answer_object(a, of->session, step->node);
    answer_count(a, "repeats", step->repeats);
    answer_flag(a, "dependent", step->dependent);
    answer_text(a, "type", type);
    put_step_text(a, "step", of, s, i, "");
    if (type != NULL)
        answer_fold(a, of->origins, step->type, (enum gcd_fold)step->fold);
    struct gcd_field via = field_of_step(of, s, i);
    answer_field(a, &via);
    (void)put_key(a, "key", of, s, i);
}

static void put_path(struct answer *a, const struct answer_of_suspects *of,
                     const struct gcd_suspect *s, bool folds)
{
    char hidden[ANSWER_HIDDEN_BYTES];
    uint32_t depth = 0;
    for (size_t i = 0; i < s->path_count; i++) {
        if (folds && s->path[i].fold == GCD_FOLD_INSIDE)
            continue;
        answer_row(a);
        answer_count(a, "depth", ++depth);
        if (folds && s->path[i].fold == GCD_FOLD_HIDDEN) {
            i = hidden_end(s, i, hidden) - 1;
            answer_text(a, "step", hidden);
        } else {
            put_step(a, of, s, i);
        }
        answer_depth(a, "step", depth);
    }
}

struct answer *answer_suspect_path(const struct answer_of_suspects *of, const struct gcd_suspect *s,
                                   bool folds)
{
    struct answer *a = answer_new(NULL, &path_shape);
    answer_row(a);
    answer_root_label(a, "step", of->session, root_of(of->session, s->root));
    put_path(a, of, s, folds);
    return a;
}

/* The path as people read it: a text for each line, with the object that it is about. */
static void put_lines(struct answer *a, const struct answer_of_suspects *of,
                      const struct gcd_suspect *s)
{
    char hidden[ANSWER_HIDDEN_BYTES], object[ANSWER_OBJECT_BYTES + 1];
    if (s->path_count > 0) {
        answer_row(a);
        answer_root_label(a, NULL, of->session, root_of(of->session, s->root));
    }
    for (size_t i = 0; i < s->path_count; i++) {
        if (s->path[i].fold == GCD_FOLD_INSIDE)
            continue;
        answer_row(a);
        if (s->path[i].fold == GCD_FOLD_HIDDEN) {
            i = hidden_end(s, i, hidden) - 1;
            answer_text(a, NULL, hidden);
            continue;
        }
        (void)answer_object_text(gcd_session_graph(of->session), s->path[i].node, object);
        size_t n = strlen(object);
        object[n] = ' ';
        object[n + 1] = '\0';
        put_step_text(a, NULL, of, s, i, object);
    }
}

/* ---- suspects ---- */

static void put_elements(struct answer *a, const struct answer_of_suspects *of,
                         const struct gcd_suspect *s)
{
    static const char *const keys[] = { "elements", "elements_at_least", "elements_at_most" };
    const uint64_t numbers[] = { s->elements, s->elements_at_least, s->elements_at_most };
    answer_text(a, "collection", s->collection);
    for (size_t i = 0; i < 3 && s->collection != NULL; i++)
        if (numbers[i] != UINT64_MAX)
            answer_count(a, keys[i], numbers[i]);
    answer_text(a, "element", name_of(of->session, s->element.type));
}

static void put_place(struct answer *a, const struct answer_of_suspects *of,
                      const struct gcd_suspect *s)
{
    const struct gcd_root *root = root_of(of->session, s->root);
    answer_text(a, "type", name_of(of->session, s->type));
    if (s->node != GCD_NODE_NONE)
        answer_object(a, of->session, s->node);
    if (s->path_count > 0) {
        answer_text(a, "root_kind", answer_root_key(root));
        answer_root_label(a, "root", of->session, root);
    }
    answer_static(a, of->session, root);
    answer_text(a, "owner", name_of(of->session, s->owner));
    answer_known(a, "owner_module", s->owner_module);
    if (s->owner_node != GCD_NODE_NONE)
        answer_count(a, "owner_node", s->owner_node);
    for (size_t i = 0; i + 1 < s->path_count; i++) {
        struct gcd_field via = field_of_step(of, s, i);
        if (s->path[i].node == s->owner_node && via.name != NULL && via.other == NULL)
            answer_known(a, "owner_field", via.name);
    }
}

/* Other ways that hold the objects. */
static void put_ways(struct answer *a, const struct answer_of_suspects *of,
                     const struct gcd_suspect *s)
{
    for (size_t i = 0; i < s->way_count; i++) {
        const struct gcd_suspect_way *way = &s->ways[i];
        const struct gcd_root *root = root_of(of->session, way->root);
        answer_row(a);
        answer_text(a, "owner", name_of(of->session, way->owner));
        if (way->owner_node != GCD_NODE_NONE)
            answer_count(a, "owner_node", way->owner_node);
        answer_text(a, "root_kind", answer_root_key(root));
        answer_root_label(a, "root", of->session, root);
        answer_share(a, "share", (uint64_t)(way->share * 10000 + 0.5), 10000);
    }
}

static void put_in_short(struct answer *a, const struct answer_of_suspects *of,
                         const struct gcd_suspect *s)
{
    answer_row(a);
    answer_text(a, "kind", gcd_suspect_kind_name(s->kind));
    answer_count(a, "objects", s->objects);
    answer_count(a, "bytes", s->bytes);
    answer_text(a, "type", name_of(of->session, s->type));
    answer_text(a, "sentence", s->sentence);
    answer_text(a, "advice", s->advice);
}

/* The suspects that S mentions in a clause. */
static void put_also(struct answer *a, const struct answer_of_suspects *of,
                     const struct gcd_suspect *s)
{
    for (size_t i = 0; i < s->also_count; i++)
        put_in_short(a, of, gcd_suspects_also(of->shown, s, i));
}

static void put_rows(struct answer *a, const struct answer_of_suspects *of,
                     const struct gcd_suspect *s)
{
    put_also(answer_rows(a, "also"), of, s);
    put_path(answer_rows(a, "path"), of, s, false);
    put_lines(answer_rows(a, "lines"), of, s);
    put_ways(answer_rows(a, "ways"), of, s);
    put_parts(answer_rows(a, "holds"), of, s->held, s->held_count);
    put_parts(answer_rows(a, "content"), of, s->content, s->content_count);
    put_parts(answer_rows(a, "own_types"), of, s->own, s->own_count);
}

static bool put_sites(struct answer *a, const struct answer_of_suspects *of,
                      const struct gcd_suspect *s)
{
    char text[ANSWER_SITE_BYTES];
    bool ok = answer_suspect_site(of, s, answer_rows(a, "sites"), text);
    answer_known(a, "allocated", text);
    return ok;
}

static gcd_status put_keys(struct answer *a, const struct answer_of_suspects *of,
                           const struct gcd_suspect *s, struct gcd_error *err)
{
    const char *sentence;
    gcd_status st = answer_suspect_keys(of, s, answer_rows(a, "key_beginnings"), &sentence, err);
    if (st == GCD_OK)
        answer_text(a, "keys", sentence);
    return st;
}

gcd_status answer_notes(const struct answer_of_suspects *of, struct answer **ret,
                        struct gcd_error *err)
{
    struct answer *a = *ret = answer_new(NULL, &answer_notes_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing notes");
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < gcd_suspects_note_count(of->suspects) && st == GCD_OK; i++) {
        const struct gcd_suspect *s = gcd_suspects_note(of->suspects, i);
        if (of->older != NULL && !answer_note_has_grown(of->older, s))
            continue;
        put_in_short(a, of, s);
        st = put_keys(a, of, s, err);
    }
    return st;
}

gcd_status answer_suspects(const struct answer_of_suspects *of, struct answer **ret,
                           struct gcd_error *err)
{
    size_t n = of->order != NULL ? of->ordered : gcd_suspects_count(of->shown),
           first = of->page.first < n ? (size_t)of->page.first : n;
    struct answer *a = *ret = answer_new(NULL, &answer_suspects_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing suspects");
    if (of->older == NULL) {
        answer_hide(a, "bytes_before");
        answer_hide(a, "bytes_delta");
        answer_hide(a, "grown");
    }
    a->first = first;
    a->total = n;
    for (size_t i = first; i < n && (of->page.most == 0 || i - first < of->page.most); i++) {
        const struct gcd_suspect *s =
            gcd_suspects_get(of->shown, of->order != NULL ? of->order[i] : i);
        answer_row(a);
        answer_count(a, "number", i + 1);
        if (of->older == NULL) /* else what is listed has grown, whatever its size */
            answer_text(a, "level", s->size_only ? "holder" : "suspect");
        answer_text(a, "kind", gcd_suspect_kind_name(s->kind));
        answer_text(a, "title", gcd_suspect_kind_title(s->kind));
        answer_text(a, "place", s->place);
        answer_count(a, "objects", s->objects);
        answer_count(a, "shallow_bytes", s->shallow_bytes);
        answer_count(a, "bytes", s->bytes);
        answer_count(a, "retained_bytes", s->retained_bytes);
        if (!gcd_suspect_kind_is_free(s->kind))
            answer_share(a, "share", s->bytes, gcd_suspects_heap_bytes(of->suspects));
        if (of->older != NULL)
            answer_suspect_growth(a, of, s);
        answer_text(a, "what", s->what);
        answer_flag(a, "size_only", s->size_only);
        answer_flag(a, "overlaps", s->overlaps);
        put_place(a, of, s);
        answer_text(a, "sentence", s->sentence);
        if (of->older != NULL) {
            answer_grown_advice(a, of, s);
        } else {
            answer_text(a, "advice", s->advice);
            answer_known(a, "evidence", s->evidence);
        }
        put_elements(a, of, s);
        put_rows(a, of, s);
        gcd_status st = put_sites(a, of, s) ? put_keys(a, of, s, err)
                                            : gcd_fail_nomem(err, "finding the site of a suspect");
        if (st != GCD_OK) {
            answer_free(a);
            *ret = NULL;
            return st;
        }
    }
    return GCD_OK;
}

struct answer *answer_checks(const struct gcd_suspects *suspects)
{
    struct answer *a = answer_new(NULL, &checks_shape);
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++) {
        enum gcd_suspect_kind kind = (enum gcd_suspect_kind)i;
        const struct gcd_suspect_check *c = gcd_suspects_check(suspects, kind);
        answer_row(a);
        answer_text(a, "kind", gcd_suspect_kind_name(kind));
        answer_text(a, "title", gcd_suspect_kind_title(kind));
        answer_count(a, "found", c->found);
        if (!c->unknown) {
            answer_count(a, "objects", c->objects);
            answer_count(a, "bytes", c->bytes);
        }
        if (c->least_objects > 0)
            answer_count(a, "least_objects", c->least_objects);
        if (c->least_bytes > 0)
            answer_count(a, "least_bytes", c->least_bytes);
        answer_text(a, "what", c->what);
        answer_flag(a, "known", !c->unknown);
    }
    return a;
}
