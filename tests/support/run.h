/*
 * Runs a whole trace from memory through the public interface: opens it, reads its objects, writes
 * a gclog.  The result is stored in a comparable form.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/writer.h>

#define RUN_RANDOM SIZE_MAX

struct run_options {
    /* bytes fed at once; 0 = all, RUN_RANDOM = drawn from SEED, 0 included */
    size_t slice;
    uint64_t seed;
    bool input; /* read by gcd_dump_open instead of fed; decompresses gzip */
    bool no_objects, no_gclog;
    const struct gcd_alloc *alloc;
    const struct gcd_limits *limits;
    uint64_t process;
    unsigned walk_number;
    bool check_references;
};

struct run_object {
    uint64_t address, size_bytes, type_id;
    uint64_t edges;      /* declared */
    uint64_t targets;    /* number of references given */
    size_t first_target; /* in run.targets */
};

struct run {
    gcd_status st; /* of opening */
    struct gcd_error err;
    /* the status, and for a dump facts, verdict, types, roots, ...: one fact per line */
    char *text;
    struct gcd_summary facts; /* its texts are freed */
    struct gcd_verdict verdict;
    uint64_t root_records;

    gcd_status objects_st; /* GCD_END if they were read to the end */
    struct gcd_error objects_err;
    struct run_object *objects;
    size_t object_count, object_cap;
    uint64_t objects_denied; /* by gcd_dump_knows */
    uint64_t *targets;
    size_t target_count, target_cap;

    gcd_status write_st;
    struct gcd_error write_err;
    struct gcd_write_notes notes;
    uint8_t *gclog;
    size_t gclog_bytes;
};

/* OPTIONS may be NULL.  RET is always filled; run_done frees what is in it. */
void run_trace(const void *bytes, size_t n, const struct run_options *options, struct run *ret);
void run_done(struct run *r);

/* NULL if both are the same, else the difference (in a static buffer). */
const char *run_diff(const struct run *a, const struct run *b);

/*
 * NULL, or an inconsistency within a result, whatever its input was: an impossible status, an
 * invalid message, wrong sums, an unfounded "complete".  In a static buffer.
 */
const char *run_check(const struct run *r);

/* A file, decompressed by zlib and not by our code; aborts if it cannot be read.  free() it. */
uint8_t *run_load(const char *path, size_t *ret_n);
/* The bundled trace number I, decompressed; NULL after the last.  *RET_NAME is the folder below
 * traces/. */
uint8_t *run_bundled(const char *source_dir, size_t i, const char **ret_name, size_t *ret_n);

/* A small generator with the same sequence everywhere (SplitMix64). */
uint64_t run_random(uint64_t *state);

/* Is it UTF-8 (Unicode standard, table 3-7)?  Independent of the library's own check. */
bool run_is_utf8(const char *s, size_t n);

#endif
