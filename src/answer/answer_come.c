/*
 * What has come between two dumps, and what keeps it, by their paths: the answer where no single
 * object holds the growth, such as of a list in each of forty rooms.
 */
#include "answer/answers.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/event_source.h"
#include "base/ovf.h"
#include "base/text.h"

/* A step is on the way as long as it has at least one part in this many of the growth above. */
#define LARGE_PART 3u
/* What is a smaller part of all growth, or of the heap, is no answer. */
#define WORTH_GROWTH 10u
#define WORTH_HEAP   100u
/* Objects of other classes than the program's must be at least one part in this many of a growth
 * that is one in so many of the heap: strings and arrays always vary. */
#define WORTH_OTHER_GROWTH 3u
#define WORTH_OTHER_HEAP   20u
/* The owner of what has come is there once for at least so many. */
#define OWNED 10u
/* So many of its elements, and one part in so many, are few. */
#define FEW      8u
#define FEW_PART 64u

static uint64_t grown(const struct gcd_diff_sum *sums)
{
    return sums[1].bytes > sums[0].bytes ? sums[1].bytes - sums[0].bytes : 0;
}

/* The growth of a heap of so many bytes; 0: it has not grown, or by a small part. */
static uint64_t worth_growth(const uint64_t heap[2])
{
    uint64_t all = heap[1] > heap[0] ? heap[1] - heap[0] : 0, part = heap[0] / WORTH_HEAP;
    return all > 0 && all >= part ? all : 0;
}

/* Does ROW, or a static variable, have what the runtime keeps only while it is observed? */
static bool is_observing(const struct gcd_tree_diff_row *row)
{
    static const char variable[] = "static variable ";
    return gcd_event_source(row->name +
                            (gcd_text_begins(row->name, variable) ? sizeof variable - 1 : 0)) > 0;
}

/* The row below ROW that has grown most, if that is a large part; GCD_STEP_NONE = none. */
static uint32_t most_grown(const struct gcd_tree_diff_row *rows, uint32_t first, uint32_t end,
                           uint64_t above)
{
    uint32_t most = GCD_STEP_NONE;
    for (uint32_t i = first; i < end; i = rows[i].end)
        if (!is_observing(&rows[i]) &&
            grown(rows[i].sums) > (most != GCD_STEP_NONE ? grown(rows[most].sums) : 0))
            most = i;
    return most != GCD_STEP_NONE && grown(rows[most].sums) >= above / LARGE_PART ? most
                                                                                 : GCD_STEP_NONE;
}

const struct gcd_diff_row *answer_type_row(const struct gcd_diff *types, const char *name)
{
    for (size_t i = 0; i < gcd_diff_row_count(types); i++)
        if (strcmp(gcd_diff_row(types, i)->name, name) == 0)
            return gcd_diff_row(types, i);
    return NULL;
}

/* Objects, in the older and in the newer dump. */
struct counts {
    uint64_t n[2];
};

/* The objects of the type NAME in row I and below it: a row includes those of the rows below. */
static struct counts count_in(const struct gcd_tree_diff_row *rows, uint32_t i, const char *name)
{
    struct counts c = { { 0, 0 } };
    for (int when = 0; when < 2; when++) {
        uint64_t all = 0, other = 0;
        for (uint32_t k = i; k < rows[i].end; k++) {
            if (strcmp(rows[k].name, name) == 0)
                gcd_add_saturating(&all, rows[k].sums[when].objects);
            if (k > i && strcmp(rows[rows[k].parent].name, name) == 0)
                gcd_add_saturating(&other, rows[k].sums[when].objects);
        }
        c.n[when] = all > other ? all - other : 0;
    }
    return c;
}

/* How many objects of its type have come to row I, without those below it; 0: it is no type, or
 * the heap has no more of it. */
static uint64_t come_to(const struct gcd_tree_diff_row *rows, uint32_t i,
                        const struct gcd_diff *types)
{
    const struct gcd_diff_row *type =
        rows[i].depth > 0 ? answer_type_row(types, rows[i].name) : NULL;
    struct counts own = { { rows[i].sums[0].objects, rows[i].sums[1].objects } };
    if (type == NULL || type->sums[1].objects <= type->sums[0].objects)
        return 0;
    for (uint32_t k = i + 1; k < rows[i].end; k = rows[k].end)
        for (int when = 0; when < 2; when++)
            own.n[when] -=
                rows[k].sums[when].objects < own.n[when] ? rows[k].sums[when].objects : own.n[when];
    return own.n[1] > own.n[0] ? own.n[1] - own.n[0] : 0;
}

static bool is_array(const struct gcd_tree_diff_row *row)
{
    size_t n = strlen(row->name);
    return n == 0 || row->name[n - 1] == ']';
}

static bool is_own_class(const struct gcd_tree_diff_row *row)
{
    return row->depth > 0 && (row->facts & GCD_FOLD_FACT_SHOWN) != 0 && !is_array(row);
}

/* The rows of the answer. */
struct way {
    const struct gcd_tree_diff_row *owner, *field, *element;
    struct counts objects; /* of ELEMENT in FIELD */
    bool own;              /* it is a class of the program */
    bool listens;          /* between OWNER and ELEMENT is a delegate */
};

/* Is ROW a delegate, as far as names tell? */
static bool is_delegate(const struct gcd_tree_diff_row *row)
{
    static const char *const names[] = { "System.Action", "System.Func", "System.EventHandler" };
    size_t n = strcspn(row->name, "<");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(row->name, names[i], n) == 0)
            return true;
    return gcd_bytes_end(row->name, n, "EventHandler");
}

/*
 * The elements in the field of WAY.  Of objects that other fields of the owner hold, too, a few are
 * on paths through these, such as the first ones of the list of a cache: they count, unless there
 * are so many that these fields have elements of their own.
 */
static struct counts count_elements(const struct gcd_tree_diff_row *rows, const struct way *way)
{
    struct counts in = count_in(rows, (uint32_t)(way->field - rows), way->element->name),
                  all = count_in(rows, (uint32_t)(way->owner - rows), way->element->name);
    for (int when = 0; when < 2; when++)
        if (all.n[when] > in.n[when] + in.n[1] / FEW_PART + FEW)
            return in;
    return all;
}

/* Goes down to the first own objects of which there are more, and which are many for each owner;
 * else to the last objects below an owner of which there are more. */
static struct way find_way(const struct gcd_tree_diff_row *rows, size_t n,
                           const struct gcd_diff *types)
{
    struct way way = { .owner = NULL };
    uint64_t before = 0;
    for (uint32_t i = most_grown(rows, 0, (uint32_t)n, 0); i != GCD_STEP_NONE && !way.own;
         i = most_grown(rows, i + 1, rows[i].end, grown(rows[i].sums))) {
        const struct gcd_tree_diff_row *row = &rows[i];
        uint64_t come = come_to(rows, i, types);
        bool own = is_own_class(row), many = come > 0 && come / OWNED >= before;
        if (way.owner != NULL && way.field == NULL)
            way.field = row;
        way.listens = way.listens || (way.owner != NULL && is_delegate(row));
        if (way.owner != NULL && many && !is_array(row)) {
            way.element = row;
            way.own = own;
        } else if (own) {
            way = (struct way){ .owner = row };
            before = come;
        }
    }
    if (way.element != NULL)
        way.objects = count_elements(rows, &way);
    return way;
}

/* Have the objects of ELEMENT come there from other paths, which have lost as many bytes of them?
 * Then something let go of what both held. */
static bool has_moved(const struct gcd_tree_diff_row *rows, size_t n,
                      const struct gcd_tree_diff_row *element)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].sums[0].bytes > rows[i].sums[1].bytes &&
            strcmp(rows[i].name, element->name) == 0)
            gcd_add_saturating(&lost, rows[i].sums[0].bytes - rows[i].sums[1].bytes);
    return lost >= grown(element->sums) / 2;
}

bool answer_come_find(const struct gcd_tree_diff *paths, const struct gcd_diff *types,
                      const uint64_t heap[2], struct answer_come *ret)
{
    size_t n;
    const struct gcd_tree_diff_row *rows = gcd_tree_diff_rows(paths, &n);
    const struct way way = find_way(rows, n, types);
    uint64_t all = worth_growth(heap), part = way.own ? WORTH_GROWTH : WORTH_OTHER_GROWTH;
    *ret = (struct answer_come){ .owner = NULL };
    if (way.element == NULL || all == 0 || grown(way.element->sums) < all / part ||
        grown(way.element->sums) < ANSWER_GROWN_BYTES ||
        (!way.own && all < heap[0] / WORTH_OTHER_HEAP) || has_moved(rows, n, way.element))
        return false;
    uint64_t field = grown(way.field->sums), element = grown(way.element->sums);
    *ret =
        (struct answer_come){ .owner = way.owner->name,
                              .field = way.field->field,
                              .element = way.element->name,
                              .objects = { way.objects.n[0], way.objects.n[1] },
                              .listens = way.listens && way.own,
                              /* with the tables of the collection they are in */
                              .bytes = field > element && element >= field - field / 4 ? field
                                                                                       : element };
    const struct gcd_diff_row *owners = answer_type_row(types, ret->owner);
    for (int when = 0; when < 2 && owners != NULL; when++)
        ret->owners[when] = owners->sums[when].objects;
    if (owners != NULL && owners->sums[1].objects >= OWNED)
        ret->owner_bytes = grown(way.owner->sums);
    if (ret->bytes > all)
        ret->bytes = all;
    ret->share = (double)ret->bytes / (double)all;
    return true;
}

/* The method if COME is calls of an asynchronous one, else NULL. */
static const char *method_of(const struct answer_come *come)
{
    static const char async[] = "async ";
    return gcd_text_begins(come->element_said, async) ? come->element_said + sizeof async - 1
                                                      : NULL;
}

const char *answer_come_text(const struct answer_come *come, char ret[ANSWER_COME_BYTES])
{
    char bytes[GCD_TEXT_SIZE_BYTES];
    const char *field = come->field, *method = method_of(come);
    (void)snprintf(ret, ANSWER_COME_BYTES, "%s%s%s: %s -> %s %s%s, +%s, %.0f %% of the %s",
                   come->owner_said, field != NULL ? "." : "", field != NULL ? field : "",
                   GCD_DIGITS(come->objects[0]), GCD_DIGITS(come->objects[1]),
                   method != NULL ? "calls of " : "", method != NULL ? method : come->element_said,
                   gcd_text_size(come->bytes, bytes), 100 * come->share,
                   come->beside ? ANSWER_GROWTH_OF_HEAP : "growth");
    return ret;
}

const char *answer_come_advice(const struct answer_come *come, char ret[ANSWER_COME_BYTES])
{
    const char *of = come->owner_said, *what = come->element_said;
    if (come->listens)
        (void)snprintf(ret, ANSWER_COME_BYTES,
                       "Look in %s for what adds a method of each of its objects to %s%s%s and "
                       "never removes it.",
                       what, of, come->field != NULL ? "." : "",
                       come->field != NULL ? come->field : "");
    else if (method_of(come) != NULL)
        (void)snprintf(ret, ANSWER_COME_BYTES,
                       "These calls have not ended: gcdumpc async shows what they wait for.");
    else
        (void)snprintf(ret, ANSWER_COME_BYTES,
                       "Look in %s for what adds %s objects and never removes them.", of, what);
    return ret;
}
