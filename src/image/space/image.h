/*
 * The address space of a process: its memory by address, the files that it maps, its threads.  It
 * comes from a core file, or from a process that lives.
 *
 * Memory is read through a cache of pages, because the structures of a heap lie everywhere.  An
 * address that the image does not have is no error: the reader of a structure decides.
 */
#ifndef GCD_IMAGE_SPACE_IMAGE_H
#define GCD_IMAGE_SPACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#include "base/cur.h"
#include "base/text.h"

struct gcd_process_reader;

#define IMAGE_PAGE_SHIFT 14
#ifndef IMAGE_PAGES_MAX
#define IMAGE_PAGES_MAX 1024u /* a power of two */
#endif
#define IMAGE_CACHE_BYTES ((size_t)IMAGE_PAGES_MAX << IMAGE_PAGE_SHIFT)
/* Words of a thread's registers that may hold references (struct user_regs_struct). */
#define IMAGE_REGISTERS 27u

#define IMAGE_THREAD_NAME_BYTES 16u /* TASK_COMM_LEN */

/* Consecutive memory that the image has: BYTES at OFF of the input. */
struct image_segment {
    uint64_t start; /* the first: gcd_sort_by_u64 */
    uint64_t bytes, off;
};

/* Memory that the input leaves out, from the file that the process maps there: BYTES at OFF. */
struct image_overlay {
    uint64_t start; /* the first: gcd_sort_by_u64 */
    uint64_t bytes, off;
    struct gcd_input *in; /* seekable; outlives the image */
};

/* A file that the process maps. */
struct image_mapping {
    uint64_t start, end;
    uint64_t file_off; /* bytes */
    const char *path;  /* UTF-8 */
    bool tried;        /* its file was looked for (clr_code_files.c) */
};

struct image_thread {
    uint32_t id;                        /* of the kernel, as the process knows it */
    char name[IMAGE_THREAD_NAME_BYTES]; /* of the kernel; "" = unknown, as in a core file */
    uint64_t stack_pointer;
    uint64_t registers[IMAGE_REGISTERS];
};

struct image {
    struct gcd_alloc alloc;
    struct gcd_input *in; /* of the segments: seekable; outlives the image */
    /* memory without a segment is read from there; NULL = there is none */
    const struct gcd_process_reader *reader;
    struct image_segment *segments; /* [segment_count] by address, without overlaps */
    size_t segment_count, segment_cap;
    struct image_overlay *overlays; /* [overlay_count] by address; used without a segment */
    size_t overlay_count, overlay_cap;
    struct image_mapping *mappings; /* [mapping_count] */
    size_t mapping_count, mapping_cap;
    struct image_thread *threads; /* [thread_count] the first one received the signal */
    size_t thread_count, thread_cap;
    struct gcd_textpool text;
    uint32_t process;         /* 0 = unknown */
    uint64_t program;         /* an address in its first mapping; 0 = unknown */
    uint32_t signal;          /* that ended the process; 0 = none */
    const char *command_line; /* at most 80 bytes; "" = unknown */
    uint64_t cut_off;   /* the file ends here, before its last segment; GCD_OFF_NONE = whole */
    const uint8_t *map; /* [map_bytes] of IN; NULL: it is read, into the pages */
    size_t map_bytes;
    struct { /* the mapped segment that was used last; no BYTES: none was */
        uint64_t start, bytes;
        const uint8_t *at;
    } near;
    uint8_t *pages;      /* [IMAGE_CACHE_BYTES] */
    unsigned page_shift; /* their size */
    uint32_t page_count; /* in use, a power of two */
    /* direct-mapped [IMAGE_PAGES_MAX]: what the pages are copies of */
    struct image_page {
        uint64_t number; /* + 1; 0 = of nothing */
        size_t bytes;    /* that the image has, from the start of the page */
    } * page;
};

gcd_status image_init(struct image *m, struct gcd_input *in, const struct gcd_alloc *alloc,
                      struct gcd_error *err);
/* Reads the segments through a mapping of IN, if the system allows it (gcd_input_bytes). */
void image_map(struct image *m);
void image_done(struct image *m);

/* Memory without a segment comes from there, after image_order_overlays, which also forgets the
 * pages read before.  What is more than an image can need is left out.  GCD_E_NOMEM. */
gcd_status image_add_overlay(struct image *m, const struct image_overlay *overlay,
                             struct gcd_error *err);
gcd_status image_order_overlays(struct image *m, struct gcd_error *err);
/* The file that is mapped at ADDRESS, an item of M->mappings; NULL = none, or unknown. */
const struct image_mapping *image_mapping_at(const struct image *m, uint64_t address);
/* Adds what the file at PATH, which begins at byte OFF of IN, has of all mappings with that path,
 * and orders the overlays. */
GCD_MUST_CHECK gcd_status image_overlay_file(struct image *m, const char *path,
                                             struct gcd_input *in, uint64_t off,
                                             struct gcd_error *err);

/* How the memory will be read.  It is a matter of speed alone. */
enum image_order {
    IMAGE_ANYWHERE, /* any structures */
    IMAGE_ASCENDING /* by address, once: large pages, as many as stay in a processor's cache */
};
void image_expect(struct image *m, enum image_order order);

/* Copies N bytes at ADDRESS.  False if the image lacks one of them. */
bool image_read(struct image *m, uint64_t address, void *ret, size_t n);

/* As above, at once from the input without the cache: for consecutive memory.  Returns the number
 * of bytes from ADDRESS on that the image has. */
size_t image_read_run(struct image *m, uint64_t address, void *ret, size_t n);

/* How many consecutive bytes the image has from ADDRESS on; 0 = none.  What a process has shows
 * only when it is read. */
uint64_t image_available(const struct image *m, uint64_t address);

/* How far ADDRESS is in its page. */
static inline size_t image_skip(const struct image *m, uint64_t address)
{
    return (size_t)address & (((size_t)1 << m->page_shift) - 1);
}

/* The N bytes at ADDRESS if the last segment or a page in the cache has them; else NULL. */
static inline const uint8_t *image_cached(const struct image *m, uint64_t address, size_t n)
{
    uint64_t in_segment = address - m->near.start;
    if (in_segment < m->near.bytes && m->near.bytes - in_segment >= n)
        return m->near.at + in_segment;
    uint64_t number = address >> m->page_shift;
    size_t slot = (size_t)number & (m->page_count - 1), skip = image_skip(m, address);
    return m->page[slot].number == number + 1 && m->page[slot].bytes >= skip + n
               ? m->pages + (slot << m->page_shift) + skip
               : NULL;
}

/* ADDRESS will be read soon: it comes from memory meanwhile, if it lies in the last segment. */
static inline void image_prefetch(const struct image *m, uint64_t address)
{
    if (address - m->near.start < m->near.bytes)
        __builtin_prefetch(m->near.at + (address - m->near.start));
}

/* A number; 0 if the image lacks it. */
uint64_t image_far_u64(struct image *m, uint64_t address);
static inline uint64_t image_u64(struct image *m, uint64_t address)
{
    const uint8_t *p = image_cached(m, address, 8);
    return p != NULL ? gcd_le64(p) : image_far_u64(m, address);
}
uint32_t image_far_u32(struct image *m, uint64_t address);
static inline uint32_t image_u32(struct image *m, uint64_t address)
{
    const uint8_t *p = image_cached(m, address, 4);
    return p != NULL ? gcd_le32(p) : image_far_u32(m, address);
}
uint16_t image_u16(struct image *m, uint64_t address);
/* The memory at ADDRESS as far as one page or segment has it: *RET_N bytes, until memory is read
 * again; 0: the image lacks it, or its page begins in a gap. */
const uint8_t *image_view(struct image *m, uint64_t address, size_t *ret_n);

/* UTF-16 text up to its terminator as UTF-8; *RET is "" if it is missing, damaged or longer than
 * MAX units.  GCD_E_NOMEM, GCD_E_LIMIT. */
gcd_status image_text(struct image *m, uint64_t address, size_t max, const char **ret,
                      struct gcd_error *err);

/* elf_core.c: does it begin like an ELF core file? */
bool elf_core_probe(const uint8_t *head, size_t n);
/*
 * Fills M, initialised, from the core file in M->in.  GCD_E_FORMAT; GCD_E_UNSUPPORTED: another
 * architecture; GCD_E_NOMEM, GCD_E_LIMIT, GCD_E_IO.  A file that is cut keeps what it has.
 */
gcd_status elf_core_read(struct image *m, struct gcd_error *err);

/* Drops the copies of pages, after the memory has changed. */
void image_forget_pages(struct image *m);
/* What it is, for messages: "core file" or "process". */
static inline const char *image_kind(const struct image *m)
{
    return m->reader != NULL ? "process" : "core file";
}

/* process_image_linux.c: fills M, initialised, with the files, the threads and the command line of
 * the process that M->reader reads; threads have no registers.  GCD_E_NOMEM, GCD_E_LIMIT;
 * GCD_E_PEER (GONE). */
gcd_status process_image_read(struct image *m, uint32_t pid, struct gcd_error *err);
/* The process has been stopped: takes its THREADS[N] with their registers, numbered by our kernel,
 * and forgets the pages read before. */
gcd_status process_image_stopped(struct image *m, const struct image_thread *threads, size_t n,
                                 struct gcd_error *err);

/* elf_symbol.c: the address of the exported symbol NAME of the ELF file that the process maps at
 * BASE; 0 = it has none, or the image lacks its tables. */
uint64_t elf_symbol(struct image *m, uint64_t base, const char *name);

#endif
