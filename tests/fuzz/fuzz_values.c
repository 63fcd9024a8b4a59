/*
 * Any bytes as the records of a recording about the values in objects.
 *
 * They are read, or refused; all fields of all objects can be asked for, with valid UTF-8 as names;
 * what was read survives its own writer; memory is in proportion to the records, and never leaked,
 * even if an allocation fails.
 */
#include "fuzz/fuzz_ask.h"
#include "values/values.h"

#include <gcdumpc/unstable/image_numbers.h>

/* Rows may be as short as two bytes, and each is an object. */
#define MEMORY_MAX ((size_t)1 << 20)
#define EXPANSION  ((size_t)128)
#define RECORDS    ((size_t)1 << 18)

static void put_number(struct tb_bytes *text, const struct gcd_number *x)
{
    char buf[GCD_NUMBER_BYTES];
    const char *s = gcd_number_text(x, buf), *kind = gcd_number_kind_name(x);
    tb_put(text, s, strlen(s));
    tb_put(text, kind, strlen(kind));
}

static void ask_object(struct gcd_image_numbers *n, uint64_t address, struct tb_bytes *text)
{
    struct gcd_number x;
    uint32_t count = gcd_image_field_count(n, address);
    for (uint32_t i = 0; i < count; i++) {
        struct gcd_image_field f = gcd_image_field(n, address, i);
        tb_put(text, f.name, strlen(f.name));
        if (f.known)
            put_number(text, &f.number);
    }
    if (gcd_image_boxed(n, address, &x) == GCD_OK)
        put_number(text, &x);
}

static void ask_all(const struct gcd_values *v, const struct gcd_alloc *alloc,
                    struct tb_bytes *text)
{
    struct gcd_values_view view = { .values = v };
    struct gcd_image_numbers *n;
    if (gcd_image_numbers_new(&view, NULL, alloc, &n, NULL) != GCD_OK)
        return;
    for (size_t i = 0; i < v->rows->object_count && text->n < (size_t)1 << 20; i++)
        ask_object(n, v->rows->objects[i].address, text);
    gcd_image_numbers_free(n);
}

static struct gcd_values *values(const struct gcd_alloc *alloc)
{
    struct gcd_values *v = NULL;
    struct gcd_values_options o = { .kind = GCD_VALUES_ALL };
    return values_new(alloc, NULL, &o, &v, NULL) == GCD_OK ? v : NULL;
}

/* Rows that lie elsewhere, so that sorted ones are written in the order of their types. */
static void write_and_read(const struct gcd_values *from)
{
    static uint8_t buffer[RECORDS];
    struct gcd_values *copy = values(NULL);
    struct rows_writing w;
    struct tb_bytes a = { 0 }, b = { 0 };
    if (copy == NULL)
        abort();
    if (rows_writing_init(&w, from->rows) != GCD_OK) { /* an allocation that has to fail is here */
        rows_writing_done(&w);
        values_free(copy);
        return;
    }
    for (;;) {
        struct gcd_put put = gcd_put_make(buffer, VALUES_PART_BYTES);
        if (!rows_writing_next(&w, &put))
            break;
        if (put.full || rows_read(copy->rows, buffer, gcd_put_bytes_done(&put)) != GCD_OK)
            fuzz_fail("what is written can be read", "it cannot");
    }
    if (w.next_type != from->rows->type_count)
        fuzz_fail("all is written", "some does not fit");
    rows_writing_done(&w);
    if (values_sort(copy, NULL) != GCD_OK)
        abort();
    ask_all(from, NULL, &a);
    ask_all(copy, NULL, &b);
    bool several = false; /* objects at one address: any of them is asked */
    for (size_t i = 1; i < from->rows->object_count; i++)
        several |= from->rows->objects[i - 1].address == from->rows->objects[i].address;
    if (copy->rows->object_count != from->rows->object_count ||
        (!several && (a.n != b.n || (a.n > 0 && memcmp(a.p, b.p, a.n) != 0))))
        fuzz_fail("a copy has the same values", "it has not");
    tb_free(&a);
    tb_free(&b);
    values_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct tb_bytes text = { 0 };
    struct failalloc f;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 16;
    struct gcd_values *v = values(&f.alloc);
    if (v != NULL && rows_read(v->rows, data, size) == GCD_OK && values_sort(v, NULL) == GCD_OK) {
        ask_all(v, &f.alloc, &text);
        fuzz_check_utf8(text.p, text.n);
        if (f.failed == 0 && hash % 4 == 0)
            write_and_read(v);
    }
    values_free(v);
    tb_free(&text);
    if (f.peak_bytes > MEMORY_MAX + EXPANSION * size)
        fuzz_fail("memory is in proportion to the records", "see peak_bytes");
    fuzz_check_memory(&f);
    return 0;
}
