#include "image/heap_image.h"

#include <gcdumpc/unstable/process_reader.h>

#include "base/error.h"
#include "base/mem.h"
#include "io/spill_file.h"

gcd_status heap_image_new(const struct gcd_alloc *alloc, struct heap_image **ret,
                          struct gcd_error *err)
{
    struct heap_image *h = gcd_mem_new(alloc, sizeof *h);
    if (h == NULL)
        return gcd_fail_nomem(err, "opening a memory image");
    h->alloc = *alloc;
    h->error = (struct gcd_error)GCD_ERROR_INIT;
    h->unix_ms = INT64_MIN;
    *ret = h;
    return GCD_OK;
}

void heap_image_free(void *state)
{
    struct heap_image *h = state;
    if (h->opened) {
        clr_close(&h->clr);
        image_done(&h->image);
    }
    for (size_t i = 0; i < h->overlay_count; i++)
        h->options.files->close(h->options.files->ctx, &h->overlays[i]);
    gcd_process_reader_free(h->reader);
    if (h->copy != NULL)
        gcd_spill_unmap(h->copy, h->copy_bytes);
    struct gcd_alloc a = h->alloc;
    gcd_mem_free(&a, h, sizeof *h);
}

gcd_status heap_image_of_process(uint32_t pid, const struct gcd_context *context,
                                 struct heap_image **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct heap_image *h = NULL;
    GCD_TRY(heap_image_new(&a, &h, err));
    *ret = h;
    h->context = *context;
    h->context.alloc = &h->alloc;
    GCD_TRY(gcd_process_reader_new(pid, &h->alloc, &h->reader, err));
    h->opened = true;
    GCD_TRY(image_init(&h->image, NULL, &h->alloc, err));
    h->image.reader = h->reader;
    return process_image_read(&h->image, pid, err);
}

gcd_status heap_image_open(struct heap_image *h, struct gcd_error *err)
{
    GCD_TRY(clr_open(&h->clr, &h->image, &h->context, &h->alloc, err));
    h->clr.with_dead = h->options.with_dead;
    h->clr.files = h->options.files;
    h->clr.values = h->options.values;
    return clr_find_regions(&h->clr, err);
}

gcd_status heap_image_read(struct heap_image *h, struct gcd_error *err)
{
    GCD_TRY(clr_complete_types(&h->clr, err));
    GCD_TRY(clr_name_types(&h->clr, err));
    clr_find_allocators(&h->clr);
    GCD_TRY(clr_name_threads(&h->clr, err));
    GCD_TRY(clr_find_blocked(&h->clr, err));
    clr_tell_frames(&h->clr);
    GCD_TRY(clr_find_facts(&h->clr, err));
    return clr_mark(&h->clr, err);
}
