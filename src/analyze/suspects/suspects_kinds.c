/* The kinds of suspects: their names, and who writes their sentences. */
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"

typedef void suspect_text(struct suspect_words *s, const struct suspect *x);

/* A kind without ADVISE has no advice. */
static const struct {
    const char *name, *title;
    const char *what;            /* what is counted, in the plural */
    uint32_t least;              /* objects that make a suspect, 0 = the number does not matter */
    bool by_bytes;               /* the threshold of bytes makes one, too, or is needed as well */
    suspect_text *say, *advise;
} kinds[GCD_SUSPECT_KINDS] = {
    [GCD_SUSPECT_OBJECT] = { "object", "One object", "objects", 0, true, suspects_say_object, NULL },
    [GCD_SUSPECT_HANDLERS] = { "handlers", "Event handlers", "handlers of one event", SUSPECTS_HANDLERS, true,
        suspects_say_handlers, suspects_advise_handlers },
    [GCD_SUSPECT_TYPE] = { "type", "Objects of one type", "objects of one type", 0, true, suspects_say_type, NULL },
    [GCD_SUSPECT_FINALIZERS] = { "finalizers", "Finalizer queue", "objects", SUSPECTS_WAITING, true,
        suspects_say_finalizers, suspects_advise_finalizers },
    [GCD_SUSPECT_PINNED] = { "pinned", "Pinned objects", "pinned objects", SUSPECTS_PINNED, true, suspects_say_pinned, NULL },
    [GCD_SUSPECT_COLLECTIONS] = { "collections", "Small collections", "collections of one type and size", SUSPECTS_ALIKE, true,
        suspects_say_collections, NULL },
    [GCD_SUSPECT_SPARSE] = { "sparse", "Sparse collections", "collections of one type", 0, true, suspects_say_sparse, suspects_advise_sparse },
    [GCD_SUSPECT_TIMERS] = { "timers", "Timers", "timers", FINDING_TIMERS, false, suspects_say_timers, suspects_advise_timers },
    [GCD_SUSPECT_CANCELLATION] = { "cancellation", "Cancellation callbacks", "callbacks of one source", FINDING_REGISTRATIONS, false,
        suspects_say_cancellation, suspects_advise_cancellation },
    [GCD_SUSPECT_CONTINUATIONS] = { "continuations", "Continuations of one task", "continuations of one task", FINDING_CONTINUATIONS, false,
        suspects_say_continuations, suspects_advise_continuations },
    [GCD_SUSPECT_TASKS] = { "tasks", "Tasks that do not complete", "tasks of one type", FINDING_TASKS, false,
        suspects_say_tasks, suspects_advise_tasks },
    [GCD_SUSPECT_ASYNC] = { "async", "Asynchronous calls", "calls of one method", FINDING_CALLS, false, suspects_say_async, suspects_advise_async },
    [GCD_SUSPECT_BOXED] = { "boxed", "Boxed values", "values of one type", FINDING_BOXED, false, suspects_say_boxed, suspects_advise_boxed },
    [GCD_SUSPECT_TRACKER] = { "tracker", "Tracked entities", "entities of one DbContext", FINDING_ENTITIES, false,
        suspects_say_tracker, suspects_advise_tracker },
    [GCD_SUSPECT_HTTP] = { "http", "HTTP handlers", "handlers", FINDING_HTTP, false, suspects_say_http, suspects_advise_http },
    [GCD_SUSPECT_CODE] = { "code", "Methods compiled at run time", "methods", FINDING_METHODS, false, suspects_say_code, suspects_advise_code },
    [GCD_SUSPECT_WAITS] = { "waits", "Registered waits", "waits", FINDING_WAITS, false, suspects_say_waits, suspects_advise_waits },
    [GCD_SUSPECT_INTERNED] = { "interned", "Interned strings", "strings", FINDING_INTERNED, false,
        suspects_say_interned, suspects_advise_interned },
    [GCD_SUSPECT_THREAD_STATICS] = { "thread_statics", "Thread-static variables", "threads", 0, true,
        suspects_say_thread_statics, suspects_advise_thread_statics },
    [GCD_SUSPECT_ASSEMBLIES] = { "assemblies", "Assembly loaded many times", "copies of one assembly", FINDING_LOADS, false,
        suspects_say_assemblies, suspects_advise_assemblies },
    [GCD_SUSPECT_FRAGMENTATION] = { "fragmentation", "Free memory between large objects", "large objects", 0, true,
        suspects_say_fragmentation, suspects_advise_fragmentation },
    [GCD_SUSPECT_PINS] = { "pins", "Pinning handles", "objects", FINDING_PINS, false, suspects_say_pins, suspects_advise_pins },
    [GCD_SUSPECT_WEAK_TABLE] = { "weak_table", "ConditionalWeakTable", "entries with the same types", FINDING_WEAK_ENTRIES, false,
        suspects_say_weak_table, suspects_advise_weak_table },
};

const char *gcd_suspect_kind_name(enum gcd_suspect_kind kind)
{
    return kinds[kind].name;
}

const char *gcd_suspect_kind_title(enum gcd_suspect_kind kind)
{
    return kinds[kind].title;
}

void suspects_begin_checks(struct gcd_suspects *s)
{
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++)
        s->checks[i] = (struct gcd_suspect_check){ .what = kinds[i].what, .least_objects = kinds[i].least,
                                                   .least_bytes = kinds[i].by_bytes ? s->threshold : 0 };
}

static gcd_status write_text(const struct suspects_work *w, const struct suspect *x, suspect_text *text, const char **ret, struct gcd_error *err)
{
    struct suspect_words s = { .w = w };
    if (text != NULL)
        text(&s, x);
    gcd_status st = gcd_textpool_add(&w->s->pool, s.text, s.n, ret);
    if (st == GCD_E_NOMEM)
        return gcd_fail_nomem(err, "describing suspects");
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "too many suspects to describe");
}

gcd_status suspects_sentence(const struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    GCD_TRY(write_text(w, x, kinds[x->pub.kind].say, &x->pub.sentence, err));
    return write_text(w, x, kinds[x->pub.kind].advise, &x->pub.advice, err);
}
