/*
 * A dump, however it was opened.
 */
#ifndef GCD_CLI_INPUT_INPUT_H
#define GCD_CLI_INPUT_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/read.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/values.h>

#include "args.h"
#include "exit.h"

/* What helps against the loss of events, as the end of a sentence. */
#define CLI_REMEDY_BYTES 600

struct cli_dump {
    struct gcd_input *input;
    struct cli_image_files *image_files;  /* of a memory image; NULL = none */
    const struct gcd_module_files *files; /* these */
    struct gcd_dump *dump;                /* for a recording or a process */
    struct gcd_graph *graph; /* for any other file; made from DUMP for CLI_NEED_GRAPH */
    struct gcd_names *names; /* of its types, if a command needs them (cli_name_types) */
    /* read from a summary (src/cli/summary) instead of a dump, so without objects; not owned */
    const struct gcd_summary *facts;
    struct gcd_session *session; /* on GRAPH and NAMES (cli_open_session) */
    /* of sampled allocations, which its recording gets; NULL = none */
    struct gcd_sites *sites;
    struct gcd_sink *trace;    /* for --save-trace */
    bool trace_written;        /* the recording is complete under its name */
    struct gcd_ipc_port *port; /* for --listen */
    bool refused;              /* the dump is incomplete, and --strict was given */
    /* live: can be kept: the stream ended, or a partial one is wanted */
    bool received;
    bool live; /* from a process, not a file */
    /* live: the dump was requested; the process was not disturbed before */
    bool asked;
    bool core3;          /* live: .NET Core 3, which describes each type once */
    const char *subject; /* file, socket or "process 1234", for messages */
    char process[40];    /* holds "process 1234" */
    uint32_t pid;        /* live: of the process; 0 = not known */
    /* live: "" = nothing was lost */
    char remedy[CLI_REMEDY_BYTES];
    char no_values[300]; /* live: why values, or all but texts, are missing; "" = not so */
    char name[256];      /* name of the program, for a dump that does not know it */
};
/* What a command needs from a dump, each more than the one before. */
enum cli_need {
    CLI_NEED_FACTS,    /* facts, verdict, types, roots */
    CLI_NEED_FIELDS,   /* and of which types the fields are known */
    CLI_NEED_STREAM,   /* the bytes once more */
    CLI_NEED_OBJECTS,  /* the objects in order */
    CLI_NEED_GRAPH,    /* d->graph; the following are for the estimate of memory: */
    CLI_NEED_PATHS,    /* paths from the roots */
    CLI_NEED_RETAINED, /* dominators */
    CLI_NEED_LEAKS,
    CLI_NEED_PAGE, /* all of these */
    CLI_NEED_DIFF  /* with the paths of another dump beside it */
};

/* Opens the file that ARGS name, or several as one.  On failure the message has been printed. */
enum cli_exit cli_open_input(const struct cli_args *args, const struct gcd_input_options *options,
                             struct gcd_input **ret);
/* The length of NAME without ".gz" and the suffix of a recording or dump. */
size_t cli_dump_stem(const char *name);
/* The name of the file PATH without its folder and those suffixes, in RET[CAP]. */
void cli_base_name(const char *path, char *ret, size_t cap);
struct cli_reading {
    bool reread;                          /* a copy of a pipe is kept, */
    const char *spool;                    /* in this folder */
    const struct gcd_module_files *files; /* of a core file; NULL = none */
    bool equal;                           /* of a core file: at least which strings are equal */
};
/* Opens the file of ARGS into RET.  On failure the message has been printed. */
enum cli_exit cli_open_file(const struct cli_args *args, const struct gcd_dump_options *options,
                            const struct cli_reading *how, struct cli_dump *ret);
/* Makes D->graph, unless it is there already.  On failure the message has been printed. */
enum cli_exit cli_make_graph(const struct cli_args *args, enum cli_need need, struct cli_dump *d);
/* The sites of D's recording; NULL: it has none, or they are damaged, which has been said. */
enum cli_exit cli_read_sites(const struct cli_args *args, const struct cli_dump *d,
                             struct gcd_sites **ret);
/* The dominators of D->session.  On failure the message has been printed. */
enum cli_exit cli_find_dominators(const struct cli_args *args, const struct cli_dump *d,
                                  const struct gcd_dominators **ret);
/* The facts of a dump, whether it comes from a trace or is a graph. */
static inline const struct gcd_summary *cli_summary(const struct cli_dump *d)
{
    return d->facts != NULL  ? d->facts
           : d->dump != NULL ? gcd_dump_summary(d->dump)
                             : gcd_graph_summary(d->graph);
}

/* The same with all types that objects can have: a graph may have one more, for the unknown node.
 * Names refer to these types. */
static inline const struct gcd_summary *cli_type_summary(const struct cli_dump *d)
{
    return d->facts != NULL   ? d->facts
           : d->graph != NULL ? gcd_graph_summary(d->graph)
                              : gcd_dump_summary(d->dump);
}

/* The name of an input in messages. */
static inline const char *cli_input_name(const struct cli_args *args)
{
    return args->input == NULL             ? ""
           : strcmp(args->input, "-") == 0 ? "standard input"
                                           : args->input;
}

/*
 * Are types apart that were loaded from the same assembly several times?  With --separate-loads, or
 * when a pattern names one of them: "X [Shop #2]".
 */
bool cli_separates_loads(const struct cli_args *args);
/* The names of D's types, in the style that ARGS select, else DEF.  Free with gcd_names_free. */
enum cli_exit cli_names_of(const struct cli_args *args, const struct cli_dump *d,
                           enum gcd_name_style def, struct gcd_names **ret);
/* Sets D->names, in C# spelling unless ARGS select another.  Call it once, after the graph is made
 * if there will be one. */
enum cli_exit cli_name_types(const struct cli_args *args, struct cli_dump *d);

/*
 * context.c: the shared context of long calls; ARGS must outlive them.  Without --threads, one
 * thread per core available to this process.  VERB names the work for progress, in bytes of the
 * input or in steps; NULL = no progress.
 */
#define CLI_THREADS_MAX 64
struct gcd_context cli_context(const struct cli_args *args, const char *verb);
struct gcd_context cli_context_steps(const struct cli_args *args, const char *verb);
/* The values of D, and what ARGS allow to see of them. */
struct gcd_values_view cli_values_view(const struct cli_args *args, const struct cli_dump *d);

/* A key for hashes of values, which nobody keeps.  GCD_E_IO: the system gives none. */
gcd_status cli_random_key(uint8_t ret[GCD_VALUES_KEY_BYTES], struct gcd_error *err);

#endif
