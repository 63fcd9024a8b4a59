/* The kinds of suspects: their names, and who writes their sentences. */
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"

typedef void suspect_text(struct suspect_words *s, const struct suspect *x);

/* A kind without ADVISE has no advice. */
static const struct {
    const char *name, *title;
    suspect_text *say, *advise;
} kinds[GCD_SUSPECT_KINDS] = {
    [GCD_SUSPECT_OBJECT] = { "object", "One object", suspects_say_object, NULL },
    [GCD_SUSPECT_HANDLERS] = { "handlers", "Event handlers", suspects_say_handlers, suspects_advise_handlers },
    [GCD_SUSPECT_TYPE] = { "type", "Objects of one type", suspects_say_type, NULL },
    [GCD_SUSPECT_FINALIZERS] = { "finalizers", "Finalizer queue", suspects_say_finalizers, suspects_advise_finalizers },
    [GCD_SUSPECT_PINNED] = { "pinned", "Pinned objects", suspects_say_pinned, NULL },
    [GCD_SUSPECT_COLLECTIONS] = { "collections", "Small collections", suspects_say_collections, NULL },
    [GCD_SUSPECT_SPARSE] = { "sparse", "Sparse collections", suspects_say_sparse, suspects_advise_sparse },
    [GCD_SUSPECT_TIMERS] = { "timers", "Timers", suspects_say_timers, suspects_advise_timers },
    [GCD_SUSPECT_CANCELLATION] = { "cancellation", "Cancellation callbacks", suspects_say_cancellation, suspects_advise_cancellation },
    [GCD_SUSPECT_CONTINUATIONS] = { "continuations", "Continuations of one task", suspects_say_continuations, suspects_advise_continuations },
    [GCD_SUSPECT_TASKS] = { "tasks", "Tasks that do not complete", suspects_say_tasks, suspects_advise_tasks },
    [GCD_SUSPECT_ASYNC] = { "async", "Asynchronous calls", suspects_say_async, suspects_advise_async },
    [GCD_SUSPECT_BOXED] = { "boxed", "Boxed values", suspects_say_boxed, suspects_advise_boxed },
    [GCD_SUSPECT_TRACKER] = { "tracker", "Tracked entities", suspects_say_tracker, suspects_advise_tracker },
    [GCD_SUSPECT_HTTP] = { "http", "HTTP handlers", suspects_say_http, suspects_advise_http },
    [GCD_SUSPECT_CODE] = { "code", "Methods compiled at run time", suspects_say_code, suspects_advise_code },
    [GCD_SUSPECT_WAITS] = { "waits", "Registered waits", suspects_say_waits, suspects_advise_waits },
};

const char *gcd_suspect_kind_name(enum gcd_suspect_kind kind)
{
    return kinds[kind].name;
}

const char *gcd_suspect_kind_title(enum gcd_suspect_kind kind)
{
    return kinds[kind].title;
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
