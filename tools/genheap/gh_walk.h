/* One heap walk: splits the model into bulk events as the runtime's profiler walk does. */
#ifndef GH_WALK_H
#define GH_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "gh_holds.h"
#include "gh_model.h"
#include "gh_pipe.h"

#define GH_ROOT_KINDS 4u /* stack, finalizer, handle, other */

/* What a dump contains, whether it reaches the file or not. */
struct gh_totals {
    uint64_t objects, bytes, edges;
    uint64_t roots, roots_by_kind[GH_ROOT_KINDS], roots_weak, roots_null, roots_pinned;
    uint64_t statics, dependent, dependent_null;
    /* bytes rounded up to the pointer size */
    uint64_t gen_objects[GH_GENS], gen_bytes[GH_GENS];
    uint64_t type_objects[GH_TYPES_MAX], type_bytes[GH_TYPES_MAX];
};

/* A bulk event being filled. */
struct gh_bulk {
    enum gh_meta meta;
    enum gh_kind kind;
    uint32_t header_bytes, record_bytes, max_records;
    uint32_t index, count;
    uint8_t *at; /* end of the records */
    uint8_t payload[GH_PAYLOAD_MAX];
};

struct gh_walk {
    const struct gh_opts *o;
    const struct gh_model *m;
    struct gh_pipe *pipe;
    struct gh_thread *thread;
    /* after each bulk event of nodes or edges; may be NULL */
    void (*between)(void *ctx);
    void *between_ctx;
    struct gh_holds *holds; /* receives what holds objects; may be NULL */
    struct gh_bulk node, edge, root, handle, type, statics;
    uint16_t type_batch[32]; /* types of the BulkType being filled */
    uint32_t n_type_batch;
    bool seen[GH_TYPES_MAX];             /* the process has sent the type: once for all dumps */
    bool described[GH_TYPES_MAX];        /* its record was not lost */
    uint32_t held[GH_TYPES_MAX], n_held; /* --late-types: to be sent after the nodes */
    struct gh_totals totals;
};

void gh_walk_init(struct gh_walk *w, const struct gh_opts *o, const struct gh_model *m,
                  struct gh_pipe *pipe);

/* Statics, roots, dependent handles, objects, final flush; everything by thread T. */
void gh_walk_run(struct gh_walk *w, struct gh_thread *t);

#endif
