/*
 * Objects as stacks, for profiles and flame graphs: each object stands at the end of a path of types, below its root group; objects
 * with the same path are one stack.
 *
 * The first frame is the root group, for a static variable the next one its name, then come types.  Types that follow
 * themselves are one frame (lists, trees).  Behind STACKS_DEPTH types everything is in one frame "...", and so is, after STACKS_MAX
 * stacks, what leaves the paths that are there.  Nothing is left out: the sums are those of the graph.
 */
#ifndef GCD_WRITE_STACKS_H
#define GCD_WRITE_STACKS_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/writer.h>

#define STACKS_DEPTH 64
#define STACKS_MAX (UINT32_C(1) << 18)
#define STACKS_NONE UINT32_MAX

struct stack {
    uint32_t caller;             /* the stack without the last frame, STACKS_NONE = none; always one with a smaller number */
    uint32_t frame;              /* the last frame */
    uint32_t depth;              /* types in it */
    uint32_t cut;                /* the stack with "..." behind it, STACKS_NONE = none */
    uint64_t objects, bytes;     /* that end here; bytes saturate */
};

struct stacks {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    struct stack *items;
    size_t count, cap;
    uint32_t max;                /* no new paths when there are so many */
    uint32_t frames;             /* frames are numbered 0 .. frames - 1 */
    uint32_t *static_name;       /* root numbers of static variables, one for each different name, sorted by name */
    size_t static_names, static_room;
    uint64_t merged;             /* objects in frames "..." */
    uint32_t *place;             /* [nodes] stack of each object; NULL after stacks_make */
    uint32_t nodes;
};

/* The stacks of G as OPTIONS want them.  Progress is told as parts of 2.  stacks_done in any case. */
gcd_status stacks_make(struct stacks *s, const struct gcd_graph *g, const struct gcd_write_options *options, struct gcd_error *err);
/*
 * The same along an analysis that the caller has (D or P, the other one is NULL), with MAX stacks instead of STACKS_MAX: at most twice as
 * many come out.  Keeps s->place.
 */
gcd_status stacks_along(struct stacks *s, const struct gcd_graph *g, const struct gcd_write_options *options,
                        const struct gcd_dominators *d, const struct gcd_paths *p, uint32_t max, struct gcd_error *err);
void stacks_done(struct stacks *s);
/* What only stacks_along needs, 4 bytes an object. */
void stacks_drop_places(struct stacks *s);

/* What a writer of stacks tells about its work. */
void stacks_note(const struct stacks *s, struct gcd_write_notes *notes);

/* The text of a frame; *RET_MODULE ("" = none) is the module of a type. */
const char *stacks_frame(const struct stacks *s, uint32_t frame, const char **ret_module);
/* What a frame is made from when it is a type, else STACKS_NONE. */
uint32_t stacks_frame_type(const struct stacks *s, uint32_t frame);
/* Is it the name of a static variable? */
bool stacks_is_static(const struct stacks *s, uint32_t frame);
/* Is it "..."? */
bool stacks_is_cut(uint32_t frame);
/* The frame of a type. */
uint32_t stacks_type_frame(const struct stacks *s, uint32_t type);

#endif
