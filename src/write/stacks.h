/*
 * Stacks for profiles and flame graphs: the steps of a merged tree (merged_tree.h), their labels as frames; or, by waits, stacks of async methods.
 *
 * Of a merged tree the first frame is the root group, for a static variable the next one its name, then come types.  Behind STACKS_DEPTH types
 * everything is in one frame "...", and so is, after STACKS_MAX stacks, what leaves the paths that are there.  Nothing is left out: the sums are
 * those of the graph.
 *
 * By waits the first frame is the method that nobody waits for, the last one what is awaited; the outer frames of deeper stacks are one frame "...".
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
    const struct gcd_merged_step *steps;     /* [count] each behind its parent */
    size_t count;
    uint32_t labels;
    struct gcd_merged_tree *tree;            /* where they come from: this one, or */
    struct gcd_async *async;                 /* this one, and then there are: */
    struct gcd_merged_step *made;            /* [made_room] the steps */
    const char **names;                      /* [name_room] their labels */
    size_t made_room, name_room;
    uint64_t cut;                            /* stacks with a frame "..." */
};

/* The stacks of G as OPTIONS want them, both must outlive RET.  Call stacks_done in any case. */
gcd_status stacks_new(const struct gcd_graph *g, const struct gcd_write_options *options, struct stacks *ret, struct gcd_error *err);
void stacks_done(struct stacks *s);

/* The second half of it, by waits: turns the stacks of s->async around. */
gcd_status stacks_of_waits(struct stacks *s, struct gcd_error *err);

/* What a writer of stacks tells about its work. */
void stacks_note(const struct stacks *s, struct gcd_write_notes *notes);

/* The text of the frame with this label; *RET_MODULE ("" = none) is the module of a type. */
const char *stacks_frame(const struct stacks *s, uint32_t label, const char **ret_module);

static inline bool stacks_by_waits(const struct stacks *s)
{
    return s->async != NULL;
}

#endif
