#include "support/async_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_build.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* NAME without its outer types. */
static const char *bare(const char *name)
{
    const char *start = name;
    for (const char *p = name; *p != '\0' && *p != '['; p++)
        if (*p == '+')
            start = p + 1;
    return start;
}

static uint32_t type_of(struct gcd_build *b, const char **types, uint32_t *count, const char *name,
                        bool is_bare)
{
    uint32_t number;
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(types[i], name) == 0)
            return i;
    const char *shown = is_bare ? bare(name) : name;
    struct gcd_type t = { .id = 0x1000 + 8 * (uint64_t)*count,
                          .name = shown,
                          .raw_name = bare(name),
                          .module_path = "",
                          .element_type = 0x12,
                          .module_number = GCD_MODULE_NONE,
                          .described = true,
                          .named = true };
    must(gcd_build_type(b, &t, &number, NULL) == GCD_OK && number == *count);
    types[*count] = name;
    return (*count)++;
}

struct gcd_graph *async_graph(const struct async_object *objects, size_t n, unsigned flags)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    const char **types = calloc(n + 1, sizeof *types);
    uint32_t count = 0;
    must(types != NULL && gcd_build_new(NULL, &b, NULL) == GCD_OK);
    for (size_t i = 0; i < n; i++)
        must(gcd_build_node(b, 0x10000 + 104 * i,
                            type_of(b, types, &count, objects[i].type, (flags & ASYNC_BARE) != 0),
                            100, NULL) == GCD_OK);
    must(gcd_build_nodes_end(b, NULL) == GCD_OK);
    for (size_t i = 0; i < n; i++)
        must(gcd_build_next_node(b, NULL) == GCD_OK &&
             gcd_build_edge_nodes(b, objects[i].refs, objects[i].count, NULL) == GCD_OK);
    struct gcd_root root = { .kind = GCD_ROOT_HANDLE, .node = 0, .type = 0, .name = "" };
    must(gcd_build_root(b, &root, NULL) == GCD_OK);
    size_t young = flags >> 8, ends[] = { young, young + 1, n };
    for (size_t i = young > 0 ? 0 : 2, from = 0; i < 3 && (flags & ASYNC_RANGES) != 0; i++) {
        struct gcd_range range = { .generation = i == 1 ? 0 : 2,
                                   .start = 0x10000 + 104 * from,
                                   .used_bytes = 104 * (ends[i] - from),
                                   .reserved_bytes = 104 * (ends[i] - from) };
        must(gcd_build_range(b, &range, NULL) == GCD_OK);
        from = ends[i];
    }
    must(gcd_build_seal(b, &g, NULL) == GCD_OK);
    free(types);
    return g;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *line(const struct gcd_async_frame *frames, uint32_t stack)
{
    char *text = NULL, *more;
    for (uint32_t f = stack; f != GCD_FRAME_NONE; f = frames[f].parent) {
        must(asprintf(&more, "%s%s%s%s%s", frames[f].name, frames[f].probable ? "~" : "",
                      frames[f].repeats ? "*" : "", text != NULL ? " < " : "",
                      text != NULL ? text : "") >= 0);
        free(text);
        text = more;
    }
    must(asprintf(&more, "%llu %s", (unsigned long long)frames[stack].stacks, text) >= 0);
    free(text);
    return more;
}

char *async_text(const struct gcd_async *a)
{
    size_t n, count, bytes = 1;
    const struct gcd_async_frame *frames = gcd_async_frames(a, &count);
    const uint32_t *stacks = gcd_async_stacks(a, &n);
    char **lines = calloc(n + 1, sizeof *lines);
    must(lines != NULL);
    for (size_t i = 0; i < n; i++) {
        lines[i] = line(frames, stacks[i]);
        bytes += strlen(lines[i]) + 1;
    }
    qsort(lines, n, sizeof *lines, compare);
    char *all = calloc(bytes, 1);
    must(all != NULL);
    for (size_t i = 0; i < n; i++) {
        strcat(strcat(all, lines[i]), "\n");
        free(lines[i]);
    }
    free(lines);
    return all;
}
