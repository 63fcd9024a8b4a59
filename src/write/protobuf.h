/*
 * Protocol buffers: a field is a key, number << 3 | wire type (0 varint, 2 length and bytes), and
 * its content; repeated numbers are packed.
 */
#ifndef GCD_WRITE_PROTOBUF_H
#define GCD_WRITE_PROTOBUF_H

#include <stdint.h>
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>

enum { VARINT = 0, BYTES = 2 };
#define VARINT_BYTES 10

/* Numbers of profile.proto (github.com/google/pprof). */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum {
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINES = 9
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILENAME = 4 };

static inline char *put_varint(char *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (char)((v & 0x7f) | 0x80);
    *p++ = (char)v;
    return p;
}

/* A number; 0 is omitted, as usual. */
static inline char *put_number(char *p, unsigned field, uint64_t v)
{
    return v != 0 ? put_varint(put_varint(p, field << 3 | VARINT), v) : p;
}

/* Bytes, as a field inside of a message. */
static inline char *put_bytes(char *p, unsigned field, const char *bytes, size_t n)
{
    p = put_varint(put_varint(p, field << 3 | BYTES), n);
    memcpy(p, bytes, n);
    return p + n;
}

static inline void write_bytes(struct gcd_sink *out, unsigned field, const char *bytes, size_t n)
{
    char *p = gcd_sink_reserve(out, 2 * VARINT_BYTES),
         *end = put_varint(put_varint(p, field << 3 | BYTES), n);
    gcd_sink_advance(out, (size_t)(end - p));
    gcd_sink_write(out, bytes, n);
}

static inline void write_number(struct gcd_sink *out, unsigned field, uint64_t v)
{
    char *p = gcd_sink_reserve(out, 2 * VARINT_BYTES);
    gcd_sink_advance(out, (size_t)(put_number(p, field, v) - p));
}

static inline void write_value_type(struct gcd_sink *out, unsigned field, unsigned type,
                                    unsigned unit)
{
    char body[4 * VARINT_BYTES],
        *end = put_number(put_number(body, VALUE_TYPE_TYPE, type), VALUE_TYPE_UNIT, unit);
    write_bytes(out, field, body, (size_t)(end - body));
}

#endif
