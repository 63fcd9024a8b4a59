/*
 * Recordings split into blocks and events, damaged, and joined again: a valid container with
 * inconsistent contents.
 *
 *     struct damage *d = damage_open(bytes, n);
 *     struct damage_notes notes;
 *     struct tb_bytes hurt;
 *     damage_make(d, other, seed, &hurt, &notes);
 *
 * It shares no code with the decoder.  Formats 4, 5 and 6 and .etl; an .etl is damaged by buffers
 * only, because nothing in it numbers events.
 */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/tb.h"

struct damage;

/* BYTES stay owned by the caller and must outlive it.  Aborts if they are not a complete recording.
 */
struct damage *damage_open(const uint8_t *bytes, size_t n);
void damage_free(struct damage *d);
bool damage_is_etl(const struct damage *d);

struct damage_notes {
    char text[400]; /* description of the damage, for a complaint */
    bool merged;    /* blocks of OTHER are in it */
};

/*
 * D with one to three random damages chosen by SEED, into RET (tb_free).  OTHER, a recording in the
 * same container, supplies blocks; it may be NULL.
 */
void damage_make(const struct damage *d, const struct damage *other, uint64_t seed,
                 struct tb_bytes *ret, struct damage_notes *notes);

/*
 * The beginning of D and the end of OTHER, joined between blocks: often where the event numbers of
 * the thread that walks the heap, or the indexes of its events, continue.
 */
void damage_graft(const struct damage *d, const struct damage *other, uint64_t seed,
                  struct tb_bytes *ret, struct damage_notes *notes);

/* D without damage, but split and joined like all others. */
void damage_none(const struct damage *d, struct tb_bytes *ret);

/*
 * Where a .nettrace says what its events are, bit by bit: each metadata block, and the metadata ids
 * in the headers of events of threads that walk the heap.
 */
uint64_t damage_identity_bits(const struct damage *d);
/* Flips number BIT of them in a copy of the recording. */
void damage_flip_identity(const struct damage *d, uint64_t bit, struct tb_bytes *ret,
                          struct damage_notes *notes);

#endif
