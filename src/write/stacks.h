/*
 * Stacks for profiles and flame graphs: the steps of a merged tree (merged_tree.h) with their
 * labels as frames; or, by waits, stacks of async methods.
 *
 * In a merged tree the first frame is the root group, then comes the name if it is a static
 * variable, then types.  Everything deeper than STACKS_DEPTH types is in one frame "..."; so are,
 * after STACKS_MAX stacks, objects that would need new stacks.  Nothing is left out: the sums are
 * those of the graph.
 *
 * By waits, the first frame is the method that nothing waits for, the last frame is what is
 * awaited; the outer frames of deeper stacks are one frame
 * "...".
 */
#ifndef GCD_WRITE_STACKS_H
#define GCD_WRITE_STACKS_H

#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/writer.h>

#define STACKS_DEPTH 64

struct stacks {
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    const struct gcd_merged_step *steps; /* [count] each after its parent */
    size_t count;
    uint32_t labels;
    struct gcd_merged_tree *tree; /* owns the steps, unless they are by waits: */
    struct gcd_async *async;      /* the source of the steps by waits */
    struct gcd_merged_step *made; /* [made_room] steps by waits */
    const char **names;           /* [name_room] their labels */
    size_t made_room, name_room;
    uint64_t cut; /* number of stacks with a frame "..." */
    /* if the steps are told apart by fields of classes outside the framework */
    struct gcd_fields *fields;
};

/* The stacks of G as OPTIONS request them; both must outlive RET.  BY_FIELDS: those that only
 * fields tell apart are separate, too (unless by waits).  Always call stacks_done. */
gcd_status stacks_new(const struct gcd_graph *g, const struct gcd_write_options *options,
                      bool by_fields, struct stacks *ret, struct gcd_error *err);
void stacks_done(struct stacks *s);

/* The second half of stacks_new, by waits: reverses the stacks of s->async. */
gcd_status stacks_of_waits(struct stacks *s, struct gcd_error *err);

/* The notes of a writer of stacks. */
void stacks_note(const struct stacks *s, struct gcd_write_notes *notes);

/* The text of the frame with this label; *RET_MODULE ("" = none) is the module of a type. */
const char *stacks_frame(const struct stacks *s, uint32_t label, const char **ret_module);

static inline bool stacks_by_waits(const struct stacks *s)
{
    return s->async != NULL;
}

#endif
