/* A heap in a memory image, read to the point where its events can be given. */
#ifndef GCD_IMAGE_HEAP_IMAGE_H
#define GCD_IMAGE_HEAP_IMAGE_H

#include <gcdumpc/unstable/image.h>

#include "image/clr/clr.h"

#define HEAP_IMAGE_OVERLAYS      4u
#define HEAP_IMAGE_LACKING_BYTES 768u

/* What all traces of an input share: its heap is prepared once. */
struct heap_image {
    struct gcd_alloc alloc;
    struct gcd_image_options options;
    struct gcd_context context; /* of the trace that reads it */
    struct image image;
    struct gcd_module_file overlays[HEAP_IMAGE_OVERLAYS]; /* [overlay_count] open: core_overlay.h */
    size_t overlay_count;
    struct clr clr;
    bool opened;   /* the image can be closed */
    gcd_status st; /* not GCD_OK: why it cannot be read */
    struct gcd_error error;
    gcd_status
        unpacked; /* not GCD_OK: the compressed file is damaged, what came before it is there */
    struct gcd_error unpack_error;
    int64_t unix_ms; /* when it was taken; INT64_MIN = unknown */
    /* of a living process: */
    struct gcd_process_reader *reader;
    uint8_t *copy; /* [copy_bytes] mapped: its heap, which the input reads */
    size_t copy_bytes;
};

gcd_status heap_image_new(const struct gcd_alloc *alloc, struct heap_image **ret,
                          struct gcd_error *err);
void heap_image_free(void *state);
/* That of the process PID, with what /proc says about it.  The errors of gcd_process_reader_new and
 * process_image_read; *RET is there even then, unless memory is short. */
gcd_status heap_image_of_process(uint32_t pid, const struct gcd_context *context,
                                 struct heap_image **ret, struct gcd_error *err);
/* Finds the runtime in the image, which has been read, and the regions of its heap. */
gcd_status heap_image_open(struct heap_image *h, struct gcd_error *err);
/* Everything between the walk and the first event: types, names, what is alive. */
gcd_status heap_image_read(struct heap_image *h, struct gcd_error *err);

#endif
