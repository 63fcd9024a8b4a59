/*
 * Which line allocated what is still alive.
 *
 * The runtime samples allocations, with their stacks.  The samples are followed through garbage
 * collections by the ranges of surviving and moved objects, and compared with the objects of a heap
 * walk at the end.
 *
 *     gcd_site_recorder_new(&context, &r, &err);
 *     gcd_site_recorder_feed(r, GCD_SITE_ALLOCATIONS, bytes, n, &err);    samples and ranges
 *     gcd_site_recorder_feed(r, GCD_SITE_COLLECTIONS, bytes, n, &err);    all collections till the
 * walk gcd_site_recorder_walk(r, input, gc_number, &err);                  the recording of the
 * dump gcd_site_recorder_finish(r, graph, &files, &sites, &err);
 *
 * Into a recording: gcd_recording_options.sites (recording.h); from it: gcd_sites_read.
 */
#ifndef GCDUMPC_UNSTABLE_SITES_H
#define GCDUMPC_UNSTABLE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/origins.h>

#define GCD_SITE_NONE UINT32_MAX

/* A method in a stack, at one line. */
struct gcd_site_frame {
    const char *method; /* "Shop.SessionStore.Open"; "" = unknown code */
    const char *file;   /* as in the symbols of the module; "" = unknown */
    const char *module; /* its path; "" = unknown */
    uint32_t line;      /* 0 = unknown */
};

/* A stack is its innermost frame and the stack of its caller. */
struct gcd_site_stack {
    uint32_t frame;
    uint32_t caller; /* an earlier stack; GCD_SITE_NONE = the thread begins here */
};

/* All samples of a type that were allocated with the same stack.  Objects and bytes are estimates.
 */
struct gcd_site_total {
    uint32_t stack; /* GCD_SITE_NONE: the event had none */
    uint64_t type_id;
    const char *type;             /* in the spelling of the runtime */
    uint64_t samples, dead, lost; /* lost: what became of them is not known */
    uint64_t alive;               /* samples */
    double objects, bytes;        /* allocated in the window */
    double alive_objects, alive_bytes;
    /* of alive_bytes: of objects that were not followed, by type and size; they may all be others,
     * so their error is as large as they are together */
    double alive_guessed;
    double alive_variance; /* of alive_bytes; its root is the standard error */
};

/* An object that was sampled and is alive at the walk. */
struct gcd_site_sample {
    uint32_t total;   /* in gcd_sites.totals */
    uint64_t address; /* 0 = not known: of an object that was not followed, and may be dead */
    uint64_t size_bytes;
    double bytes;    /* that it stands for */
    uint64_t age_ms; /* from its allocation to the walk */
};

/* What the runtime reports: randomly chosen bytes (.NET 10 and later), or an object after each
 * 100 KB. */
enum gcd_site_source { GCD_SITE_NO_SOURCE, GCD_SITE_RANDOM, GCD_SITE_TICKS };

struct gcd_sites {
    uint32_t gc_number, walk_number; /* of the heap walk */
    enum gcd_site_source source;
    int64_t begin_unix_ms; /* of the window; INT64_MIN = unknown */
    uint64_t window_ms;    /* in which allocations were sampled */
    uint64_t settle_ms;    /* from its end to the walk */
    /* false: movement was not recorded.  Large and pinned objects have their addresses, unless
     * others of their total died; of small ones, as many are alive as the walk has objects of
     * their type and size */
    bool followed;
    uint64_t samples, dead, lost, alive;
    uint64_t lost_events; /* of the recorded streams */
    uint64_t collections; /* followed */
    const struct gcd_site_frame *frames;
    size_t frame_count;
    const struct gcd_site_stack *stacks;
    size_t stack_count;
    const struct gcd_site_total *totals; /* most living bytes first */
    size_t total_count;
    const struct gcd_site_sample *living; /* by their totals */
    size_t living_count;
};

void gcd_sites_free(struct gcd_sites *s);
/* The standard error of an estimate, from its variance. */
double gcd_site_error(double variance);
/* An estimate as a whole number; 0 for what cannot be one: not above 0, or 10^18 and more. */
uint64_t gcd_site_estimate(double n);

/*
 * Reads what gcd_recording_write stored for the walk of SUMMARY.  *RET is NULL when the recording
 * has none.  GCD_E_FORMAT: it is damaged or not complete.
 */
GCD_MUST_CHECK gcd_status gcd_sites_read(struct gcd_input *in, const struct gcd_summary *summary,
                                         const struct gcd_context *context, struct gcd_sites **ret,
                                         struct gcd_error *err);

/* "Shop.SessionStore.Open (SessionStore.cs:41)" in RET[CAP]; if that is too short, the method is
 * cut and the line is kept. */
void gcd_site_frame_text(const struct gcd_site_frame *f, char *ret, size_t cap);

/* ---- by line and type ---- */

/* All samples of a type that one line of the program allocated. */
struct gcd_site {
    /* the innermost frame of the program's own code, else the innermost one; GCD_SITE_NONE: no
     * stack */
    uint32_t frame;
    uint32_t type;  /* in summary.types; from type_count on: types that the dump does not have */
    uint32_t total; /* the one with the most living bytes: its stack, and the name of the type */
    uint64_t samples, dead, lost, alive;
    uint64_t age_ms;                           /* of all living samples together */
    double objects, bytes, variance;           /* alive, estimated; see gcd_site_error */
    double guessed;                            /* of bytes; see gcd_site_total */
    double allocated_objects, allocated_bytes; /* in the window */
};
struct gcd_site_list {
    const struct gcd_sites *sites;
    const struct gcd_site *items;
    size_t count;
    const uint8_t *origins;  /* [frame_count] enum gcd_origin */
    const uint32_t *site_of; /* [total_count] in items */
    const double *of_type;   /* living bytes by gcd_site.type */
};

/* S must outlive the list.  In the order of the totals.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_site_list_new(const struct gcd_sites *s,
                                            const struct gcd_summary *summary,
                                            const struct gcd_origins *origins,
                                            struct gcd_site_list **ret, struct gcd_error *err);
void gcd_site_list_free(struct gcd_site_list *l);
/* The frame of SITE, of L; empty texts and line 0 for unknown code. */
const struct gcd_site_frame *gcd_site_frame_of(const struct gcd_site_list *l,
                                               const struct gcd_site *site);
/* The type of SITE in the spelling of NAMES, those of SUMMARY; as the sample said it, if no object
 * in the heap has it. */
const char *gcd_site_type_name(const struct gcd_site_list *l, const struct gcd_site *site,
                               const struct gcd_summary *summary, const struct gcd_names *names);

/* Living samples by the frame of their sites. */
struct gcd_site_part {
    uint32_t frame;
    uint64_t samples;
    double bytes;
};
struct gcd_site_parts {
    struct gcd_site_part *items; /* most bytes first */
    size_t count;
    uint64_t samples; /* all together */
    double bytes;
};
/* The living samples that S holds, or of a type, its objects with what they hold.  None for other
 * kinds of suspects.  Free RET with gcd_site_parts_done. */
GCD_MUST_CHECK gcd_status gcd_site_parts_of(const struct gcd_site_list *l,
                                            const struct gcd_graph *g,
                                            const struct gcd_dominators *d,
                                            const struct gcd_suspect *s, struct gcd_site_parts *ret,
                                            struct gcd_error *err);
void gcd_site_parts_done(struct gcd_site_parts *p);
#define GCD_SITE_TEXT_BYTES 1300
/* In RET[GCD_SITE_TEXT_BYTES]: "Allocated in Shop.SessionStore.Open (SessionStore.cs:41): 96 % of
 * ..."; "" for fewer than three samples. */
void gcd_site_parts_text(const struct gcd_site_parts *p, const struct gcd_sites *s, char *ret);

/* ---- profiles ---- */

enum gcd_sites_format {
    GCD_SITES_NO_FORMAT,
    GCD_SITES_PPROF, /* all four values of a heap profile; types are labels */
    /* living bytes, or with ALLOCATED those allocated in the window: */
    GCD_SITES_COLLAPSED,
    GCD_SITES_SPEEDSCOPE /* both */
};
/* That of a file name: .pb, .folded, .speedscope.json, each also with .gz. */
enum gcd_sites_format gcd_sites_format_of(const char *path);
/* Writes S with the names of its methods and lines to TO; does not commit it. */
GCD_MUST_CHECK gcd_status gcd_sites_write(const struct gcd_sites *s, enum gcd_sites_format format,
                                          bool allocated, struct gcd_sink *to,
                                          struct gcd_error *err);

/* ---- recording ---- */

enum gcd_site_stream {
    GCD_SITE_ALLOCATIONS, /* allocations with stacks, ranges, collections; ends with a rundown */
    GCD_SITE_COLLECTIONS, /* collections; begins before the other one, ends after the walk */
    GCD_SITE_STREAMS
};

struct gcd_site_recorder;

GCD_MUST_CHECK gcd_status gcd_site_recorder_new(const struct gcd_context *context,
                                                struct gcd_site_recorder **ret,
                                                struct gcd_error *err);
void gcd_site_recorder_free(struct gcd_site_recorder *r);

/* Takes the next bytes of a stream.  One thread per stream may do so at the same time. */
GCD_MUST_CHECK gcd_status gcd_site_recorder_feed(struct gcd_site_recorder *r,
                                                 enum gcd_site_stream stream, const void *bytes,
                                                 size_t n, struct gcd_error *err);
/* Later allocations are not sampled.  Callable while another thread feeds. */
void gcd_site_recorder_close_window(struct gcd_site_recorder *r);

/* The stream of allocations has no ranges: objects are not followed.  Call it before feeding. */
void gcd_site_recorder_no_movement(struct gcd_site_recorder *r);

/*
 * The walk comes while the allocations are still recorded: what follows is not applied until it is
 * known which collection was that of the walk.  Callable while another thread feeds.
 */
void gcd_site_recorder_hold(struct gcd_site_recorder *r);

/* Callable from any thread. */
struct gcd_site_progress {
    uint64_t samples;
    /* in the stream of collections: one is running */
    bool background_runs;
    uint64_t
        longest_pause_ns; /* of background collections, with the runtime's walk for the ranges */
};
struct gcd_site_progress gcd_site_recorder_progress(const struct gcd_site_recorder *r);

/*
 * Both streams have ended.  Reads the recording IN of the walk in collection GC_NUMBER, which has
 * the ranges of that collection.
 */
GCD_MUST_CHECK gcd_status gcd_site_recorder_walk(struct gcd_site_recorder *r, struct gcd_input *in,
                                                 uint32_t gc_number, struct gcd_error *err);

/*
 * After gcd_site_recorder_walk.  Compares the samples with the objects of GRAPH, and names frames
 * and lines.  FILES as for gcd_dump_resolve, for modules and their symbol files; NULL: no lines.
 */
GCD_MUST_CHECK gcd_status gcd_site_recorder_finish(struct gcd_site_recorder *r,
                                                   const struct gcd_graph *graph,
                                                   const struct gcd_module_files *files,
                                                   struct gcd_sites **ret, struct gcd_error *err);

#endif
