/*
 * The types of a living process, for those of whose objects values are read beside a heap walk
 * (src/values/values_watch.c).  Method tables, the places of fields and metadata do not move and do
 * not change while the process runs, unless their types can be unloaded: of those nothing is read,
 * nor of types that were made in memory, whose metadata grow.
 */
#include <time.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "image/heap_image.h"
#include "image/image_columns.h"
#include "values/value_source.h"

#define OPENINGS_MAX 20u /* that meet structures while they change */

struct process_types {
    struct gcd_value_source source; /* the first */
    struct gcd_alloc alloc;
    struct heap_image *heap;
    struct gcd_image_numbers *numbers;
    struct image_columns columns;
    bool begun;               /* COLUMNS are those of rows */
    struct value_cell *cells; /* [rows->column_count] */
    size_t cell_cap;
};

static struct process_types *of_source(struct gcd_value_source *s)
{
    return (struct process_types *)s;
}

static void close_heap(struct process_types *p)
{
    if (p->heap != NULL)
        heap_image_free(p->heap);
    p->heap = NULL;
}

/* What it meets may change meanwhile, so that it is wrong: then once more. */
static gcd_status open_heap(struct process_types *p, uint32_t pid,
                            const struct gcd_context *context, struct gcd_error *err)
{
    const struct timespec pause = { .tv_nsec = (long)GCD_NS_PER_MS };
    gcd_status st = GCD_OK;
    for (unsigned i = 0; i < OPENINGS_MAX; i++) {
        GCD_TRY(gcd_check_canceled(context->cancel, err));
        close_heap(p);
        st = heap_image_of_process(pid, context, &p->heap, err);
        if (st != GCD_OK)
            return st;
        struct heap_image *h = p->heap;
        st = clr_open(&h->clr, &h->image, &h->context, &h->alloc, err);
        if (st != GCD_E_UNSUPPORTED || h->clr.dac == 0)
            return st;
        (void)nanosleep(&pause, NULL);
    }
    return st;
}

static gcd_status begin(struct gcd_value_source *s, struct value_rows *rows, const uint64_t *tables,
                        size_t n, struct gcd_error *err)
{
    struct process_types *p = of_source(s);
    struct clr *c = &p->heap->clr;
    gcd_status st = GCD_OK;
    image_forget_pages(&p->heap->image);
    c->layout.module_dynamic = 0; /* the runtime may write them just now */
    for (size_t i = 0; i < n && st == GCD_OK; i++)
        (void)clr_type_of(c, tables[i], &st);
    if (st != GCD_OK)
        return gcd_fail_nomem(err, "reading types");
    GCD_TRY(clr_complete_types(c, err));
    GCD_TRY(clr_find_modules(c, err));
    GCD_TRY(image_numbers_of(p->heap, &p->alloc, &p->numbers, err));
    image_columns_init(&p->columns, p->numbers, rows);
    p->begun = true;
    return GCD_OK;
}

/* Where the value of a column lies. */
static struct value_cell cell_of(const struct image_place *from, uint32_t stride,
                                 struct value_shape *shape)
{
    uint32_t alignment, bytes = image_place_bytes(from, &alignment);
    struct value_cell cell = { .offset = from->offset + from->value_at };
    if (bytes == 0)
        return cell;
    cell.flag = from->value_at != 0 ? from->offset : 0;
    cell.wide = from->value_at != 0 || bytes > 8 || cell.offset % bytes != 0 || stride % bytes != 0;
    shape->wide = shape->wide || cell.wide;
    if (cell.offset + bytes > shape->bytes)
        shape->bytes = cell.offset + bytes;
    return cell;
}

static gcd_status set_cells(struct process_types *p, const struct image_plan *plan, uint32_t type,
                            struct value_shape *shape)
{
    const struct value_rows *rows = p->columns.rows;
    if (!gcd_vec_reserve(&p->alloc, &p->cells, &p->cell_cap, rows->column_count, sizeof *p->cells,
                         SIZE_MAX))
        return GCD_E_NOMEM;
    p->source.cells = p->cells;
    struct value_cell *to = &p->cells[rows->types[type].first];
    if (plan->boxed.form != FORM_OTHER)
        *to++ = cell_of(&plan->boxed, 0, shape);
    for (uint32_t i = 0; i < plan->count + plan->element_fields; i++)
        *to++ = cell_of(&p->numbers->places[plan->first + i], plan->element_bytes, shape);
    shape->stride = plan->element_bytes;
    shape->most = image_columns_most(p->numbers, plan);
    bool fixed;
    const struct image_place *keys = image_columns_keys(p->numbers, plan, &fixed);
    shape->keys = keys != NULL && fixed ? keys->offset : 0; /* its values were walked before */
    return GCD_OK;
}

static gcd_status find_shape(struct gcd_value_source *s, uint64_t table, bool of_keys,
                             struct value_shape *ret, struct gcd_error *err)
{
    struct process_types *p = of_source(s);
    struct clr *c = &p->heap->clr;
    const struct image_plan *plan;
    gcd_status st = GCD_OK;
    uint32_t number = clr_type_of(c, table, &st), type;
    *ret = (struct value_shape){ .type = VALUE_NO_TYPE, .bytes = VALUE_HEAD_BYTES };
    if (st == GCD_OK && (number == CLR_NONE || c->types[number].collectible)) {
        ret->unknown = true;
        return GCD_OK;
    }
    if (st == GCD_OK)
        st = image_columns_type(&p->columns, table, of_keys, &plan, &type);
    if (st == GCD_OK && plan != NULL && plan->lacking) {
        ret->unknown = true;
    } else if (st == GCD_OK && plan != NULL && type != IMAGE_NO_ROWS) {
        ret->type = type;
        st = set_cells(p, plan, type, ret);
    }
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep what types have");
}

gcd_status gcd_value_source_new(uint32_t pid, const struct gcd_context *context,
                                struct gcd_value_source **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct process_types *p = gcd_mem_new(&a, sizeof *p);
    if (p == NULL)
        return gcd_fail_nomem(err, "reading types");
    p->alloc = a;
    p->source.begin = begin;
    p->source.shape = find_shape;
    gcd_status st = open_heap(p, pid, context, err);
    if (st == GCD_OK)
        *ret = &p->source;
    else
        gcd_value_source_free(&p->source);
    return st;
}

void gcd_value_source_free(struct gcd_value_source *s)
{
    if (s == NULL)
        return;
    struct process_types *p = of_source(s);
    if (p->begun)
        image_columns_done(&p->columns);
    gcd_image_numbers_free(p->numbers);
    close_heap(p);
    struct gcd_alloc a = p->alloc;
    gcd_mem_free(&a, p->cells, p->cell_cap * sizeof *p->cells);
    gcd_mem_free(&a, p, sizeof *p);
}
