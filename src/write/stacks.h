/*
 * Stacks for profiles and flame graphs: the steps of a merged tree (merged_tree.h), their labels as frames.
 *
 * The first frame is the root group, for a static variable the next one its name, then come types.  Behind STACKS_DEPTH types everything is in
 * one frame "...", and so is, after STACKS_MAX stacks, what leaves the paths that are there.  Nothing is left out: the sums are those of the graph.
 */
#ifndef GCD_WRITE_STACKS_H
#define GCD_WRITE_STACKS_H

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/writer.h>

#define STACKS_DEPTH 64

/* The stacks of G as OPTIONS want them. */
gcd_status stacks_new(const struct gcd_graph *g, const struct gcd_write_options *options, struct gcd_merged_tree **ret, struct gcd_error *err);

/* What a writer of stacks tells about its work. */
void stacks_note(const struct gcd_graph *g, const struct gcd_merged_tree *t, struct gcd_write_notes *notes);

/* What frames are made from. */
struct frames {
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    const struct gcd_merged_tree *tree;
};

/* The text of the frame with this label; *RET_MODULE ("" = none) is the module of a type. */
const char *stacks_frame(const struct frames *f, uint32_t label, const char **ret_module);

#endif
