#include "image/core_overlay.h"

#include <stdio.h>
#include <string.h>

#include "base/elf_notes.h"
#include "base/error.h"
#include "base/hex.h"
#include "metadata/elf_file.h"

enum { PHDR_BYTES = 56, PT_NOTE = 4, HEADERS_MAX = 64, NOTES_MAX = 4096 };
#define CANDIDATES_MAX 64u

/* The build id of the ELF file that is mapped at BASE, from the image. */
static bool read_build_id(struct image *m, uint64_t base, struct gcd_build_id *ret)
{
    uint8_t magic[4], notes[NOTES_MAX];
    if (!image_read(m, base, magic, sizeof magic) || memcmp(magic, "\177ELF", 4) != 0)
        return false;
    uint64_t headers = base + image_u64(m, base + 32);
    uint16_t count = image_u16(m, base + 56);
    for (uint16_t i = 0; i < count && i < HEADERS_MAX; i++) {
        uint64_t h = headers + (uint64_t)i * PHDR_BYTES, n = image_u64(m, h + 32);
        if (image_u32(m, h) != PT_NOTE || n > NOTES_MAX)
            continue;
        /* at an offset in the file: the first mapping begins with the file */
        size_t got = image_read_run(m, base + image_u64(m, h + 8), notes, (size_t)n);
        if (gcd_elf_build_id(notes, got, ret))
            return true;
    }
    return false;
}

static bool is_of_build(const struct heap_image *h, const struct gcd_module_file *file,
                        const struct gcd_build_id *wanted)
{
    struct elf_file *elf;
    struct gcd_error own = GCD_ERROR_INIT;
    if (elf_file_open(file->input, file->off, file->bytes, &h->alloc, &elf, &own) != GCD_OK)
        return false;
    size_t n;
    const uint8_t *id = elf_file_build_id(elf, &n);
    bool same = n == wanted->n && memcmp(id, wanted->bytes, n) == 0;
    elf_file_free(elf);
    return same;
}

/* Opens the file of mapping M with this build id.  False: there is none. */
static bool open_build(struct heap_image *h, const struct image_mapping *m,
                       const struct gcd_build_id *id, struct gcd_module_file *ret)
{
    const struct gcd_module_files *files = h->options.files;
    const struct gcd_module wanted = {
        .id = m->start, .path = m->path, .assembly = "", .native = true
    };
    for (unsigned i = 0; files != NULL && i < CANDIDATES_MAX; i++) {
        struct gcd_error own = GCD_ERROR_INIT;
        gcd_status st = files->open(files->ctx, &wanted, i, ret, &own);
        if (st == GCD_END || gcd_is_fatal(st))
            return false;
        if (st == GCD_OK && is_of_build(h, ret, id))
            return true;
        if (st == GCD_OK)
            files->close(files->ctx, ret);
    }
    return false;
}

static bool is_library(const struct image_mapping *m)
{
    static const char name[] = "/libcoreclr.so";
    size_t n = strlen(m->path), end = sizeof name - 1;
    return n >= end && strcmp(m->path + n - end, name) == 0;
}

/* The library, or the program, which may contain it. */
static bool may_be_runtime(const struct image *m, const struct image_mapping *x)
{
    bool program = m->program >= x->start && m->program < x->end;
    return x->file_off == 0 && x->end > x->start && (program || is_library(x)) &&
           image_available(m, x->start) < x->end - x->start;
}

static void say_lacking(const struct image_mapping *m, const struct gcd_build_id *id,
                        char ret[HEAP_IMAGE_LACKING_BYTES])
{
    char hex[2 * GCD_BUILD_ID_MAX + 1];
    gcd_hex_bytes(id->bytes, id->n, hex);
    (void)snprintf(ret, HEAP_IMAGE_LACKING_BYTES,
                   "%sit leaves out memory of the file %.500s (%s%s), which %s",
                   is_library(m) ? ""
                                 : "no module in it exports g_dacTable (Native AOT and Mono have "
                                   "none), but ",
                   m->path, id->n > 0 ? "build id " : "without its build id", hex,
                   is_library(m) ? "is the runtime" : "may contain one");
}

gcd_status core_overlay_runtime(struct heap_image *h, bool *ret_added,
                                char lacking[HEAP_IMAGE_LACKING_BYTES], struct gcd_error *err)
{
    struct image *m = &h->image;
    *ret_added = false;
    lacking[0] = '\0';
    for (size_t i = 0; i < m->mapping_count && h->overlay_count < HEAP_IMAGE_OVERLAYS; i++) {
        const struct image_mapping *x = &m->mappings[i];
        struct gcd_build_id id = { .n = 0 };
        struct gcd_module_file *file = &h->overlays[h->overlay_count];
        if (!may_be_runtime(m, x))
            continue;
        if (read_build_id(m, x->start, &id) && open_build(h, x, &id, file)) {
            h->overlay_count++;
            GCD_TRY(image_overlay_file(m, x->path, file->input, file->off, err));
            *ret_added = true;
        } else if (lacking[0] == '\0' || is_library(x)) { /* rather than the program */
            say_lacking(x, &id, lacking);
        }
    }
    return GCD_OK;
}
