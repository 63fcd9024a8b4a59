/*
 * The small types of a heap with very many types: a row each, [name, module, objects, bytes,
 * retained, origin], as JSON, compressed with gzip, in base64.  The page expands them for a search.
 */
#include "write/html/html_data.h"

#include "base/error.h"
#include "io/packed.h"
#include "write/json_put.h"
#include "write/write.h"

#define NAME_BYTES   ((size_t)1000)
#define MODULE_BYTES ((size_t)120)
/* Bytes that a sink may hold back before its memory grows. */
#define HELD_BACK (UINT64_C(400) << 10)

struct rest {
    size_t types;
    uint64_t objects, bytes;
};

static void count(const struct html_data *h, size_t i, struct rest *r)
{
    const struct gcd_type *t = &gcd_graph_summary(h->g)->types[h->types[i]];
    r->types++;
    r->objects += t->objects;
    r->bytes += t->bytes;
}

static void put_row(const struct html_data *h, uint32_t type, struct json_put *j)
{
    const struct gcd_type *t = &gcd_graph_summary(h->g)->types[type];
    size_t file_n, stem;
    json_put_open(j, NULL, '[');
    json_put_text(j, NULL, write_type_name(h->options, h->g, type), NAME_BYTES);
    json_put_text(j, NULL, write_module_file(t->module_path, &file_n, &stem), MODULE_BYTES);
    json_put_number(j, NULL, t->objects);
    json_put_number(j, NULL, t->bytes);
    json_put_number(j, NULL, h->retained[type]);
    json_put_number(j, NULL, (uint64_t)html_origin(h, type));
    json_put_close(j, ']');
}

/* Writes as many rows as fit into ROOM compressed bytes. */
static struct rest put_rows(const struct html_data *h, uint64_t room, struct gcd_sink *packed)
{
    struct json_put j = { .s = packed };
    struct rest in = { 0 };
    size_t n = 0;
    json_put_open(&j, NULL, '[');
    for (size_t i = h->type_count; i < h->types_with_objects && n + HELD_BACK <= room; i++) {
        put_row(h, h->types[i], &j);
        count(h, i, &in);
        (void)gcd_sink_memory(packed, &n);
    }
    json_put_close(&j, ']');
    return in;
}

static void put_sums(const char *key, struct rest of, struct json_put *j)
{
    json_put_open(j, key, '[');
    json_put_number(j, NULL, of.types);
    json_put_number(j, NULL, of.objects);
    json_put_number(j, NULL, of.bytes);
    json_put_close(j, ']');
}

static gcd_status put_packed(const struct html_data *h, uint64_t room, struct json_put *j,
                             struct rest *ret_in, struct gcd_error *err)
{
    struct gcd_sink *packed;
    size_t n;
    GCD_TRY(gcd_sink_new_packed(&h->alloc, &packed, err));
    *ret_in = put_rows(h, room, packed);
    gcd_status st = gcd_sink_commit(packed, err);
    if (st == GCD_OK) {
        put_sums("rest_types", *ret_in, j);
        const uint8_t *bytes = gcd_sink_memory(packed, &n);
        json_put_base64(j, "rest_packed", bytes, n);
    }
    gcd_sink_free(packed);
    return st;
}

gcd_status html_put_rest(const struct html_data *h, uint64_t room, struct json_put *j,
                         size_t *ret_others, struct gcd_error *err)
{
    struct rest in = { 0 }, others = { 0 };
    if (h->types_with_objects > h->type_count)
        GCD_TRY(put_packed(h, room / 4 * 3, j, &in, err));
    for (size_t i = h->type_count + in.types; i < h->types_with_objects; i++)
        count(h, i, &others);
    put_sums("other_types", others, j);
    *ret_others = others.types;
    return GCD_OK;
}
