/*
 * Estimates the memory that a job will need by adding up its arrays: src/graph/README.md describes
 * those of the graph, domtree.h, suspects.h and paths.h the others.  It ignores fractions of a
 * byte.
 */
#include <gcdumpc/unstable/estimate.h>

/* The index: bytes for a page of 128 words and its places in two tables, and how many bytes of heap
 * the page covers. */
#define INDEX_PAGE   UINT64_C(1650)
#define INDEX_COVERS UINT64_C(65536)
/* Per object, while the graph is built: the number of its references. */
#define COUNT_BYTES UINT64_C(1)
/* Per object: the shortest paths, found at the same time as the dominators. */
#define PATH_BYTES UINT64_C(8)
/* Per step of a tree of merged paths while the steps are sorted: the public step before and after,
 * and its place (merged_steps.c).  Building the tree and converting its steps to public ones takes
 * as much.  merged_tree.h bounds the number of steps. */
#define STEP_BYTES UINT64_C(152)
#define STEPS_MAX  (UINT64_C(1) << 20)
/* The trees of the page have fewer and smaller steps.  PAGE_BYTES is for its details and its text.
 */
#define PAGE_STEP_BYTES UINT64_C(16)
#define PAGE_BYTES      (UINT64_C(8) << 20)
/* Per step of two compared trees: a step of each, what they have in common, and the places by which
 * each finds the other (tree_diff.c). */
#define DIFF_STEP_BYTES UINT64_C(768)

struct shape {
    uint64_t objects, edges, bytes;
    uint64_t inner;  /* objects that probably refer to others */
    bool many_types; /* type numbers need more than 16 bits */
    bool places;     /* of references */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Damaged data can claim any size; no graph exceeds these bounds. */
static struct shape bounded(const struct gcd_summary *f, uint64_t inner)
{
    uint64_t objects = smaller(f->objects, GCD_NODE_NONE);
    return (struct shape){ .objects = objects,
                           .edges = smaller(f->edges, UINT64_MAX >> 8),
                           .bytes = f->bytes,
                           .inner = smaller(inner, objects),
                           .many_types = f->type_count > UINT16_MAX,
                           .places = f->image.with_places };
}

static uint64_t graph_bytes(const struct shape *s)
{
    uint64_t pages = smaller(s->objects, s->bytes / INDEX_COVERS + 1);
    return (s->many_types ? 10 : 8) * s->objects + (s->places ? 5 : 4) * s->edges +
           INDEX_PAGE * pages;
}

/* Bytes needed to store one object's retained size. */
static uint64_t retained_bytes(const struct shape *s)
{
    return s->bytes >> 48 != 0 ? 8 : s->bytes >> 32 != 0 ? 6 : 4;
}

/* Peak while dominators are found, besides the graph: the largest of three moments.  Many
 * references raise the first two. */
static uint64_t finding_bytes(const struct shape *s)
{
    uint64_t n = s->objects, i = s->inner,
             edges = n > 0 ? (uint64_t)((double)s->edges * (double)i / (double)n) : 0;
    uint64_t further = edges > i ? edges - i : 0, lists = edges / 2;
    uint64_t searched = n / 4 + 28 * i + 4 * (further + lists);
    uint64_t numbered = 4 * n + n / 4 + 20 * i + 4 * lists;
    uint64_t placed = (12 + retained_bytes(s)) * n + n / 4 + 8 * i;
    return larger(larger(searched, numbered), placed);
}

/* After that, merging along the tree, with the objects that late roots leave to others; merging by
 * type takes less. */
static uint64_t dominator_bytes(const struct shape *s)
{
    return larger(finding_bytes(s), (21 + retained_bytes(s)) * s->objects);
}

/* In the worst case each object has its own path. */
static uint64_t most_steps(const struct shape *s)
{
    return smaller(s->objects, STEPS_MAX);
}

/* Besides the graph: dominators and paths while they are found; later the objects in preorder, or
 * suspects and more lists. */
static uint64_t page_bytes(const struct shape *s)
{
    return larger(finding_bytes(s) + PATH_BYTES * s->objects,
                  (64 + retained_bytes(s)) * s->objects) +
           PAGE_STEP_BYTES * most_steps(s) + PAGE_BYTES;
}

static uint64_t estimate(const struct shape *s, enum gcd_workload workload)
{
    uint64_t graph = graph_bytes(s), besides = COUNT_BYTES * s->objects;
    switch (workload) {
    case GCD_FOR_PATHS: /* the step of each object, and the tree; the queue of inner objects before
                           that is smaller */
        besides = 14 * s->objects + STEP_BYTES * most_steps(s);
        break;
    case GCD_FOR_RETAINED:
        besides = dominator_bytes(s);
        break;
    case GCD_FOR_LEAKS: /* dominators and paths; later, marks and places of objects */
        besides = larger(finding_bytes(s) + PATH_BYTES * s->objects,
                         (32 + retained_bytes(s)) * s->objects);
        break;
    case GCD_FOR_PAGE:
        besides = page_bytes(s);
        break;
    case GCD_FOR_DIFF: /* the graph of the older dump is already freed */
        besides = larger(page_bytes(s), DIFF_STEP_BYTES * most_steps(s));
        break;
    default:
        break;
    }
    return GCD_ESTIMATE_BASE + graph + besides;
}

/* At most as many objects of a type refer to others as the type has references. */
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
