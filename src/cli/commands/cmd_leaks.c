#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "output/memory_notes.h"
#include "output/output.h"
#include "output/root_labels.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

/* Default number of consumers, which are many and small. */
#define DEFAULT_CONSUMERS 10u
#define SENTENCE_COLUMNS  120u

struct leaks {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_dominators *dominators;
    const struct gcd_suspects *suspects;
    /* begins with the largest consumer; only without suspects; NULL = unknown */
    const struct gcd_suspects *largest;
    const struct gcd_origins *origins;
    struct cli_unreachable unreachable;
    size_t shown; /* suspects to show, limited by --top */
};

/* ---- tables ---- */

static const struct cli_column suspect_columns[] = {
    { "number", "No.", CLI_CELL_COUNT },
    { "kind", NULL, CLI_CELL_TEXT },
    { "title", "Suspect", CLI_CELL_TEXT },
    { "objects", "Objects", CLI_CELL_COUNT },
    { "shallow_bytes", NULL, CLI_CELL_BYTES },
    { "bytes", "Bytes", CLI_CELL_BYTES },
    { "retained_bytes", NULL, CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },
    { "overlaps", NULL, CLI_CELL_COUNT },
    { "type", "Type", CLI_CELL_TEXT },
    { "node", NULL, CLI_CELL_COUNT },
    { "address", NULL, CLI_CELL_ADDRESS },
    { "root_kind", NULL, CLI_CELL_TEXT },
    { "root", NULL, CLI_CELL_TEXT },
    { "sentence", NULL, CLI_CELL_TEXT },
    { "field", NULL, CLI_CELL_TEXT },
    { "class", NULL, CLI_CELL_TEXT },
    { "label", NULL, CLI_CELL_TEXT },
    { "advice", NULL, CLI_CELL_TEXT },
    { "collection", NULL, CLI_CELL_TEXT },
    { "elements", NULL, CLI_CELL_COUNT },
    { "elements_at_least", NULL, CLI_CELL_COUNT },
    { "elements_at_most", NULL, CLI_CELL_COUNT },
    { "element", NULL, CLI_CELL_TEXT },
    { "owner", NULL, CLI_CELL_TEXT },
    { "owner_module", NULL, CLI_CELL_TEXT },
    { "owner_node", NULL, CLI_CELL_COUNT },
};
#define SUSPECT_COLUMNS (sizeof suspect_columns / sizeof *suspect_columns)

static const struct gcd_root *root_of(const struct leaks *l, const struct gcd_suspect *s)
{
    return s->root != SIZE_MAX ? &gcd_graph_summary(l->d.graph)->roots[s->root] : NULL;
}

static void put_root_text(const struct leaks *l, struct cli_table *t, const struct gcd_suspect *s)
{
    char *text = cli_root_label(l->d.graph, l->d.names, root_of(l, s));
    cli_table_text(t, text);
    free(text);
}

static void put_elements(struct cli_table *t, const struct gcd_suspect *s)
{
    const uint64_t numbers[] = { s->elements, s->elements_at_least, s->elements_at_most };
    if (s->collection != NULL)
        cli_table_text(t, s->collection);
    else
        cli_table_none(t);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (s->collection != NULL && numbers[i] != UINT64_MAX)
            cli_table_count(t, numbers[i]);
        else
            cli_table_none(t);
}

static void put_type(const struct leaks *l, struct cli_table *t, uint32_t type)
{
    if (type != GCD_TYPE_NONE)
        cli_table_text(t, gcd_names_get(l->d.names, type));
    else
        cli_table_none(t);
}

/* Adds the cells of the owner. */
static void put_owner(const struct leaks *l, struct cli_table *t, const struct gcd_suspect *s)
{
    put_type(l, t, s->owner);
    if (s->owner_module[0] != '\0')
        cli_table_text(t, s->owner_module);
    else
        cli_table_none(t);
    if (s->owner_node != GCD_NODE_NONE)
        cli_table_count(t, s->owner_node);
    else
        cli_table_none(t);
}

/* The first N suspects. */
static struct cli_table *suspects_table(const struct leaks *l, const struct gcd_suspects *suspects,
                                        size_t n)
{
    struct cli_table *t = cli_table_new(suspect_columns, SUSPECT_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        const struct gcd_suspect *s = gcd_suspects_get(suspects, i);
        cli_table_count(t, i + 1);
        cli_table_text(t, gcd_suspect_kind_name(s->kind));
        cli_table_text(t, gcd_suspect_kind_title(s->kind));
        cli_table_count(t, s->objects);
        cli_table_count(t, s->shallow_bytes);
        cli_table_count(t, s->bytes);
        cli_table_count(t, s->retained_bytes);
        if (!gcd_suspect_kind_is_free(s->kind))
            cli_table_share(t, s->bytes, gcd_suspects_heap_bytes(l->suspects));
        else
            cli_table_none(t);
        cli_table_count(t, s->overlaps);
        cli_table_text(t, gcd_names_get(l->d.names, s->type));
        if (s->node != GCD_NODE_NONE) {
            cli_table_count(t, s->node);
            cli_object_address(t, l->d.graph, s->node);
        } else {
            cli_table_none(t);
            cli_table_none(t);
        }
        if (s->path_count > 0) {
            cli_table_text(t, cli_root_key(root_of(l, s)));
            put_root_text(l, t, s);
        } else {
            cli_table_none(t);
            cli_table_none(t);
        }
        cli_table_text(t, s->sentence);
        cli_field_cell(t, root_of(l, s));
        cli_static_cells(t, l->d.graph, l->d.names, root_of(l, s));
        cli_table_text(t, s->advice);
        put_elements(t, s);
        put_type(l, t, s->element.type);
        put_owner(l, t, s);
    }
    return t;
}

static const struct cli_column finding_columns[] = {
    { "kind", NULL, CLI_CELL_TEXT },
    { "title", "Looked for", CLI_CELL_TEXT },
    { "found", "Found", CLI_CELL_COUNT },
    { "objects", "Most", CLI_CELL_COUNT },
    { "least_objects", "Limit", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES },
    { "least_bytes", "Limit", CLI_CELL_BYTES },
    { "what", "Of", CLI_CELL_TEXT },
    { "known", NULL, CLI_CELL_COUNT },
};
#define FINDING_COLUMNS (sizeof finding_columns / sizeof *finding_columns)

static void put_limit(struct cli_table *t, uint64_t least)
{
    if (least > 0)
        cli_table_count(t, least);
    else
        cli_table_none(t);
}

/* All kinds that were searched for, found or not. */
static struct cli_table *findings_table(const struct leaks *l)
{
    struct cli_table *t = cli_table_new(finding_columns, FINDING_COLUMNS);
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++) {
        const struct gcd_suspect_check *c =
            gcd_suspects_check(l->suspects, (enum gcd_suspect_kind)i);
        cli_table_text(t, gcd_suspect_kind_name((enum gcd_suspect_kind)i));
        cli_table_text(t, gcd_suspect_kind_title((enum gcd_suspect_kind)i));
        cli_table_count(t, c->found);
        if (c->unknown)
            cli_table_none(t);
        else
            cli_table_count(t, c->objects);
        put_limit(t, c->least_objects);
        if (c->unknown)
            cli_table_none(t);
        else
            cli_table_count(t, c->bytes);
        put_limit(t, c->least_bytes);
        cli_table_text(t, c->what);
        cli_table_count(t, !c->unknown);
    }
    return t;
}

static const struct cli_column path_columns[] = {
    { "depth", NULL, CLI_CELL_COUNT },     { "retained_bytes", "Retained", CLI_CELL_BYTES },
    { NULL, "Object", CLI_CELL_TEXT },     { "node", NULL, CLI_CELL_COUNT },
    { "address", NULL, CLI_CELL_ADDRESS }, { "repeats", NULL, CLI_CELL_COUNT },
    { "dependent", NULL, CLI_CELL_COUNT }, { "type", NULL, CLI_CELL_TEXT },
    { NULL, "Path", CLI_CELL_TREE },       { "origin", NULL, CLI_CELL_TEXT },
    { "fold", NULL, CLI_CELL_TEXT },
};
#define PATH_COLUMNS (sizeof path_columns / sizeof *path_columns)

/* Adds the object at the end of step I: its type with a remark. */
static void put_step_text(const struct leaks *l, struct cli_table *t, const struct gcd_suspect *s,
                          size_t i, uint32_t depth)
{
    const struct gcd_suspect_step *step = &s->path[i];
    char call[GCD_ASYNC_STEP_BYTES], elements[CLI_ELEMENTS_BYTES] = "";
    const char *type = gcd_async_step_name(gcd_names_get(l->d.names, step->type), call),
               *remark = step->dependent ? " (dependent handle)" : "";
    char *text = NULL;
    int n;
    if (s->collection != NULL && step->node == s->node)
        cli_elements_put(s->elements, s->elements_at_least, s->elements_at_most, elements);
    if (step->skipped)
        n = asprintf(&text, "(%s more object%s)", GCD_DIGITS(step->repeats),
                     gcd_plural(step->repeats));
    else if (step->repeats > 1)
        n = asprintf(&text, "%s, %s of them one behind the other%s", type,
                     GCD_DIGITS(step->repeats), remark);
    else
        n = asprintf(&text, "%s%s%s", type, elements, remark);
    cli_table_branch(t, depth, n >= 0 ? text : NULL);
    if (n >= 0)
        free(text);
}

/* Adds one line for the hidden steps from I on; returns their end. */
static size_t put_hidden(struct cli_table *t, const struct gcd_suspect *s, size_t i, uint32_t depth)
{
    char buf[CLI_HIDDEN_BYTES];
    size_t first = i;
    uint64_t library = 0;
    for (; i < s->path_count && s->path[i].fold == GCD_FOLD_HIDDEN; i++)
        library += s->path[i].origin == GCD_ORIGIN_LIBRARY;
    cli_table_count(t, depth);
    for (size_t k = 0; k < 7; k++)
        cli_table_none(t);
    cli_table_branch(t, depth, cli_hidden_text(i - first, library, buf));
    cli_table_none(t);
    cli_table_none(t);
    return i;
}

static void put_step(const struct leaks *l, struct cli_table *t, const struct gcd_suspect *s,
                     size_t i, uint32_t depth)
{
    const struct gcd_suspect_step *step = &s->path[i];
    char buf[CLI_NUMBER_BYTES];
    cli_table_count(t, depth);
    cli_table_count(t, gcd_dominators_retained(l->dominators, step->node));
    cli_table_text(t, cli_object_text(l->d.graph, step->node, buf));
    cli_table_count(t, step->node);
    cli_object_address(t, l->d.graph, step->node);
    cli_table_count(t, step->repeats);
    cli_table_count(t, step->dependent);
    if (step->skipped)
        cli_table_none(t);
    else
        cli_table_text(t, gcd_names_get(l->d.names, step->type));
    put_step_text(l, t, s, i, depth);
    cli_fold_cells(t, l->origins, step->skipped ? GCD_TYPE_NONE : step->type,
                   (enum gcd_fold)step->fold);
}

static struct cli_table *path_table(const struct leaks *l, const struct gcd_suspect *s)
{
    struct cli_table *t = cli_table_new(path_columns, PATH_COLUMNS);
    uint32_t depth = 0;
    /* programs get the path with the suspect */
    if (s->path_count > 0 && !l->args->view.json) {
        char *text = cli_root_label(l->d.graph, l->d.names, root_of(l, s));
        for (size_t i = 0; i + 3 < PATH_COLUMNS; i++)
            cli_table_none(t);
        cli_table_branch(t, 0, text);
        cli_table_none(t);
        cli_table_none(t);
        free(text);
    }
    for (size_t i = 0; i < s->path_count;) {
        bool folds = cli_folds(l->args);
        if (folds && s->path[i].fold == GCD_FOLD_HIDDEN)
            i = put_hidden(t, s, i, ++depth);
        else if (folds && s->path[i].fold == GCD_FOLD_INSIDE)
            i++;
        else
            put_step(l, t, s, i++, ++depth);
    }
    return t;
}

static const struct cli_column part_columns[] = {
    { "objects", "Objects", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },
    { "type", "Type", CLI_CELL_TEXT },
};
#define PART_COLUMNS (sizeof part_columns / sizeof *part_columns)

static struct cli_table *parts_table(const struct leaks *l, const struct gcd_suspect_part *parts,
                                     size_t n)
{
    struct cli_table *t = cli_table_new(part_columns, PART_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        cli_table_count(t, parts[i].objects);
        cli_table_count(t, parts[i].bytes);
        cli_table_share(t, parts[i].bytes, gcd_suspects_heap_bytes(l->suspects));
        cli_table_text(t, gcd_names_get(l->d.names, parts[i].type));
    }
    return t;
}

static const struct cli_column way_columns[] = {
    { "owner", NULL, CLI_CELL_TEXT },     { "owner_node", NULL, CLI_CELL_COUNT },
    { "root_kind", NULL, CLI_CELL_TEXT }, { "root", NULL, CLI_CELL_TEXT },
    { "share", NULL, CLI_CELL_SHARE },
};
#define WAY_COLUMNS (sizeof way_columns / sizeof *way_columns)

/* Other ways that hold the objects. */
static struct cli_table *ways_table(const struct leaks *l, const struct gcd_suspect *s)
{
    struct cli_table *t = cli_table_new(way_columns, WAY_COLUMNS);
    for (size_t i = 0; i < s->way_count; i++) {
        const struct gcd_suspect_way *way = &s->ways[i];
        const struct gcd_root *root =
            way->root != SIZE_MAX ? &gcd_graph_summary(l->d.graph)->roots[way->root] : NULL;
        char *text = cli_root_label(l->d.graph, l->d.names, root);
        put_type(l, t, way->owner);
        if (way->owner_node != GCD_NODE_NONE)
            cli_table_count(t, way->owner_node);
        else
            cli_table_none(t);
        cli_table_text(t, cli_root_key(root));
        cli_table_text(t, text);
        cli_table_share(t, (uint64_t)(way->share * 10000 + 0.5), 10000);
        free(text);
    }
    return t;
}

static struct cli_table *consumers_table(const struct leaks *l)
{
    size_t n = gcd_suspects_consumer_count(l->suspects),
           wanted = l->args->view.top != 0 ? (size_t)l->args->view.top : DEFAULT_CONSUMERS;
    return parts_table(l, gcd_suspects_consumer(l->suspects, 0), n < wanted ? n : wanted);
}

/* ---- output ---- */

static bool print_and_free(struct cli_table *t)
{
    bool ok = cli_table_print(t, stdout);
    cli_table_free(t);
    return ok;
}

/* Prints TEXT after INDENT columns already on the line, wrapped between words. */
static bool print_wrapped(int indent, const char *text)
{
    char *copy = strdup(text);
    size_t column = (size_t)indent, window = cli_window_columns(stdout),
           columns = window < SENTENCE_COLUMNS ? window : SENTENCE_COLUMNS;
    if (copy == NULL)
        return false;
    for (char *word = copy, *end; word != NULL; word = end != NULL ? end + 1 : NULL) {
        end = strchr(word, ' ');
        if (end != NULL)
            *end = '\0';
        size_t w = cli_print_cut(NULL, word, SIZE_MAX);
        bool fits = column + 1 + w <= columns || column <= (size_t)indent;
        if (fits)
            putchar(' ');
        else
            printf("\n%*s", indent + 1, "");
        cli_print_sanitized(stdout, word);
        column = (fits ? column : (size_t)indent) + 1 + w;
    }
    putchar('\n');
    free(copy);
    return true;
}

static bool print_suspect(const struct leaks *l, const struct gcd_suspects *suspects, size_t i)
{
    const struct gcd_suspect *s = gcd_suspects_get(suspects, i);
    putchar('\n');
    int indent = printf("%zu.", i + 1);
    bool ok = print_wrapped(indent, s->sentence);
    if (s->advice[0] != '\0') {
        printf("%*s", indent, "");
        ok = print_wrapped(indent, s->advice) && ok;
    }
    if (s->path_count > 0 && ok) {
        putchar('\n');
        ok = print_and_free(path_table(l, s));
    }
    if (s->way_count > 0) { /* the printed path is one of several */
        char which[CLI_NUMBER_BYTES];
        printf("\ngcdumpc paths FILE --object %s shows all that holds this one.\n",
               cli_object_text(l->d.graph, s->node, which));
    }
    if (s->content_count > 1) {
        puts("\nIn it, by type:");
        ok = print_and_free(parts_table(l, s->content, s->content_count)) && ok;
    }
    return ok;
}

static bool print_consumers(const struct leaks *l)
{
    char a[CLI_NUMBER_BYTES];
    uint64_t least = gcd_suspects_threshold(l->suspects);
    bool people = cli_is_terminal(stdout), ok = true;
    printf("No suspects%s: nothing%s retains %s%s or more (--share, --min-bytes).\n",
           gcd_suspects_check(l->suspects, GCD_SUSPECT_SPARSE)->unknown ? " in what has arrived"
                                                                        : "",
           gcd_suspects_note_count(l->suspects) > 0 ? " but what is noted below" : "",
           people ? cli_size(least, a) : cli_number(least, false, a), people ? "" : " bytes");
    if (l->largest != NULL) {
        puts("\nThe largest consumer:");
        ok = print_suspect(l, l->largest, 0);
    }
    puts("\nThe largest consumers by type:");
    return ok && print_and_free(consumers_table(l));
}

static bool print_suspects(const struct leaks *l)
{
    size_t n = gcd_suspects_count(l->suspects);
    if (n == 0)
        return print_consumers(l);
    bool ok = print_and_free(suspects_table(l, l->suspects, l->shown));
    if (l->shown < n)
        printf("(%s more suspect%s)\n", GCD_DIGITS(n - l->shown), gcd_plural(n - l->shown));
    for (size_t i = 0; i < l->shown && ok; i++)
        ok = print_suspect(l, l->suspects, i);
    return ok;
}

/* Below this part of the heap it is not worth a line. */
#define OBSERVED_PART 100u

static void print_observed(const struct leaks *l)
{
    char n[CLI_NUMBER_BYTES];
    uint64_t bytes = gcd_suspects_observed_bytes(l->suspects);
    if (bytes > gcd_suspects_heap_bytes(l->suspects) / OBSERVED_PART)
        printf("\n%s come from being observed: the runtime's descriptions of its own events.\n",
               cli_size(bytes, n));
}

static bool print_notes(const struct leaks *l)
{
    bool ok = true;
    for (size_t i = 0; i < gcd_suspects_note_count(l->suspects) && ok; i++) {
        const struct gcd_suspect *s = gcd_suspects_note(l->suspects, i);
        fputs("\nNote:", stdout);
        ok = print_wrapped(5, s->sentence);
        printf("%*s", 5, "");
        ok = print_wrapped(5, s->advice) && ok;
    }
    return ok;
}

static bool print_text(const struct leaks *l)
{
    bool ok = print_suspects(l) && print_notes(l);
    print_observed(l);
    if (!ok || !l->args->view.findings)
        return ok;
    puts("\nWhat was looked for, with the largest numbers seen of each kind:");
    return print_and_free(findings_table(l));
}

/* Tables have no boolean cells. */
static bool make_bool(json_t *row, const char *key)
{
    return json_object_set_new(
               row, key, json_boolean(json_integer_value(json_object_get(row, key)) != 0)) == 0;
}

/* Adds T to ROW as KEY, and frees it. */
static bool attach(json_t *row, const char *key, struct cli_table *t)
{
    bool ok = json_object_set_new(row, key, cli_table_json(t)) == 0;
    cli_table_free(t);
    return ok;
}

static const struct cli_column also_columns[] = {
    { "kind", NULL, CLI_CELL_TEXT },     { "objects", NULL, CLI_CELL_COUNT },
    { "bytes", NULL, CLI_CELL_BYTES },   { "type", NULL, CLI_CELL_TEXT },
    { "sentence", NULL, CLI_CELL_TEXT }, { "advice", NULL, CLI_CELL_TEXT },
};
#define ALSO_COLUMNS (sizeof also_columns / sizeof *also_columns)

static void put_in_short(const struct leaks *l, struct cli_table *t, const struct gcd_suspect *s)
{
    cli_table_text(t, gcd_suspect_kind_name(s->kind));
    cli_table_count(t, s->objects);
    cli_table_count(t, s->bytes);
    cli_table_text(t, gcd_names_get(l->d.names, s->type));
    cli_table_text(t, s->sentence);
    cli_table_text(t, s->advice);
}

/* The members of SUSPECTS that S mentions in a clause. */
static struct cli_table *also_table(const struct leaks *l, const struct gcd_suspects *suspects,
                                    const struct gcd_suspect *s)
{
    struct cli_table *t = cli_table_new(also_columns, ALSO_COLUMNS);
    for (size_t i = 0; i < s->also_count; i++)
        put_in_short(l, t, gcd_suspects_also(suspects, s, i));
    return t;
}

static struct cli_table *notes_table(const struct leaks *l)
{
    struct cli_table *t = cli_table_new(also_columns, ALSO_COLUMNS);
    for (size_t i = 0; i < gcd_suspects_note_count(l->suspects); i++)
        put_in_short(l, t, gcd_suspects_note(l->suspects, i));
    return t;
}

static bool add_details(const struct leaks *l, json_t *row, const struct gcd_suspects *suspects,
                        const struct gcd_suspect *s)
{
    bool ok = make_bool(row, "overlaps") && attach(row, "also", also_table(l, suspects, s)) &&
              attach(row, "path", path_table(l, s)) && attach(row, "ways", ways_table(l, s)) &&
              attach(row, "held", parts_table(l, s->held, s->held_count)) &&
              attach(row, "content", parts_table(l, s->content, s->content_count)) &&
              attach(row, "own", parts_table(l, s->own, s->own_count));
    for (size_t i = 0; i < s->path_count && ok; i++)
        ok = make_bool(json_array_get(json_object_get(row, "path"), i), "dependent");
    return ok;
}

/* The first N of SUSPECTS as an array; NULL when memory was exhausted. */
static json_t *json_of(const struct leaks *l, const struct gcd_suspects *suspects, size_t n)
{
    struct cli_table *t = suspects_table(l, suspects, n);
    json_t *rows = cli_table_json(t);
    bool ok = rows != NULL;
    cli_table_free(t);
    for (size_t i = 0; i < n && ok; i++)
        ok = add_details(l, json_array_get(rows, i), suspects, gcd_suspects_get(suspects, i));
    if (ok)
        return rows;
    json_decref(rows);
    return NULL;
}

/* Adds "largest": null when there are suspects or nothing is known. */
static bool add_largest(const struct leaks *l, json_t *o)
{
    json_t *rows = l->largest != NULL ? json_of(l, l->largest, 1) : json_pack("[n]");
    bool ok = json_object_set(o, "largest", json_array_get(rows, 0)) == 0;
    json_decref(rows);
    return ok;
}

/* Adds "findings", if requested. */
static bool add_findings(const struct leaks *l, json_t *o)
{
    json_t *rows;
    size_t i;
    json_t *row;
    if (!l->args->view.findings)
        return true;
    bool ok = attach(o, "findings", findings_table(l));
    rows = json_object_get(o, "findings");
    json_array_foreach(rows, i, row) ok = ok && make_bool(row, "known");
    return ok;
}

static bool print_json(const struct leaks *l)
{
    json_t *o = cli_json_head(l->d.subject);
    cli_json_count(o, "heap_bytes", gcd_suspects_heap_bytes(l->suspects));
    cli_json_count(o, "threshold_bytes", gcd_suspects_threshold(l->suspects));
    cli_json_count(o, "observed_bytes", gcd_suspects_observed_bytes(l->suspects));
    (void)json_object_set_new(o, "unreachable", cli_json_unreachable(&l->unreachable));
    (void)json_object_set_new(o, "process_memory",
                              cli_json_process_memory(&cli_summary(&l->d)->memory));
    cli_json_count(o, "suspect_count", gcd_suspects_count(l->suspects));
    bool ok =
        json_object_set_new(o, "suspects", json_of(l, l->suspects, l->shown)) == 0 &&
        attach(o, "notes", notes_table(l)) && add_largest(l, o) &&
        attach(o, "consumers", consumers_table(l)) && add_findings(l, o) &&
        json_object_set_new(o, "verdict", cli_json_verdict(&cli_summary(&l->d)->verdict)) == 0;
    if (ok)
        return cli_json_print(o, stdout) == 0;
    json_decref(o);
    return false;
}

static enum cli_exit print_leaks(const struct leaks *l)
{
    bool ok;
    if (l->args->view.json) {
        ok = print_json(l);
    } else if (l->args->view.csv) {
        struct cli_table *t =
            l->args->view.findings ? findings_table(l) : suspects_table(l, l->suspects, l->shown);
        ok = cli_table_csv(t, stdout);
        cli_table_free(t);
    } else {
        cli_mark_incomplete(stdout, l->d.subject, &cli_summary(&l->d)->verdict);
        ok = cli_print_memory_notes(stdout, &l->d, &l->unreachable, true) && print_text(l);
    }
    if (ok || ferror(stdout)) /* cli_flush_stdout reports failed writes */
        return CLI_DONE;
    return cli_no_memory(l->d.subject);
}

/* ---- the command ---- */

static enum cli_exit analyse(struct leaks *l)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *session = l->d.session;
    struct gcd_context finding = cli_context_steps(l->args, "finding dominators"),
                       looking = cli_context_steps(l->args, "looking for suspects");
    const struct gcd_paths *paths;
    gcd_status st =
        gcd_session_paths_with_dominators(session, &finding, &l->dominators, &paths, &err);
    if (st == GCD_OK)
        st = gcd_session_origins(session, &looking, &l->origins, &err);
    if (st == GCD_OK)
        st = gcd_session_suspects(session, &looking, &l->suspects, &err);
    if (st == GCD_OK && !l->args->view.csv)
        st = gcd_session_largest_consumer(session, &looking, &l->largest, &err);
    if (st != GCD_OK)
        return cli_fail(l->d.subject, &err);
    enum cli_exit e = cli_count_unreachable(l->args, &l->d, paths, &l->unreachable);
    if (e != CLI_DONE)
        return e;
    size_t n = gcd_suspects_count(l->suspects);
    l->shown = l->args->view.top != 0 && l->args->view.top < n ? (size_t)l->args->view.top : n;
    cli_progress_end();
    return CLI_DONE;
}

static enum cli_exit write_page(const struct cli_args *args, struct cli_dump *d, struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_options options = { .context = cli_context_steps(args, "writing"),
                                         .name = d->name };
    return gcd_write_leaks_page(d->session, s, &options, &err) == GCD_OK
               ? cli_page_commit(args, s)
               : cli_fail(args->output.path, &err);
}

static enum cli_exit leaks_page(const struct cli_args *args)
{
    struct cli_dump d = { .input = NULL };
    struct gcd_sink *s = NULL;
    const struct gcd_dominators *dominators = NULL;
    enum cli_exit e = cli_page_open(args, "leaks", &s);
    if (e == CLI_DONE)
        e = cli_open_session(args, CLI_NEED_PAGE, &d);
    if (e == CLI_DONE)
        e = write_page(args, &d, s);
    if (e == CLI_DONE)
        e = cli_find_dominators(args, &d, &dominators); /* no cost: the page has computed them */
    if (e == CLI_DONE)
        e = cli_finish(args, &d, e, gcd_dominators_pseudo_roots(dominators));
    cli_close(&d);
    cli_page_close(s);
    return e;
}

enum cli_exit cmd_leaks(const struct cli_args *args)
{
    struct leaks l = { .args = args };
    if (args->output.path != NULL)
        return leaks_page(args);
    enum cli_exit e = cli_open_session(args, CLI_NEED_LEAKS, &l.d);
    if (e == CLI_DONE)
        e = analyse(&l);
    if (e == CLI_DONE)
        e = cli_finish(args, &l.d, print_leaks(&l), gcd_dominators_pseudo_roots(l.dominators));
    cli_close(&l.d);
    return e;
}
