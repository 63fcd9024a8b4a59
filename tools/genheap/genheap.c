/*
 * genheap: .nettrace files with heap dumps of any size and known contents.
 * Exit: 0 done, 1 failure, 2 usage.
 */
#include <stdio.h>

#include "gh_container.h"
#include "gh_model.h"
#include "gh_opts.h"
#include "gh_pipe.h"
#include "gh_retained.h"
#include "gh_script.h"
#include "gh_truth.h"
#include "gh_types.h"
#include "gh_walk.h"

/* Too large for the stack; there is only one of each. */
static struct gh_types types;
static struct gh_model model;
static struct gh_container container;
static struct gh_pipe pipe;
static struct gh_walk walk;
static struct gh_script script;

int main(int argc, char **argv)
{
    struct gh_opts o;
    uint64_t file_bytes = 0;
    int status = gh_opts_parse(&o, argc, argv);
    bool ok;

    if (status)
        return status == 1 ? 0 : 2;
    gh_types_init(&types, o.ptr_bytes);
    ok = gh_model_init(&model, &types, &o) && gh_container_open(&container, &o);
    if (ok) {
        gh_pipe_init(&pipe, &container, &o);
        gh_walk_init(&walk, &o, &model, &pipe);
        script.o = &o;
        script.m = &model;
        script.pipe = &pipe;
        script.walk = &walk;
        ok = gh_script_run(&script);
        if (o.end_tag)
            gh_container_end_tag(&container);
        else
            gh_container_flush(&container);
        if (!gh_container_close(&container, &file_bytes)) {
            perror("genheap: cannot write the output");
            ok = false;
        }
        gh_pipe_done(&pipe);
    }
    if (ok && o.truth_path) {
        struct gh_retained retained;

        ok = gh_model_resize(&model, o.n_objects) &&
             gh_retained_find(&model, &script.holds, &retained);
        if (!ok)
            fprintf(stderr, "genheap: no memory\n");
        ok = ok && gh_truth_write(&script, &container, &retained, file_bytes);
    }
    gh_holds_done(&script.holds);
    gh_model_done(&model);
    return ok ? 0 : 1;
}
