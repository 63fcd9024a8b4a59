/*
 * An ELF core file of x86-64: PT_LOAD segments with the memory, PT_NOTE with the threads
 * (NT_PRSTATUS), mapped files (NT_FILE) and the command (NT_PRPSINFO).  Layouts: elf(5),
 * linux/elfcore.h, fs/binfmt_elf.c.
 */
#include <string.h>

#include "base/cur.h"
#include "base/elf_notes.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/space/image.h"

enum {
    EHDR_BYTES = 64,
    PHDR_BYTES = 56,
    SHDR_BYTES = 64,
    CLASS = 4, /* byte of the identification */
    CLASS_64 = 2,
    DATA = 5, /* the next one */
    LITTLE_ENDIAN_DATA = 1,
    MACHINE_X86_64 = 62,
    MACHINE_ARM64 = 183,
    TYPE_CORE = 4,
    PT_LOAD = 1,
    PT_NOTE = 4,
    PN_XNUM = 0xffff, /* the number of segments is in section 0 */
    NOTE_PRSTATUS = 1,
    NOTE_PRPSINFO = 3,
    NOTE_AUXV = 6,
    NOTE_FILE = 0x46494c45,
    NOTE_SIGINFO = 0x53494749,
    PRSTATUS_BYTES = 336,
    PRPSINFO_BYTES = 136,
    AUX_PHDR = 3,      /* where the program headers of the program are */
    STACK_POINTER = 19 /* rsp in struct user_regs_struct */
};
#define SEGMENTS_MAX UINT64_C(16000000)
#define NOTES_MAX    (UINT64_C(256) << 20)
#define MAPPINGS_MAX UINT64_C(1000000)
#define THREADS_MAX  UINT64_C(1000000)

bool elf_core_probe(const uint8_t *head, size_t n)
{
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F' };
    if (n < 18 || memcmp(head, magic, sizeof magic) != 0)
        return false;
    return (head[DATA] == LITTLE_ENDIAN_DATA ? gcd_le16(head + 16) : head[16] << 8 | head[17]) ==
           TYPE_CORE;
}

static gcd_status read_exactly(struct image *m, uint64_t off, void *ret, size_t n,
                               struct gcd_error *err)
{
    size_t got = 0;
    GCD_TRY(gcd_input_read_at(m->in, off, ret, n, &got, err));
    return got == n ? GCD_OK
                    : gcd_fail_at(err, GCD_E_TRUNCATED, off + got,
                                  "the core file ends in the middle of its headers");
}

/* ---- notes ---- */

static gcd_status add_thread(struct image *m, const uint8_t *p, size_t n, struct gcd_error *err)
{
    if (n < PRSTATUS_BYTES)
        return GCD_OK;
    if (!gcd_vec_reserve(&m->alloc, &m->threads, &m->thread_cap, m->thread_count + 1,
                         sizeof *m->threads, THREADS_MAX))
        return gcd_fail_nomem(err, "reading the threads of a core file");
    struct image_thread *t = &m->threads[m->thread_count++];
    /* struct elf_prstatus: siginfo 12, cursig 2, signals 16, then pid at 32, registers at 112 */
    if (m->thread_count == 1)
        m->signal = gcd_le16(p + 12);
    t->id = gcd_le32(p + 32);
    for (size_t i = 0; i < IMAGE_REGISTERS; i++)
        t->registers[i] = gcd_le64(p + 112 + 8 * i);
    t->stack_pointer = t->registers[STACK_POINTER];
    return GCD_OK;
}

/* struct elf_prpsinfo: pid at 24, program name (16 bytes) at 40, arguments (80 bytes) at 56. */
static gcd_status add_process(struct image *m, const uint8_t *p, size_t n, struct gcd_error *err)
{
    if (n < PRPSINFO_BYTES)
        return GCD_OK;
    m->process = gcd_le32(p + 24);
    size_t length = strnlen((const char *)p + 56, 80);
    while (length > 0 && p[56 + length - 1] == ' ')
        length--;
    const char *text = length > 0 ? (const char *)p + 56 : (const char *)p + 40;
    length = length > 0 ? length : strnlen((const char *)p + 40, 16);
    gcd_status st =
        gcd_textpool_add_utf8(&m->text, (const uint8_t *)text, length, &m->command_line);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the command line of a core file");
}

/* {count u64, page size u64}, count × {start u64, end u64, page of the file u64}, then the paths.
 */
static gcd_status add_mappings(struct image *m, const uint8_t *p, size_t n, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    uint64_t count = gcd_cur_u64(&c), page = gcd_cur_u64(&c);
    if (c.err != GCD_OK || count > MAPPINGS_MAX || count > gcd_cur_left(&c) / 24)
        return GCD_OK; /* damaged: the process then maps nothing that we know of */
    const uint8_t *item = gcd_cur_bytes(&c, (size_t)count * 24);
    const char *path = (const char *)item + count * 24;
    size_t left = gcd_cur_left(&c);
    if (!gcd_vec_reserve(&m->alloc, &m->mappings, &m->mapping_cap, (size_t)count,
                         sizeof *m->mappings, MAPPINGS_MAX))
        return gcd_fail_nomem(err, "reading the mappings of a core file");
    for (uint64_t i = 0; i < count; i++, item += 24) {
        size_t length = strnlen(path, left);
        if (length == left)
            break;
        struct image_mapping *to = &m->mappings[m->mapping_count];
        *to = (struct image_mapping){ .start = gcd_le64(item),
                                      .end = gcd_le64(item + 8),
                                      .file_off = gcd_le64(item + 16) * page };
        gcd_status st = gcd_textpool_add_utf8(&m->text, (const uint8_t *)path, length, &to->path);
        if (st != GCD_OK)
            return gcd_fail(err, st, "cannot keep the paths of a core file");
        m->mapping_count++;
        path += length + 1, left -= length + 1;
    }
    return GCD_OK;
}

/* Pairs {kind u64, value u64}. */
static void find_program(struct image *m, const uint8_t *p, size_t n)
{
    for (size_t at = 0; n >= 16 && at <= n - 16; at += 16)
        if (gcd_le64(p + at) == AUX_PHDR)
            m->program = gcd_le64(p + at + 8);
}

static gcd_status take_note(struct image *m, uint32_t type, const uint8_t *p, size_t n,
                            struct gcd_error *err)
{
    switch (type) {
    case NOTE_PRSTATUS:
        return add_thread(m, p, n, err);
    case NOTE_PRPSINFO:
        return add_process(m, p, n, err);
    case NOTE_FILE:
        return m->mapping_count == 0 ? add_mappings(m, p, n, err) : GCD_OK;
    case NOTE_AUXV:
        find_program(m, p, n);
        return GCD_OK;
    case NOTE_SIGINFO:
        if (n >= 4 && gcd_le32(p) != 0)
            m->signal = gcd_le32(p);
        return GCD_OK;
    default:
        return GCD_OK;
    }
}

/* If one is damaged, what was read so far counts. */
static gcd_status take_notes(struct image *m, const uint8_t *p, size_t n, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    struct gcd_elf_note note;
    while (gcd_elf_note_next(&c, &note))
        GCD_TRY(take_note(m, note.type, note.content, note.n, err));
    return GCD_OK;
}

static gcd_status read_notes(struct image *m, uint64_t off, uint64_t n, struct gcd_error *err)
{
    if (n > NOTES_MAX)
        return gcd_fail_at(err, GCD_E_LIMIT, off, "the notes of the core file are too large");
    uint8_t *bytes = gcd_mem_new_uncleared(&m->alloc, (size_t)n + 1, 1);
    if (bytes == NULL)
        return gcd_fail_nomem(err, "reading the notes of a core file");
    size_t got = 0;
    gcd_status st = gcd_input_read_at(m->in, off, bytes, (size_t)n, &got, err);
    if (st == GCD_OK)
        st = take_notes(m, bytes, got, err);
    gcd_mem_free(&m->alloc, bytes, (size_t)n + 1);
    return st;
}

/* ---- segments ---- */

static gcd_status add_segment(struct image *m, uint64_t start, uint64_t bytes, uint64_t off,
                              struct gcd_error *err)
{
    uint64_t size = gcd_input_size(m->in);
    if (bytes == 0 || start + bytes < start)
        return GCD_OK;
    if (off > size || bytes > size - off) { /* cut */
        m->cut_off = size;
        bytes = off < size ? size - off : 0;
    }
    if (bytes == 0)
        return GCD_OK;
    if (!gcd_vec_reserve(&m->alloc, &m->segments, &m->segment_cap, m->segment_count + 1,
                         sizeof *m->segments, SEGMENTS_MAX))
        return gcd_fail_nomem(err, "reading the segments of a core file");
    m->segments[m->segment_count++] =
        (struct image_segment){ .start = start, .bytes = bytes, .off = off };
    return GCD_OK;
}

/* Sorts the segments; where two overlap, the later one loses what both have. */
static gcd_status order_segments(struct image *m, struct gcd_error *err)
{
    if (m->segment_count == 0)
        return gcd_fail(err, GCD_E_FORMAT, "the core file has no memory in it");
    if (!gcd_sort_by_u64(&m->alloc, m->segments, m->segment_count, sizeof *m->segments))
        return gcd_fail_nomem(err, "reading the segments of a core file");
    size_t kept = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < m->segment_count; i++) {
        struct image_segment s = m->segments[i];
        if (s.start < end) {
            uint64_t less = end - s.start < s.bytes ? end - s.start : s.bytes;
            s.start += less, s.off += less, s.bytes -= less;
        }
        if (s.bytes == 0)
            continue;
        m->segments[kept++] = s;
        end = s.start + s.bytes;
    }
    m->segment_count = kept;
    return GCD_OK;
}

gcd_status elf_core_read(struct image *m, struct gcd_error *err)
{
    uint8_t head[EHDR_BYTES], item[SHDR_BYTES];
    GCD_TRY(read_exactly(m, 0, head, sizeof head, err));
    if (head[CLASS] != CLASS_64 || head[DATA] != LITTLE_ENDIAN_DATA)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the core file is of a %s process: only x86-64 can be read",
                        head[CLASS] != CLASS_64 ? "32-bit" : "big-endian");
    if (gcd_le16(head + 18) != MACHINE_X86_64)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the core file is of another architecture (ELF machine %u%s): only x86-64 "
                        "can be read",
                        gcd_le16(head + 18),
                        gcd_le16(head + 18) == MACHINE_ARM64 ? ", arm64" : "");
    uint64_t off = gcd_le64(head + 32), sections = gcd_le64(head + 40);
    uint64_t count = gcd_le16(head + 56);
    if (gcd_le16(head + 54) != PHDR_BYTES)
        return gcd_fail_at(err, GCD_E_FORMAT, 54, "the headers of the core file are damaged");
    if (count == PN_XNUM) {
        GCD_TRY(read_exactly(m, sections, item, SHDR_BYTES, err));
        count = gcd_le32(item + 44);
    }
    if (count > SEGMENTS_MAX || off > gcd_input_size(m->in) ||
        count > (gcd_input_size(m->in) - off) / PHDR_BYTES)
        return gcd_fail_at(err, GCD_E_TRUNCATED, off,
                           "the core file ends before its list of segments");
    for (uint64_t i = 0; i < count; i++) {
        GCD_TRY(read_exactly(m, off + i * PHDR_BYTES, item, PHDR_BYTES, err));
        uint32_t type = gcd_le32(item);
        uint64_t at = gcd_le64(item + 8), start = gcd_le64(item + 16), bytes = gcd_le64(item + 32);
        if (type == PT_LOAD)
            GCD_TRY(add_segment(m, start, bytes, at, err));
        else if (type == PT_NOTE)
            GCD_TRY(read_notes(m, at, bytes, err));
    }
    return order_segments(m, err);
}
