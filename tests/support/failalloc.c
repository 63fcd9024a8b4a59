#include "support/failalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"

#if ASAN
#include <sanitizer/asan_interface.h>
#endif

/* In front of each block; 16 bytes keep malloc's alignment. */
struct head {
    size_t bytes;
    uint64_t mark;
};
#define MARK       UINT64_C(0x6761746865726572)
#define HEAD_BYTES ((size_t)16)
/* Bytes of a block that are filled with a non-zero value: filling all of a large one would cost
 * more than the test. */
#define FILLED_BYTES ((size_t)16 * 1024)

_Static_assert(sizeof(struct head) <= HEAD_BYTES, "the head fits in front of a block");

/*
 * AddressSanitizer maps and unmaps each block above 128 KiB, which takes most of the time of a
 * small test.  So large blocks are kept for the next request of this size, and are poisoned until
 * then: a use after free is still caught.
 */
#if ASAN
#define KEPT_FROM ((size_t)32 * 1024)
#define KEPT_TO   ((size_t)512 * 1024)
static struct {
    size_t bytes;
    char *block;
} kept[32];

static void *new_block(size_t bytes)
{
    for (size_t i = 0; bytes >= KEPT_FROM && i < sizeof kept / sizeof *kept; i++)
        if (kept[i].block != NULL && kept[i].bytes == bytes) {
            char *block = kept[i].block;
            kept[i].block = NULL;
            __asan_unpoison_memory_region(block, bytes);
            return block;
        }
    return malloc(bytes);
}

static void free_block(char *block, size_t bytes)
{
    for (size_t i = 0; bytes >= KEPT_FROM && bytes <= KEPT_TO && i < sizeof kept / sizeof *kept;
         i++)
        if (kept[i].block == NULL) {
            __asan_poison_memory_region(block, bytes);
            kept[i].block = block;
            kept[i].bytes = bytes;
            return;
        }
    free(block);
}
#else
static void *new_block(size_t bytes)
{
    return malloc(bytes);
}

static void free_block(char *block, size_t bytes)
{
    (void)bytes;
    free(block);
}
#endif

static void wrong(struct failalloc *f, const char *what, size_t told, size_t is)
{
    if (f->wrong[0] == '\0')
        (void)snprintf(f->wrong, sizeof f->wrong, "call %llu: %s (told %zu, is %zu)",
                       (unsigned long long)f->calls, what, told, is);
}

static bool refused(struct failalloc *f, size_t old_bytes, size_t new_bytes)
{
    f->calls++;
    bool fail =
        f->fail_at != 0 && (f->calls == f->fail_at || (f->fail_on && f->calls > f->fail_at));
    if (f->max_bytes != 0 &&
        (new_bytes > f->max_bytes || f->bytes - old_bytes > f->max_bytes - new_bytes))
        fail = true;
    f->failed += fail;
    return fail;
}

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    struct failalloc *f = ctx;
    char *block = ptr;
    struct head h = { 0, MARK };
    if (block == NULL) {
        if (old_bytes != 0)
            wrong(f, "an old size without a block", old_bytes, 0);
        if (new_bytes == 0) {
            wrong(f, "nothing is freed", 0, 0);
            return NULL;
        }
    } else {
        block -= HEAD_BYTES;
        memcpy(&h, block, sizeof h);
        if (h.mark != MARK) {
            /* a leak does less harm than freeing it */
            wrong(f, "a block that was not allocated here", old_bytes, 0);
            return NULL;
        }
        if (h.bytes != old_bytes)
            wrong(f, "a false old size", old_bytes, h.bytes);
    }
    if (new_bytes == 0) {
        f->blocks--;
        f->bytes -= h.bytes;
        memset(block, 0xdd, HEAD_BYTES);
        free_block(block, HEAD_BYTES + h.bytes);
        return NULL;
    }
    if (refused(f, h.bytes, new_bytes) || new_bytes > SIZE_MAX - HEAD_BYTES)
        return NULL;
    /* always a new block, so that use of the old one is detected */
    char *to = new_block(HEAD_BYTES + new_bytes);
    if (to == NULL)
        return NULL;
    memset(to + HEAD_BYTES, 0xa5, new_bytes < FILLED_BYTES ? new_bytes : FILLED_BYTES);
    if (block != NULL) {
        memcpy(to + HEAD_BYTES, block + HEAD_BYTES, h.bytes < new_bytes ? h.bytes : new_bytes);
        memset(block, 0xdd, HEAD_BYTES);
        free_block(block, HEAD_BYTES + h.bytes);
    } else {
        f->blocks++;
    }
    f->bytes += new_bytes - h.bytes;
    if (f->bytes > f->peak_bytes)
        f->peak_bytes = f->bytes;
    h.bytes = new_bytes;
    memcpy(to, &h, sizeof h);
    return to + HEAD_BYTES;
}

void failalloc_init(struct failalloc *f)
{
    memset(f, 0, sizeof *f);
    f->alloc = (struct gcd_alloc){ .resize = resize, .ctx = f };
}

const char *failalloc_complaint(struct failalloc *f)
{
    if (f->blocks != 0)
        wrong(f, "blocks are left", f->blocks, f->bytes);
    return f->wrong[0] != '\0' ? f->wrong : NULL;
}
