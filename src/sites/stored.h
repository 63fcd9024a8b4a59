/*
 * Sites as events of a recording (../recorded/README.md has the fields).
 */
#ifndef GCD_SITES_STORED_H
#define GCD_SITES_STORED_H

#include <gcdumpc/unstable/sites.h>

#include "recorded/recorded_names.h"

/* One pass over the events of SITES. */
struct stored_pass {
    const struct gcd_sites *sites;
    uint32_t event; /* of the next item, */
    size_t next;    /* and its place in the list */
};

/* The payload of the first event, in BUFFER[RECORDED_PAYLOAD_MAX]; returns its size. */
size_t stored_put_start(const struct gcd_sites *s, uint8_t *buffer);
/* The next payload, of *RET_EVENT; returns its size, 0 = no more. */
size_t stored_put_next(struct stored_pass *pass, uint8_t *buffer, uint32_t *ret_event);

#endif
