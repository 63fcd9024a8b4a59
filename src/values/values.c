#include "values/values.h"

#include <sys/mman.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define FIRST_TABLE    ((size_t)1024)
#define DEFAULT_AMOUNT (UINT64_C(1) << 30)
/* Characters are found by a number of 32 bits. */
#define MOST_AMOUNT ((uint64_t)UINT32_MAX / 2 * VALUES_GRAIN)
#define MOST_TEXTS  (UINT32_MAX / 2 - 1) /* 1 + its number has 31 bits */

gcd_status values_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                      const struct gcd_values_options *options, struct gcd_values **ret,
                      struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_values *v = gcd_mem_new(&a, sizeof *v);
    if (v == NULL)
        return gcd_fail_nomem(err, "reading values");
    uint64_t most = gcd_limit_or(limits != NULL ? limits->text_bytes : 0, DEFAULT_AMOUNT);
    v->alloc = a;
    v->options = *options;
    v->options.max_string = values_max_string(options);
    v->characters_most = most < MOST_AMOUNT ? most : MOST_AMOUNT;
    v->facts =
        (struct gcd_values_facts){ .kind = options->kind, .max_string = v->options.max_string };
    v->rows = gcd_mem_new(&v->alloc, sizeof *v->rows);
    if (v->rows == NULL) {
        gcd_mem_free(&a, v, sizeof *v);
        return gcd_fail_nomem(err, "reading values");
    }
    value_rows_init(v->rows, &v->alloc, most);
    v->seed = (uint64_t)(uintptr_t)v * UINT64_C(0x9e3779b97f4a7c15);
    *ret = v;
    return GCD_OK;
}

static void free_table(struct gcd_values *v)
{
    gcd_mem_free(&v->alloc, v->table, v->table_size * sizeof *v->table);
    v->table = NULL;
    v->table_size = 0;
}

void values_free(struct gcd_values *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->text_chunks; i++)
        gcd_mem_free(&v->alloc, v->texts[i], VALUES_TEXT_CHUNK * sizeof **v->texts);
    for (size_t i = 0; i < v->chunk_count; i++)
        gcd_mem_free(&v->alloc, v->chunks[i], VALUES_CHUNK);
    gcd_mem_free(&v->alloc, v->texts, v->text_chunk_cap * sizeof *v->texts);
    gcd_mem_free(&v->alloc, v->chunks, v->chunk_cap * sizeof *v->chunks);
    free_table(v);
    value_rows_done(v->rows);
    gcd_mem_free(&v->alloc, v->rows, sizeof *v->rows);
    gcd_mem_free(&v->alloc, v->objects, v->object_cap * sizeof *v->objects);
    struct gcd_alloc a = v->alloc;
    gcd_mem_free(&a, v, sizeof *v);
}

static struct values_text *text_at(const struct gcd_values *v, uint32_t i)
{
    return &v->texts[i / VALUES_TEXT_CHUNK][i % VALUES_TEXT_CHUNK];
}

/* The characters at AT: their number of bytes u16, then they. */
static const uint8_t *characters_at(const struct gcd_values *v, uint32_t at)
{
    uint64_t off = (uint64_t)at * VALUES_GRAIN;
    return v->chunks[off / VALUES_CHUNK] + off % VALUES_CHUNK;
}

/* Hashes are no secret to who made the texts, so their places depend on a seed. */
static uint64_t mixed(const struct gcd_values *v, uint64_t hash)
{
    uint64_t h = (hash ^ v->seed) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

static size_t place_of(const struct gcd_values *v, uint64_t mix)
{
    return (size_t)((mix & UINT32_MAX) * v->table_size >> 32);
}

/* What of the hash is beside the number of a text, so that few texts are looked at in vain. */
static uint32_t tag_of(const struct gcd_values *v, uint64_t mix)
{
    return (uint32_t)(mix >> 32) & ~((UINT32_C(1) << v->number_bits) - 1);
}

static size_t next_place(const struct gcd_values *v, size_t i)
{
    return i + 1 < v->table_size ? i + 1 : 0;
}

static void put_in_table(struct gcd_values *v, uint32_t text)
{
    uint64_t mix = mixed(v, text_at(v, text)->hash);
    size_t i = place_of(v, mix);
    while (v->table[i] != 0)
        i = next_place(v, i);
    v->table[i] = tag_of(v, mix) | (text + 1);
}

#define HUGE_BYTES ((uintptr_t)2 << 20)

/* Places are looked up at random: on small pages, most of them miss the TLB. */
static void ask_for_huge_pages(const void *p, size_t n)
{
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)p + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES,
              to = ((uintptr_t)p + n) / HUGE_BYTES * HUGE_BYTES;
    if (to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p;
    (void)n;
#endif
}

/* A table of SIZE places. */
static bool make_table(struct gcd_values *v, size_t size)
{
    uint32_t *table = gcd_mem_new_array(&v->alloc, size, sizeof *table);
    if (table == NULL)
        return false;
    ask_for_huge_pages(table, size * sizeof *table);
    free_table(v);
    v->table = table;
    v->table_size = size;
    for (v->number_bits = 1; v->number_bits < 31 && size >> v->number_bits != 0;)
        v->number_bits++;
    for (uint32_t i = 0; i < v->text_count; i++)
        put_in_table(v, i);
    return true;
}

/* Room for one more text: at most six sevenths are full. */
static bool grow_table(struct gcd_values *v)
{
    if (v->text_count < v->table_size / 7 * 6)
        return true;
    size_t size = v->table_size == 0 ? FIRST_TABLE : v->table_size + v->table_size / 3;
    return size <= UINT32_MAX && make_table(v, size);
}

gcd_status values_expect(struct gcd_values *v, uint64_t objects, struct gcd_error *err)
{
    uint64_t size = objects / 6 * 7 + FIRST_TABLE;
    size = size < UINT32_MAX ? size : UINT32_MAX;
    if (objects >= MOST_TEXTS || !make_table(v, (size_t)size) ||
        !gcd_vec_reserve(&v->alloc, &v->objects, &v->object_cap, (size_t)objects,
                         sizeof *v->objects, (size_t)objects))
        return gcd_fail_nomem(err, "reading values");
    ask_for_huge_pages(v->objects, v->object_cap * sizeof *v->objects);
    return GCD_OK;
}

static bool is_text(const struct gcd_values *v, const struct values_text *t,
                    const struct values_content *c)
{
    if (t->hash != c->hash || t->length != c->length ||
        (t->at == VALUES_NO_PLACE) != (c->utf8 == NULL))
        return false;
    if (c->utf8 == NULL)
        return true;
    const uint8_t *p = characters_at(v, t->at);
    return gcd_le16(p) == c->bytes && memcmp(p + 2, c->utf8, c->bytes) == 0;
}

void values_fetch(const struct gcd_values *v, uint64_t hash)
{
    if (v->table_size == 0)
        return;
    __builtin_prefetch(&v->table[place_of(v, mixed(v, hash))]);
}

static uint32_t find_text(const struct gcd_values *v, const struct values_content *c)
{
    if (v->table_size == 0)
        return GCD_TEXT_NONE;
    uint64_t mix = mixed(v, c->hash);
    uint32_t tag = tag_of(v, mix), numbers = (UINT32_C(1) << v->number_bits) - 1, slot;
    for (size_t i = place_of(v, mix); (slot = v->table[i]) != 0; i = next_place(v, i))
        if ((slot & ~numbers) == tag && is_text(v, text_at(v, (slot & numbers) - 1), c))
            return (slot & numbers) - 1;
    return GCD_TEXT_NONE;
}

static bool keep_characters(struct gcd_values *v, const struct values_content *c, uint32_t *ret)
{
    size_t need = (2 + (size_t)c->bytes + VALUES_GRAIN - 1) / VALUES_GRAIN * VALUES_GRAIN;
    if (v->chunk_count == 0 || VALUES_CHUNK - v->chunk_used < need) {
        uint8_t *chunk = NULL;
        if (!gcd_vec_reserve(&v->alloc, &v->chunks, &v->chunk_cap, v->chunk_count + 1,
                             sizeof *v->chunks, SIZE_MAX) ||
            (chunk = gcd_mem_new_uncleared(&v->alloc, VALUES_CHUNK, 1)) == NULL)
            return false;
        v->chunks[v->chunk_count++] = chunk;
        v->chunk_used = 0;
    }
    uint8_t *p = v->chunks[v->chunk_count - 1] + v->chunk_used;
    *ret = (uint32_t)(((v->chunk_count - 1) * VALUES_CHUNK + v->chunk_used) / VALUES_GRAIN);
    p[0] = (uint8_t)c->bytes;
    p[1] = (uint8_t)(c->bytes >> 8);
    memcpy(p + 2, c->utf8, c->bytes);
    v->chunk_used += need;
    v->characters += need;
    return true;
}

static gcd_status add_text(struct gcd_values *v, const struct values_content *c, uint32_t *ret,
                           struct gcd_error *err)
{
    struct values_text t = { .hash = c->hash, .length = c->length, .at = VALUES_NO_PLACE };
    if (v->characters + c->bytes > v->characters_most || v->text_count == MOST_TEXTS)
        return gcd_fail(err, GCD_E_LIMIT, "the strings have more than %llu bytes of text",
                        (unsigned long long)v->characters_most);
    if (v->text_count == v->text_chunks * VALUES_TEXT_CHUNK) {
        struct values_text *chunk = NULL;
        if (!gcd_vec_reserve(&v->alloc, &v->texts, &v->text_chunk_cap, v->text_chunks + 1,
                             sizeof *v->texts, SIZE_MAX) ||
            (chunk = gcd_mem_new_uncleared(&v->alloc, VALUES_TEXT_CHUNK, sizeof *chunk)) == NULL)
            return gcd_fail_nomem(err, "reading values");
        v->texts[v->text_chunks++] = chunk;
    }
    if (!grow_table(v) || (c->utf8 != NULL && !keep_characters(v, c, &t.at)))
        return gcd_fail_nomem(err, "reading values");
    *ret = v->text_count;
    *text_at(v, v->text_count++) = t;
    put_in_table(v, *ret);
    return GCD_OK;
}

static gcd_status add_object(struct gcd_values *v, struct values_object o, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&v->alloc, &v->objects, &v->object_cap, v->object_count + 1,
                         sizeof *v->objects, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    v->objects[v->object_count++] = o;
    v->facts.objects = v->object_count;
    return GCD_OK;
}

gcd_status values_add(struct gcd_values *v, uint64_t address, uint32_t batch,
                      const struct values_content *c, struct gcd_error *err)
{
    uint32_t text = find_text(v, c);
    if (text == GCD_TEXT_NONE)
        GCD_TRY(add_text(v, c, &text, err));
    return add_object(v, (struct values_object){ address, text, batch }, err);
}

gcd_status values_add_known(struct gcd_values *v, uint64_t address, uint32_t text,
                            struct gcd_error *err)
{
    if (text >= v->text_count)
        return gcd_fail(err, GCD_E_FORMAT, "a value has no text");
    return add_object(v, (struct values_object){ address, text, 0 }, err);
}

/*
 * Most texts are ASCII.  Copies UNITS units to BUFFER while they are, four at a time; returns how
 * many.  A zero is none: it is shown as another character.
 */
static uint32_t copy_ascii(const uint8_t *utf16, uint32_t units, char *buffer)
{
    const uint64_t others = UINT64_C(0xff80ff80ff80ff80), ones = UINT64_C(0x0001000100010001);
    uint32_t i = 0;
    for (; units - i >= 4; i += 4) {
        uint64_t four = gcd_le64(utf16 + 2 * (size_t)i);
        if ((four & others) != 0 || ((four - ones) & UINT64_C(0x8000800080008000)) != 0)
            return i;
        uint64_t two = (four | four >> 8) & UINT64_C(0x0000ffff0000ffff);
        uint32_t packed = (uint32_t)(two | two >> 16);
        for (unsigned k = 0; k < 4; k++)
            buffer[i + k] = (char)(packed >> 8 * k);
    }
    for (; i < units && utf16[2 * i] - 1u < 0x7f && utf16[2 * i + 1] == 0; i++)
        buffer[i] = (char)utf16[2 * i];
    return i;
}

uint32_t values_characters(const struct gcd_values_options *o, const uint8_t *utf16, uint32_t units,
                           char buffer[VALUES_TEXT_BYTES])
{
    uint32_t most = values_max_string(o);
    if (units > most) {
        units = most;
        if (units > 0 && (utf16[2 * units - 1] & 0xfc) == 0xd8) /* half of a character */
            units--;
    }
    uint32_t n = copy_ascii(utf16, units, buffer);
    return n + (uint32_t)gcd_utf16le_to_utf8(utf16 + 2 * (size_t)n, units - n, buffer + n);
}

gcd_status values_rows_status(const struct gcd_values *v, gcd_status st, struct gcd_error *err)
{
    return st == GCD_OK        ? GCD_OK
           : st == GCD_E_NOMEM ? gcd_fail_nomem(err, "reading values")
           : st == GCD_E_LIMIT
               ? gcd_fail(err, st, "the values in objects take more than %llu bytes",
                          (unsigned long long)v->rows->most)
               : gcd_fail(err, st, "values are damaged");
}

gcd_status values_sort(struct gcd_values *v, struct gcd_error *err)
{
    bool sorted = true;
    for (size_t i = 1; i < v->object_count && sorted; i++)
        sorted = v->objects[i - 1].address <= v->objects[i].address;
    if (!sorted && !gcd_sort_by_u64(&v->alloc, v->objects, v->object_count, sizeof *v->objects))
        return gcd_fail_nomem(err, "reading values");
    free_table(v); /* no more texts come */
    return values_rows_status(v, value_rows_sort(v->rows), err);
}

/* ---- accessors ---- */

size_t gcd_values_count(const struct gcd_values *v)
{
    return v != NULL ? v->object_count : 0;
}

struct gcd_value gcd_values_at(const struct gcd_values *v, size_t i)
{
    return (struct gcd_value){ v->objects[i].address, v->objects[i].text };
}

uint32_t gcd_values_find(const struct gcd_values *v, uint64_t address)
{
    size_t n =
        v != NULL ? gcd_count_up_to(v->objects, v->object_count, sizeof *v->objects, address) : 0;
    return n > 0 && v->objects[n - 1].address == address ? v->objects[n - 1].text : GCD_TEXT_NONE;
}

uint32_t gcd_values_text_count(const struct gcd_values *v)
{
    return v != NULL ? v->text_count : 0;
}

struct gcd_text gcd_values_text(const struct gcd_values *v, uint32_t text)
{
    const struct values_text *t = text_at(v, text);
    struct gcd_text r = { .hash = t->hash, .length = t->length };
    if (t->at != VALUES_NO_PLACE) {
        const uint8_t *p = characters_at(v, t->at);
        r.bytes = gcd_le16(p);
        r.utf8 = (const char *)p + 2;
        r.cut = t->length > v->options.max_string;
    }
    return r;
}

const struct gcd_values_facts *gcd_values_facts(const struct gcd_values *v)
{
    return &v->facts;
}
