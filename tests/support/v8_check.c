#include "support/v8_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/generations.h>

#include "support/run.h"

struct text {
    char *p;
    size_t n;
};

struct snapshot {
    const char *p, *end;
    uint64_t *nodes, *edges;
    size_t node_numbers, edge_numbers;
    struct text *strings;
    size_t string_count;
    uint64_t node_count, edge_count;
    bool *frozen; /* [nodes of the graph] expected below "[frozen]" */
    uint64_t frozen_count;
};

static char wrong[400];

static const char *complain(const char *fmt, ...) GCD_PRINTF(1, 2);
static const char *complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(wrong, sizeof wrong, fmt, ap);
    va_end(ap);
    return wrong;
}

static void *must_have(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

/* ---- the parts of JSON that occur ---- */

static void skip_space(struct snapshot *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

/* WANT has no white space; the file may have some between tokens. */
static bool take(struct snapshot *s, const char *want)
{
    for (; *want != '\0'; want++) {
        skip_space(s);
        if (s->p == s->end || *s->p != *want)
            return false;
        s->p++;
    }
    return true;
}

static bool take_number(struct snapshot *s, uint64_t *ret)
{
    skip_space(s);
    const char *begin = s->p;
    for (*ret = 0; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        *ret = *ret * 10 + (uint64_t)(*s->p - '0');
    return s->p > begin && s->p - begin <= 19 && (*begin != '0' || s->p - begin == 1);
}

static bool take_numbers(struct snapshot *s, uint64_t **ret, size_t *ret_n)
{
    size_t cap = 64;
    *ret = must_have(malloc(cap * sizeof **ret));
    if (!take(s, "["))
        return false;
    for (*ret_n = 0;; ++*ret_n) {
        if (*ret_n == cap)
            *ret = must_have(realloc(*ret, (cap *= 2) * sizeof **ret));
        if (!take_number(s, &(*ret)[*ret_n]))
            return false;
        if (!take(s, ",")) {
            ++*ret_n;
            return take(s, "]");
        }
    }
}

/* "XXXX" after "\\u" of a character that must be escaped, and its second surrogate if there is one;
 * to UTF-8 in TO. */
static bool take_escape(struct snapshot *s, struct text *to)
{
    unsigned code, second;
    if (s->end - s->p <= 4 || sscanf(s->p + 1, "%4x", &code) != 1)
        return false;
    s->p += 4;
    if (code >= 0xd800 && code < 0xdc00) {
        if (s->end - s->p <= 6 || sscanf(s->p + 1, "\\u%4x", &second) != 1 || second < 0xdc00 ||
            second > 0xdfff)
            return false;
        s->p += 6;
        code = 0x10000 + ((code & 0x3ff) << 10) + (second & 0x3ff);
    }
    if (code >= 0x20 && (code < 0x7f || code == 0xa0))
        return false;
    static const unsigned char firsts[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    unsigned bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned bits = code >> 6 * (bytes - 1 - i);
        to->p[to->n++] = (char)(i > 0 ? 0x80 | (bits & 0x3f) : firsts[bytes] | bits);
    }
    return true;
}

static bool take_string(struct snapshot *s, struct text *ret)
{
    if (!take(s, "\""))
        return false;
    ret->p = must_have(malloc((size_t)(s->end - s->p) + 1));
    for (ret->n = 0; s->p < s->end && *s->p != '"'; s->p++) {
        if ((unsigned char)*s->p < 0x20)
            return false;
        if (*s->p != '\\') {
            ret->p[ret->n++] = *s->p;
            continue;
        }
        if (++s->p == s->end)
            return false;
        if (*s->p == '"' || *s->p == '\\')
            ret->p[ret->n++] = *s->p;
        else if (*s->p != 'u' || !take_escape(s, ret))
            return false;
    }
    ret->p = must_have(realloc(ret->p, ret->n + 1));
    ret->p[ret->n] = '\0';
    return take(s, "\"") && run_is_utf8(ret->p, ret->n);
}

static bool take_strings(struct snapshot *s)
{
    size_t cap = 0;
    if (!take(s, "["))
        return false;
    do {
        if (s->string_count == cap)
            s->strings = must_have(realloc(s->strings, (cap = 2 * cap + 64) * sizeof *s->strings));
        s->strings[s->string_count] = (struct text){ NULL, 0 };
        if (!take_string(s, &s->strings[s->string_count++]))
            return false;
    } while (take(s, ","));
    return take(s, "]");
}

static const char *parse(struct snapshot *s)
{
    static const char meta[] =
        "{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_"
        "count\",\"trace_node_id\",\"detachedness\"],"
        "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\","
        "\"regexp\",\"number\",\"native\",\"synthetic\","
        "\"concatenatedstring\",\"slicedstring\",\"symbol\",\"bigint\",\"objectshape\"],\"string\","
        "\"number\",\"number\",\"number\","
        "\"number\",\"number\"],\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_"
        "types\":[[\"context\",\"element\","
        "\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\",\"node\"]"
        ",\"trace_function_info_fields\":["
        "\"function_id\",\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],\"trace_node_"
        "fields\":[\"id\",\"function_info_index\","
        "\"count\",\"size\",\"children\"],\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"]"
        ",\"location_fields\":[\"object_index\","
        "\"script_id\",\"line\",\"column\"]},\"node_count\":";
    uint64_t zero;
    if (!take(s, meta) || !take_number(s, &s->node_count) || !take(s, ",\"edge_count\":") ||
        !take_number(s, &s->edge_count) || !take(s, ",\"trace_function_count\":") ||
        !take_number(s, &zero) || zero != 0)
        return "the head";
    if (!take(s, "},\"nodes\":") || !take_numbers(s, &s->nodes, &s->node_numbers))
        return "the nodes";
    if (!take(s, ",\"edges\":") || !take_numbers(s, &s->edges, &s->edge_numbers))
        return "the edges";
    if (!take(s, ",\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],"
                 "\"strings\":") ||
        !take_strings(s))
        return "the strings";
    if (!take(s, "}"))
        return "the end";
    skip_space(s);
    return s->p == s->end ? NULL : "something behind the end";
}

/* ---- structure ---- */

static const char *check_structure(const struct snapshot *s)
{
    uint64_t edges = 0;
    if (s->node_numbers != 7 * s->node_count || s->edge_numbers != 3 * s->edge_count)
        return complain("%zu and %zu numbers for %" PRIu64 " nodes, %" PRIu64 " edges",
                        s->node_numbers, s->edge_numbers, s->node_count, s->edge_count);
    for (uint64_t i = 0; i < s->node_count; i++) {
        const uint64_t *n = &s->nodes[7 * i];
        if (n[0] != (i < 2       ? 9u
                     : n[0] == 9 ? 9u
                                 : 3u) ||
            n[1] >= s->string_count || n[2] != 2 * i + 1 || n[3] > UINT32_MAX || n[5] != 0 ||
            n[6] != 0)
            return complain("node %" PRIu64, i);
        edges += n[4];
    }
    if (edges != s->edge_count)
        return complain("the nodes have %" PRIu64 " edges", edges);
    for (uint64_t i = 0; i < s->edge_count; i++) {
        const uint64_t *e = &s->edges[3 * i];
        bool number = e[0] == 1;
        if ((!number && e[0] != 2 && e[0] != 3 && e[0] != 6) ||
            (!number && e[1] >= s->string_count) || e[2] % 7 != 0 || e[2] / 7 >= s->node_count)
            return complain("edge %" PRIu64, i);
    }
    return NULL;
}

/* ---- meaning ---- */

static const char *string_of(const struct snapshot *s, uint64_t number)
{
    return s->strings[number].p;
}

/* Is SHOWN the NAME, without the part that DevTools would cut, perhaps followed by a module? */
static bool is_name(const char *shown, const char *name)
{
    size_t head = strncmp(name, "Detached <", 10) == 0 ? 9 : 0;
    bool tight = name[head] == '<';
    if (tight && strchr(shown + head, ' ') != NULL)
        return false;
    for (size_t at = 0; *name != '\0'; name++, at++) {
        if (tight && at >= head && *name == ' ')
            continue;
        if (*shown++ != *name)
            return false;
    }
    return *shown == '\0' ||
           (shown[strlen(shown) - 1] == ']' && (*shown == '[' || strncmp(shown, " [", 2) == 0));
}

/* Frozen objects that nothing else refers to. */
static void find_frozen(struct snapshot *s, const struct gcd_graph *g)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    struct gcd_generations *ages;
    size_t hint = 0;
    uint32_t strong = 0, nodes = gcd_graph_node_count(g);
    bool *held = calloc((size_t)nodes + 1, sizeof *held);
    s->frozen = calloc((size_t)nodes + 1, sizeof *s->frozen);
    if (held == NULL || s->frozen == NULL)
        abort();
    for (size_t i = 0; i < summary->root_count; i++) {
        bool weak = gcd_root_group(&summary->roots[i]) == GCD_GROUP_WEAK;
        strong += !weak;
        held[summary->roots[i].node] = held[summary->roots[i].node] || !weak;
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        held[gcd_graph_dependent(g, i)->value] = true;
    for (uint32_t i = 0; i < nodes; i++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
        for (size_t k = 0; k < n; k++)
            held[edges[k]] = held[edges[k]] || edges[k] != i;
    }
    if (gcd_frozen_new(summary, strong == 0, NULL, &ages, NULL) != GCD_OK)
        abort();
    for (uint32_t i = 0; i < nodes; i++) {
        s->frozen[i] = !held[i] && i != gcd_graph_unknown(g) &&
                       gcd_is_frozen(ages, gcd_graph_node_address(g, i), &hint);
        s->frozen_count += s->frozen[i];
    }
    gcd_generations_free(ages);
    free(held);
}

/* Node number GROUP and its edges from AT on. */
static const char *check_frozen(const struct snapshot *s, const struct gcd_graph *g, uint64_t group,
                                uint64_t at)
{
    const uint64_t *n = &s->nodes[7 * group], *e = &s->edges[3 * (group - 1)];
    uint64_t number = 0;
    if (n[0] != 9 || n[3] != 0 || n[4] != s->frozen_count ||
        strcmp(string_of(s, n[1]), "[frozen]") != 0 || e[0] != 3 || e[1] != n[1] ||
        e[2] != 7 * group)
        return "the node of frozen objects";
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        const uint64_t *to = &s->edges[3 * at];
        if (!s->frozen[i])
            continue;
        if (to[0] != 1 || to[1] != number++ || to[2] != 7 * (group + 1 + i))
            return complain("frozen object %" PRIu32, i);
        at++;
    }
    return NULL;
}

static const char *check_roots(const struct snapshot *s, const struct gcd_graph *g, uint64_t first)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    static const char *const names[GCD_GROUPS] = { "[static variables]", "[strong handles]",
                                                   "[pinned handles]",   "[other roots]",
                                                   "[local variables]",  "[ref-counted handles]",
                                                   "[finalizer queue]",  "[weak handles]" };
    uint64_t at = 1 + (first - 2), group = 2;
    if (s->strings[0].n != 0 || strcmp(string_of(s, s->nodes[8]), "(GC roots)") != 0 ||
        s->edges[2] != 7 || s->edges[0] != 3)
        return "the first two nodes";
    for (unsigned k = 0; k < GCD_GROUPS; k++) {
        uint64_t number = 0, before = at;
        for (size_t i = 0; i < summary->root_count; i++) {
            const struct gcd_root *r = &summary->roots[i];
            if (gcd_root_group(r) != k)
                continue;
            const uint64_t *e = &s->edges[3 * at++];
            if (e[2] != 7 * (first + r->node) || e[0] != (k == GCD_GROUP_STATICS ? 2u
                                                          : k == GCD_GROUP_WEAK  ? 6u
                                                                                 : 1u))
                return complain("root %zu", i);
            const char *name = e[0] != 1 ? string_of(s, e[1]) : "";
            if (k == GCD_GROUP_STATICS && strncmp(name, summary->types[r->type].name,
                                                  strlen(summary->types[r->type].name)) != 0)
                return complain("root %zu is called %s", i, name);
            if ((k == GCD_GROUP_WEAK && strtoull(name, NULL, 10) != number) ||
                (e[0] == 1 && e[1] != number))
                return complain("root %zu has not number %" PRIu64, i, number);
            number++;
        }
        if (number == 0)
            continue;
        const uint64_t *n = &s->nodes[7 * group], *e = &s->edges[3 * (group - 1)];
        if (n[0] != 9 || n[3] != 0 || n[4] != at - before ||
            strcmp(string_of(s, n[1]), names[k]) != 0)
            return complain("the node of %s", names[k]);
        if (e[0] != 3 || e[1] != n[1] || e[2] != 7 * group)
            return complain("the group %s", names[k]);
        group++;
    }
    if (s->frozen_count > 0) {
        const char *w = check_frozen(s, g, group++, at);
        if (w != NULL)
            return w;
    }
    return group == first ? NULL : "the number of groups";
}

static const char *check_objects(const struct snapshot *s, const struct gcd_graph *g,
                                 uint64_t first)
{
    uint64_t at = first - 1 + gcd_graph_summary(g)->root_count + s->frozen_count;
    size_t dependent = 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        const uint64_t *n = &s->nodes[7 * (first + i)];
        struct gcd_node node;
        gcd_graph_node(g, i, &node);
        if (n[0] != 3 || !is_name(string_of(s, n[1]), gcd_graph_summary(g)->types[node.type].name))
            return complain("object %" PRIu32 " is called %.100s", i, string_of(s, n[1]));
        if (n[3] != (node.size_bytes < UINT32_MAX ? node.size_bytes : UINT32_MAX))
            return complain("object %" PRIu32 " has %" PRIu64 " bytes", i, n[3]);
        uint64_t end = at + n[4];
        for (size_t k = 0; k < node.edge_count; k++, at++)
            if (at >= end || s->edges[3 * at] != 2 ||
                s->edges[3 * at + 2] != 7 * (first + node.edges[k]) ||
                s->edges[3 * at + 1] != s->nodes[7 * (first + node.edges[k]) + 1])
                return complain("reference %zu of object %" PRIu32, k, i);
        for (; dependent < gcd_graph_dependent_count(g) &&
               gcd_graph_dependent(g, dependent)->key == i;
             dependent++, at++)
            if (at >= end || s->edges[3 * at] != 3 ||
                strcmp(string_of(s, s->edges[3 * at + 1]), "dependent handle") != 0 ||
                s->edges[3 * at + 2] != 7 * (first + gcd_graph_dependent(g, dependent)->value))
                return complain("dependent handle of object %" PRIu32, i);
        if (at != end)
            return complain("object %" PRIu32 " has %" PRIu64 " edges too many", i, end - at);
    }
    return NULL;
}

/* Classes are distinguished by string number: each name has one number among the objects. */
static const char *check_classes(const struct snapshot *s, uint64_t first)
{
    for (uint64_t i = first; i < s->node_count; i++)
        for (uint64_t k = i + 1; k < s->node_count; k++) {
            uint64_t a = s->nodes[7 * i + 1], b = s->nodes[7 * k + 1];
            if (a != b && strcmp(string_of(s, a), string_of(s, b)) == 0 &&
                string_of(s, a)[0] != '<')
                return complain("the name %.100s has two numbers", string_of(s, a));
        }
    return NULL;
}

const char *v8_check(const uint8_t *file, size_t n, const struct gcd_graph *g)
{
    struct snapshot s = { .p = (const char *)file, .end = (const char *)file + n };
    const char *w = parse(&s);
    if (w == NULL)
        w = check_structure(&s);
    uint64_t first = s.node_count - gcd_graph_node_count(g);
    if (w == NULL && (first < 2 || first > 3 + GCD_GROUPS))
        w = "the number of nodes";
    find_frozen(&s, g);
    if (w == NULL && s.edge_count != first - 1 + gcd_graph_summary(g)->root_count + s.frozen_count +
                                         gcd_graph_edge_count(g) + gcd_graph_dependent_count(g))
        w = "the number of edges";
    if (w == NULL)
        w = check_roots(&s, g, first);
    if (w == NULL)
        w = check_objects(&s, g, first);
    if (w == NULL && s.node_count < 2000)
        w = check_classes(&s, first);
    for (size_t i = 0; i < s.string_count; i++)
        free(s.strings[i].p);
    free(s.strings);
    free(s.nodes);
    free(s.frozen);
    free(s.edges);
    return w;
}
