/*
 * How much memory will be needed.  The figures are those of the arrays: src/graph/README.md has the graph, domtree.h, suspects.h and paths.h
 * the others.  Fractions of a byte are left out: it is an estimate.
 */
#include <gcdumpc/unstable/estimate.h>

/* Of the index: a page of 128 words, its place in two tables, and the heap that it covers. */
#define INDEX_PAGE UINT64_C(1650)
#define INDEX_COVERS UINT64_C(65536)
/* While the graph is made: how many references an object has. */
#define COUNT_BYTES UINT64_C(1)
/* Of the shortest paths, which are found beside dominators. */
#define PATH_BYTES UINT64_C(8)
/* Of a tree of merged paths when its steps are sorted: the public step before and after, and its place (merged_steps.c).  While it is made,
 * and the steps become public, it is as much.  merged_tree.h bounds the number of steps. */
#define STEP_BYTES UINT64_C(152)
#define STEPS_MAX (UINT64_C(1) << 20)
/* The page keeps fewer steps of its trees, and smaller ones.  Besides there are its details and its text. */
#define PAGE_STEP_BYTES UINT64_C(16)
#define PAGE_BYTES (UINT64_C(8) << 20)
/* Of two compared trees: a step of each, what they have in common, and the places by which each finds the other (tree_diff.c). */
#define DIFF_STEP_BYTES UINT64_C(640)

struct shape {
    uint64_t objects, edges, bytes;
    uint64_t inner;              /* objects that are likely to refer to others */
    bool many_types;             /* whose numbers need more than 16 bits */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Damaged data can tell anything; no graph is larger. */
static struct shape bounded(const struct gcd_summary *f, uint64_t inner)
{
    uint64_t objects = smaller(f->objects, GCD_NODE_NONE);
    return (struct shape){ .objects = objects, .edges = smaller(f->edges, UINT64_MAX >> 8), .bytes = f->bytes,
                           .inner = smaller(inner, objects), .many_types = f->type_count > UINT16_MAX };
}

static uint64_t graph_bytes(const struct shape *s)
{
    uint64_t pages = smaller(s->objects, s->bytes / INDEX_COVERS + 1);
    return (s->many_types ? 10 : 8) * s->objects + 4 * s->edges + INDEX_PAGE * pages;
}

/* The retained size of an object. */
static uint64_t retained_bytes(const struct shape *s)
{
    return s->bytes >> 48 != 0 ? 8 : s->bytes >> 32 != 0 ? 6 : 4;
}

/* While they are found, besides the graph; at three moments, of which the first two come with many references. */
static uint64_t finding_bytes(const struct shape *s)
{
    uint64_t n = s->objects, i = s->inner, edges = n > 0 ? (uint64_t)((double)s->edges * (double)i / (double)n) : 0;
    uint64_t further = edges > i ? edges - i : 0, lists = edges / 2;
    uint64_t searched = n / 4 + 28 * i + 4 * (further + lists);
    uint64_t numbered = 4 * n + n / 4 + 20 * i + 4 * lists;
    uint64_t placed = (12 + retained_bytes(s)) * n + n / 4 + 8 * i;
    return larger(larger(searched, numbered), placed);
}

/* Then comes what is merged along the tree, with the objects that late roots leave to others; by type it is less. */
static uint64_t dominator_bytes(const struct shape *s)
{
    return larger(finding_bytes(s), (21 + retained_bytes(s)) * s->objects);
}

/* At worst each object has a path of its own. */
static uint64_t most_steps(const struct shape *s)
{
    return smaller(s->objects, STEPS_MAX);
}

/* Besides the graph: dominators and paths while they are found; then the objects in preorder, or suspects and more lists. */
static uint64_t page_bytes(const struct shape *s)
{
    return larger(finding_bytes(s) + PATH_BYTES * s->objects, (48 + retained_bytes(s)) * s->objects) + PAGE_STEP_BYTES * most_steps(s) + PAGE_BYTES;
}

static uint64_t estimate(const struct shape *s, enum gcd_workload workload)
{
    uint64_t graph = graph_bytes(s), besides = COUNT_BYTES * s->objects;
    switch (workload) {
    case GCD_FOR_PATHS:                      /* then the step of each object, and the tree; the queue of inner objects before is smaller */
        besides = 14 * s->objects + STEP_BYTES * most_steps(s);
        break;
    case GCD_FOR_RETAINED:
        besides = dominator_bytes(s);
        break;
    case GCD_FOR_LEAKS:                      /* dominators and paths, and then marks and places of objects */
        besides = larger(finding_bytes(s) + PATH_BYTES * s->objects, (32 + retained_bytes(s)) * s->objects);
        break;
    case GCD_FOR_PAGE:
        besides = page_bytes(s);
        break;
    case GCD_FOR_DIFF:                       /* by then the graph of the older dump is gone */
        besides = larger(page_bytes(s), DIFF_STEP_BYTES * most_steps(s));
        break;
    default:
        break;
    }
    return GCD_ESTIMATE_BASE + graph + besides;
}

/* Of the objects of a type as many refer to others as it has references, at most. */
static uint64_t inner_of(const struct gcd_type *t)
{
    return smaller(t->objects, t->edges);
}

uint64_t gcd_estimate(const struct gcd_summary *summary, enum gcd_workload workload)
{
    uint64_t inner = 0;
    for (uint32_t i = 0; i < summary->type_count; i++)
        inner += inner_of(&summary->types[i]);
    struct shape s = bounded(summary, inner);
    return estimate(&s, workload);
}
