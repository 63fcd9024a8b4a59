/*
 * How suspects have grown since an older dump of the same program.  Nodes have other numbers and
 * objects other addresses there, so a suspect is found again by its kind and place; the objects it
 * holds are counted by type, as diff counts them.
 */
#include "answer/answer_older.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/short_name.h"
#include "base/text.h"

/* A suspect has grown if it has at least one part in this many of the growth of the heap, */
#define WORTH_GROWTH 10u
/* of the heap itself, because every heap varies a little, */
#define WORTH_HEAP 100u
/* but if there are more of the program's own objects by such a part, any bytes above the threshold
 * of suspects: a slow leak in a large heap. */
#define WORTH_OBJECTS 10u
/* What has come explains a suspect, or is not explained by one, with so large a part. */
#define MOST(n) ((n) / 2)

/* With so large a part of the heap its growth must be explained. */
#define SAID_GROWTH 20u

static const struct answer_column growth_columns[] = {
    FIELD("sentence", ANSWER_TEXT),      FIELD("advice", ANSWER_TEXT),
    FIELD("evidence", ANSWER_TEXT),      FIELD("owner", ANSWER_TEXT),
    FIELD("field", ANSWER_TEXT),         FIELD("type", ANSWER_TEXT),
    FIELD("count_before", ANSWER_COUNT), FIELD("count_after", ANSWER_COUNT),
    FIELD("bytes", ANSWER_BYTES),        FIELD("growth_share", ANSWER_SHARE),
};
const struct answer_shape answer_growth_shape = ANSWER_SHAPE(growth_columns);

/* The type of what there are many of in S; GCD_TYPE_NONE = none.  Of a collection of values these
 * are what counts, not what else is in it, such as the locks of a ConcurrentDictionary. */
static uint32_t type_of_many(const struct gcd_suspect *s)
{
    bool counted = s->elements > 0 && s->elements_at_least == s->elements_at_most;
    if (s->collection != NULL && (counted || s->element.type != GCD_TYPE_NONE))
        return s->element.type;
    if (s->held_count > 0 && s->held[0].objects > s->held_objects / 2 && s->held[0].objects > 1)
        return s->held[0].type;
    return s->objects > 1 ? s->type : GCD_TYPE_NONE;
}

/* The program's type of which most of the collection S consists, within its elements: of lists in
 * a dictionary, of orders of customers; GCD_TYPE_NONE = none. */
static uint32_t type_within(const struct gcd_suspect *s)
{
    const struct gcd_suspect_part *own = &s->own[0];
    return s->collection != NULL && s->own_count > 0 && own->type != s->element.type &&
                   own->bytes >= MOST(s->bytes)
               ? own->type
               : GCD_TYPE_NONE;
}

static uint64_t more(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is large by design is an OBJECT where that is not known. */
static bool is_same_kind(enum gcd_suspect_kind a, enum gcd_suspect_kind b)
{
    return (a == GCD_SUSPECT_DESIGN ? GCD_SUSPECT_OBJECT : a) ==
           (b == GCD_SUSPECT_DESIGN ? GCD_SUSPECT_OBJECT : b);
}

/* Do A and B differ at most in lines: "a function in Program.tick, line 68.agent"?  What F# makes
 * of one computation is a class for each place where it waits. */
static bool is_other_line(const char *a, const char *b)
{
    static const char line[] = ", line ";
    const char *of_a = strstr(a, line), *of_b = strstr(b, line);
    if (of_a == NULL || of_b == NULL || of_a - a != of_b - b ||
        memcmp(a, b, (size_t)(of_a - a)) != 0)
        return false;
    of_a += sizeof line - 1;
    of_b += sizeof line - 1;
    return strcmp(of_a + strspn(of_a, "0123456789"), of_b + strspn(of_b, "0123456789")) == 0;
}

/* Are A and B the same place?  Only memory tells the method of a local variable. */
static bool is_same_place(const char *a, const char *b)
{
    static const char local[] = " in a local ";
    const char *of_a = strstr(a, local), *of_b = strstr(b, local);
    if (of_a == NULL || of_b == NULL ||
        strncmp(of_a, " in a local of ", 15) == strncmp(of_b, " in a local of ", 15))
        return strcmp(a, b) == 0 || is_other_line(a, b);
    return of_a - a == of_b - b && memcmp(a, b, (size_t)(of_a - a)) == 0;
}

/* The number of larger suspects with the place of S: two lists of one dictionary. */
static size_t number_at_place(const struct answer_older *o, const struct gcd_suspect *s)
{
    size_t n = 0;
    for (size_t i = 0; i < gcd_suspects_count(o->newer); i++) {
        const struct gcd_suspect *other = gcd_suspects_get(o->newer, i);
        if (other == s)
            return n;
        n += other->kind == s->kind && strcmp(other->place, s->place) == 0;
    }
    return 0;
}

/* A large part of a collection has the place of the collection, but another kind, if that is large
 * by design.  Of several with one place the first is compared with the first, and so on; those
 * for which there is none, such as versions of one collection, with the last. */
static const struct place *place_of(const struct answer_older *o, const struct gcd_suspect *s)
{
    const struct place *alike = NULL, *last = NULL;
    size_t before = number_at_place(o, s);
    for (size_t i = 0; i < o->place_count; i++) {
        const struct place *p = &o->places[i];
        if (!is_same_kind(p->kind, s->kind) || !is_same_place(p->name, s->place))
            continue;
        bool same = p->kind == s->kind && strcmp(p->name, s->place) == 0;
        if (same && before-- == 0)
            return p;
        if (same)
            last = p;
        alike = alike == NULL || (alike->kind != s->kind && p->kind == s->kind) ? p : alike;
    }
    return last != NULL ? last : alike;
}

/*
 * At most so many bytes of S are new: what it has of a type cannot have come if the heap has no
 * more of that type than before.  The rest of what it keeps alive was there, and was held by
 * something else, too.
 */
static uint64_t new_bytes(const struct answer_older *o, const struct gcd_session *newer,
                          const struct gcd_suspect *s)
{
    uint64_t sum = 0, told = 0, come = 0;
    if (gcd_suspect_kind_is_free(s->kind))
        return UINT64_MAX;
    for (size_t i = 0; i < s->content_count; i++) {
        const char *name = gcd_names_plain(gcd_session_names(newer), s->content[i].type);
        const struct gcd_diff_row *row = answer_type_row(o->types, name);
        uint64_t type = row != NULL ? more(row->sums[0].bytes, row->sums[1].bytes) : 0;
        gcd_add_saturating(&sum, least(s->content[i].bytes, type));
        gcd_add_saturating(&told, s->content[i].bytes);
        gcd_add_saturating(&come, type);
    }
    gcd_add_saturating(&sum, least(more(told, s->bytes), more(come, o->come_bytes)));
    return sum;
}

/* Without what moved to S when other holders of its elements let go of them: all elements count as
 * if nothing else held them, in both dumps. */
static uint64_t without_moved(const struct place *before, const struct gcd_suspect *s,
                              uint64_t grown)
{
    uint64_t elements = answer_older_elements(s), owned = answer_older_owned(s);
    if (before->elements == UINT64_MAX || elements == UINT64_MAX || owned == 0 ||
        before->elements == 0 || elements == 0 ||
        (double)owned / (double)elements <= (double)before->owned / (double)before->elements)
        return grown;
    double each = (double)s->bytes / (double)owned,
           was = before->owned > 0 ? (double)before->bytes / (double)before->owned : each,
           come = each * (double)elements - was * (double)before->elements;
    return come <= 0 ? 0 : come < (double)grown ? (uint64_t)come : grown;
}

/* Does a static variable of the framework hold S, in which nothing is the program's own?  Tables of
 * the runtime, and its caches. */
static bool is_internal(const struct gcd_session *newer, const struct gcd_origins *origins,
                        const struct gcd_suspect *s)
{
    const struct gcd_summary *f = gcd_graph_summary(gcd_session_graph(newer));
    if (s->owner != GCD_TYPE_NONE || s->own_count > 0 || s->root == SIZE_MAX)
        return false;
    const struct gcd_root *r = &f->roots[s->root];
    return r->class_name[0] != '\0' &&
           gcd_origins_of_name(origins, r->class_name) == GCD_ORIGIN_FRAMEWORK;
}

/* Objects that wait for their finalizers may have died just before the dump: only many tell
 * something, or that some waited in the older dump, too. */
static bool is_passing(const struct growth *g, const struct gcd_suspect *s)
{
    return s->kind == GCD_SUSPECT_FINALIZERS && !g->known && s->share < GCD_SUSPECTS_SHARE;
}

/* Is the growth G of S worth a word? */
static bool is_worth(const struct answer_older *o, const struct gcd_origins *origins,
                     const struct growth *g)
{
    uint64_t all = more(o->own_bytes[0], o->own_bytes[1]),
             before = g->counted ? g->objects[0] : g->heap[0],
             come = more(before, g->counted ? g->objects[1] : g->heap[1]);
    bool own = g->type != GCD_TYPE_NONE && gcd_origins_get(origins, g->type) == GCD_ORIGIN_OWN &&
               come > 0 && come >= before / WORTH_OBJECTS;
    uint64_t floor = own ? ANSWER_GROWN_BYTES : o->heap_bytes[1] / WORTH_HEAP;
    return g->grown > 0 && g->grown >= all / WORTH_GROWTH && g->grown >= floor;
}

/* Counts the objects in S of the type of G, as far as the dumps tell; ROW has all of them. */
static void count_objects(struct growth *g, const struct gcd_session *newer,
                          const struct gcd_suspect *s, const struct place *before,
                          const struct gcd_diff_row *row)
{
    const char *name = gcd_names_plain(gcd_session_names(newer), g->type);
    for (int i = 0; i < 2; i++)
        g->heap[i] = row->sums[i].objects;
    g->objects[1] = least(answer_older_many(s, g->type), g->heap[1]);
    g->counted = g->heap[0] == 0;
    for (size_t i = 0; before != NULL && i < before->many_count && !g->counted; i++) {
        g->counted = strcmp(before->many[i].type, name) == 0;
        g->objects[0] = g->counted ? least(before->many[i].objects, g->heap[0]) : 0;
    }
}

/* Tells the growth of S in objects of TYPE; returns the row with all of them, NULL = there is none.
 */
static const struct gcd_diff_row *count_type(const struct answer_older *o, struct growth *g,
                                             const struct gcd_session *newer,
                                             const struct gcd_suspect *s, uint32_t type)
{
    const struct gcd_diff_row *row =
        type != GCD_TYPE_NONE
            ? answer_type_row(o->types, gcd_names_plain(gcd_session_names(newer), type))
            : NULL;
    g->type = row != NULL ? type : GCD_TYPE_NONE;
    if (row != NULL)
        count_objects(g, newer, s, place_of(o, s), row);
    return row;
}

static bool is_as_many(const struct growth *g)
{
    return g->type != GCD_TYPE_NONE &&
           (g->counted ? g->objects[1] <= g->objects[0] : g->heap[1] <= g->heap[0]);
}

/* What several versions of an immutable collection share none of them holds alone: that another
 * one lets go of it is no growth. */
static void correct_versions(const struct answer_older *o, const struct gcd_session *newer,
                             const struct gcd_suspect *s, struct growth *g)
{
    const struct gcd_names *names = gcd_session_names(newer);
    struct answer_version_counts n = { .objects = { g->objects[0], g->objects[1] },
                                       .bytes = g->grown };
    if (g->type == GCD_TYPE_NONE || !g->counted || s->owner == GCD_TYPE_NONE)
        return;
    bool same = answer_versions_correct(o->versions, gcd_names_plain(names, s->owner),
                                        gcd_names_plain(names, g->type), &n);
    if (!n.few)
        return;
    memcpy(g->objects, n.objects, sizeof g->objects);
    g->grown = same ? 0 : n.bytes;
    g->same_elements = is_as_many(g);
}

static struct growth find_growth(const struct answer_older *o, const struct gcd_session *newer,
                                 const struct gcd_origins *origins, const struct gcd_suspect *s)
{
    struct growth g = { .bytes = s->bytes, .beside = o->outside[0] != '\0' };
    const struct place *before = place_of(o, s);
    const struct gcd_diff_row *row = count_type(o, &g, newer, s, type_of_many(s));
    g.same_elements = is_as_many(&g);
    if (g.same_elements && type_within(s) != GCD_TYPE_NONE) {
        struct growth within = g;
        const struct gcd_diff_row *inner = count_type(o, &within, newer, s, type_within(s));
        within.within = inner != NULL && !is_as_many(&within);
        if (within.within) {
            g = within;
            row = inner;
        }
    }
    /* a class of the program tells more than the unit of its row; what a compiler makes does not */
    const struct gcd_type *types = gcd_graph_summary(gcd_session_graph(newer))->types;
    bool own = g.type != GCD_TYPE_NONE && gcd_origins_get(origins, g.type) == GCD_ORIGIN_OWN &&
               strstr(types[g.type].name, "+<") == NULL;
    g.before = own ? NULL : before;
    g.known = before != NULL;
    g.bytes_before = g.known ? before->bytes : 0;
    g.grown = more(g.bytes_before, g.bytes);
    /* Under another place it may have been there: the part of its objects that is new. */
    if (!g.known && row != NULL)
        g.grown =
            g.heap[1] > g.heap[0]
                ? (uint64_t)((double)g.bytes * (double)(g.heap[1] - g.heap[0]) / (double)g.heap[1])
                : 0;
    g.grown = least(g.grown, new_bytes(o, newer, s));
    if (g.known)
        g.grown = without_moved(before, s, g.grown);
    correct_versions(o, newer, s, &g);
    uint64_t all = more(o->own_bytes[0], o->own_bytes[1]);
    /* elsewhere may be a little less than before */
    g.share = all == 0 || g.grown > all + all / 10 ? 0 : (double)least(g.grown, all) / (double)all;
    g.worth = is_worth(o, origins, &g) && !is_internal(newer, origins, s) &&
              !(s->kind == GCD_SUSPECT_TYPE && g.same_elements) && !is_passing(&g, s);
    g.full = before != NULL && g.worth && s->element.type == g.type && before->places > 0 &&
             before->places == answer_older_places(s) && g.objects[1] >= before->places &&
             g.counted && g.objects[0] < g.objects[1];
    return g;
}

/* Does what has come, and has a limit, explain the growth G? */
static bool is_filling(const struct answer_older *o, const struct gcd_names *names,
                       const struct growth *g)
{
    return o->limit.fill != NULL && g->type != GCD_TYPE_NONE &&
           strcmp(gcd_names_plain(names, g->type), o->come.element) == 0;
}

/* Do many owners, which S holds with what has come, explain most of its growth G? */
static bool is_in_owners(const struct answer_older *o, const struct gcd_names *names,
                         const struct gcd_suspect *s, const struct growth *g)
{
    for (size_t i = 0; i < s->own_count && o->come.owner_bytes >= MOST(g->grown); i++)
        if (strcmp(gcd_names_plain(names, s->own[i].type), o->come.element) == 0)
            return true;
    return false;
}

/* What has come in an element of a suspect, of which there are no more, is told instead of it; and
 * of what has a limit nothing is accused. */
static void prefer_come(struct answer_older *o, const struct gcd_names *names)
{
    for (size_t i = 0; i < o->growth_count && o->come.owner != NULL; i++) {
        struct growth *g = &o->growths[i];
        const struct gcd_suspect *s = gcd_suspects_get(o->newer, i);
        /* what else these objects are, such as tasks, is told of the suspect only */
        if (is_filling(o, names, g) ||
            (g->same_elements && s->also_count == 0 &&
             (o->come.bytes >= MOST(g->grown) || is_in_owners(o, names, s, g))))
            g->worth = false;
    }
}

/* What sentences call objects of TYPE, cut to GCD_ASYNC_STEP_BYTES. */
static const char *said_type(const struct gcd_session *newer, uint32_t type,
                             char ret[GCD_ASYNC_STEP_BYTES])
{
    const struct gcd_names *names = gcd_session_names(newer);
    const char *raw = gcd_graph_summary(gcd_session_graph(newer))->types[type].name,
               *step = gcd_names_step(names, type, ret);
    if (strstr(raw, GCD_LINKED_SOURCE) != NULL)
        return "linked sources";
    if (strcmp(step, gcd_names_get(names, type)) != 0)
        return step;
    return gcd_short_name(step, raw, ret, GCD_ASYNC_STEP_BYTES);
}

/* The unit of WHAT, "2,932 handlers, 4.3 KiB each", of ret[1] bytes from ret[0]; 0 = none. */
static void find_unit(const char *what, size_t ret[2])
{
    ret[0] = strspn(what, "0123456789,");
    ret[1] = ret[0] > 0 && what[ret[0]] == ' ' ? strcspn(&what[ret[0]], ",") : 0;
}

/* "2,611 -> 2,932 handlers", in the unit of what S holds, if BEFORE has the same one; false = it
 * has not, or that is NAME, the elements of S, which may be unknown: NULL. */
static bool unit_text(const struct gcd_suspect *s, const struct place *before, const char *name,
                      size_t size, char *ret)
{
    size_t old[2], now[2];
    if (before == NULL || (s->collection != NULL) != (name == NULL))
        return false;
    find_unit(before->what, old);
    find_unit(s->what, now);
    const char *unit = &s->what[now[0]];
    if (now[1] < 2 || old[1] != now[1] || strncmp(&before->what[old[0]], unit, now[1]) != 0 ||
        (name != NULL && gcd_text_begins(unit + 1, name)))
        return false;
    (void)snprintf(ret, size, "%.*s -> %.*s", (int)old[0], before->what, (int)(now[0] + now[1]),
                   s->what);
    return true;
}

/* "1,000 -> 3,000 Session"; where the dumps only tell those of the heap, "900 Session (in the heap
 * 1,000 -> 3,000)". */
static void count_text(const struct gcd_suspect *s, const struct growth *g,
                       const struct gcd_session *newer, size_t size, char *ret)
{
    char step[GCD_ASYNC_STEP_BYTES];
    ret[0] = '\0';
    if (g->type == GCD_TYPE_NONE) {
        (void)unit_text(s, g->before, NULL, size, ret);
        return;
    }
    const char *name = said_type(newer, g->type, step);
    if (!g->within && unit_text(s, g->before, name, size, ret))
        return;
    if (g->counted)
        (void)snprintf(ret, size, "%s -> %s %s", GCD_DIGITS(g->objects[0]),
                       GCD_DIGITS(g->objects[1]), name);
    else
        (void)snprintf(ret, size, "%s %s (in the heap %s -> %s)", GCD_DIGITS(g->objects[1]), name,
                       GCD_DIGITS(g->heap[0]), GCD_DIGITS(g->heap[1]));
}

/* "SessionStore: 1,000 -> 3,000 Session, +4.1 MiB, 53 % of the growth" */
static const char *growth_text(const struct gcd_suspect *s, const struct growth *g,
                               const struct gcd_session *newer, char ret[ANSWER_COME_BYTES])
{
    char share[48] = "", bytes[GCD_TEXT_SIZE_BYTES], count[GCD_ASYNC_STEP_BYTES + 128];
    count_text(s, g, newer, sizeof count, count);
    if (g->share > 0)
        (void)snprintf(share, sizeof share, ", %.0f %% of the %s", 100 * g->share,
                       g->beside ? ANSWER_GROWTH_OF_HEAP : "growth");
    if (g->grown == 0)
        (void)snprintf(ret, ANSWER_COME_BYTES, "%s has not grown%s%s", s->place,
                       count[0] != '\0' ? ": " : "", count);
    else
        (void)snprintf(ret, ANSWER_COME_BYTES, "%s: %s%s%s%s%s", s->place, count,
                       count[0] != '\0' ? ", " : "", g->known ? "+" : "about +",
                       gcd_text_size(g->grown, bytes), share);
    return ret;
}

/* Is S what has come in, and what of the program keeps it? */
static bool has_come_in(const struct answer_come *come, const struct gcd_names *names,
                        const struct gcd_suspect *s)
{
    static const char variable[] = "static variable ";
    bool owner = s->owner != GCD_TYPE_NONE
                     ? strcmp(gcd_names_plain(names, s->owner), come->owner) == 0
                     : gcd_text_begins(come->owner, variable) &&
                           strcmp(come->owner + sizeof variable - 1, s->place) == 0,
         element = s->element.type != GCD_TYPE_NONE &&
                   strcmp(gcd_names_plain(names, s->element.type), come->element) == 0;
    for (size_t i = 0; i < s->own_count && owner && !element; i++)
        element = strcmp(gcd_names_plain(names, s->own[i].type), come->element) == 0;
    return owner && element;
}

/* Arrays that are full, and what is a note because its limit is known, are told and not accused. */
static void find_limited(struct answer_older *o, const struct gcd_session *newer)
{
    const struct gcd_names *names = gcd_session_names(newer);
    char text[ANSWER_COME_BYTES];
    if (o->is_shared)
        (void)answer_versions_text(&o->come, answer_type_row(o->types, o->come.element),
                                   o->limited);
    for (size_t i = 0; i < o->growth_count; i++) {
        struct growth *g = &o->growths[i];
        const struct gcd_suspect *s = gcd_suspects_get(o->newer, i);
        if (!g->worth || !g->full)
            continue;
        g->worth = false;
        if (o->limited[0] == '\0')
            (void)snprintf(o->limited, sizeof o->limited,
                           "%.1500s. It fills an array that is as long as before, and has no room "
                           "for more.",
                           growth_text(s, g, newer, text));
    }
    for (size_t i = 0; i < gcd_suspects_note_count(o->newer) && o->come.owner != NULL; i++) {
        const struct gcd_suspect *s = gcd_suspects_note(o->newer, i);
        if (s->kind != GCD_SUSPECT_DESIGN || !has_come_in(&o->come, names, s))
            continue;
        if (!s->limited)
            o->design = s;
        else if (o->limited[0] == '\0')
            (void)snprintf(o->limited, sizeof o->limited, "%.1200s. %.800s",
                           answer_come_text(&o->come, text), s->advice);
    }
}

/* A little more can have come in all suspects than the heap has grown by. */
static uint64_t with_a_tenth(uint64_t bytes)
{
    gcd_add_saturating(&bytes, bytes / 10);
    return bytes;
}

/* What the rows before a suspect have told. */
struct told {
    const struct gcd_suspect **items;
    size_t count;
    uint64_t grown;
};

/* Is most of what G, the growth of S, tells told already, because it is the same bytes?  What is
 * left of it counts; of what is not known nothing does. */
static bool is_told(const struct answer_older *o, const struct gcd_suspect *s, struct growth *g,
                    const struct told *told)
{
    uint64_t all, beside = gcd_suspects_beside(o->newer, s, told->items, told->count, &all);
    if (gcd_suspect_kind_is_free(s->kind) || !s->overlaps)
        return false;
    if (all > 0 && beside < MOST(all) && told->grown >= MOST(g->grown))
        return true;
    g->own = all == 0 ? 0 : least(beside, g->grown);
    return false;
}

/* The share of each in the growth of the heap, of which none has more than all, nor all of them. */
static void find_shares(struct answer_older *o, uint64_t told)
{
    uint64_t all = more(o->own_bytes[0], o->own_bytes[1]);
    bool known = all > 0 && told <= with_a_tenth(all);
    uint64_t of = told > all ? told : all;
    for (size_t i = 0; i < o->growth_count; i++) {
        struct growth *g = &o->growths[i];
        if (g->worth || g->told)
            g->share = known && g->worth ? (double)g->own / (double)of : 0;
    }
}

/* Tells nothing twice: what overlaps is left out where the suspects before it, which one dump would
 * lead with, have most of its bytes. */
static gcd_status fold_told(struct answer_older *o, struct gcd_error *err)
{
    struct told told = { .items =
                             gcd_mem_new_array(&o->alloc, o->growth_count, sizeof *told.items) };
    if (told.items == NULL && o->growth_count > 0)
        return gcd_fail_nomem(err, "comparing suspects");
    for (size_t i = 0; i < o->growth_count; i++) {
        const struct gcd_suspect *s = gcd_suspects_get(o->newer, i);
        struct growth *g = &o->growths[i];
        if (!g->worth)
            continue;
        g->own = gcd_suspect_kind_is_free(s->kind) ? 0 : g->grown;
        g->told = is_told(o, s, g, &told);
        g->worth = !g->told;
        if (g->told)
            continue;
        told.items[told.count++] = s;
        gcd_add_saturating(&told.grown, g->own);
    }
    gcd_mem_free(&o->alloc, told.items, o->growth_count * sizeof *told.items);
    find_shares(o, told.grown);
    return GCD_OK;
}

static bool is_free(const struct answer_older *o, size_t i)
{
    return gcd_suspect_kind_is_free(gcd_suspects_get(o->newer, i)->kind);
}

/* What is worth a word comes first, and of that what lives: gaps depend on when the last collection
 * was. */
static bool is_before(const struct answer_older *o, size_t i, size_t k)
{
    const struct growth *a = &o->growths[i], *b = &o->growths[k];
    if (a->worth != b->worth)
        return a->worth;
    return is_free(o, i) != is_free(o, k) ? is_free(o, k) : a->grown > b->grown;
}

static void sort_by_growth(struct answer_older *o)
{
    for (size_t i = 0; i < o->growth_count; i++) {
        size_t at = i;
        for (; at > 0 && is_before(o, i, o->order[at - 1]); at--)
            o->order[at] = o->order[at - 1];
        o->order[at] = i;
    }
}

/* What sentences call NAME, a type of NEWER or another step of a path. */
static gcd_status say(struct answer_older *o, const struct gcd_session *newer, const char *name,
                      const char **ret, struct gcd_error *err)
{
    char buf[GCD_ASYNC_STEP_BYTES];
    const struct gcd_summary *s = gcd_graph_summary(gcd_session_graph(newer));
    const char *said = gcd_async_step_name(name, false, false, buf);
    for (uint32_t i = 0; i < s->type_count && strcmp(said, name) == 0; i++)
        if (strcmp(gcd_names_plain(gcd_session_names(newer), i), name) == 0)
            said = gcd_short_name(name, s->types[i].name, buf, sizeof buf);
    return gcd_textpool_add(&o->texts, said, strlen(said), ret) == GCD_OK
               ? GCD_OK
               : gcd_fail_nomem(err, "comparing suspects");
}

/* Paths lead to an element of several versions of an immutable collection through one of them. */
static void correct_come(struct answer_older *o)
{
    struct answer_come *c = &o->come;
    struct answer_version_counts n = { .objects = { c->objects[0], c->objects[1] },
                                       .bytes = c->bytes };
    o->is_shared = answer_versions_correct(o->versions, c->owner, c->element, &n);
    memcpy(c->objects, n.objects, sizeof c->objects);
    if (!o->is_shared && n.bytes < c->bytes) {
        c->share *= (double)n.bytes / (double)c->bytes;
        c->bytes = n.bytes;
    }
}

static gcd_status match_paths(struct answer_older *o, struct gcd_session *newer,
                              const struct gcd_tree_diff *paths, struct gcd_error *err)
{
    GCD_TRY(answer_older_add_paths(o, newer, err));
    if (o->paths != NULL) {
        GCD_TRY(gcd_tree_diff_match(o->paths, err));
        paths = o->paths;
    }
    if (paths == NULL || !answer_come_find(paths, o->types, o->own_bytes, &o->come))
        return GCD_OK;
    GCD_TRY(answer_fills_count(newer, &o->alloc, &o->fills[1], err));
    o->limit = answer_fills_limit(&o->fills[0], &o->fills[1], &o->come, newer);
    correct_come(o);
    o->come.beside = o->outside[0] != '\0';
    GCD_TRY(say(o, newer, o->come.owner, &o->come.owner_said, err));
    return say(o, newer, o->come.element, &o->come.element_said, err);
}

gcd_status answer_older_match(struct answer_older *o, struct gcd_session *newer,
                              const struct gcd_suspects *suspects,
                              const struct gcd_tree_diff *paths, struct gcd_error *err)
{
    size_t n = gcd_suspects_count(suspects);
    const struct gcd_origins *origins;
    o->heap_bytes[1] = gcd_suspects_heap_bytes(suspects);
    o->own_bytes[1] = answer_older_own_bytes(suspects);
    o->complete[1] = !gcd_suspects_lack_references(suspects);
    GCD_TRY(gcd_session_origins(newer, NULL, &origins, err));
    GCD_TRY(answer_older_add_types(o, newer, err));
    GCD_TRY(gcd_diff_match(o->types, err));
    answer_older_outside(o, newer, origins);
    for (size_t i = 0; i < gcd_diff_row_count(o->types); i++) {
        const struct gcd_diff_sum *sums = gcd_diff_row(o->types, i)->sums;
        gcd_add_saturating(&o->come_bytes, more(sums[0].bytes, sums[1].bytes));
    }
    GCD_TRY(answer_versions_count(newer, &o->alloc, &o->versions[1], err));
    GCD_TRY(match_paths(o, newer, paths, err));
    o->growths = gcd_mem_new_array(&o->alloc, n, sizeof *o->growths);
    o->order = gcd_mem_new_array(&o->alloc, n, sizeof *o->order);
    o->growth_count = n;
    if ((o->growths == NULL || o->order == NULL) && n > 0)
        return gcd_fail_nomem(err, "comparing suspects");
    o->newer = suspects;
    for (size_t i = 0; i < n; i++)
        o->growths[i] = find_growth(o, newer, origins, gcd_suspects_get(suspects, i));
    prefer_come(o, gcd_session_names(newer));
    find_limited(o, newer);
    GCD_TRY(fold_told(o, err));
    sort_by_growth(o);
    return GCD_OK;
}

/* Of one of the matched suspects, or of the largest consumer. */
static struct growth growth_of(const struct answer_of_suspects *of, const struct gcd_suspect *s)
{
    const struct answer_older *o = of->older;
    for (size_t i = 0; i < o->growth_count; i++)
        if (gcd_suspects_get(o->newer, i) == s)
            return o->growths[i];
    return find_growth(o, of->session, of->origins, s);
}

const size_t *answer_order_by_growth(const struct answer_older *o, size_t *ret_worth)
{
    *ret_worth = 0;
    for (size_t i = 0; i < o->growth_count; i++)
        *ret_worth += o->growths[i].worth;
    return o->order;
}

/* By how many bytes G has grown; less than 0: it has shrunk. */
static int64_t grown_bytes(const struct growth *g)
{
    uint64_t lost = g->known && g->bytes_before > g->bytes ? g->bytes_before - g->bytes : 0;
    return lost > 0 ? -(int64_t)(lost < INT64_MAX ? lost : INT64_MAX)
                    : (int64_t)(g->grown < INT64_MAX ? g->grown : INT64_MAX);
}

static const char *text_of(const struct answer *a, const char *key)
{
    const struct answer_cell *cell = answer_find(a, 0, key);
    return cell->known ? cell->text : NULL;
}

gcd_status answer_grown_suspects(struct answer_older *o, struct gcd_session *newer,
                                 const struct gcd_suspects *suspects,
                                 const struct gcd_tree_diff *paths, struct answer_grown *ret,
                                 struct gcd_error *err)
{
    struct answer_of_suspects of = {
        .session = newer, .suspects = suspects, .shown = suspects, .older = o
    };
    GCD_TRY(gcd_session_dominators(newer, NULL, &of.dominators, err));
    GCD_TRY(gcd_session_origins(newer, NULL, &of.origins, err));
    GCD_TRY(answer_older_match(o, newer, suspects, paths, err));
    of.order = o->order;
    of.ordered = o->growth_count;
    GCD_TRY(answer_suspects(&of, &ret->texts, err));
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL); /* as that of the texts */
    ret->rows = gcd_mem_new_array(&alloc, o->growth_count, sizeof *ret->rows);
    if (ret->rows == NULL && o->growth_count > 0)
        return gcd_fail_nomem(err, "comparing suspects");
    ret->count = o->growth_count;
    if ((ret->said = answer_growth_said(o)) == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    ret->before = (struct gcd_page_said){ .sentence = text_of(ret->said, "sentence"),
                                          .advice = text_of(ret->said, "advice"),
                                          .evidence = text_of(ret->said, "evidence") };
    for (size_t i = 0; i < ret->count; i++) {
        const struct growth *g = &o->growths[o->order[i]];
        ret->rows[i] = (struct gcd_page_growth){
            .suspect = o->order[i],
            .grown = grown_bytes(g),
            .worth = g->worth,
            .said = answer_find(ret->texts, i, "grown")->text,
            .advice = answer_find(ret->texts, i, "advice")->text,
            .evidence = answer_find(ret->texts, i, "evidence")->text,
        };
    }
    return GCD_OK;
}

void answer_grown_done(struct answer_grown *grown)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_mem_free(&alloc, grown->rows, grown->count * sizeof *grown->rows);
    answer_free(grown->texts);
    answer_free(grown->said);
}

void answer_suspect_growth(struct answer *a, const struct answer_of_suspects *of,
                           const struct gcd_suspect *s)
{
    const struct growth g = growth_of(of, s);
    char text[ANSWER_COME_BYTES];
    if (g.known) {
        answer_count(a, "bytes_before", g.bytes_before);
        answer_delta(a, "bytes_delta", g.bytes_before, g.bytes);
    } else if (g.grown > 0) {
        answer_delta(a, "bytes_delta", 0, g.grown);
    }
    answer_text(a, "grown", growth_text(s, &g, of->session, text));
}

/* How sure it is that something has GROWN, or has not. */
static const char *evidence(const struct answer_older *o, bool grown)
{
    return grown && !o->complete[0]
               ? "The older dump is incomplete: what seems to have grown may be missing in it."
           : grown ? "It grew between two dumps: a third one shows whether that goes on or "
                     "ends at a limit (gcdumpc diff)."
           : o->complete[1] ? "It did not grow between the two dumps."
                            : "The newer dump is incomplete: it may have grown all the same.";
}

/* Has come what no suspect explains? */
static bool is_unexplained(const struct answer_older *o)
{
    uint64_t most = 0;
    for (size_t i = 0; i < o->growth_count; i++) {
        const struct gcd_suspect *s = gcd_suspects_get(o->newer, i);
        /* equal texts are a part of what has come, gaps are none */
        if (o->growths[i].worth && !s->overlaps && !gcd_suspect_kind_is_free(s->kind) &&
            o->growths[i].grown > most)
            most = o->growths[i].grown;
    }
    return o->come.owner != NULL && o->limit.fill == NULL && o->limited[0] == '\0' &&
           most < MOST(o->come.bytes);
}

/* The sentence for what has come, but has a limit. */
static const char *filling(const struct answer_older *o, char ret[ANSWER_COME_BYTES])
{
    char come[ANSWER_COME_BYTES];
    if (o->limited[0] != '\0') {
        (void)snprintf(ret, ANSWER_COME_BYTES,
                       "No suspect has grown much between the two dumps. %.1900s", o->limited);
        return ret;
    }
    const struct gcd_owner_fill *f = &o->limit.fill->counts;
    (void)answer_come_text(&o->come, come);
    int n = snprintf(
        ret, ANSWER_COME_BYTES,
        "No suspect has grown much between the two dumps. %.900s. None of the %s %.400s "
        "has more than %s %.400s",
        come, GCD_DIGITS(f->owners), o->come.owner_said, GCD_DIGITS(f->most), o->come.element_said);
    if (o->limit.trimmed)
        (void)snprintf(ret + n, ANSWER_COME_BYTES - (size_t)n,
                       " (before: %s), and %s have at least three quarters of that: they seem to "
                       "be cut back to a limit. A third dump shows whether any gets more.",
                       GCD_DIGITS(o->limit.most_before), GCD_DIGITS(f->nearly));
    else if (o->limit.field != NULL)
        (void)snprintf(ret + n, ANSWER_COME_BYTES - (size_t)n,
                       ", and the limit of each is %s (%.100s): they fill up to it.",
                       GCD_DIGITS(o->limit.number), o->limit.field);
    else
        (void)snprintf(ret + n, ANSWER_COME_BYTES - (size_t)n,
                       ", as before, and %s have so many: they fill up to a limit.",
                       GCD_DIGITS(f->full));
    return ret;
}

/* The sentence for a heap that has grown, but no suspect in it; NULL = nothing to say. */
static const char *grown_without(const struct answer_older *o, char ret[ANSWER_COME_BYTES])
{
    char all[GCD_TEXT_SIZE_BYTES], one[GCD_TEXT_SIZE_BYTES];
    uint64_t grown = more(o->own_bytes[0], o->own_bytes[1]);
    if (!o->complete[0] || !o->complete[1])
        return NULL;
    if (o->limit.fill != NULL || o->limited[0] != '\0')
        return filling(o, ret);
    if (grown < o->own_bytes[0] / SAID_GROWTH || gcd_diff_row_count(o->types) == 0 ||
        grown < ANSWER_GROWN_BYTES)
        return NULL;
    const struct gcd_diff_row *row = gcd_diff_row(o->types, 0);
    if (row->sums[1].bytes <= row->sums[0].bytes)
        return NULL;
    (void)snprintf(ret, ANSWER_COME_BYTES,
                   "The heap has grown by %s, of which no suspect explains much. Most are %.400s: "
                   "%s -> %s, +%s. gcdumpc diff --paths shows what holds what has come.",
                   gcd_text_size(grown, all), row->name, GCD_DIGITS(row->sums[0].objects),
                   GCD_DIGITS(row->sums[1].objects),
                   gcd_text_size(row->sums[1].bytes - row->sums[0].bytes, one));
    return ret;
}

/* The sentence for no suspect that has grown. */
static const char *not_grown(const struct answer_older *o, char ret[ANSWER_COME_BYTES])
{
    const char *said = grown_without(o, ret);
    if (said != NULL)
        return said;
    return o->complete[0] && o->complete[1]
               ? "No suspect has grown much between the two dumps."
               : "No suspect has grown much in what has arrived of the two dumps; not all has.";
}

/* Where to look; what may be a limit is said, too. */
static void put_come_advice(struct answer *a, const struct answer_older *o)
{
    char text[ANSWER_COME_BYTES];
    const char *advice = answer_come_advice(&o->come, text);
    if (o->design != NULL)
        answer_format(a, "advice",
                      "That is a cache or a pool, which may still fill up to its limit. If it has "
                      "none, %c%s",
                      advice[0] - 'A' + 'a', advice + 1);
    else if (o->limit.equal != NULL)
        answer_format(a, "advice",
                      "%s of %s %s have %s each: if that is their limit, nothing is wrong. Else "
                      "%c%s",
                      GCD_DIGITS(o->limit.equal->counts.full),
                      GCD_DIGITS(o->limit.equal->counts.owners), o->come.owner_said,
                      GCD_DIGITS(o->limit.equal->counts.most), advice[0] - 'A' + 'a', advice + 1);
    else
        answer_text(a, "advice", advice);
}

struct answer *answer_growth_said(const struct answer_older *o)
{
    char text[ANSWER_COME_BYTES];
    struct answer *a = answer_new(NULL, &answer_growth_shape);
    size_t worth;
    (void)answer_order_by_growth(o, &worth);
    answer_row(a);
    bool unexplained = is_unexplained(o);
    const char *said = unexplained  ? answer_come_text(&o->come, text)
                       : worth == 0 ? not_grown(o, text)
                                    : "",
               *space = o->outside[0] != '\0' && said[0] != '\0' ? " " : "";
    if (said[0] != '\0' || o->outside[0] != '\0')
        answer_format(a, "sentence", "%s%s%s%s", o->outside, space, said, unexplained ? "." : "");
    if (!unexplained)
        return a;
    put_come_advice(a, o);
    answer_text(a, "evidence", evidence(o, true));
    answer_text(a, "owner", o->come.owner);
    answer_text(a, "field", o->come.field);
    answer_text(a, "type", o->come.element);
    answer_count(a, "count_before", o->come.objects[0]);
    answer_count(a, "count_after", o->come.objects[1]);
    answer_count(a, "bytes", o->come.bytes);
    answer_share(a, "growth_share", (uint64_t)(o->come.share * 10000 + 0.5), 10000);
    return a;
}

static gcd_status growth_line(const struct answer_of_suspects *of, char ret[ANSWER_COME_BYTES],
                              bool *ret_any, struct gcd_error *err)
{
    const struct answer_older *o = of->older;
    size_t worth;
    const size_t *order = answer_order_by_growth(o, &worth);
    *ret_any = true;
    if (is_unexplained(o)) {
        (void)answer_come_text(&o->come, ret);
        return GCD_OK;
    }
    if (worth == 0) {
        *ret_any = grown_without(o, ret) != NULL;
        return GCD_OK;
    }
    struct answer *a = answer_new(NULL, &answer_suspects_shape);
    answer_row(a);
    answer_suspect_growth(a, of, gcd_suspects_get(of->suspects, order[0]));
    if (a != NULL)
        (void)snprintf(ret, ANSWER_COME_BYTES, "%s", answer_find(a, 0, "grown")->text);
    answer_free(a);
    return a != NULL ? GCD_OK : gcd_fail_nomem(err, "comparing suspects");
}

gcd_status answer_growth_line(const struct answer_of_suspects *of, char ret[ANSWER_LINE_BYTES],
                              bool *ret_any, struct gcd_error *err)
{
    char line[ANSWER_COME_BYTES];
    const char *outside = of->older->outside;
    GCD_TRY(growth_line(of, line, ret_any, err));
    (void)snprintf(ret, ANSWER_LINE_BYTES, "%s%s%s", outside,
                   outside[0] != '\0' && *ret_any ? " " : "", *ret_any ? line : "");
    *ret_any = ret[0] != '\0';
    return GCD_OK;
}

bool answer_note_has_grown(const struct answer_older *o, const struct gcd_suspect *s)
{
    const struct place *before = place_of(o, s);
    uint64_t grown = more(before != NULL ? before->bytes : 0, s->bytes);
    return grown >= ANSWER_GROWN_BYTES && grown >= o->heap_bytes[1] / WORTH_HEAP;
}

/* What S would have if it were limited, of which that is not known: "SizeLimit"; NULL. */
static const char *unknown_limit(const struct gcd_suspect *s)
{
    if (s->collection != NULL && strcmp(s->collection, "cache") == 0)
        return s->unlimited ? NULL : "SizeLimit";
    return s->may_be_limited ? "limit" : NULL;
}

/* The advice about S, and how sure it is. */
void answer_grown_advice(struct answer *a, const struct answer_of_suspects *of,
                         const struct gcd_suspect *s)
{
    const struct growth g = growth_of(of, s);
    const char *advice = s->advice + (g.grown > 0 ? s->advice_condition : 0);
    char step[GCD_ASYNC_STEP_BYTES];
    if (g.grown > 0 && g.same_elements && !g.within && s->kind == GCD_SUSPECT_OBJECT)
        answer_format(a, "advice",
                      "There are no more %s objects than before: look for what makes them larger.",
                      said_type(of->session, g.type, step));
    else if (advice == s->advice)
        answer_text(a, "advice", advice);
    else if (unknown_limit(s) != NULL)
        answer_format(a, "advice", "If it has no %s, %s", unknown_limit(s), advice);
    else
        answer_format(a, "advice", "%c%s", *advice - 'a' + 'A', advice + 1);
    answer_text(a, "evidence", evidence(of->older, g.grown > 0));
}
