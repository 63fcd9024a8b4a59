#include "values/values.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/deflated.h"

/* The longest record without its characters: three numbers, a hash, a length. */
#define RECORD_MOST (10u + 5u + 5u + 8u + 5u)

/* ---- writing ---- */

void values_part_begin(struct values_part *p, uint8_t *buffer)
{
    static const uint8_t head[VALUES_PART_HEAD];
    *p = (struct values_part){ .w = gcd_put_make(buffer, VALUES_PART_BYTES) };
    gcd_put_bytes(&p->w, head, sizeof head);
}

static bool has_room(const struct values_part *p, size_t bytes)
{
    return (size_t)(p->w.end - p->w.p) >= RECORD_MOST + bytes;
}

static void begin_record(struct values_part *p, uint64_t address, uint64_t text)
{
    gcd_put_varuint(&p->w, address - p->last);
    gcd_put_varuint(&p->w, text);
    p->last = address;
    p->records++;
}

/* False: it does not fit, and nothing was added. */
static bool put_known(struct values_part *p, uint64_t address, uint32_t text)
{
    if (!has_room(p, 0))
        return false;
    begin_record(p, address, (uint64_t)text + 1);
    return true;
}

bool values_part_content(struct values_part *p, uint64_t address, const struct values_content *c)
{
    if (!has_room(p, c->bytes))
        return false;
    begin_record(p, address, 0);
    gcd_put_varuint(&p->w, c->length);
    gcd_put_le(&p->w, c->hash, 8);
    gcd_put_varuint(&p->w, c->utf8 != NULL ? (uint64_t)c->bytes + 1 : 0);
    if (c->utf8 != NULL)
        gcd_put_bytes(&p->w, c->utf8, c->bytes);
    return true;
}

/* Of a payload of N bytes. */
static uint64_t check_of(const uint8_t *payload, size_t n)
{
    struct values_hash h;
    values_hash_init(&h, values_no_key);
    values_hash_words(&h, payload, 8);
    return values_hash_end(&h, payload + VALUES_PART_HEAD, n - VALUES_PART_HEAD);
}

static void put_head(uint8_t *payload, size_t n, uint32_t number, uint32_t plain_bytes)
{
    struct gcd_put w = gcd_put_make(payload, VALUES_PART_HEAD);
    gcd_put_le(&w, number, 4);
    gcd_put_le(&w, plain_bytes, 4);
    gcd_put_le(&w, check_of(payload, n), 8);
}

size_t values_part_end(struct values_part *p, uint32_t number)
{
    size_t n = gcd_put_bytes_done(&p->w);
    put_head(p->w.begin, n, number, 0);
    return n;
}

gcd_status values_part_deflate(const struct gcd_alloc *a, uint8_t *buffer, uint32_t mark, size_t *n,
                               struct gcd_error *err)
{
    uint8_t packed[VALUES_PART_BYTES];
    size_t plain = *n - VALUES_PART_HEAD, got = plain;
    GCD_TRY(gcd_deflate_block(a, buffer + VALUES_PART_HEAD, plain, packed, &got, err));
    if (got > 0) {
        memcpy(buffer + VALUES_PART_HEAD, packed, got);
        *n = VALUES_PART_HEAD + got;
    }
    if (got > 0 || mark != 0)
        put_head(buffer, *n, gcd_le32(buffer), (got > 0 ? (uint32_t)plain : 0) | mark);
    return GCD_OK;
}

gcd_status values_writing_init(struct values_writing *w, const struct gcd_values *v,
                               const uint8_t *key, struct gcd_error *err)
{
    *w = (struct values_writing){ .v = v, .key = key };
    w->numbers = gcd_mem_new_array(&v->alloc, (size_t)v->text_count + 1, sizeof *w->numbers);
    if (w->numbers == NULL || (key == NULL && rows_writing_init(&w->rows, v->rows) != GCD_OK)) {
        values_writing_done(w);
        return gcd_fail_nomem(err, "recording values");
    }
    return GCD_OK;
}

void values_writing_done(struct values_writing *w)
{
    if (w->numbers != NULL)
        gcd_mem_free(&w->v->alloc, w->numbers, ((size_t)w->v->text_count + 1) * sizeof *w->numbers);
    w->numbers = NULL;
    rows_writing_done(&w->rows);
}

/* What is recorded of a text: with a key neither its characters nor what they could be guessed
 * by. */
static struct values_content content_of(const struct values_writing *w, uint32_t text)
{
    struct gcd_text t = gcd_values_text(w->v, text);
    struct values_content c = {
        .hash = t.hash, .length = t.length, .utf8 = t.utf8, .bytes = t.bytes
    };
    if (w->key != NULL) {
        uint8_t hash[8];
        struct gcd_put put = gcd_put_make(hash, sizeof hash);
        gcd_put_le(&put, t.hash, 8);
        c = (struct values_content){ .length = t.length,
                                     .hash = values_hash_of(w->key, hash, sizeof hash) };
    }
    return c;
}

gcd_status values_writing_next(struct values_writing *w, uint8_t *buffer, size_t *ret_n,
                               struct gcd_error *err)
{
    struct values_part p;
    uint32_t first = w->texts;
    *ret_n = 0;
    values_part_begin(&p, buffer);
    for (; w->next < w->v->object_count; w->next++) {
        const struct values_object *o = &w->v->objects[w->next];
        uint32_t *number = &w->numbers[o->text];
        struct values_content c;
        if (*number == 0)
            c = content_of(w, o->text);
        if (*number != 0 ? !put_known(&p, o->address, *number - 1)
                         : !values_part_content(&p, o->address, &c))
            break;
        if (*number == 0)
            *number = ++w->texts;
    }
    bool texts = p.records > 0;
    if (!texts && (w->key != NULL || !rows_writing_next(&w->rows, &p.w)))
        return GCD_OK;
    *ret_n = values_part_end(&p, w->parts++);
    if (texts && w->key != NULL && w->texts - first > p.records / 2) /* hashes do not get smaller */
        return GCD_OK;
    return values_part_deflate(&w->v->alloc, buffer, texts ? 0 : VALUES_OF_ROWS, ret_n, err);
}

/* ---- reading ---- */

static gcd_status read_record(struct gcd_values *v, struct gcd_cur *c, uint64_t *address,
                              struct gcd_error *err)
{
    *address += gcd_cur_varuint64(c);
    uint64_t text = gcd_cur_varuint64(c);
    if (text != 0)
        return c->err != GCD_OK || text > UINT32_MAX
                   ? gcd_fail(err, GCD_E_FORMAT, "values are damaged")
                   : values_add_known(v, *address, (uint32_t)(text - 1), err);
    struct values_content new = { .length = gcd_cur_varuint32(c) };
    new.hash = gcd_cur_u64(c);
    uint32_t bytes = gcd_cur_varuint32(c);
    if (bytes > 0) {
        new.bytes = bytes - 1;
        new.utf8 = (const char *)gcd_cur_bytes(c, new.bytes);
    }
    if (c->err != GCD_OK || new.bytes > VALUES_TEXT_BYTES)
        return gcd_fail(err, GCD_E_FORMAT, "values are damaged");
    return values_add(v, *address, 0, &new, err);
}

static gcd_status read_records(struct gcd_values *v, bool rows, const uint8_t *p, size_t n,
                               struct gcd_error *err)
{
    if (rows)
        return values_rows_status(v, rows_read(v->rows, p, n), err);
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    uint64_t address = 0;
    while (gcd_cur_left(&c) > 0)
        GCD_TRY(read_record(v, &c, &address, err));
    return GCD_OK;
}

bool values_check_part(const uint8_t *payload, size_t n, uint32_t number)
{
    return n >= VALUES_PART_HEAD && gcd_le32(payload) == number &&
           gcd_le64(payload + 8) == check_of(payload, n);
}

gcd_status values_part_records(const struct gcd_alloc *a, const uint8_t *payload, size_t n,
                               uint32_t number, struct values_records *ret, struct gcd_error *err)
{
    if (!values_check_part(payload, n, number))
        return gcd_fail(err, GCD_E_FORMAT, "values are damaged");
    uint32_t what = gcd_le32(payload + 4), bytes = what & ~VALUES_OF_ROWS;
    if (bytes > sizeof ret->plain)
        return gcd_fail(err, GCD_E_FORMAT, "values are damaged");
    ret->p = payload + VALUES_PART_HEAD;
    ret->n = n - VALUES_PART_HEAD;
    ret->mark = what & VALUES_OF_ROWS;
    if (bytes == 0)
        return GCD_OK;
    GCD_TRY(gcd_inflate_block(a, ret->p, ret->n, ret->plain, bytes, err));
    ret->p = ret->plain;
    ret->n = bytes;
    return GCD_OK;
}

gcd_status values_read_part(struct gcd_values *v, const uint8_t *payload, size_t n, uint32_t number,
                            struct gcd_error *err)
{
    struct values_records r;
    GCD_TRY(values_part_records(&v->alloc, payload, n, number, &r, err));
    return read_records(v, r.mark != 0, r.p, r.n, err);
}
