/*
 * The values of a dump: see gcdumpc/unstable/values.h.
 *
 *     values.c        texts and objects
 *     values_hash.c   the hash of a text
 *     values_pack.c   values as the payloads of events
 *     value_rows.h    values that are no texts
 *     null_maps.h     which references are null
 *     secrets.c       what is not shown
 */
#ifndef GCD_VALUES_VALUES_H
#define GCD_VALUES_VALUES_H

#include <gcdumpc/unstable/values.h>

#include "base/cur.h"
#include "values/value_rows.h"

/* ---- values_hash.c: SipHash-1-3, eight bytes at a time ---- */

struct values_hash {
    uint64_t v[4];
    uint64_t bytes;
};
void values_hash_init(struct values_hash *h, const uint8_t key[GCD_VALUES_KEY_BYTES]);
/* N is a multiple of 8. */
void values_hash_words(struct values_hash *h, const uint8_t *p, size_t n);
/* The last N bytes, any number. */
uint64_t values_hash_end(struct values_hash *h, const uint8_t *p, size_t n);
uint64_t values_hash_of(const uint8_t key[GCD_VALUES_KEY_BYTES], const uint8_t *p, size_t n);
extern const uint8_t values_no_key[GCD_VALUES_KEY_BYTES];

/* ---- values.c ---- */

struct values_text {
    uint64_t hash;
    uint32_t length;
    uint32_t at; /* of its characters, in units of VALUES_GRAIN; VALUES_NO_PLACE = not kept */
};
#define VALUES_NO_PLACE   UINT32_MAX
#define VALUES_GRAIN      4u
#define VALUES_CHUNK      ((size_t)1 << 18) /* bytes of characters */
#define VALUES_TEXT_CHUNK ((size_t)1024)    /* texts */

struct values_object {
    uint64_t address; /* the first: gcd_sort_by_u64 */
    uint32_t text;
    uint32_t batch; /* in which it was read */
};

/* Units of UTF-16 that are kept of a text. */
static inline uint32_t values_max_string(const struct gcd_values_options *o)
{
    uint32_t most = o->max_string != 0 ? o->max_string : GCD_MAX_STRING;
    return most < GCD_MAX_STRING_LIMIT ? most : GCD_MAX_STRING_LIMIT;
}

struct gcd_values {
    struct gcd_alloc alloc;
    struct gcd_values_options options;
    struct gcd_values_facts facts;
    struct values_text **texts; /* chunks of VALUES_TEXT_CHUNK */
    size_t text_chunks, text_chunk_cap;
    uint32_t text_count;
    uint8_t **chunks; /* of VALUES_CHUNK */
    size_t chunk_count, chunk_cap;
    size_t chunk_used;        /* of the last */
    uint64_t characters_most; /* bytes of characters, */
    uint64_t characters;      /* so far */
    uint32_t *table;          /* [table_size] 1 + number of a text in the lowest NUMBER_BITS, and
                                 above that a part of its hash; 0 = empty */
    size_t table_size;        /* 0: no more texts come */
    unsigned number_bits;
    uint64_t seed;
    struct values_object *objects; /* by address after values_sort */
    size_t object_count, object_cap;
    struct value_rows *rows; /* of GCD_VALUES_ALL, else there are none in it; not NULL */
};

gcd_status values_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                      const struct gcd_values_options *options, struct gcd_values **ret,
                      struct gcd_error *err);
void values_free(struct gcd_values *v);
/* At most so many objects will be added: their room is made at once.  GCD_E_NOMEM. */
gcd_status values_expect(struct gcd_values *v, uint64_t objects, struct gcd_error *err);
/* What an object is: the hash of its content, its length, and N characters unless UTF8 is NULL. */
struct values_content {
    uint64_t hash;
    const char *utf8;
    uint32_t length, bytes;
};
/* GCD_E_NOMEM; GCD_E_LIMIT: too much text. */
gcd_status values_add(struct gcd_values *v, uint64_t address, uint32_t batch,
                      const struct values_content *c, struct gcd_error *err);
/* Fetches what values_add will read first for a content with HASH. */
void values_fetch(const struct gcd_values *v, uint64_t hash);
/* The object at ADDRESS has text number TEXT.  GCD_E_FORMAT: there is no such text. */
gcd_status values_add_known(struct gcd_values *v, uint64_t address, uint32_t text,
                            struct gcd_error *err);
/* The characters of UNITS units of UTF-16 of which LENGTH follow, as OPTIONS keep them, in BUFFER.
 */
#define VALUES_TEXT_BYTES (3 * (size_t)GCD_MAX_STRING_LIMIT)
uint32_t values_characters(const struct gcd_values_options *o, const uint8_t *utf16, uint32_t units,
                           char buffer[VALUES_TEXT_BYTES]);
/* ST, of a call of value_rows.h, as an error. */
gcd_status values_rows_status(const struct gcd_values *v, gcd_status st, struct gcd_error *err);
/* Puts the objects in order; nothing can be added any more. */
gcd_status values_sort(struct gcd_values *v, struct gcd_error *err);

/* ---- values_pack.c: records in the payloads of events ---- */

/* Smaller than any payload. */
#define VALUES_PART_BYTES ((size_t)32000)

/*
 * A part stands for itself:  number of the part u32, bytes of the records u32 (0: they are as they
 * are, else deflated; with VALUES_OF_ROWS: value_rows.h says what they are), a hash of the rest
 * u64, the records.  A record of a text: the address as the
 * difference to the one before, a number of a text + 1 in the order of their first use, or 0; then
 * follow length, hash u64, bytes of the characters + 1 or 0, the characters.
 */
struct values_part {
    struct gcd_put w;
    uint64_t last;
    uint32_t records;
};
#define VALUES_PART_HEAD 16u
#define VALUES_OF_ROWS   UINT32_C(0x80000000)
/* In BUFFER[VALUES_PART_BYTES]. */
void values_part_begin(struct values_part *p, uint8_t *buffer);
/* False: it does not fit, and nothing was added. */
bool values_part_content(struct values_part *p, uint64_t address, const struct values_content *c);
/* Fills in the head of part NUMBER; returns the size of the payload. */
size_t values_part_end(struct values_part *p, uint32_t number);

/* Deflates the payload of N bytes in BUFFER if it gets smaller; *N becomes its size.  MARK: 0 or
 * VALUES_OF_ROWS. */
gcd_status values_part_deflate(const struct gcd_alloc *a, uint8_t *buffer, uint32_t mark, size_t *n,
                               struct gcd_error *err);

/* Is it part NUMBER, and not damaged? */
bool values_check_part(const uint8_t *payload, size_t n, uint32_t number);
/* The records of part NUMBER, inflated if they must be.  GCD_E_FORMAT; GCD_E_NOMEM. */
struct values_records {
    const uint8_t *p; /* in the payload, or in PLAIN */
    size_t n;
    uint32_t mark; /* 0 or VALUES_OF_ROWS */
    uint8_t plain[VALUES_PART_BYTES];
};
gcd_status values_part_records(const struct gcd_alloc *a, const uint8_t *payload, size_t n,
                               uint32_t number, struct values_records *ret, struct gcd_error *err);
/* Adds the records of a payload.  GCD_E_FORMAT; GCD_E_NOMEM; GCD_E_LIMIT. */
gcd_status values_read_part(struct gcd_values *v, const uint8_t *payload, size_t n, uint32_t number,
                            struct gcd_error *err);

/* All values as payloads, deflated. */
struct values_writing {
    const struct gcd_values *v;
    size_t next;
    uint32_t parts, texts;
    uint32_t *numbers;  /* [text_count] + 1 in the order of their first use */
    const uint8_t *key; /* NULL; or hash once more with this key, without characters or rows */
    struct rows_writing rows;
};
gcd_status values_writing_init(struct values_writing *w, const struct gcd_values *v,
                               const uint8_t *key, struct gcd_error *err);
void values_writing_done(struct values_writing *w);
/* The next payload in BUFFER[VALUES_PART_BYTES]; *RET_N 0 = no more. */
gcd_status values_writing_next(struct values_writing *w, uint8_t *buffer, size_t *ret_n,
                               struct gcd_error *err);

#endif
