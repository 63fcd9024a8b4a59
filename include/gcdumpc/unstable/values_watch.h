/*
 * The values of a living process, read beside its heap walk: texts of strings, and if they are
 * wanted the fields of all objects.
 *
 * The walk gives the address of each object.  Its memory is read right after the walk, while the
 * process runs and the session that records is still open.  A collection that comes meanwhile may
 * move an object and put something else at its address, which can look like it, too.  So nothing
 * that is found there decides whether a value is right, but the rest of the recording: a value
 * counts only if no collection of the generation of its object, or of an older one, had begun when
 * its batch was read, and if no event was lost.  A reference counts only if that is so of the
 * object it leads to as well: otherwise another object may have its address in the dump.
 *
 * Strings do not change.  Fields do: they are as they were when they were read.  Values that take
 * more than a machine word are read twice; an object where they differ is left out.
 *
 *     gcd_values_watch_new(&options, &w, &err);
 *     for all bytes of the stream:
 *         if (gcd_values_watch_feed(w, bytes, n, &err) == GCD_END && !read)
 *             gcd_values_watch_read(w, budget_ns, &err);     before any session is stopped
 *     gcd_dump_close(d, ...);
 *     gcd_values_watch_finish(w, d, &err);                    D gets what is certain
 */
#ifndef GCDUMPC_UNSTABLE_VALUES_WATCH_H
#define GCDUMPC_UNSTABLE_VALUES_WATCH_H

#include <gcdumpc/context.h>
#include <gcdumpc/unstable/values.h>

struct gcd_values_watch;

/*
 * What is known of the types of the process PID, whose memory it reads, before it is dumped.
 * CONTEXT outlives it.  The errors of gcd_process_reader_new; GCD_E_UNSUPPORTED: the process has no
 * .NET runtime whose types are known; GCD_E_CANCELED.
 */
struct gcd_value_source;
GCD_MUST_CHECK gcd_status gcd_value_source_new(uint32_t pid, const struct gcd_context *context,
                                               struct gcd_value_source **ret,
                                               struct gcd_error *err);
void gcd_value_source_free(struct gcd_value_source *s);

struct gcd_values_watch_options {
    struct gcd_context context;
    struct gcd_values_options values; /* of the kind GCD_VALUES_NONE: only null maps */
    bool null_maps;                   /* also which references are null (null_maps.h) */
    struct gcd_value_source *source;  /* for GCD_VALUES_ALL; outlives the watch */
    /* Copies N bytes at ADDRESS of the process; returns how many of them, from the first on, it
     * has. */
    size_t (*read)(void *ctx, uint64_t address, void *ret, size_t n);
    /* The clock of the events: CLOCK_MONOTONIC of the machine. */
    uint64_t (*now_ns)(void *ctx);
    void *ctx;
};

/* GCD_E_NOMEM, GCD_E_ARG. */
GCD_MUST_CHECK gcd_status gcd_values_watch_new(const struct gcd_values_watch_options *options,
                                               struct gcd_values_watch **ret,
                                               struct gcd_error *err);
void gcd_values_watch_free(struct gcd_values_watch *w);

/* Takes the next N bytes of the recording.  GCD_END once the walk is whole; GCD_E_NOMEM.  Damage is
 * no error: it is judged at the end. */
GCD_MUST_CHECK gcd_status gcd_values_watch_feed(struct gcd_values_watch *w, const void *bytes,
                                                size_t n, struct gcd_error *err);

/* Reads the texts, then the other values, each from the youngest generation on, for at most
 * BUDGET_NS, not counting the time that it takes to learn the types.  GCD_E_CANCELED, GCD_E_NOMEM,
 * GCD_E_LIMIT. */
GCD_MUST_CHECK gcd_status gcd_values_watch_read(struct gcd_values_watch *w, uint64_t budget_ns,
                                                struct gcd_error *err);

/*
 * The recording is complete, and D is its dump, closed: D gets the values and null maps that are
 * certain, and gcd_recording_write keeps them.  GCD_E_UNSUPPORTED with a sentence that says why
 * there are none; GCD_E_NOMEM; GCD_E_STATE.
 */
GCD_MUST_CHECK gcd_status gcd_values_watch_finish(struct gcd_values_watch *w, struct gcd_dump *d,
                                                  struct gcd_error *err);

#endif
