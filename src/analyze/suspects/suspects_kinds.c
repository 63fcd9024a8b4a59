/* The kinds of suspects: their names and the functions that write their sentences. */
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"

/* The advice of such a clause is better than that of any kind. */
#define ADVICE_OVER_ALL 3u

typedef void suspect_text(struct suspect_words *s, const struct suspect *x);

/*
 * TELL writes the facts; a kind that has it can be a clause of a suspect that consists of the same
 * objects.  Then the suspect gets the advice with the highest ADVICE_RANK; 0 = the suspect's own.
 * SAY writes the whole sentence; NULL = what TELL writes, what KEEP keeps alive or, if TELLS_SHARE,
 * its share of the heap, and who holds HELD.  ADVISE writes what to look at next; NULL = ADVICE.
 */
static const struct {
    const char *name, *title;
    const char *what; /* the counted things, in the plural */
    /* at least this many objects, unless most of another suspect consists of them; 0 = any number
     */
    uint32_t least;
    bool by_bytes; /* and they keep the threshold alive */
    suspect_text *say, *advise, *tell;
    const char *keep, *held, *advice; /* NULL = nothing */
    bool tells_share;
    unsigned advice_rank;
    bool is_free;     /* its bytes are free memory and not part of the heap's bytes */
    bool counts_type; /* its objects are of its type */
    bool is_note;     /* nobody's fault */
    enum { GROWS, IS_SO, STUCK, FOREVER } how_sure;
} kinds[GCD_SUSPECT_KINDS] = {
    [GCD_SUSPECT_OBJECT] = { "object", "One object", "objects", 0, true, suspects_say_object,
                             suspects_advise_object, .tell = NULL },
    [GCD_SUSPECT_HANDLERS] = { "handlers", "Event handlers", "handlers of one event", 0, true,
                               suspects_say_handlers, suspects_advise_handlers,
                               suspects_tell_handlers, .advice_rank = 2 },
    [GCD_SUSPECT_TYPE] = { "type", "Objects of one type", "objects of one type", 0, true,
                           suspects_say_type, suspects_advise_type, .counts_type = true },
    [GCD_SUSPECT_FINALIZERS] = { "finalizers", "Finalizer queue", "objects", 0, true,
                                 suspects_say_finalizers, suspects_advise_finalizers, .tell = NULL,
                                 .how_sure = STUCK },
    [GCD_SUSPECT_PINNED] = { "pinned", "Pinned objects", "pinned objects", SUSPECTS_PINNED, true,
                             suspects_say_pinned, suspects_advise_pinned, .is_free = true,
                             .how_sure = IS_SO },
    [GCD_SUSPECT_COLLECTIONS] = { "collections", "Small collections",
                                  "collections of one type and size", SUSPECTS_ALIKE, true,
                                  .advise = suspects_advise_collections,
                                  .tell = suspects_tell_collections, .advice_rank = 2,
                                  .counts_type = true, .how_sure = IS_SO,
                                  .held = "One of them is" },
    [GCD_SUSPECT_SPARSE] = { "sparse", "Sparse collections", "collections of one type", 0, true,
                             suspects_say_sparse, suspects_advise_sparse, suspects_tell_sparse,
                             .advice_rank = 2, .counts_type = true, .how_sure = IS_SO },
    [GCD_SUSPECT_TIMERS] = { "timers", "Timers", "timers", FINDING_TIMERS, true,
                             suspects_say_timers, suspects_advise_timers, suspects_tell_timers,
                             .advice_rank = 1, .counts_type = true },
    [GCD_SUSPECT_CANCELLATION] = { "cancellation", "Cancellation callbacks",
                                   "callbacks of one source", FINDING_REGISTRATIONS, true,
                                   .advise = suspects_advise_cancellation,
                                   .tell = suspects_tell_cancellation, .advice_rank = 2,
                                   .keep = ". They", .held = "The source is" },
    [GCD_SUSPECT_CONTINUATIONS] = { "continuations", "Continuations of one task",
                                    "continuations of one task", FINDING_CONTINUATIONS, true,
                                    suspects_say_continuations,
                                    .advice = "A task that completes late, or never, keeps all "
                                              "that waits for it: wait once, or with "
                                              "Task.WaitAsync and a CancellationToken.",
                                    .tell = suspects_tell_continuations, .advice_rank = 2,
                                    .how_sure = STUCK },
    [GCD_SUSPECT_TASKS] = { "tasks", "Tasks that do not complete", "tasks of one type",
                            FINDING_TASKS, true, .advise = suspects_advise_tasks,
                            .tell = suspects_tell_tasks, .advice_rank = 2, .counts_type = true,
                            .how_sure = STUCK, .keep = ". They" },
    [GCD_SUSPECT_ASYNC] = { "async", "Asynchronous calls", "calls of one method", FINDING_CALLS,
                            true, suspects_say_async,
                            .advice = "See what they wait for: gcdumpc async.",
                            .tell = suspects_tell_async, .counts_type = true, .how_sure = STUCK },
    [GCD_SUSPECT_BOXED] = { "boxed", "Boxed values", "values of one type", FINDING_BOXED, true,
                            .advice =
                                "Each is an object of its own: keep values in fields, arrays and "
                                "collections of their type instead of object or an interface.",
                            .tell = suspects_tell_boxed, .advice_rank = 2, .counts_type = true,
                            .how_sure = IS_SO, .held = "One of them is" },
    [GCD_SUSPECT_TRACKER] = { "tracker", "Tracked entities", "entities of one DbContext",
                              FINDING_ENTITIES, true,
                              .advice = "Use a DbContext for one unit of work and dispose of it, "
                                        "or read with AsNoTracking what is not changed.",
                              .tell = suspects_tell_tracker, .advice_rank = 2, .keep = ". They",
                              .held = "It is" },
    [GCD_SUSPECT_HTTP] = { "http", "HTTP handlers", "handlers", FINDING_HTTP, true,
                           .advice = "Share one HttpClient, or let IHttpClientFactory make them.",
                           .tell = suspects_tell_http, .advice_rank = 2, .counts_type = true,
                           .keep = ". They", .held = "One of them is" },
    [GCD_SUSPECT_CODE] = { "code", "Methods compiled at run time", "methods", FINDING_METHODS, true,
                           .advice = "Compile each expression or Regex once and keep it, or do not "
                                     "compile what is used only once.",
                           .tell = suspects_tell_code, .advice_rank = 2, .counts_type = true,
                           .keep = ". Beside their machine code, which is not on the heap, they",
                           .held = "One of them is" },
    [GCD_SUSPECT_WAITS] = { "waits", "Registered waits", "waits", FINDING_WAITS, true,
                            .advise = suspects_advise_waits, .tell = suspects_tell_waits,
                            .advice_rank = 2, .counts_type = true, .keep = ". They" },
    [GCD_SUSPECT_INTERNED] = { "interned", "Interned strings", "strings", FINDING_INTERNED, true,
                               suspects_say_interned,
                               .advice = "Look for string.Intern of text that comes from outside: "
                                         "a HashSet<string> of your own can be emptied.",
                               .tell = suspects_tell_interned, .advice_rank = 2 },
    [GCD_SUSPECT_THREAD_STATICS] = { "thread_statics", "Thread-static variables", "threads", 0,
                                     true, suspects_say_thread_statics,
                                     .advice = "They live as long as their threads: limit what is "
                                               "cached in a thread, or clear it after use.",
                                     .advice_rank = 2 },
    [GCD_SUSPECT_ASSEMBLIES] = { "assemblies", "Assembly loaded many times",
                                 "copies of one assembly", FINDING_LOADS, false,
                                 suspects_say_assemblies, suspects_advise_assemblies, .tell = NULL,
                                 .how_sure = FOREVER },
    [GCD_SUSPECT_FRAGMENTATION] = { "fragmentation", "Free memory between large objects",
                                    "large objects", FINDING_LARGE, true,
                                    suspects_say_fragmentation,
                                    .advice =
                                        "Reuse large arrays (ArrayPool, RecyclableMemoryStream) "
                                        "instead of making them anew in many sizes.",
                                    .is_free = true, .how_sure = IS_SO },
    [GCD_SUSPECT_PINS] = { "pins", "Pinning handles", "objects", FINDING_PINS, true,
                           .advice = "Free each pinned GCHandle, also after an exception, or "
                                     "allocate what stays pinned with GC.AllocateArray.",
                           .tell = suspects_tell_pins, .advice_rank = 2, .keep = ". The handles" },
    [GCD_SUSPECT_WEAK_TABLE] = { "weak_table", "Dependent handles", "handles with the same types",
                                 FINDING_WEAK_ENTRIES, true, .advise = suspects_advise_weak_table,
                                 .tell = suspects_tell_weak_table, .advice_rank = 2,
                                 .counts_type = true, .tells_share = true,
                                 .held = "One of them is" },
    [GCD_SUSPECT_FLOWS] = { "flows", "Values of AsyncLocal", "execution contexts", FINDING_FEW,
                            true, .advise = suspects_advise_flows, .tell = suspects_tell_flows,
                            .advice_rank = ADVICE_OVER_ALL, .tells_share = true,
                            .held = "One of them is" },
    [GCD_SUSPECT_DUPLICATES] = { "duplicates", "Equal strings", "copies of strings", 0, true,
                                 suspects_say_duplicates,
                                 .advice = "Keep one string of each text: look it up in a table "
                                           "where it is read. gcdumpc strings shows all that are "
                                           "there several times.",
                                 .tell = suspects_tell_duplicates, .advice_rank = 2,
                                 .counts_type = true, .how_sure = IS_SO },
    [GCD_SUSPECT_POOLS] = { "pools", "Pool", "pools", 1, true, suspects_say_pools,
                            suspects_advise_pools, .is_note = true },
    /* an OBJECT until its advice says so */
    [GCD_SUSPECT_DESIGN] = { "design", "Large by design", "objects", 0, true, suspects_say_object,
                             suspects_advise_object, .is_note = true },
};

const char *gcd_suspect_kind_name(enum gcd_suspect_kind kind)
{
    return kinds[kind].name;
}

const char *gcd_suspect_kind_title(enum gcd_suspect_kind kind)
{
    return kinds[kind].title;
}

bool gcd_suspect_kind_is_free(enum gcd_suspect_kind kind)
{
    return kinds[kind].is_free;
}

bool gcd_suspect_kind_is_note(enum gcd_suspect_kind kind)
{
    return kinds[kind].is_note;
}

const char *suspects_what(enum gcd_suspect_kind kind)
{
    return kinds[kind].what;
}

bool suspects_has_clause(enum gcd_suspect_kind kind)
{
    return kinds[kind].tell != NULL;
}

bool suspects_counts_type(enum gcd_suspect_kind kind)
{
    return kinds[kind].counts_type;
}

void suspects_begin_checks(struct gcd_suspects *s)
{
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++)
        s->checks[i] =
            (struct gcd_suspect_check){ .what = kinds[i].what,
                                        .least_objects = kinds[i].least,
                                        .least_bytes = kinds[i].by_bytes ? s->threshold : 0 };
}

static gcd_status keep_text(const struct suspect_words *s, const char **ret, struct gcd_error *err)
{
    gcd_status st = gcd_textpool_add(&s->w->s->pool, s->text, s->n, ret);
    if (st == GCD_E_NOMEM)
        return gcd_fail_nomem(err, "describing suspects");
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "too many suspects to describe");
}

static bool is_gate(const struct suspects_work *w, const struct suspect *x)
{
    return x->pub.kind == GCD_SUSPECT_OBJECT && suspects_is_gate(w, x);
}

/* " Also: 3,000 calls of the asynchronous method Shop.Checkout.PayAsync wait."; all but LEAD, and
 * but for what waits for a semaphore, which its sentence tells. */
static void put_also(struct suspect_words *s, const struct suspect *x, const struct suspect *lead)
{
    bool any = false, gate = is_gate(s->w, x);
    for (size_t i = 0; i < x->pub.also_count; i++) {
        const struct suspect *f = &s->w->s->items[x->also[i]];
        bool waits = f->pub.kind == GCD_SUSPECT_TASKS || f->pub.kind == GCD_SUSPECT_ASYNC;
        if (f == lead || (gate && waits))
            continue;
        suspects_put(s, any ? "; " : " Also: ");
        any = true;
        size_t at = s->n;
        kinds[f->pub.kind].tell(s, f);
        if (s->text[at] == 'A' || s->text[at] == 'O' ||
            s->text[at] == 'T') /* an article, "One": names do not come first */
            s->text[at] = (char)(s->text[at] - 'A' + 'a');
    }
    suspects_put(s, any ? "." : "");
}

#define SMALL_VALUE (UINT64_C(64) << 10)

/* Are the keys of F the elements of X, each with one small value?  That is what such a table is
 * for. */
static bool is_one_each(const struct suspect *x, const struct suspect *f)
{
    return x->pub.held_count > 0 && x->pub.held[0].type == f->owner_type &&
           f->pub.objects <= x->pub.held[0].objects && f->each_elements < SUSPECTS_MANY_EACH &&
           f->pub.bytes / f->pub.objects < SMALL_VALUE;
}

/* Does F say something about most of X?  What is wasted in objects says nothing about why there are
 * so many of them: boxed values of entries that nobody removes, equal texts in messages that nobody
 * takes out of their queue. */
static bool is_about_most(const struct suspect *x, const struct suspect *f)
{
    if (kinds[f->pub.kind].how_sure == IS_SO && suspects_is_queue(x->collection.kind))
        return false;
    if (f->pub.kind == GCD_SUSPECT_HANDLERS)
        return suspects_is_by_events(x);
    if (f->pub.kind == GCD_SUSPECT_WEAK_TABLE && is_one_each(x, f))
        return false;
    return kinds[f->pub.kind].how_sure != IS_SO || f->pub.bytes >= x->pub.bytes / 2;
}

/* The suspect whose advice X gets: if X is an object or objects of one type, the clause that tells
 * more about its objects. */
static const struct suspect *adviser(const struct suspects_work *w, const struct suspect *x)
{
    const struct suspect *best = x;
    bool any = x->pub.kind == GCD_SUSPECT_OBJECT || x->pub.kind == GCD_SUSPECT_TYPE;
    /* why there are so many of whatever they are; who has to end their wait */
    if (x->lost_by != NULL || is_gate(w, x))
        return x;
    for (size_t i = 0; i < x->pub.also_count; i++) {
        const struct suspect *f = &w->s->items[x->also[i]];
        unsigned rank = kinds[f->pub.kind].advice_rank;
        if (rank > kinds[best->pub.kind].advice_rank && (any || rank == ADVICE_OVER_ALL) &&
            is_about_most(x, f))
            best = f;
    }
    return best;
}

/* Would F, which is about what X wastes, give X its advice, although X is within a limit? */
static bool is_limited(const struct suspects_work *w, const struct suspect *x,
                       const struct suspect *f)
{
    struct suspect_words own = { .w = w };
    if (f == x || x->pub.kind != GCD_SUSPECT_OBJECT || kinds[f->pub.kind].how_sure != IS_SO)
        return false;
    suspects_advise_object(&own, x);
    return own.limited;
}

static void say_kind(struct suspect_words *s, const struct suspect *x)
{
    if (kinds[x->pub.kind].say != NULL) {
        kinds[x->pub.kind].say(s, x);
        return;
    }
    kinds[x->pub.kind].tell(s, x);
    if (kinds[x->pub.kind].keep != NULL) {
        suspects_put(s, "%s", kinds[x->pub.kind].keep);
        suspects_put_kept(s, &x->pub, true);
    } else if (kinds[x->pub.kind].tells_share) {
        suspects_put(s, ", ");
        suspects_put_share(s, x->pub.share);
    }
    suspects_put(s, ".");
    if (kinds[x->pub.kind].held != NULL)
        suspects_put_held_by(s, x, kinds[x->pub.kind].held);
}

/* Says first what X consists of, which is what the advice is about, then what holds that. */
static void say(struct suspect_words *s, const struct suspect *x, const struct suspect *lead)
{
    if (lead != x) {
        kinds[lead->pub.kind].tell(s, lead);
        suspects_put(s, ". ");
    }
    say_kind(s, x);
    suspects_put_captured(s, x);
    put_also(s, x, lead);
}

/* What one dump shows about X, and what it cannot show.  CERTAIN: its advice is about a fault. */
static const char *evidence_of(const struct suspects_work *w, const struct suspect *x, bool certain)
{
    static const char *const texts[] = {
        [GROWS] = "Its size, not its growth: a second dump shows that (gcdumpc diff).",
        [IS_SO] = "That is certain, whether it grows or not.",
        [STUCK] =
            "One dump cannot tell stuck from slow: a second one shows whether they still wait.",
        [FOREVER] = "Their number is certain; a second dump shows whether it grows.",
    };
    unsigned how_sure = certain ? IS_SO : is_gate(w, x) ? STUCK : kinds[x->pub.kind].how_sure;
    if (how_sure == GROWS && x->settled)
        return "Its size, not its growth, and nothing in it has come since the last but one "
               "collection: a second dump shows whether it grows (gcdumpc diff).";
    return texts[how_sure];
}

gcd_status suspects_sentence(const struct suspects_work *w, struct suspect *x,
                             struct gcd_error *err)
{
    struct suspect_names names = { .count = 0 };
    struct suspect_words sentence = { .w = w, .names = &names }, advice = sentence;
    struct suspect_names short_names = { .count = 0 };
    struct suspect_words place = { .w = w, .names = &short_names }, what = place;
    const struct suspect *by = adviser(w, x);
    by = is_limited(w, x, by) ? x : by;
    for (int time = 0; time < 2; time++) { /* the first round only collects names */
        sentence.n = advice.n = place.n = what.n = 0;
        advice.condition = 0;
        advice.size_only = advice.limited = advice.certain = false;
        advice.unlimited = advice.may_be_limited = false;
        say(&sentence, x, by);
        if (kinds[by->pub.kind].advise != NULL)
            kinds[by->pub.kind].advise(&advice, by);
        else
            suspects_put(&advice, "%s", kinds[by->pub.kind].advice);
        suspects_put_place(&place, by->pub.kind == GCD_SUSPECT_HANDLERS ? by : x);
        suspects_put_what(&what, x, by);
    }
    if (advice.by_design && by == x && x->pub.kind == GCD_SUSPECT_OBJECT && w->notes_designs)
        x->pub.kind = GCD_SUSPECT_DESIGN;
    x->pub.limited = advice.limited && x->pub.kind == GCD_SUSPECT_DESIGN;
    x->pub.unlimited = advice.unlimited;
    x->pub.may_be_limited = advice.may_be_limited;
    x->pub.evidence = advice.by_design ? "" : evidence_of(w, x, advice.certain);
    x->pub.advice_condition = advice.condition;
    x->pub.size_only = advice.size_only && by == x;
    GCD_TRY(keep_text(&place, &x->pub.place, err));
    GCD_TRY(keep_text(&what, &x->pub.what, err));
    GCD_TRY(keep_text(&sentence, &x->pub.sentence, err));
    return keep_text(&advice, &x->pub.advice, err);
}
