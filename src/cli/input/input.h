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

#include "args.h"
#include "exit.h"

struct cli_dump {
    struct gcd_input *input;
    struct gcd_dump *dump;       /* of a recording or a process, */
    struct gcd_graph *graph;     /* of any other file; or made of the former for CLI_NEED_GRAPH */
    struct gcd_names *names;     /* of its types, when a command wants them (cli_name_types) */
    const struct gcd_summary *facts; /* of the summary of a dump, which has no objects (summary); its owner is elsewhere */
    struct gcd_session *session; /* on the graph and these names (cli_open_session) */
    struct gcd_sink *trace;      /* for --save-trace */
    bool trace_written;          /* and it is there, under its name */
    struct gcd_ipc_port *port;   /* for --listen */
    bool refused;                /* it is incomplete, and --strict was given */
    bool received;               /* live: the stream ended, or a partial one is wanted: it can be kept */
    bool live;                   /* of a process, not of a file */
    bool asked;                  /* live: the dump was asked of it; before that it was not disturbed */
    bool core3;                  /* live: .NET Core 3, which describes each type once */
    const char *subject;         /* file, socket or "process 1234", for messages */
    char process[40];            /* the latter */
    uint32_t pid;                /* live: of the process; 0 = not known */
    char name[256];              /* what the program is called when the dump does not know it */
};
/* What will be done with a dump, each more than the one before. */
enum cli_need {
    CLI_NEED_FACTS,              /* facts, verdict, types, roots */
    CLI_NEED_STREAM,             /* the bytes again */
    CLI_NEED_OBJECTS,            /* the objects in order */
    CLI_NEED_GRAPH,              /* d->graph; and besides, for the estimate of memory: */
    CLI_NEED_PATHS,              /* paths from the roots */
    CLI_NEED_RETAINED,           /* dominators */
    CLI_NEED_LEAKS,
    CLI_NEED_PAGE,               /* all of these */
    CLI_NEED_DIFF                /* the paths of another dump beside it */
};

/* The file that ARGS name, or the several as one.  The message has been printed when it fails. */
enum cli_exit cli_open_input(const struct cli_args *args, const struct gcd_input_options *options, struct gcd_input **ret);
/* The name of the file PATH without its folder and the suffixes of recordings, in RET[CAP]. */
void cli_base_name(const char *path, char *ret, size_t cap);
/* Opens the file of ARGS into RET; SPOOL: the folder for a copy of a pipe, which is kept if REREAD.  On failure the message has been printed. */
enum cli_exit cli_open_file(const struct cli_args *args, const struct gcd_dump_options *options, bool reread, const char *spool,
                            struct cli_dump *ret);
/* Makes D->graph, unless it is there already.  On failure the message has been printed. */
enum cli_exit cli_make_graph(const struct cli_args *args, enum cli_need need, struct cli_dump *d);
/* The dominators of D->session.  On failure the message has been printed. */
enum cli_exit cli_find_dominators(const struct cli_args *args, const struct cli_dump *d, const struct gcd_dominators **ret);
/* What a dump is about, whether it comes from a trace or is a graph. */
static inline const struct gcd_summary *cli_summary(const struct cli_dump *d)
{
    return d->facts != NULL ? d->facts : d->dump != NULL ? gcd_dump_summary(d->dump) : gcd_graph_summary(d->graph);
}

/* The same with all types that objects can have: a graph may have one more, that of the unknown node.  Names are of these. */
static inline const struct gcd_summary *cli_type_summary(const struct cli_dump *d)
{
    return d->facts != NULL ? d->facts : d->graph != NULL ? gcd_graph_summary(d->graph) : gcd_dump_summary(d->dump);
}

/* The name of an input in messages. */
static inline const char *cli_input_name(const struct cli_args *args)
{
    return args->input == NULL ? "" : strcmp(args->input, "-") == 0 ? "standard input" : args->input;
}

/*
 * Are the types of an assembly that is loaded several times told apart?  With --separate-loads, and when a pattern names one of them: "X [Shop #2]".
 */
bool cli_separates_loads(const struct cli_args *args);
/* The names of its types, in the style that ARGS ask for, else DEF.  Free with gcd_names_free. */
enum cli_exit cli_names_of(const struct cli_args *args, const struct cli_dump *d, enum gcd_name_style def, struct gcd_names **ret);
/* The same as D->names, in C# spelling unless ARGS ask for another one.  Once, when the dump has its graph, if it gets one. */
enum cli_exit cli_name_types(const struct cli_args *args, struct cli_dump *d);

/*
 * context.c: what long calls share, by ARGS, which must outlive them.  Without --threads as many threads as there are cores for this process.
 * VERB says what is done, with progress in bytes of the input, or in steps; NULL: without progress.
 */
#define CLI_THREADS_MAX 64
struct gcd_context cli_context(const struct cli_args *args, const char *verb);
struct gcd_context cli_context_steps(const struct cli_args *args, const char *verb);

#endif
