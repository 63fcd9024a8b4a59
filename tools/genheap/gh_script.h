/* The sequence of the recording: collections around the walks, noise, rundown. */
#ifndef GH_SCRIPT_H
#define GH_SCRIPT_H

#include "gh_model.h"
#include "gh_opts.h"
#include "gh_pipe.h"
#include "gh_walk.h"

struct gh_script {
    const struct gh_opts *o;
    struct gh_model *m;
    struct gh_pipe *pipe;
    struct gh_walk *walk;
    /* diagnostics server: forces the GC, later writes the rundown */
    struct gh_thread *diag;
    struct gh_thread *gc[3];             /* server GC; gc[0] walks */
    struct gh_thread *user[3], *sampler; /* noise */
    uint32_t n_gcs;
    uint64_t noise_rng;
    uint32_t since_pass;
    struct gh_totals totals[GH_DUMPS_MAX];
    struct gh_holds holds; /* first dump, if there is a truth file */
};

/* Writes everything, but does not close the container.  false: no memory, message printed. */
bool gh_script_run(struct gh_script *s);

#endif
