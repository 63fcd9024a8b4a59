/*
 * Values of a dump: the texts of its strings.
 *
 * The events of a runtime have no values; a core file has them, and a recording does if they were
 * asked for (collect --values).  Texts are secrets: nothing reads or keeps them by default.
 *
 *     struct gcd_dump_options options = { .values = true };
 *     ...
 *     const struct gcd_values *v = gcd_dump_values(dump);            NULL: there are none
 *     uint32_t text = gcd_values_find(v, address);
 *     if (text != GCD_TEXT_NONE)
 *         printf("%.*s", (int)gcd_values_text(v, text).bytes, gcd_values_text(v, text).utf8);
 *
 * All strings of one content share a text.  A long text is kept up to options.max_string, with its
 * true length; its hash is of the whole content.  Memory: at most 24 bytes for a text beside its
 * characters, and 16 for an object.
 */
#ifndef GCDUMPC_UNSTABLE_VALUES_H
#define GCDUMPC_UNSTABLE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#define GCD_TEXT_NONE UINT32_MAX

#define GCD_MAX_STRING       256u  /* units of UTF-16, the default */
#define GCD_MAX_STRING_LIMIT 8192u /* the largest */

#define GCD_VALUES_KEY_BYTES 16

struct gcd_values_options {
    enum gcd_values_kind kind;
    uint32_t max_string; /* 0 = GCD_MAX_STRING; at most GCD_MAX_STRING_LIMIT */
    /* the key of the hashes: without it, nobody can find the text of a hash by trying.  Zeros for
     * values of the kind GCD_VALUES_STRINGS */
    uint8_t key[GCD_VALUES_KEY_BYTES];
};

struct gcd_values;

/* The values of D, which was opened or closed with options.values; NULL = there are none.  They
 * belong to D. */
const struct gcd_values *gcd_dump_values(const struct gcd_dump *d);

/*
 * D, which is closed, gets the values V instead of those of its recording; gcd_recording_write
 * keeps them.  They then belong to D.  GCD_E_STATE; nothing has changed.
 */
GCD_MUST_CHECK gcd_status gcd_dump_set_values(struct gcd_dump *d, struct gcd_values *v,
                                              struct gcd_error *err);

/* The objects with values, by address. */
struct gcd_value {
    uint64_t address;
    uint32_t text;
};
size_t gcd_values_count(const struct gcd_values *v);
struct gcd_value gcd_values_at(const struct gcd_values *v, size_t i);
/* The text of the object at ADDRESS; GCD_TEXT_NONE = unknown. */
uint32_t gcd_values_find(const struct gcd_values *v, uint64_t address);

struct gcd_text {
    uint64_t hash;   /* of the whole content */
    uint32_t length; /* of the whole content: units of UTF-16; of an array, bytes */
    uint32_t bytes;  /* of UTF8 */
    /* not terminated; NULL = only the hash is known */
    const char *utf8;
    bool cut; /* UTF8 is the beginning */
};
/* Texts have numbers from 0 on.  One may be of no object. */
uint32_t gcd_values_text_count(const struct gcd_values *v);
struct gcd_text gcd_values_text(const struct gcd_values *v, uint32_t text);

const struct gcd_values_facts *gcd_values_facts(const struct gcd_values *v);

/* ---- what may be seen ---- */

/* What people may see of values: nothing, but which are equal; texts, but for what looks like a
 * secret; all. */
enum gcd_values_show { GCD_SHOW_EQUAL, GCD_SHOW_MASKED, GCD_SHOW_RAW };

struct gcd_values_view {
    const struct gcd_values *values; /* NULL = there are none */
    enum gcd_values_show show;
    struct gcd_input *memory; /* the input of the dump, if it may be a memory image; NULL = none */
};

/*
 * What a text looks like: "e-mail address", "connection string", "token"; NULL = nothing to hide.
 * A guess by a table of forms (src/values/README.md), so that nothing is shown by accident.
 */
const char *gcd_secret_name(const char *utf8, size_t n);
/* The same of T, NULL where V shows it all the same, or only its hash is known. */
static inline const char *gcd_values_secret(const struct gcd_values_view *v,
                                            const struct gcd_text *t)
{
    return v->show != GCD_SHOW_RAW && t->utf8 != NULL ? gcd_secret_name(t->utf8, t->bytes) : NULL;
}

#endif
