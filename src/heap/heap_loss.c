/* Complete or not: every check that the data allow, in one place. */
#include <inttypes.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/verdict.h"
#include "heap/heap.h"

static void check_index(struct gcd_verdict *v, const struct heap_walk *w, enum heap_bulk kind,
                        enum gcd_reason_code code, const char *what)
{
    uint64_t n = w->index[kind].missing;
    if (n > 0)
        gcd_verdict_add(v, code, n, "%s event%s with %s %s missing (gaps in their numbering)",
                        GCD_DIGITS(n), gcd_plural(n), what, gcd_by_number(n, "is", "are"));
}

/*
 * A session that requests types gets each description once, as long as no other session requests
 * them (gc-events.md, section 13).  An empty name among others is all the runtime ever says (the
 * name is too long); no names at all mean that nobody requested them, or Native AOT.
 */
static void check_types(struct gcd_verdict *v, const struct gcd_heap *h, const struct heap_walk *w)
{
    uint64_t types = 0, objects = 0, named = 0, doubtful = 0;
    for (size_t i = 0; i < w->used_count; i++) {
        const struct gcd_type *t = &h->types[w->used_types[i]].type;
        doubtful += heap_type_doubtful(h, &h->types[w->used_types[i]]);
        named += t->named;
        types += !t->described;
        objects += t->described ? 0 : w->counts[w->used_types[i]].objects;
    }
    if (types > 0)
        gcd_verdict_add(v, GCD_REASON_TYPES_UNDESCRIBED, types,
                        "%s type%s of %s object%s %s no description and no name", GCD_DIGITS(types),
                        gcd_plural(types), GCD_DIGITS(objects), gcd_plural(objects),
                        gcd_by_number(types, "has", "have"));
    else if (named == 0)
        gcd_verdict_add(v, GCD_REASON_TYPES_UNDESCRIBED, w->used_count, "no type has a name");
    if (doubtful > 0)
        gcd_verdict_add(v, GCD_REASON_TYPES_AMBIGUOUS, doubtful,
                        "%s type%s may have the name or module of another one that had the "
                        "same id",
                        GCD_DIGITS(doubtful), gcd_plural(doubtful));
}

/* The amount lost: exactly N or at least N of WHAT.  SEEN: some loss is known, although perhaps not
 * of this kind. */
static void add_lost(struct gcd_verdict *v, enum gcd_reason_code code, uint64_t n, bool exact,
                     bool seen, const char *what)
{
    if (n > 0)
        gcd_verdict_add(v, code, n, "%s%s %s%s lost", exact ? "" : "at least ", GCD_DIGITS(n), what,
                        gcd_by_number(n, " is", "s are"));
    else if (!exact && seen)
        gcd_verdict_add(v, code, 0, "it is unknown how many %ss are lost", what);
}

/* The least size of a reference; of objects without room for any, such as those of a collectible
 * type, a few are counted. */
#define REFERENCE_BYTES  4u
#define REFERENCES_EXTRA 4u
/* So many missing ones are told as they are. */
#define REFERENCES_FEW 10000u

/* Do the objects claim far more references than there is room for in them? */
static bool claims_too_many(const struct heap_walk *w)
{
    return w->edges_declared > w->edges && w->edges_declared - w->edges > REFERENCES_FEW &&
           w->edges_declared / REFERENCES_EXTRA > w->objects &&
           w->edges_declared - REFERENCES_EXTRA * w->objects > w->bytes / REFERENCE_BYTES;
}

static void check_edges(struct gcd_verdict *v, const struct heap_walk *w)
{
    if (w->edges == w->edges_declared)
        return;
    if (claims_too_many(w)) {
        gcd_verdict_add(v, GCD_REASON_EDGES_UNBALANCED, 0,
                        "the objects claim more references than fit into them, so a part of the "
                        "recording is damaged; %s %s received",
                        GCD_DIGITS(w->edges), gcd_by_number(w->edges, "was", "were"));
        return;
    }
    gcd_verdict_add(v, GCD_REASON_EDGES_UNBALANCED,
                    w->edges > w->edges_declared ? w->edges - w->edges_declared
                                                 : w->edges_declared - w->edges,
                    "the objects have %s reference%s, %s %s received",
                    GCD_DIGITS(w->edges_declared), gcd_plural(w->edges_declared),
                    GCD_DIGITS(w->edges), gcd_by_number(w->edges, "was", "were"));
}

static void check_loss(struct gcd_verdict *v, const struct heap_walk *w,
                       const struct gcd_trace_info *trace)
{
    const struct heap_loss *l = &w->loss;
    bool seen = trace->lost_events > 0 || trace->lost_buffers > 0 || trace->damaged_buffers > 0 ||
                trace->repeated_buffers > 0 || trace->end != GCD_TRACE_CLOSED ||
                w->index[HEAP_NODES].missing > 0 || w->index[HEAP_EDGES].missing > 0 ||
                w->damaged > 0;
    add_lost(v, GCD_REASON_OBJECTS_LOST, l->objects, l->objects_exact, seen, "object");
    bool damaged = claims_too_many(w);
    add_lost(v, GCD_REASON_EDGES_LOST, damaged ? 0 : l->edges, !damaged && l->edges_exact,
             seen || damaged, "reference");
    if (l->edges_dropped > 0)
        gcd_verdict_add(v, GCD_REASON_EDGES_DROPPED, l->edges_dropped,
                        "%s reference%s left out, because the owner is lost or uncertain",
                        GCD_DIGITS(l->edges_dropped),
                        gcd_by_number(l->edges_dropped, " is", "s are"));
}

static void check_damage(struct gcd_verdict *v, const struct gcd_heap *h)
{
    const struct heap_walk *w = h->chosen;
    uint64_t n = w->damaged + h->damaged_outside, names = heap_recorded_damaged(h);
    if (n > 0)
        gcd_verdict_add(v, GCD_REASON_EVENTS_DAMAGED, n + w->nowhere + names,
                        "%s heap event%s could not be decoded", GCD_DIGITS(n), gcd_plural(n));
    else if (w->nowhere > 0)
        gcd_verdict_add(v, GCD_REASON_EVENTS_DAMAGED, w->nowhere + names, "%s object%s no address",
                        GCD_DIGITS(w->nowhere), gcd_by_number(w->nowhere, " has", "s have"));
    else if (names > 0)
        gcd_verdict_add(v, GCD_REASON_EVENTS_DAMAGED, names,
                        "names and memory that gcdumpc recorded are damaged, in %s place%s",
                        GCD_DIGITS(names), gcd_plural(names));
}

/* Events that may belong to the walk: it is unknown what they are. */
static void check_unknown(struct gcd_verdict *v, const struct gcd_heap *h,
                          const struct gcd_trace_info *trace)
{
    const struct heap_walk *w = h->chosen;
    uint64_t n = trace->unknown_events + h->misdescribed, strangers = 0;
    if (trace->numbers_events) {
        strangers = w->strangers;
        /* the GC reports its ranges before and after the walk */
        n += h->halves +
             (w->closed && w->have_start && w->range_count == 0 && w->range_ns >= w->start.time_ns);
    }
    if (strangers > 0)
        gcd_verdict_add(v, GCD_REASON_EVENTS_UNKNOWN, n + strangers,
                        "%s event%s the heap walk, or %s a wrong description",
                        GCD_DIGITS(n + strangers),
                        gcd_by_number(n + strangers, " does not belong in", "s do not belong in"),
                        gcd_by_number(n + strangers, "has", "have"));
    else if (n > 0)
        gcd_verdict_add(v, GCD_REASON_EVENTS_UNKNOWN, n, "%s event%s no %sdescription",
                        GCD_DIGITS(n), gcd_by_number(n, " has", "s have"),
                        n > trace->unknown_events ? "valid " : "");
}

/*
 * CoreCLR has static variables from its start, and sends them since 3.1 (.NET Core 3 has other type
 * ids for arrays: bit 1 is set).  Native AOT sends neither them nor names of types.
 */
static bool sends_statics(const struct gcd_heap *h, const struct heap_walk *w)
{
    bool named = false;
    for (size_t i = 0; i < w->used_count; i++) {
        const struct gcd_type *t = &h->types[w->used_types[i]].type;
        named = named || t->named;
        if ((t->id & 2) != 0)
            return false;
    }
    return named;
}

/* A process without roots, or without static variables, does not exist. */
static void check_roots(struct gcd_verdict *v, const struct gcd_heap *h,
                        const struct gcd_trace_info *trace)
{
    const struct heap_walk *w = h->chosen;
    if (w->index[HEAP_ROOTS].events == 0)
        gcd_verdict_add(v, GCD_REASON_ROOT_EVENTS_MISSING, 0,
                        w->static_events > 0 ? "no roots but static variables were recorded"
                                             : "no roots were recorded");
    if (trace->numbers_events && w->static_events == 0 && sends_statics(h, w))
        gcd_verdict_add(v, GCD_REASON_STATIC_EVENTS_MISSING, 0,
                        "no static variables were recorded");
}

void heap_verdict(const struct gcd_heap *h, const struct gcd_trace_info *trace, bool thread_closed,
                  const char *damage_text, const char *input_damage_text, struct gcd_verdict *ret)
{
    const struct heap_walk *w = h->chosen;
    *ret = (struct gcd_verdict){ .complete = true };
    if (trace->end == GCD_TRACE_TRUNCATED && trace->damage_off == GCD_OFF_NONE)
        gcd_verdict_add(ret, GCD_REASON_MEMORY_MISSING, 0, "%s", damage_text);
    else if (trace->end == GCD_TRACE_TRUNCATED)
        gcd_verdict_add(ret, GCD_REASON_TRACE_TRUNCATED, trace->damage_off,
                        "the recording ends early, at byte %" PRIu64, trace->damage_off);
    else if (trace->end != GCD_TRACE_CLOSED)
        gcd_verdict_add(ret, GCD_REASON_TRACE_DAMAGED, trace->damage_off,
                        "the recording is damaged at byte %" PRIu64 ": %s", trace->damage_off,
                        damage_text);
    if (input_damage_text != NULL)
        gcd_verdict_add(ret, GCD_REASON_INPUT_DAMAGED, 0, "%s", input_damage_text);
    if (trace->lost_events > 0 && trace->lost_threads == 0) /* by any thread of any process */
        gcd_verdict_add(ret, GCD_REASON_EVENTS_LOST, trace->lost_events,
                        "%s event%s were lost during the recording", GCD_DIGITS(trace->lost_events),
                        gcd_plural(trace->lost_events));
    else if (trace->lost_events > 0)
        gcd_verdict_add(ret, GCD_REASON_EVENTS_LOST, trace->lost_events,
                        "%s%s event%s of %s thread%s were lost in the target",
                        trace->loss_verified ? "" : "at least ", GCD_DIGITS(trace->lost_events),
                        gcd_plural(trace->lost_events), GCD_DIGITS(trace->lost_threads),
                        gcd_plural(trace->lost_threads));
    else if (!trace->loss_verified && !trace->has_sequence_numbers)
        gcd_verdict_add(ret, GCD_REASON_LOSS_UNVERIFIED, 0,
                        "this format has no sequence numbers, so lost events cannot be detected");
    else if (!trace->loss_verified && trace->irregular_steps > 0)
        gcd_verdict_add(ret, GCD_REASON_LOSS_UNVERIFIED, trace->irregular_steps,
                        "the recording contradicts itself in %" PRIu64
                        " place%s, so lost events cannot be ruled out",
                        trace->irregular_steps, gcd_plural(trace->irregular_steps));
    else if (!trace->loss_verified)
        gcd_verdict_add(ret, GCD_REASON_LOSS_UNVERIFIED, 0,
                        "the final count of events is missing, so lost events cannot be ruled out");
    else if (trace->lost_events == 0 && !thread_closed)
        gcd_verdict_add(ret, GCD_REASON_LOSS_UNVERIFIED, 0,
                        "the final count of events leaves out the thread that walked the heap");
    if (trace->lost_buffers > 0)
        gcd_verdict_add(ret, GCD_REASON_BUFFERS_LOST, trace->lost_buffers,
                        "%s buffer%s of events %s missing", GCD_DIGITS(trace->lost_buffers),
                        gcd_plural(trace->lost_buffers),
                        gcd_by_number(trace->lost_buffers, "is", "are"));
    if (trace->damaged_buffers > 0)
        gcd_verdict_add(ret, GCD_REASON_BUFFERS_DAMAGED, trace->damaged_buffers,
                        "%s buffer%s of events %s damaged", GCD_DIGITS(trace->damaged_buffers),
                        gcd_plural(trace->damaged_buffers),
                        gcd_by_number(trace->damaged_buffers, "is", "are"));
    if (trace->repeated_buffers > 0)
        gcd_verdict_add(ret, GCD_REASON_BUFFERS_REPEATED, trace->repeated_buffers,
                        "%s buffer%s of events with the number of another "
                        "one %s left out",
                        GCD_DIGITS(trace->repeated_buffers), gcd_plural(trace->repeated_buffers),
                        gcd_by_number(trace->repeated_buffers, "is", "are"));
    check_index(ret, w, HEAP_NODES, GCD_REASON_NODE_EVENTS_MISSING, "objects");
    check_index(ret, w, HEAP_EDGES, GCD_REASON_EDGE_EVENTS_MISSING, "references");
    check_index(ret, w, HEAP_ROOTS, GCD_REASON_ROOT_EVENTS_MISSING, "roots");
    check_roots(ret, h, trace);
    check_index(ret, w, HEAP_DEPENDENTS, GCD_REASON_DEPENDENT_EVENTS_MISSING, "dependent handles");
    check_edges(ret, w);
    check_loss(ret, w, trace);
    check_damage(ret, h);
    check_unknown(ret, h, trace);
    if (h->outside > 0)
        gcd_verdict_add(ret, GCD_REASON_EVENTS_MISPLACED, h->outside,
                        "%s heap event%s outside a complete heap walk", GCD_DIGITS(h->outside),
                        gcd_by_number(h->outside, " lies", "s lie"));
    else if (w->disorder)
        gcd_verdict_add(ret, GCD_REASON_EVENTS_MISPLACED, 0,
                        "events of the heap walk are not in order");
    if (w->state != HEAP_WALK_CONFIRMED)
        gcd_verdict_add(ret, GCD_REASON_NO_GC_START, 0,
                        w->have_start
                            ? "the heap walk does not belong to a blocking GC of generation 2"
                            : "the start of the GC that walked the heap was not recorded");
    if (!w->closed)
        gcd_verdict_add(ret, GCD_REASON_NO_GC_END, 0, "the end of the heap walk was not recorded");
    check_types(ret, h, w);
}
