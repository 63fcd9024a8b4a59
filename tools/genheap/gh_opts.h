/* What the command line asks for. */
#ifndef GH_OPTS_H
#define GH_OPTS_H

#include <stdbool.h>
#include <stdint.h>

enum gh_shape { GH_SHAPE_MIX, GH_SHAPE_TREE, GH_SHAPE_LIST, GH_SHAPE_FAN, GH_SHAPE_RANDOM };
enum gh_format { GH_V3 = 3, GH_V4 = 4, GH_V6 = 6 };

/* Kinds of events, with their names in --drop and the truth file. */
enum gh_kind {
    GH_K_NODE,
    GH_K_EDGE,
    GH_K_TYPE,
    GH_K_ROOT,
    GH_K_HANDLE,
    GH_K_STATIC, /* the bulk events */
    GH_K_GCSTART,
    GH_K_GCEND,
    GH_K_HEAPSTATS,
    GH_K_RANGE,
    GH_K_SUSPEND,
    GH_K_MODULE,
    GH_K_RUNDOWN,
    GH_K_PROCESSINFO,
    GH_K_NOISE,
    GH_K_COUNT
};
#define GH_K_BULK_COUNT (GH_K_STATIC + 1)

extern const char *const gh_kind_names[GH_K_COUNT];
extern const char *const gh_shape_names[GH_SHAPE_RANDOM + 1];

#define GH_DROPS_MAX 64
#define GH_DUMPS_MAX 64
#define GH_AUTO      UINT64_MAX

/* Drops events FIRST … LAST (counted from 0 within the dump) of one kind. */
struct gh_drop {
    enum gh_kind kind;
    uint64_t first, last;
    uint32_t dump;
};

struct gh_opts {
    uint64_t n_objects;
    uint64_t seed;
    uint64_t n_roots, n_statics, n_dependent; /* GH_AUTO: chosen by size and shape */
    uint64_t sp_bytes;                        /* event bytes between sequence points */
    uint64_t truncate_off;                    /* UINT64_MAX: whole file */
    enum gh_shape shape;
    enum gh_format format;
    unsigned ptr_bytes;
    uint32_t n_heaps;
    uint32_t n_dumps;
    uint32_t drop_permille;
    bool compressed;
    bool server, ranges, noise, late_types, empty_names, hide_gaps, thread_reuse, forget_threads;
    bool final_sp, end_tag;
    struct gh_drop drops[GH_DROPS_MAX];
    unsigned n_drops;
    const char *out_path, *truth_path;
};

/* 0 = go on, 1 = done (help was printed), 2 = usage error (complaint printed). */
int gh_opts_parse(struct gh_opts *ret, int argc, char **argv);

#endif
