#include "values/null_maps.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "values/values.h"

#define DEFAULT_BYTES (UINT64_C(1) << 30)
#define DOING         "reading which references are null"
/* Of a record, without its bits. */
#define RECORD_HEAD 20u

gcd_status null_maps_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                         struct gcd_null_maps **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_null_maps *m = gcd_mem_new(&a, sizeof *m);
    if (m == NULL)
        return gcd_fail_nomem(err, DOING);
    m->alloc = a;
    m->most = gcd_limit_or(limits != NULL ? limits->text_bytes : 0, DEFAULT_BYTES);
    *ret = m;
    return GCD_OK;
}

void null_maps_free(struct gcd_null_maps *m)
{
    if (m == NULL)
        return;
    struct gcd_alloc a = m->alloc;
    gcd_mem_free(&a, m->maps, m->cap * sizeof *m->maps);
    gcd_mem_free(&a, m->bits, m->bit_room);
    gcd_mem_free(&a, m, sizeof *m);
}

static gcd_status add_map(struct gcd_null_maps *m, const struct null_map *like,
                          struct gcd_error *err)
{
    uint64_t bytes = (m->count + 1) * sizeof *m->maps + m->bit_bytes;
    if (bytes > m->most || null_map_bytes(like) > m->most - bytes)
        return gcd_fail(err, GCD_E_LIMIT, "which references are null takes more than %llu bytes",
                        (unsigned long long)m->most);
    if (!gcd_vec_reserve(&m->alloc, &m->maps, &m->cap, m->count + 1, sizeof *m->maps, SIZE_MAX))
        return gcd_fail_nomem(err, DOING);
    m->maps[m->count] = *like;
    m->maps[m->count++].at = m->bit_bytes;
    return GCD_OK;
}

static bool reserve_bits(struct gcd_null_maps *m, size_t n)
{
    return gcd_vec_reserve(&m->alloc, &m->bits, &m->bit_room, m->bit_bytes + n, 1, SIZE_MAX);
}

gcd_status null_maps_add(struct gcd_null_maps *m, const struct null_map *like, uint8_t **ret,
                         struct gcd_error *err)
{
    size_t n = null_map_bytes(like);
    GCD_TRY(add_map(m, like, err));
    if (!reserve_bits(m, n)) {
        m->count--;
        return gcd_fail_nomem(err, DOING);
    }
    *ret = m->bits + m->bit_bytes;
    memset(*ret, 0, n);
    m->bit_bytes += n;
    return GCD_OK;
}

void null_maps_drop(struct gcd_null_maps *m)
{
    m->bit_bytes = (size_t)m->maps[--m->count].at;
}

/* Bits lie in the order of their maps, so each moves towards the beginning. */
void null_maps_keep(struct gcd_null_maps *m, bool (*keep)(void *ctx, size_t i), void *ctx)
{
    size_t kept = 0, bytes = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct null_map map = m->maps[i];
        size_t n = null_map_bytes(&map);
        if (!keep(ctx, i))
            continue;
        memmove(m->bits + bytes, m->bits + map.at, n);
        map.at = bytes;
        bytes += n;
        m->maps[kept++] = map;
    }
    m->count = kept;
    m->bit_bytes = bytes;
}

gcd_status null_maps_sort(struct gcd_null_maps *m, struct gcd_error *err)
{
    bool sorted = true;
    for (size_t i = 1; i < m->count && sorted; i++)
        sorted = m->maps[i - 1].address <= m->maps[i].address;
    return sorted || gcd_sort_by_u64(&m->alloc, m->maps, m->count, sizeof *m->maps)
               ? GCD_OK
               : gcd_fail_nomem(err, DOING);
}

const struct null_map *null_maps_find(const struct gcd_null_maps *m, uint64_t address, size_t *next)
{
    size_t i = *next;
    if (i >= m->count || m->maps[i].address != address) {
        if (i < m->count && m->maps[i].address > address &&
            (i == 0 || m->maps[i - 1].address < address))
            return NULL; /* the usual case: between two that have one */
        size_t n = gcd_count_up_to(m->maps, m->count, sizeof *m->maps, address);
        *next = n;
        if (n == 0 || m->maps[n - 1].address != address)
            return NULL;
        i = n - 1;
    }
    *next = i + 1;
    return &m->maps[i];
}

/* ---- as the payloads of events ---- */

static size_t room(const struct gcd_put *p)
{
    return (size_t)(p->end - p->p);
}

static void put_bits(struct null_maps_writing *w, struct gcd_put *p)
{
    const struct null_map *map = &w->m->maps[w->next - 1];
    size_t n = w->open < room(p) ? w->open : room(p);
    gcd_put_bytes(p, w->m->bits + map->at + (null_map_bytes(map) - w->open), n);
    w->open -= n;
}

gcd_status null_maps_writing_next(struct null_maps_writing *w, uint8_t *buffer, size_t *ret_n,
                                  struct gcd_error *err)
{
    struct values_part p;
    *ret_n = 0;
    if (w->open == 0 && w->next == w->m->count)
        return GCD_OK;
    values_part_begin(&p, buffer);
    while (w->open > 0 || (w->next < w->m->count && room(&p.w) >= RECORD_HEAD)) {
        if (w->open == 0) {
            const struct null_map *map = &w->m->maps[w->next++];
            gcd_put_varuint(&p.w, map->address - w->last);
            gcd_put_varuint(&p.w, map->slots);
            gcd_put_le(&p.w, map->check, 4);
            w->last = map->address;
            w->open = null_map_bytes(map);
        }
        if (room(&p.w) == 0)
            break;
        put_bits(w, &p.w);
    }
    *ret_n = values_part_end(&p, w->parts++);
    return values_part_deflate(&w->m->alloc, buffer, 0, ret_n, err);
}

static gcd_status read_head(struct null_maps_reading *r, struct gcd_cur *c, struct gcd_error *err)
{
    struct null_map map = { .address = r->last + gcd_cur_varuint64(c) };
    map.slots = gcd_cur_varuint32(c);
    map.check = gcd_cur_u32(c);
    if (c->err != GCD_OK || map.slots == 0)
        return gcd_fail(err, GCD_E_FORMAT, "null maps are damaged");
    GCD_TRY(add_map(r->m, &map, err));
    r->last = map.address;
    r->open = null_map_bytes(&map);
    return GCD_OK;
}

gcd_status null_maps_read_part(struct null_maps_reading *r, const uint8_t *payload, size_t n,
                               struct gcd_error *err)
{
    struct values_records records;
    GCD_TRY(values_part_records(&r->m->alloc, payload, n, r->parts, &records, err));
    struct gcd_cur c = gcd_cur_make(records.p, records.n, 0);
    r->parts++;
    while (gcd_cur_left(&c) > 0) {
        if (r->open == 0)
            GCD_TRY(read_head(r, &c, err));
        size_t take = r->open < gcd_cur_left(&c) ? r->open : gcd_cur_left(&c);
        if (!reserve_bits(r->m, take))
            return gcd_fail_nomem(err, DOING);
        if (take > 0)
            memcpy(r->m->bits + r->m->bit_bytes, gcd_cur_bytes(&c, take), take);
        r->m->bit_bytes += take;
        r->open -= take;
    }
    return GCD_OK;
}
