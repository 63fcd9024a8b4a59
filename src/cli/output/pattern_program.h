/*
 * What a pattern becomes: a program whose instructions take a byte of the text, split the way in
 * two, or look at where they are.  pattern.c makes it, pattern_match.c follows all ways at the same
 * time, byte by byte (Thompson's construction), so no way is taken twice.
 *
 * regexec of the C library starts again at each byte, and a name of 240 KB takes it a minute; or it
 * makes states as it goes, and with ".*" in front of the pattern 60 KB take half a minute and 150
 * MB.
 */
#ifndef GCD_CLI_PATTERN_PROGRAM_H
#define GCD_CLI_PATTERN_PROGRAM_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_op {
    OP_BYTE,
    OP_ANY,
    OP_SET,   /* take a byte */
    OP_SPLIT, /* continue at the next instruction and at TO */
    OP_JUMP,
    /* continue if the assertion holds */
    OP_BEGIN,
    OP_END,
    OP_WORD_BEGIN,
    OP_WORD_END,
    OP_WORD_EDGE,
    OP_NO_WORD_EDGE,
    OP_MATCH
};

struct cli_instruction {
    uint8_t op, byte;
    uint16_t set; /* index in sets */
    int32_t to;   /* relative to this instruction */
};

/* A set of byte values. */
struct cli_byteset {
    uint32_t bits[8];
};

/* A set of instructions in the order they were added. */
struct cli_places {
    uint32_t *order, *at;
    size_t n;
};

struct cli_pattern {
    struct cli_instruction *program;
    size_t length, room;
    struct cli_byteset *sets;
    size_t set_count, set_room;
    bool from_begin; /* matches only at the beginning of a text */
    struct cli_places now, next;
    uint32_t *stack;
};

static inline bool cli_byteset_has(const struct cli_byteset *s, unsigned char byte)
{
    return s->bits[byte / 32] >> byte % 32 & 1;
}

static inline bool cli_is_word(unsigned char c)
{
    return isalnum(c) || c == '_';
}

#endif
