#include "image/space/image.h"

#include <string.h>

#include <gcdumpc/unstable/io/input_bytes.h>
#include <gcdumpc/unstable/process_reader.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define TEXT_MAX     (UINT64_C(64) << 20)
#define OVERLAYS_MAX 4096u

gcd_status image_init(struct image *m, struct gcd_input *in, const struct gcd_alloc *alloc,
                      struct gcd_error *err)
{
    *m = (struct image){ .alloc = *alloc, .in = in, .command_line = "", .cut_off = GCD_OFF_NONE };
    gcd_textpool_init(&m->text, &m->alloc, TEXT_MAX);
    m->pages = gcd_mem_new_uncleared(&m->alloc, IMAGE_CACHE_BYTES, 1);
    m->page = gcd_mem_new_array(&m->alloc, IMAGE_PAGES_MAX, sizeof *m->page);
    if (m->pages == NULL || m->page == NULL)
        return gcd_fail_nomem(err, "opening a memory image");
    image_expect(m, IMAGE_ANYWHERE);
    return GCD_OK;
}

void image_done(struct image *m)
{
    gcd_mem_free(&m->alloc, m->pages, IMAGE_CACHE_BYTES);
    gcd_mem_free(&m->alloc, m->page, IMAGE_PAGES_MAX * sizeof *m->page);
    gcd_mem_free(&m->alloc, m->segments, m->segment_cap * sizeof *m->segments);
    gcd_mem_free(&m->alloc, m->overlays, m->overlay_cap * sizeof *m->overlays);
    gcd_mem_free(&m->alloc, m->mappings, m->mapping_cap * sizeof *m->mappings);
    gcd_mem_free(&m->alloc, m->threads, m->thread_cap * sizeof *m->threads);
    gcd_textpool_done(&m->text);
}

/* The segment with ADDRESS, or NULL. */
static const struct image_segment *segment_at(const struct image *m, uint64_t address)
{
    size_t n = gcd_count_up_to(m->segments, m->segment_count, sizeof *m->segments, address);
    const struct image_segment *s = n > 0 ? &m->segments[n - 1] : NULL;
    return s != NULL && address - s->start < s->bytes ? s : NULL;
}

gcd_status image_add_overlay(struct image *m, const struct image_overlay *overlay,
                             struct gcd_error *err)
{
    if (m->overlay_count == OVERLAYS_MAX)
        return GCD_OK;
    if (!gcd_vec_reserve(&m->alloc, &m->overlays, &m->overlay_cap, m->overlay_count + 1,
                         sizeof *m->overlays, OVERLAYS_MAX))
        return gcd_fail_nomem(err, "reading the files of a core file");
    m->overlays[m->overlay_count++] = *overlay;
    return GCD_OK;
}

gcd_status image_order_overlays(struct image *m, struct gcd_error *err)
{
    image_forget_pages(m);
    return gcd_sort_by_u64(&m->alloc, m->overlays, m->overlay_count, sizeof *m->overlays)
               ? GCD_OK
               : gcd_fail_nomem(err, "reading the files of a core file");
}

const struct image_mapping *image_mapping_at(const struct image *m, uint64_t address)
{
    size_t n = gcd_count_up_to(m->mappings, m->mapping_count, sizeof *m->mappings, address);
    const struct image_mapping *at = n > 0 ? &m->mappings[n - 1] : NULL;
    return at != NULL && address >= at->start && address < at->end ? at : NULL;
}

gcd_status image_overlay_file(struct image *m, const char *path, struct gcd_input *in, uint64_t off,
                              struct gcd_error *err)
{
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct image_mapping *x = &m->mappings[i];
        if (strcmp(x->path, path) == 0 && x->end > x->start && x->file_off <= UINT64_MAX - off)
            GCD_TRY(image_add_overlay(m,
                                      &(struct image_overlay){ .start = x->start,
                                                               .bytes = x->end - x->start,
                                                               .off = off + x->file_off,
                                                               .in = in },
                                      err));
    }
    return image_order_overlays(m, err);
}

/* The overlay with ADDRESS, or NULL. */
static const struct image_overlay *overlay_at(const struct image *m, uint64_t address)
{
    size_t n = gcd_count_up_to(m->overlays, m->overlay_count, sizeof *m->overlays, address);
    const struct image_overlay *o = n > 0 ? &m->overlays[n - 1] : NULL;
    return o != NULL && address - o->start < o->bytes ? o : NULL;
}

static size_t read_overlay(struct image *m, uint64_t address, uint8_t *ret, size_t n)
{
    const struct image_overlay *o = overlay_at(m, address);
    if (o == NULL)
        return 0;
    uint64_t skip = address - o->start;
    size_t want = o->bytes - skip < n ? (size_t)(o->bytes - skip) : n, got = 0;
    struct gcd_error own = GCD_ERROR_INIT;
    return gcd_input_read_at(o->in, o->off + skip, ret, want, &got, &own) == GCD_OK ? got : 0;
}

/* Reads memory without a segment, up to the next one. */
static size_t read_outside(struct image *m, uint64_t address, uint8_t *ret, size_t n)
{
    size_t next = gcd_count_up_to(m->segments, m->segment_count, sizeof *m->segments, address);
    if (next < m->segment_count && m->segments[next].start - address < n)
        n = (size_t)(m->segments[next].start - address);
    return m->reader != NULL ? gcd_process_read(m->reader, address, ret, n)
                             : read_overlay(m, address, ret, n);
}

size_t image_read_run(struct image *m, uint64_t address, void *ret, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const struct image_segment *s = segment_at(m, address + done);
        if (address + done < address)
            break;
        if (s == NULL) {
            size_t part = read_outside(m, address + done, (uint8_t *)ret + done, n - done);
            done += part;
            if (part == 0)
                break;
            continue;
        }
        uint64_t skip = address + done - s->start, left = s->bytes - skip;
        size_t want = left < n - done ? (size_t)left : n - done, got = 0;
        struct gcd_error err = GCD_ERROR_INIT;
        if (gcd_input_read_at(m->in, s->off + skip, (uint8_t *)ret + done, want, &got, &err) !=
            GCD_OK)
            break;
        done += got;
        if (got < want)
            break;
    }
    return done;
}

uint64_t image_available(const struct image *m, uint64_t address)
{
    uint64_t at = address, end = address;
    if (m->reader != NULL)
        return UINT64_MAX - address;
    do {
        at = end;
        const struct image_segment *s = segment_at(m, at);
        const struct image_overlay *o = s == NULL ? overlay_at(m, at) : NULL;
        end = s != NULL ? s->start + s->bytes : o != NULL ? o->start + o->bytes : at;
    } while (end > at);
    return at - address;
}

void image_forget_pages(struct image *m)
{
    memset(m->page, 0, IMAGE_PAGES_MAX * sizeof *m->page);
}

void image_expect(struct image *m, enum image_order order)
{
    static const struct {
        unsigned shift;
        uint32_t count;
    } pages[] = {
        [IMAGE_ANYWHERE] = { IMAGE_PAGE_SHIFT, IMAGE_PAGES_MAX },
        [IMAGE_ASCENDING] = { 16, 8 },
    };
    image_forget_pages(m);
    m->page_shift = pages[order].shift;
    m->page_count = pages[order].count;
}

void image_map(struct image *m)
{
    m->map = gcd_input_bytes(m->in, &m->map_bytes);
}

/* Finds the segment with ADDRESS in the mapping; false = there is none. */
static bool find_near(struct image *m, uint64_t address)
{
    const struct image_segment *s = m->map != NULL ? segment_at(m, address) : NULL;
    if (s == NULL || s->off > m->map_bytes || s->bytes > m->map_bytes - s->off)
        return false;
    m->near.start = s->start;
    m->near.bytes = s->bytes;
    m->near.at = m->map + s->off;
    return true;
}

/* The memory at ADDRESS as far as its segment has it: *RET_N bytes; NULL = it is not mapped. */
static const uint8_t *mapped_at(struct image *m, uint64_t address, size_t *ret_n)
{
    if (address - m->near.start >= m->near.bytes && !find_near(m, address))
        return NULL;
    uint64_t skip = address - m->near.start;
    *ret_n = (size_t)(m->near.bytes - skip);
    return m->near.at + skip;
}

/* The page with ADDRESS, and how many of its bytes there are. */
static const uint8_t *page_at(struct image *m, uint64_t address, size_t *ret_n)
{
    uint64_t number = address >> m->page_shift;
    size_t slot = (size_t)number & (m->page_count - 1);
    uint8_t *p = m->pages + (slot << m->page_shift);
    if (m->page[slot].number != number + 1) {
        m->page[slot].bytes =
            image_read_run(m, number << m->page_shift, p, (size_t)1 << m->page_shift);
        m->page[slot].number = number + 1;
    }
    *ret_n = m->page[slot].bytes;
    return p;
}

const uint8_t *image_view(struct image *m, uint64_t address, size_t *ret_n)
{
    size_t have, skip = image_skip(m, address);
    const uint8_t *p = mapped_at(m, address, ret_n);
    if (p != NULL)
        return p;
    p = page_at(m, address, &have);
    *ret_n = have > skip ? have - skip : 0;
    return p + skip;
}

bool image_read(struct image *m, uint64_t address, void *ret, size_t n)
{
    uint8_t *to = ret;
    while (n > 0) {
        size_t have, skip = image_skip(m, address), page = (size_t)1 << m->page_shift;
        const uint8_t *p = mapped_at(m, address, &have);
        if (p != NULL)
            skip = 0, page = have;
        else
            p = page_at(m, address, &have);
        size_t part = page - skip < n ? page - skip : n;
        if (have < skip + part) {
            /* a page that the image has only in its later part: rare, so not cached */
            if (image_read_run(m, address, to, part) < part)
                return false;
        } else {
            memcpy(to, p + skip, part);
        }
        to += part, address += part, n -= part;
    }
    return true;
}

uint64_t image_far_u64(struct image *m, uint64_t address)
{
    uint8_t raw[8];
    return image_read(m, address, raw, sizeof raw) ? gcd_le64(raw) : 0;
}

uint32_t image_far_u32(struct image *m, uint64_t address)
{
    uint8_t raw[4];
    return image_read(m, address, raw, sizeof raw) ? gcd_le32(raw) : 0;
}

uint16_t image_u16(struct image *m, uint64_t address)
{
    uint8_t raw[2];
    return image_read(m, address, raw, sizeof raw) ? gcd_le16(raw) : 0;
}

gcd_status image_text(struct image *m, uint64_t address, size_t max, const char **ret,
                      struct gcd_error *err)
{
    uint8_t raw[2 * 1024];
    size_t n = 0;
    *ret = "";
    max = max < sizeof raw / 2 ? max : sizeof raw / 2;
    while (n < max && image_read(m, address + 2 * n, raw + 2 * n, 2) && gcd_le16(raw + 2 * n) != 0)
        n++;
    if (address == 0 || n == 0 || n == max)
        return GCD_OK;
    gcd_status st = gcd_textpool_add_utf16(&m->text, raw, n, ret);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the texts of a memory image");
}
