/*
 * Precompiled code of assemblies that an image leaves out, because the process has not changed it:
 * gcore and the kernel write no pages of mapped files.  Without that code, its unwind data and its
 * table of functions, most calls on a stack have no method, and hide those around them.
 *
 * The file that was mapped there has it, if it is the same build.  Wherever the image has some of
 * it, such as its header, the file has the same bytes.  Without the header, the runtime's notes
 * about the table of functions count: their number, and where they lie.
 *
 * A program of one file contains its assemblies: if all that were found in it are the build that
 * was loaded, the rest of it is, too.
 *
 * An image is mapped by sections, each at a place of its own, or flat.  Either way the list of
 * mapped files says which part of the file lies where.  Sections that can be written to are left
 * out: the process has changed them.
 */
#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr.h"

#define FILES_MAX         128u /* of which code is looked at */
#define CANDIDATES_MAX    64u
#define SECTIONS_MAX      96u
#define PIECES_MAX        64u /* of one file */
#define COMPARE_BYTES     ((size_t)16384)
#define COMPARE_MAX       (UINT64_C(2) << 30) /* of all files */
#define MZ                0x5a4du
#define WRITABLE          UINT32_C(0x80000000)
#define RTR_SECTIONS_MAX  64u
#define RTR_SECTION_BYTES 12u

#define RTR_FUNCTIONS  102u /* the section with the table of functions */
#define FUNCTION_BYTES 12u

enum {
    PE_OFFSET = 0x3c,
    PE_SECTIONS = 6,
    PE_OPTIONAL_BYTES = 20,
    PE_BYTES = 24,
    RTR_SECTIONS = 12,
    RTR_BYTES = 16,
    SECTION_BYTES = 40,
    PAGE_BYTES = 4096
};

/* A file with an image. */
struct image_file {
    struct gcd_module_file file;
    uint64_t start; /* of the image in the file that is mapped: a program may contain it */
    uint64_t bytes;
    struct {
        uint32_t rva, bytes, off;
        bool is_writable;
    } section[SECTIONS_MAX];
    unsigned sections;
    uint64_t image_bytes; /* the end of its last section */
};

/* Parts of a file that do not change when it is loaded, and where the process maps them. */
struct pieces {
    struct piece {
        uint64_t start, bytes, off;
    } piece[PIECES_MAX];
    unsigned count;
};

static bool read_file(const struct image_file *f, uint64_t off, uint8_t *ret, size_t n)
{
    struct gcd_error own = GCD_ERROR_INIT;
    size_t got = 0;
    return off <= f->bytes && n <= f->bytes - off &&
           gcd_input_read_at(f->file.input, f->file.off + off, ret, n, &got, &own) == GCD_OK &&
           got == n;
}

static bool read_section(struct image_file *f, uint64_t off)
{
    uint8_t p[SECTION_BYTES];
    if (f->sections == SECTIONS_MAX || !read_file(f, off, p, sizeof p))
        return false;
    f->section[f->sections].rva = gcd_le32(p + 12);
    f->section[f->sections].bytes = gcd_le32(p + 16);
    f->section[f->sections].off = gcd_le32(p + 20);
    uint64_t end = (uint64_t)f->section[f->sections].off + f->section[f->sections].bytes;
    f->image_bytes = end > f->image_bytes ? end : f->image_bytes;
    f->section[f->sections++].is_writable = (gcd_le32(p + 36) & WRITABLE) != 0;
    return true;
}

/* Reads the headers of F->file, which begins with the image.  False: it is no image. */
static bool open_image_file(struct image_file *f)
{
    uint8_t p[PE_BYTES];
    uint64_t size = gcd_input_size(f->file.input);
    f->bytes = size > f->file.off ? size - f->file.off : 0;
    f->bytes = f->bytes < f->file.bytes ? f->bytes : f->file.bytes;
    f->sections = 0;
    f->image_bytes = 0;
    if (!read_file(f, 0, p, 2) || gcd_le16(p) != MZ || !read_file(f, PE_OFFSET, p, 4))
        return false;
    uint64_t pe = gcd_le32(p);
    if (!read_file(f, pe, p, sizeof p) || gcd_le32(p) != UINT32_C(0x4550))
        return false;
    unsigned sections = gcd_le16(p + PE_SECTIONS);
    uint64_t table = pe + PE_BYTES + gcd_le16(p + PE_OPTIONAL_BYTES);
    for (unsigned i = 0; i < sections; i++)
        if (!read_section(f, table + SECTION_BYTES * (uint64_t)i))
            return false;
    return true;
}

/* Reads N bytes that are loaded at RVA. */
static bool read_rva(const struct image_file *f, uint32_t rva, uint8_t *ret, size_t n)
{
    for (unsigned i = 0; i < f->sections; i++)
        if (rva >= f->section[i].rva && rva - f->section[i].rva < f->section[i].bytes)
            return read_file(f, (uint64_t)f->section[i].off + (rva - f->section[i].rva), ret, n);
    return false;
}

/* Has F the table of functions that CODE tells of?  Only the runtime knows where its header is: a
 * composite image exports it. */
static bool has_table(const struct image_file *f, const struct clr_code *code)
{
    uint8_t p[RTR_BYTES];
    if (code->header < code->base || code->header - code->base > UINT32_MAX)
        return false;
    uint32_t header = (uint32_t)(code->header - code->base);
    if (!read_rva(f, header, p, sizeof p) || gcd_le32(p) != CLR_READY_TO_RUN)
        return false;
    uint32_t sections = gcd_le32(p + RTR_SECTIONS);
    for (uint32_t i = 0; i < sections && i < RTR_SECTIONS_MAX; i++)
        if (read_rva(f, header + RTR_BYTES + RTR_SECTION_BYTES * i, p, RTR_SECTION_BYTES) &&
            gcd_le32(p) == RTR_FUNCTIONS)
            return code->base + gcd_le32(p + 4) == code->table &&
                   gcd_le32(p + 8) / FUNCTION_BYTES == code->count;
    return false;
}

/* Adds the part of mapping M before the first section in it that can be written to. */
static void add_piece(struct pieces *p, const struct image_mapping *m, const struct image_file *f)
{
    if (m->file_off < f->start)
        return;
    uint64_t off = m->file_off - f->start, end = off + (m->end - m->start);
    for (unsigned i = 0; i < f->sections; i++) {
        uint64_t from = f->section[i].off;
        if (f->section[i].is_writable && from + f->section[i].bytes > off && from < end)
            end = from > off ? from : off;
    }
    end = end < f->bytes ? end : f->bytes;
    if (f->start != 0 && end > f->image_bytes)
        end = f->image_bytes; /* behind it are other images */
    if (end > off && p->count < PIECES_MAX)
        p->piece[p->count++] = (struct piece){ .start = m->start, .bytes = end - off, .off = off };
}

/* Has F the same bytes as the image wherever that has some of P?  *HAS_HEADER: it has the header.
 */
static bool is_same(struct clr *c, const struct image_file *f, const struct piece *p,
                    bool *has_header)
{
    uint8_t ours[COMPARE_BYTES], its[COMPARE_BYTES];
    for (uint64_t at = 0, n; at < p->bytes && c->code_compared < COMPARE_MAX; at += n) {
        uint64_t have = image_available(c->image, p->start + at), left = p->bytes - at;
        n = have > 0 ? have : PAGE_BYTES - (p->start + at) % PAGE_BYTES;
        n = n < COMPARE_BYTES ? n : COMPARE_BYTES;
        n = n < left ? n : left;
        c->code_compared += n;
        if (have == 0)
            continue;
        if (image_read_run(c->image, p->start + at, ours, (size_t)n) < n ||
            !read_file(f, p->off + at, its, (size_t)n) || memcmp(ours, its, (size_t)n) != 0)
            return false;
        *has_header = *has_header || (p->off == 0 && at == 0 && n > 2 && gcd_le16(ours) == MZ);
    }
    return c->code_compared < COMPARE_MAX;
}

/* Is F the file with CODE, which the process mapped as M, and elsewhere?  *RET: what it has of all
 * that. */
static bool is_mapped(struct clr *c, const struct image_mapping *m, const struct clr_code *code,
                      struct image_file *f, struct pieces *ret)
{
    bool has_header = false;
    ret->count = 0;
    if (!open_image_file(f))
        return false;
    for (size_t i = 0; i < c->image->mapping_count; i++) {
        const struct image_mapping *other = &c->image->mappings[i];
        if (other->end > other->start && strcmp(other->path, m->path) == 0)
            add_piece(ret, other, f);
    }
    for (unsigned i = 0; i < ret->count; i++)
        if (!is_same(c, f, &ret->piece[i], &has_header))
            return false;
    return has_header || has_table(f, code);
}

/* Keeps FILE open as long as the image. */
static bool keep_file(struct clr *c, struct gcd_module_file *file)
{
    if (!gcd_vec_reserve(&c->alloc, &c->code_files, &c->code_file_cap, c->code_file_count + 1,
                         sizeof *file, FILES_MAX + 1)) {
        c->files->close(c->files->ctx, file);
        return false;
    }
    c->code_files[c->code_file_count++] = *file;
    return true;
}

/* Takes FILE, whose P the image then has, too. */
static gcd_status take_file(struct clr *c, struct gcd_module_file *file, const struct pieces *p)
{
    struct gcd_error own = GCD_ERROR_INIT;
    if (!keep_file(c, file))
        return GCD_E_NOMEM;
    for (unsigned i = 0; i < p->count; i++)
        GCD_TRY(image_add_overlay(c->image,
                                  &(struct image_overlay){ .start = p->piece[i].start,
                                                           .bytes = p->piece[i].bytes,
                                                           .off = file->off + p->piece[i].off,
                                                           .in = file->input },
                                  &own));
    return image_order_overlays(c->image, &own);
}

/* From where on the file of mapping AT has the image of CODE. */
static uint64_t start_of_image(const struct image *m, const struct image_mapping *at,
                               const struct clr_code *code)
{
    const struct image_mapping *first = image_mapping_at(m, code->base);
    return first != NULL && strcmp(first->path, at->path) == 0
               ? first->file_off + (code->base - first->start)
               : 0;
}

/* GCD_END: there is no such file. */
static gcd_status find_file(struct clr *c, const struct image_mapping *m, uint64_t start,
                            const struct clr_code *code)
{
    const struct gcd_module wanted = {
        .id = m->start, .path = m->path, .assembly = "", .native = start != 0
    };
    for (unsigned i = 0; c->files != NULL && i < CANDIDATES_MAX; i++) {
        struct gcd_error own = GCD_ERROR_INIT;
        struct image_file f = { .start = start };
        struct pieces pieces;
        gcd_status st = c->files->open(c->files->ctx, &wanted, i, &f.file, &own);
        if (st == GCD_END || gcd_is_fatal(st))
            return st;
        bool is_long = st == GCD_OK && start < f.file.bytes && start <= UINT64_MAX - f.file.off;
        if (is_long) {
            f.file.off += start;
            f.file.bytes -= start;
        }
        if (is_long && is_mapped(c, m, code, &f, &pieces))
            return take_file(c, &f.file, &pieces);
        if (st == GCD_OK)
            c->files->close(c->files->ctx, &f.file);
    }
    return GCD_END;
}

/* All mappings of a file are looked at once, but other images in a program are not the same. */
static void mark_tried(struct image *m, size_t at, uint64_t start)
{
    const char *path = m->mappings[at].path;
    m->mappings[at].tried = true;
    if (start != 0)
        return;
    for (size_t i = 0; i < m->mapping_count; i++)
        m->mappings[i].tried = m->mappings[i].tried || strcmp(m->mappings[i].path, path) == 0;
}

void clr_need_code(struct clr *c, uint64_t address, const struct clr_code *code)
{
    struct image *m = c->image;
    const struct image_mapping *at = image_mapping_at(m, address);
    if (m->reader != NULL || at == NULL || at->tried || c->code_tried == FILES_MAX ||
        c->code_st != GCD_OK || image_available(m, at->start) >= at->end - at->start)
        return;
    c->code_tried++;
    uint64_t start = start_of_image(m, at, code);
    mark_tried(m, (size_t)(at - m->mappings), start);
    gcd_status st = find_file(c, at, start, code);
    if (st == GCD_END && c->missing_code == NULL)
        c->missing_code = at->path;
    c->code_st = st == GCD_END ? GCD_OK : st;
}

gcd_status clr_take_program(struct clr *c, struct gcd_error *err)
{
    const struct clr_program *p = &c->program;
    struct gcd_module_file file;
    struct gcd_error own = GCD_ERROR_INIT;
    if (p->path == NULL || p->several)
        return GCD_OK;
    const struct gcd_module wanted = { .path = p->path, .assembly = "", .native = true };
    for (unsigned i = 0; i <= p->candidate; i++) {
        gcd_status st = c->files->open(c->files->ctx, &wanted, i, &file, &own);
        if (st == GCD_END || gcd_is_fatal(st))
            return gcd_only_fatal(st, &own, err);
        if (st == GCD_OK && i < p->candidate)
            c->files->close(c->files->ctx, &file);
        else if (st != GCD_OK && i == p->candidate)
            return GCD_OK;
    }
    if (!keep_file(c, &file))
        return gcd_fail_nomem(err, "reading the program of a process");
    return image_overlay_file(c->image, p->path, file.input, file.off, err);
}

void clr_code_files_close(struct clr *c)
{
    for (size_t i = 0; i < c->code_file_count; i++)
        c->files->close(c->files->ctx, &c->code_files[i]);
    gcd_mem_free(&c->alloc, c->code_files, c->code_file_cap * sizeof *c->code_files);
}
