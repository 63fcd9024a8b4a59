/*
 * Single-file programs for tests.
 */
#ifndef BUNDLE_FILE_H
#define BUNDLE_FILE_H

#include "support/tb.h"

struct bundle_part {
    const char *path;
    const void *bytes;
    size_t n;
    bool compressed;
    int64_t lie; /* added to the size in the manifest */
};

/* A host program of HOST_BYTES with the mark at its end, then PARTS one after another, then a
 * manifest of VERSION. */
void bundle_file(struct tb_bytes *out, size_t host_bytes, unsigned version,
                 const struct bundle_part *parts, size_t n);

#endif
