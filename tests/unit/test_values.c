/* Values of objects: equal texts are kept once, parts of a recording are whole or refused, secrets
 * are recognized. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>

#include "base/signature.h"
#include "values/values.h"

#include "support/check.h"
#include "support/failalloc.h"
#include "support/rows_sample.h"

static struct gcd_values *new_values(enum gcd_values_kind kind, uint32_t max_string)
{
    struct gcd_values_options o = { .kind = kind, .max_string = max_string };
    struct gcd_values *v = NULL;
    assert_int_equal(values_new(NULL, NULL, &o, &v, NULL), GCD_OK);
    return v;
}

/* Adds TEXT, ASCII, as it would be read from memory. */
static void add(struct gcd_values *v, uint64_t address, const char *text)
{
    static uint8_t units[2 * 10000];
    static char utf8[VALUES_TEXT_BYTES];
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        units[2 * i] = (uint8_t)text[i];
        units[2 * i + 1] = 0;
    }
    struct values_content c = { .length = (uint32_t)n,
                                .hash = values_hash_of(values_no_key, units, 2 * n) };
    if (v->options.kind == GCD_VALUES_STRINGS) {
        c.bytes = values_characters(&v->options, units, (uint32_t)n, utf8);
        c.utf8 = utf8;
    }
    assert_int_equal(values_add(v, address, 0, &c, NULL), GCD_OK);
}

/* The numbers are those of Python, whose hash is this one (PYTHONHASHSEED=0). */
static void hash_is_siphash(void **state)
{
    (void)state;
    static const uint8_t text[] = "abcdefgh", wide[] = "a\0b\0c\0d\0e\0f\0g";
    struct values_hash h;
    assert_true(values_hash_of(values_no_key, text, 8) == UINT64_C(0x3f7b849c0b8e35ea));
    assert_true(values_hash_of(values_no_key, wide, 14) == UINT64_C(0xe8166dc509d14c29));
    values_hash_init(&h, values_no_key);
    values_hash_words(&h, wide, 8);
    assert_true(values_hash_end(&h, wide + 8, 6) == UINT64_C(0xe8166dc509d14c29));
    static const uint8_t key[GCD_VALUES_KEY_BYTES] = { 1 };
    assert_true(values_hash_of(key, text, 8) != UINT64_C(0x3f7b849c0b8e35ea));
}

static void equal_texts_are_kept_once(void **state)
{
    (void)state;
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 0);
    add(v, 0x3000, "Germany");
    add(v, 0x1000, "Germany");
    add(v, 0x2000, "");
    assert_int_equal(values_sort(v, NULL), GCD_OK);
    assert_int_equal(gcd_values_text_count(v), 2);
    assert_int_equal(gcd_values_count(v), 3);
    assert_true(gcd_values_at(v, 0).address == 0x1000 && gcd_values_at(v, 2).address == 0x3000);
    uint32_t text = gcd_values_find(v, 0x1000);
    assert_int_equal(text, gcd_values_find(v, 0x3000));
    assert_int_equal(gcd_values_find(v, 0x1008), GCD_TEXT_NONE);
    assert_int_equal(gcd_values_text(v, text).bytes, 7);
    assert_memory_equal(gcd_values_text(v, text).utf8, "Germany", 7);
    assert_int_equal(gcd_values_text(v, gcd_values_find(v, 0x2000)).length, 0);
    values_free(v);
}

/* Hashes are the same, lengths are the same: what differs is the kept text. */
static void equal_hashes_of_different_texts_are_told_apart(void **state)
{
    (void)state;
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 0);
    struct values_content a = { .hash = 5, .length = 1, .bytes = 1, .utf8 = "a" },
                          b = { .hash = 5, .length = 1, .bytes = 1, .utf8 = "b" };
    assert_int_equal(values_add(v, 8, 0, &a, NULL), GCD_OK);
    assert_int_equal(values_add(v, 16, 0, &b, NULL), GCD_OK);
    assert_true(gcd_values_find(v, 8) != gcd_values_find(v, 16));
    values_free(v);
}

static void long_texts_keep_their_length_and_whole_characters(void **state)
{
    (void)state;
    struct gcd_values_options o = { .kind = GCD_VALUES_STRINGS, .max_string = 3 };
    /* "ab", U+1F600 as a pair */
    static const uint8_t units[] = { 'a', 0, 'b', 0, 0x3d, 0xd8, 0x00, 0xde };
    static char utf8[VALUES_TEXT_BYTES];
    assert_int_equal(values_characters(&o, units, 4, utf8), 2);
    o.max_string = 4;
    assert_int_equal(values_characters(&o, units, 4, utf8), 6);
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 3);
    add(v, 8, "abcd");
    add(v, 16, "abce");
    add(v, 24, "abc");
    assert_int_equal(gcd_values_text_count(v), 3);
    struct gcd_text t = gcd_values_text(v, gcd_values_find(v, 8));
    assert_true(t.cut && t.length == 4 && t.bytes == 3);
    assert_false(gcd_values_text(v, gcd_values_find(v, 24)).cut);
    values_free(v);
}

static void texts_beyond_the_largest_limit_are_cut(void **state)
{
    (void)state;
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 2 * GCD_MAX_STRING_LIMIT);
    struct values_content c = { .length = GCD_MAX_STRING_LIMIT + 1, .bytes = 1, .utf8 = "x" };
    assert_int_equal(values_add(v, 8, 0, &c, NULL), GCD_OK);
    assert_true(gcd_values_text(v, gcd_values_find(v, 8)).cut);
    assert_int_equal(gcd_values_facts(v)->max_string, GCD_MAX_STRING_LIMIT);
    values_free(v);
}

/* Runs of ASCII are converted another way: every place of a character that is none. */
static void every_character_is_converted_as_one_by_one(void **state)
{
    (void)state;
    struct gcd_values_options o = { .kind = GCD_VALUES_STRINGS };
    static const uint16_t odd[] = { 0, 1, 0x7f, 0x80, 0xff, 0x100, 0x141, 0x8041, 0xd83d, 0xfffd };
    static char got[VALUES_TEXT_BYTES], wanted[VALUES_TEXT_BYTES];
    uint8_t units[2 * 13];
    for (size_t n = 0; n <= 13; n++)
        for (size_t place = 0; place < (n > 0 ? n : 1); place++)
            for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
                for (size_t i = 0; i < n; i++) {
                    units[2 * i] = i == place ? (uint8_t)odd[k] : (uint8_t)('a' + i);
                    units[2 * i + 1] = i == place ? (uint8_t)(odd[k] >> 8) : 0;
                }
                size_t bytes = gcd_utf16le_to_utf8(units, n, wanted);
                assert_int_equal(values_characters(&o, units, (uint32_t)n, got), bytes);
                assert_memory_equal(got, wanted, bytes);
            }
}

#define MANY 20000u

static struct gcd_values *many_values(void)
{
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 0);
    char text[64];
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(text, sizeof text, "tenant-%u/session-%u", i % 7, i % 500);
        add(v, 0x7f0000000000 + 64 * (uint64_t)i, text);
    }
    return v;
}

static void a_text_takes_24_bytes_beside_its_characters(void **state)
{
    (void)state;
    struct gcd_values *v = new_values(GCD_VALUES_STRINGS, 0);
    char text[64];
    uint32_t worst = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        (void)snprintf(text, sizeof text, "%u", i);
        add(v, 8, text);
        v->object_count = 0; /* only the texts count here */
        uint64_t bytes = v->text_chunks * VALUES_TEXT_CHUNK * sizeof **v->texts +
                         v->table_size * sizeof *v->table;
        if (i >= 100000 && bytes / (i + 1) > worst)
            worst = (uint32_t)(bytes / (i + 1));
    }
    assert_true(worst < 23);
    values_free(v);
}

/* All parts of V, one after the other with their sizes; KEY as for values_writing_init. */
static size_t write_parts(const struct gcd_values *v, const uint8_t *key, uint8_t *to, size_t cap,
                          size_t *sizes, size_t *ret_parts)
{
    struct values_writing w;
    size_t used = 0, parts = 0, n;
    assert_int_equal(values_writing_init(&w, v, key, NULL), GCD_OK);
    for (;;) {
        assert_true(cap - used >= VALUES_PART_BYTES);
        assert_int_equal(values_writing_next(&w, to + used, &n, NULL), GCD_OK);
        if (n == 0)
            break;
        sizes[parts++] = n;
        used += n;
    }
    values_writing_done(&w);
    *ret_parts = parts;
    return used;
}

static uint8_t packed[1 << 20];
static size_t packed_sizes[64];

static void parts_have_all_values_in_little_room(void **state)
{
    (void)state;
    struct gcd_values *v = many_values(), *copy = new_values(GCD_VALUES_STRINGS, 0);
    size_t parts, at = 0;
    size_t bytes = write_parts(v, NULL, packed, sizeof packed, packed_sizes, &parts);
    assert_true(parts > 1);
    assert_in_range(bytes, 1, 10 * (size_t)MANY);
    for (size_t i = 0; i < parts; at += packed_sizes[i++])
        assert_int_equal(values_read_part(copy, packed + at, packed_sizes[i], (uint32_t)i, NULL),
                         GCD_OK);
    assert_int_equal(gcd_values_count(copy), MANY);
    assert_int_equal(gcd_values_text_count(copy), gcd_values_text_count(v));
    for (size_t i = 0; i < MANY; i++) {
        struct gcd_value a = gcd_values_at(v, i), b = gcd_values_at(copy, i);
        struct gcd_text x = gcd_values_text(v, a.text), y = gcd_values_text(copy, b.text);
        assert_true(a.address == b.address && x.hash == y.hash && x.length == y.length);
        assert_int_equal(x.bytes, y.bytes);
        assert_memory_equal(x.utf8, y.utf8, x.bytes);
    }
    values_free(v);
    values_free(copy);
}

static void a_damaged_part_is_refused(void **state)
{
    (void)state;
    struct gcd_values *v = many_values();
    size_t parts;
    (void)write_parts(v, NULL, packed, sizeof packed, packed_sizes, &parts);
    for (size_t i = 0; i < packed_sizes[0]; i += i < 64 ? 1 : 61) {
        struct gcd_values *copy = new_values(GCD_VALUES_STRINGS, 0);
        packed[i] ^= 0x10;
        assert_int_equal(values_read_part(copy, packed, packed_sizes[0], 0, NULL), GCD_E_FORMAT);
        packed[i] ^= 0x10;
        values_free(copy);
    }
    struct gcd_values *copy = new_values(GCD_VALUES_STRINGS, 0);
    for (size_t n = 0; n < packed_sizes[0]; n += 97)
        assert_int_equal(values_read_part(copy, packed, n, 0, NULL), GCD_E_FORMAT);
    assert_int_equal(values_read_part(copy, packed, packed_sizes[0], 1, NULL), GCD_E_FORMAT);
    assert_int_equal(gcd_values_count(copy), 0);
    values_free(copy);
    values_free(v);
}

/* With a key neither the texts are recorded nor their hashes. */
static void hashes_say_only_what_is_equal(void **state)
{
    (void)state;
    static const uint8_t key[GCD_VALUES_KEY_BYTES] = { 7, 7, 7 };
    struct gcd_values *v = many_values(), *copy = new_values(GCD_VALUES_HASHES, 0);
    size_t parts, at = 0;
    size_t bytes = write_parts(v, key, packed, sizeof packed, packed_sizes, &parts);
    for (size_t i = 0; i + 6 < bytes; i++)
        assert_int_not_equal(memcmp(packed + i, "tenant", 6), 0);
    for (size_t i = 0; i < parts; at += packed_sizes[i++])
        assert_int_equal(values_read_part(copy, packed + at, packed_sizes[i], (uint32_t)i, NULL),
                         GCD_OK);
    assert_int_equal(gcd_values_text_count(copy), gcd_values_text_count(v));
    struct gcd_text a = gcd_values_text(v, 0), b = gcd_values_text(copy, 0);
    assert_true(b.utf8 == NULL && b.length == a.length && b.hash != a.hash);
    values_free(v);
    values_free(copy);
}

/* ---- values that are no texts ---- */

static struct gcd_values *orders(unsigned n)
{
    struct gcd_values *v = new_values(GCD_VALUES_ALL, 0);
    rows_sample(v->rows, n);
    return v;
}

/* Through parts, as a recording has them; KEY as for values_writing_init. */
static struct gcd_values *copy_of(const struct gcd_values *v, const uint8_t *key)
{
    struct gcd_values *copy = new_values(GCD_VALUES_ALL, 0);
    size_t parts, at = 0;
    (void)write_parts(v, key, packed, sizeof packed, packed_sizes, &parts);
    for (size_t i = 0; i < parts; at += packed_sizes[i++])
        assert_int_equal(values_read_part(copy, packed + at, packed_sizes[i], (uint32_t)i, NULL),
                         GCD_OK);
    assert_int_equal(values_sort(copy, NULL), GCD_OK);
    return copy;
}

static void rows_are_kept_with_their_types(void **state)
{
    (void)state;
    struct gcd_values *v = orders(10000), *copy = copy_of(v, NULL);
    const struct value_rows *a = v->rows, *b = copy->rows;
    assert_int_equal(b->object_count, 30000);
    assert_true(b->type_count == 3 && b->column_count == a->column_count);
    assert_true(b->enum_count == 2 && b->literal_count == 5 && b->enums[1].flags);
    assert_int_equal(b->types[1].id, 0x7f02);
    for (size_t i = 0; i < b->object_count; i++) {
        uint32_t x, y;
        uint64_t address = ROWS_SAMPLE_ORDER + 64 * i;
        const uint8_t *p = value_rows_find(a, address, &x), *q = value_rows_find(b, address, &y);
        assert_true(p != NULL && q != NULL && x == y && x == i % 3);
        assert_memory_equal(p, q, a->types[x].row_bytes);
        assert_null(value_rows_find(b, address + 8, &x));
    }
    values_free(v);
    values_free(copy);
}

static void fields_are_read_of_rows(void **state)
{
    (void)state;
    struct gcd_values *v = orders(4), *copy = copy_of(v, NULL);
    struct gcd_values_view view = { .values = copy };
    struct gcd_image_numbers *n;
    struct gcd_number x;
    char buf[GCD_NUMBER_BYTES];
    uint64_t order = ROWS_SAMPLE_ORDER + 6 * 64, boxed = ROWS_SAMPLE_ORDER + 10 * 64;
    assert_int_equal(gcd_image_numbers_new(&view, "State", NULL, &n, NULL), GCD_OK);
    assert_int_equal(gcd_image_number(n, order, &x), GCD_OK);
    assert_string_equal(gcd_number_text(&x, buf), "Failed");
    assert_int_equal(gcd_image_number(n, boxed, &x), GCD_END);
    assert_int_equal(gcd_image_number(n, order + 8, &x), GCD_END);
    assert_int_equal(gcd_image_field_count(n, order), 15);
    assert_string_equal(gcd_image_field(n, order, 1).name, "State");
    struct gcd_image_field customer = gcd_image_field(n, order, 2);
    assert_true(customer.known && customer.number.kind == GCD_NUMBER_REFERENCE);
    assert_true(customer.number.bits == order + 64);
    assert_int_equal(gcd_image_field(n, order + 3 * 64, 2).number.bits, 0);
    assert_int_equal(gcd_image_field(n, order, 3).number.kind, GCD_NUMBER_OTHER);
    assert_int_equal(gcd_image_field(n, order, 14).number.kind, GCD_NUMBER_REAL);
    assert_int_equal(gcd_image_field(n, order - 3 * 64, 14).number.kind, GCD_NUMBER_NULL);
    assert_int_equal(gcd_image_boxed(n, order, &x), GCD_END);
    assert_int_equal(gcd_image_boxed(n, boxed, &x), GCD_OK);
    assert_string_equal(gcd_number_text(&x, buf), "Read | Write");
    assert_int_equal(gcd_image_hash_code(n, order), 0);
    gcd_image_numbers_free(n);
    values_free(v);
    values_free(copy);
}

/* An object {Place.X, Place.Y, at, Rest}: two numbers, a pointer, and what is not known. */
static struct gcd_values *object_with_parts(void)
{
    static const struct {
        const char *name;
        struct value_column column;
    } columns[] = { { "Place.X", { .form = FORM_NUMBER, .element = 8 } },
                    { "Place.Y", { .form = FORM_NUMBER, .element = 8 } },
                    { "at", { .form = FORM_NUMBER, .element = ELEMENT_PTR } },
                    { "Rest", { .form = FORM_OTHER } } };
    struct gcd_values *v = orders(0);
    struct value_rows *r = v->rows;
    uint8_t *row;
    assert_int_equal(value_rows_add_type(r, 0x7f09), GCD_OK);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        assert_int_equal(
            value_rows_add_column(r, &columns[i].column, columns[i].name, strlen(columns[i].name)),
            GCD_OK);
    assert_int_equal(value_rows_add(r, (uint32_t)r->type_count - 1, 64, &row), GCD_OK);
    memset(row, 0, 16);
    row[0] = 3;
    row[4] = 4;
    row[9] = 16;
    return v;
}

static void parts_of_structs_are_fields(void **state)
{
    (void)state;
    struct gcd_values *v = object_with_parts(), *copy = copy_of(v, NULL);
    struct gcd_values_view view = { .values = copy };
    struct gcd_image_elements elements;
    struct gcd_image_numbers *n;
    enum gcd_number_kind kind;
    struct gcd_number x;
    char buf[GCD_NUMBER_BYTES];
    assert_int_equal(gcd_image_numbers_new(&view, "Place.Y", NULL, &n, NULL), GCD_OK);
    assert_int_equal(gcd_image_number(n, 64, &x), GCD_OK);
    assert_true(x.bits == 4);
    x = gcd_image_field(n, 64, 2).number;
    assert_string_equal(gcd_number_text(&x, buf), "0x1000");
    assert_false(gcd_image_field(n, 64, 3).known);
    assert_false(gcd_image_elements(n, 64, &elements));
    gcd_image_numbers_free(n);
    assert_int_equal(gcd_image_numbers_new(&view, "Place", NULL, &n, NULL), GCD_OK);
    assert_int_equal(gcd_image_number(n, 64, &x), GCD_END);
    assert_int_equal(gcd_image_reference(n, 64, &x.bits), GCD_END);
    assert_int_equal(gcd_image_field_kind(n, 0x7f09, &kind), GCD_OK);
    assert_int_equal(kind, GCD_NUMBER_OTHER);
    gcd_image_numbers_free(n);
    assert_int_equal(gcd_image_numbers_new(&view, "Pla", NULL, &n, NULL), GCD_OK);
    assert_int_equal(gcd_image_field_kind(n, 0x7f09, &kind), GCD_END);
    gcd_image_numbers_free(n);
    values_free(v);
    values_free(copy);
}

/* Arrays of {key, value} at 0x10000 (1,000 elements) and behind it (2, of which the second is
 * missing). */
static struct gcd_values *arrays_of_structs(uint64_t *ret_second)
{
    static const struct value_column columns[] = { { .form = FORM_NUMBER, .element = 8 },
                                                   { .form = FORM_REFERENCE } };
    static const char *const names[] = { "key", "value" };
    struct gcd_values *v = orders(0);
    struct value_rows *r = v->rows;
    uint64_t second = 0x10000 + 16 + 1000 * 16 + 8;
    uint8_t *row;
    assert_int_equal(value_rows_add_type(r, 0x7f0a), GCD_OK);
    assert_int_equal(value_rows_set_stride(r, 0), GCD_E_FORMAT);
    assert_int_equal(value_rows_set_stride(r, 16), GCD_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(value_rows_add_column(r, &columns[i], names[i], strlen(names[i])), GCD_OK);
    assert_int_equal(value_rows_set_stride(r, 16), GCD_E_FORMAT);
    for (uint32_t i = 0; i < 1002; i++) {
        uint64_t at = i < 1000 ? 0x10000 + 16 + 16 * i : second + 16 + 32 * (uint64_t)(i - 1000);
        assert_int_equal(value_rows_add(r, (uint32_t)r->type_count - 1, at, &row), GCD_OK);
        memset(row, 0, r->types[r->type_count - 1].row_bytes);
        row[0] = (uint8_t)i;
        row[1] = (uint8_t)(i >> 8);
        row[4] = 0x40;
    }
    *ret_second = second;
    return v;
}

static void elements_of_arrays_are_rows(void **state)
{
    (void)state;
    uint64_t second;
    struct gcd_values *v = arrays_of_structs(&second), *copy = copy_of(v, NULL);
    struct gcd_values_view view = { .values = copy };
    struct gcd_image_elements elements;
    struct gcd_image_numbers *n;
    assert_int_equal(gcd_image_numbers_new(&view, NULL, NULL, &n, NULL), GCD_OK);
    assert_true(gcd_image_elements(n, 0x10000, &elements));
    assert_int_equal(elements.count, 1000);
    assert_int_equal(elements.fields, 2);
    assert_int_equal(elements.bytes, 16);
    assert_false(elements.numbers);
    assert_int_equal(gcd_image_field_count(n, 0x10000), 0);
    struct gcd_image_field f = gcd_image_element(n, 0x10000, 999, 0);
    assert_true(f.known && f.number.bits == 999);
    assert_string_equal(f.name, "key");
    f = gcd_image_element(n, 0x10000, 17, 1);
    assert_true(f.known && f.number.kind == GCD_NUMBER_REFERENCE && f.number.bits == 0x40);
    assert_false(gcd_image_element(n, 0x10000, 1000, 0).known);
    assert_false(gcd_image_element(n, 0x10000, 0, 2).known);
    assert_true(gcd_image_elements(n, second, &elements)); /* its own elements only, up to a hole */
    assert_int_equal(elements.count, 1);
    assert_int_equal(gcd_image_element(n, second, 0, 0).number.bits, 1000);
    assert_false(gcd_image_elements(n, 0x10008, &elements));
    gcd_image_numbers_free(n);
    assert_int_equal(copy->rows->element_count, 1002);
    values_free(v);
    values_free(copy);
}

static void hashes_have_no_rows(void **state)
{
    (void)state;
    static const uint8_t key[GCD_VALUES_KEY_BYTES] = { 7 };
    struct gcd_values *v = orders(3), *copy = copy_of(v, key);
    struct gcd_values_view view = { .values = copy };
    struct gcd_image_numbers *n;
    assert_int_equal(copy->rows->object_count, 0);
    assert_int_equal(copy->rows->type_count, 0);
    assert_int_equal(gcd_image_numbers_new(&view, NULL, NULL, &n, NULL), GCD_END);
    values_free(v);
    values_free(copy);
}

/* What no writer writes. */
static void impossible_rows_are_refused(void **state)
{
    (void)state;
    struct gcd_values *v = orders(1);
    struct value_rows *r = v->rows;
    uint8_t *row;
    static const struct value_column wrong[] = {
        { .form = VALUE_FORMS },
        { .form = FORM_NUMBER, .element = 1 },
        { .form = FORM_NUMBER, .element = 8, .of = 3 },
        { .form = FORM_GUID, .of = 1 },
        { .form = FORM_GUID, .flags = 4 },
        { .form = FORM_REFERENCE, .flags = VALUE_NULLABLE },
    };
    assert_int_equal(value_rows_add_column(r, &(struct value_column){ 0 }, "", 0), GCD_E_FORMAT);
    assert_int_equal(value_rows_add_type(r, 1), GCD_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(value_rows_add_column(r, &wrong[i], "", 0), GCD_E_FORMAT);
    for (size_t i = 0; i < VALUE_ROW_BYTES / 16; i++)
        rows_sample_column(r, "", (struct value_column){ .form = FORM_GUID });
    assert_int_equal(value_rows_add_column(r, &(struct value_column){ .form = FORM_GUID }, "", 0),
                     GCD_E_FORMAT);
    assert_int_equal(
        value_rows_add_column(r, &(struct value_column){ .form = FORM_OTHER, .flags = VALUE_BOXED },
                              "", 0),
        GCD_E_FORMAT);
    assert_int_equal(value_rows_add_enum(r, 1, false), GCD_E_FORMAT);
    assert_int_equal(value_rows_add(r, 4, 8, &row), GCD_E_FORMAT);
    static const uint8_t too_many[] = { ROWS_ROWS, 0, 3, 1, 1, 1 }, unknown[] = { 9 },
                         none[] = { ROWS_ROWS, 9, 0 }, cut[] = { ROWS_COLUMN, 0, 0 };
    assert_int_equal(rows_read(r, too_many, sizeof too_many), GCD_E_FORMAT);
    assert_int_equal(rows_read(r, unknown, sizeof unknown), GCD_E_FORMAT);
    assert_int_equal(rows_read(r, none, sizeof none), GCD_E_FORMAT);
    assert_int_equal(rows_read(r, cut, sizeof cut), GCD_E_FORMAT);
    assert_int_equal(r->object_count, 3);
    values_free(v);
}

static void too_many_rows_are_refused(void **state)
{
    (void)state;
    struct gcd_values *v = orders(1);
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t *row;
    gcd_status st = GCD_OK;
    v->rows->most = 10000;
    for (unsigned i = 0; i < 10000 && st == GCD_OK; i++)
        st = value_rows_add(v->rows, 0, 8 + 8 * i, &row);
    assert_int_equal(values_rows_status(v, st, &err), GCD_E_LIMIT);
    assert_string_equal(err.msg, "the values in objects take more than 10000 bytes");
    assert_in_range(v->rows->bytes, 9000, 10000);
    values_free(v);
}

/* Two bytes of a damaged recording can be a type, which takes more memory. */
static void too_many_plans_are_refused(void **state)
{
    (void)state;
    static const uint8_t records[][4] = { { ROWS_TYPE, 0 },
                                          { ROWS_ENUM, 8, 0 },
                                          { ROWS_COLUMN, FORM_OTHER, 0, 0 },
                                          { ROWS_LITERAL, 0, 0 } };
    static const size_t sizes[] = { 2, 3, 6, 3 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gcd_values *v = orders(1);
        uint8_t record[6] = { 0 };
        gcd_status st = GCD_OK;
        v->rows->most = 10000;
        memcpy(record, records[i], sizeof records[i]);
        if (i == 2)
            st = value_rows_add_type(v->rows, 1);
        for (unsigned k = 0; k < 10000 && st == GCD_OK; k++)
            st = rows_read(v->rows, record, sizes[i]);
        assert_int_equal(st, GCD_E_LIMIT);
        assert_in_range(v->rows->bytes, 9000, 10000);
        values_free(v);
    }
}

static void too_much_text_is_refused(void **state)
{
    (void)state;
    struct gcd_limits limits = { .text_bytes = 100 };
    struct gcd_values_options o = { .kind = GCD_VALUES_STRINGS };
    struct gcd_values *v = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(values_new(NULL, &limits, &o, &v, &err), GCD_OK);
    static const char text[101] = "x";
    struct values_content c = { .hash = 1, .length = 101, .bytes = 101, .utf8 = text };
    assert_int_equal(values_add(v, 8, 0, &c, &err), GCD_E_LIMIT);
    c.bytes = 50;
    assert_int_equal(values_add(v, 8, 0, &c, &err), GCD_OK);
    values_free(v);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t i = 1; !done; i++) {
        struct failalloc fa;
        failalloc_init(&fa);
        fa.fail_at = i;
        struct gcd_values_options o = { .kind = GCD_VALUES_STRINGS };
        struct values_content c = { .hash = 1, .length = 1, .bytes = 1, .utf8 = "x" };
        struct gcd_values *v = NULL;
        gcd_status st = values_new(&fa.alloc, NULL, &o, &v, NULL);
        if (st == GCD_OK)
            st = values_add(v, 16, 0, &c, NULL);
        c.hash = 2;
        if (st == GCD_OK)
            st = values_add(v, 8, 0, &c, NULL);
        if (st == GCD_OK)
            st = values_sort(v, NULL);
        assert_true(st == GCD_OK || st == GCD_E_NOMEM);
        done = st == GCD_OK;
        values_free(v);
        assert_null(failalloc_complaint(&fa));
    }
}

static void secrets_are_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } rows[] = {
        { "-----BEGIN RSA PRIVATE KEY-----", "private key" },
        { "Server=db;User Id=shop;Password=hunter2;", "connection string" },
        { "{\"dbPassword\": \"hunter2\"}", "connection string" },
        { "Data Source=db; Pwd = x", "connection string" },
        { "AccountName=a;AccountKey=c2VjcmV0", "connection string" },
        { "Endpoint=sb://x/;SharedAccessKey=abc", "connection string" },
        { "BlobEndpoint=x;SharedAccessSignature=sv", "connection string" },
        { "amqp://user:pass@host/vhost", "connection string" },
        { "client_secret=abcdef", "token" },
        { "https://x/y?api_key=12345", "token" },
        { "ApiKey: 12345", "token" },
        { "access_token=xyz", "token" },
        { "\"refresh_token\":\"xyz\"", "token" },
        { "Bearer abcdefghijklmnop.qrstu", "token" },
        { "Basic dXNlcjpwYXNzd29yZDEyMw==", "token" },
        { "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.sig", "token" },
        { "ghp_abcdefghijklmnopqrst", "token" },
        { "github_pat_abcdefghijklmnopqrst", "token" },
        { "glpat-abcdefghijklmnopqrst", "token" },
        { "xoxb-abcdefghijklmnopqrst", "token" },
        { "xoxp-abcdefghijklmnopqrst", "token" },
        { "AKIAIOSFODNN7EXAMPLE", "token" },
        { "key ASIAIOSFODNN7EXAMPLE, old", "token" },
        { "aws_secret_access_key = wJalrXUtn", "token" },
        { "SecretKey=abc", "token" },
        { "accessToken: xyz", "token" },
        { "{\"refreshToken\":\"x\"}", "token" },
        { "?id_token=x", "token" },
        { "x-api-key: abc", "token" },
        { "Authorization: Token abc", "token" },
        { "https://shop.blob.example/c?sv=2022-11-02&ss=b&sig=aGk%3D", "token" },
        { "https://shop.blob.example/c?sig=aGk%3D&sv=2022", "token" },
        { "jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "token" },
        { "CfDJ8NrAkSldwD9CpLRyOtm6FiJB1Jr", "token" },
        { "gho_abcdefghijklmnopqrst", "token" },
        { "ghu_abcdefghijklmnopqrst", "token" },
        { "ghs_abcdefghijklmnopqrst", "token" },
        { "ghr_abcdefghijklmnopqrst", "token" },
        { "xoxa-abcdefghijklmnopqrst", "token" },
        { "xoxs-abcdefghijklmnopqrst", "token" },
        { "xapp-abcdefghijklmnopqrst", "token" },
        { "https://hooks.slack.com/services/T00000000/B00000000/XXXX", "token" },
        { "sk_test_abcdefghijklmnopqrst", "token" },
        { "rk_live_abcdefghijklmnopqrst", "token" },
        { "whsec_abcdefghijklmnopqrst", "token" },
        { "ya29.abcdefghijklmnopqrst", "token" },
        { "GOCSPX-abcdefghijklmnopqrst", "token" },
        { "npm_abcdefghijklmnopqrst", "token" },
        { "SG.abcdefghijklmnopqrst.uvw", "token" },
        { "hvs.abcdefghijklmnopqrst", "token" },
        { "dop_v1_abcdefghijklmnopqrst", "token" },
        { "shpat_abcdefghijklmnopqrst", "token" },
        { "sk-ant-abcdefghijklmnopqrst", "token" },
        { "sk-proj-abcdefghijklmnopqrst", "token" },
        { "PassPhrase=x", "connection string" },
        { "passwd: x", "connection string" },
        { "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIE\"}", "private key" },
        { "4111 1111 1111 1111", "card number" },
        { "pays with 5500-0000-0000-0004.", "card number" },
        { "378282246310005", "card number" },
        { "2223003122003222", "card number" },
        { "6011111111111117", "card number" },
        { "30569309025904", "card number" },
        { "sk_live_abcdefghijklmnopqrst", "token" },
        { "AIzaSyAabcdefghijklmnop", "token" },
        { "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg==", "token" },
        { "0123456789abcdef0123456789abcdef", "token" },
        { "mail to jane.doe+shop@mail.example.org now", "e-mail address" },
        { "", NULL },
        { "Germany, Federal Republic of", NULL },
        { "6f9619ff-8b86-d011-b42d-00c04fc964ff", NULL },
        { "https://shop.example/orders/4711?page=2", NULL },
        { "System.Collections.Generic.Dictionary`2[System.String,System.Object]", NULL },
        { "Basic information about passwords", NULL },
        { "@media screen", NULL },
        { "AsiaPacificSoutheast", NULL },
        { "ASIAPACIFICSOUTHEASTERN", NULL },
        { "4111 1111 1111 1112", NULL },
        { "358720000000001", NULL }, /* no issuer has 15 digits that begin so */
        { "2026-11-30 15:47:37", NULL },
        { "1764517657123456785", NULL },
        { "x4111111111111111", NULL },
        { "config=1&design=2", NULL },
        { "41111111-1111-1111-0000-000000000000", NULL },
        { "a @ b.c", NULL },
        { "12345678901234567890123456789012", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = gcd_secret_name(rows[i].text, strlen(rows[i].text));
        if ((name == NULL) != (rows[i].name == NULL))
            fail_msg("%s", rows[i].text);
        if (name != NULL)
            assert_string_equal(name, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_siphash),
        cmocka_unit_test(equal_texts_are_kept_once),
        cmocka_unit_test(equal_hashes_of_different_texts_are_told_apart),
        cmocka_unit_test(long_texts_keep_their_length_and_whole_characters),
        cmocka_unit_test(texts_beyond_the_largest_limit_are_cut),
        cmocka_unit_test(every_character_is_converted_as_one_by_one),
        cmocka_unit_test(a_text_takes_24_bytes_beside_its_characters),
        cmocka_unit_test(parts_have_all_values_in_little_room),
        cmocka_unit_test(a_damaged_part_is_refused),
        cmocka_unit_test(rows_are_kept_with_their_types),
        cmocka_unit_test(fields_are_read_of_rows),
        cmocka_unit_test(parts_of_structs_are_fields),
        cmocka_unit_test(elements_of_arrays_are_rows),
        cmocka_unit_test(hashes_have_no_rows),
        cmocka_unit_test(impossible_rows_are_refused),
        cmocka_unit_test(too_many_rows_are_refused),
        cmocka_unit_test(too_many_plans_are_refused),
        cmocka_unit_test(hashes_say_only_what_is_equal),
        cmocka_unit_test(too_much_text_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(secrets_are_recognized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
