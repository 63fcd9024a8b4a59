/*
 * The parts that damage.c damages, and that damage_nettrace.c and damage_etl.c split and join.
 */
#ifndef DAMAGE_PARTS_H
#define DAMAGE_PARTS_H

#include "support/damage.h"

/* An event of a .nettrace, with any header; it is written with the long header. */
struct damage_event {
    uint32_t meta; /* bit 31: not sorted */
    uint32_t number, processor, stack, labels;
    uint64_t thread, capture, ticks;
    uint8_t activities[32];
    const uint8_t *payload;
    size_t payload_bytes;
    uint32_t id;            /* of the runtime provider, else 0 */
    const uint8_t *meta_at; /* its metadata id in the recording; NULL = that of the event before */
    size_t meta_bytes;
};

/* A block of a .nettrace, a buffer of an .etl. */
struct damage_block {
    const uint8_t *head; /* .nettrace 4: framing up to the size of the body; else NULL */
    size_t head_bytes;
    /* format 6: of the block; format 4: the first letter of its name */
    uint32_t kind;
    const uint8_t *body;
    size_t body_bytes;
    bool fixed;     /* header, trace object, end: stays where it is */
    bool is_events; /* EVENTS are valid, not the body */
    struct damage_event *events;
    size_t event_count, event_cap;
};

struct damage {
    const uint8_t *bytes; /* the recording */
    size_t n;
    unsigned format; /* 4, 6, 0 = .etl */
    struct damage_block *blocks;
    size_t count, cap;
};

void damage_add_block(struct damage *d, const struct damage_block *b);
void damage_add_event(struct damage_block *b, size_t at, const struct damage_event *e);

void damage_split_nettrace(struct damage *d, const uint8_t *p, size_t n);
void damage_join_nettrace(const struct damage *d, struct tb_bytes *ret);
void damage_split_etl(struct damage *d, const uint8_t *p, size_t n);
void damage_join_etl(const struct damage *d, struct tb_bytes *ret);

/* Ends the program if the recording is invalid. */
void damage_need(bool ok, const char *what);

#endif
