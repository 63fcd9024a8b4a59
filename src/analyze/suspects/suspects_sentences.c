/*
 * Describes a suspect in plain English, in one place, so that every output says the same.
 */
#include "analyze/suspects/suspects.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"

/* Names are cut after this many bytes: nested generic arguments would bury the sentence. */
#define NAME_MAX_BYTES 160u
#define SENTENCE_BYTES 4096u

struct words {
    const struct suspects_work *w;
    char text[SENTENCE_BYTES];
    size_t n;
};

/* Drops what does not fit; with names of limited length everything fits. */
static void put(struct words *s, const char *fmt, ...) GCD_PRINTF(2, 3);

static void put(struct words *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(s->text + s->n, sizeof s->text - s->n, fmt, args);
    va_end(args);
    if (n > 0)
        s->n = (size_t)n < sizeof s->text - s->n ? s->n + (size_t)n : sizeof s->text - 1;
}

/* Cuts between characters, not within one. */
static void put_name(struct words *s, const char *name)
{
    size_t n = strlen(name);
    if (n <= NAME_MAX_BYTES) {
        put(s, "%s", name);
        return;
    }
    n = NAME_MAX_BYTES;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    put(s, "%.*s...", (int)n, name);
}

static void put_type(struct words *s, uint32_t type)
{
    const struct gcd_names *names = s->w->o->names;
    put_name(s, names != NULL ? gcd_names_get(names, type) : gcd_graph_summary(s->w->g)->types[type].name);
}

/* "12,345" */
static void put_number(struct words *s, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < len; i++)
        put(s, "%s%c", i > 0 && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* "1 object", "2 objects" */
static void put_count(struct words *s, uint64_t n, const char *one, const char *many)
{
    put_number(s, n);
    put(s, " %s", n == 1 ? one : many);
}

static void put_typed(struct words *s, uint64_t n, uint32_t type)
{
    put_number(s, n);
    put(s, " ");
    put_type(s, type);
    put(s, n == 1 ? " object" : " objects");
}

/* "12.3 MiB", as in all messages. */
static void put_bytes(struct words *s, uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 1024) {
        put_count(s, bytes, "byte", "bytes");
        return;
    }
    double v = (double)bytes / 1024;
    size_t unit = 0;
    for (; v >= 1023.95 && unit + 1 < sizeof units / sizeof *units; unit++)
        v /= 1024;
    put(s, "%.1f %s", v, units[unit]);
}

static void put_share(struct words *s, double share)
{
    put(s, "%.1f %% of the heap", 100 * share);
}

/* "A" or "An", by the first letter of the name. */
static void put_article(struct words *s, uint32_t type)
{
    const struct gcd_names *names = s->w->o->names;
    const char *name = names != NULL ? gcd_names_get(names, type) : gcd_graph_summary(s->w->g)->types[type].name;
    put(s, name[0] != '\0' && strchr("AEIOaeio", name[0]) != NULL ? "An " : "A ");
}

/* ---- roots ---- */

/* "a static variable" or "static variables"; there is one finalizer queue. */
static void put_group(struct words *s, enum gcd_root_group group, bool many)
{
    const struct gcd_root_label *label = gcd_root_group_label(group);
    if (group == GCD_GROUP_FINALIZER)
        put(s, "the ");
    else if (!many)
        put(s, group == GCD_GROUP_OTHER ? "an" : "a ");      /* "another root" */
    put(s, "%s", many ? label->many : label->one);
}

static void put_root(struct words *s, size_t root)
{
    const struct gcd_root *r = &gcd_graph_summary(s->w->g)->roots[root];
    const struct gcd_static_words w = gcd_static_words(s->w->g, s->w->o->names, r);
    if (gcd_root_group(r) == GCD_GROUP_STATICS && w.label[0][0] != '\0') {
        put(s, "the static variable ");
        for (size_t i = 0; i < sizeof w.label / sizeof *w.label; i++)
            put_name(s, w.label[i]);
    } else {
        put_group(s, gcd_root_group(r), false);
    }
}

/* The most telling step before the object: arrays and collections of the library are everywhere. */
static const struct gcd_suspect_step *owner_of(const struct words *s, const struct gcd_suspect *p)
{
    static const char library[] = "System.Collections.";
    for (size_t i = p->path_count - 1; i > 0; i--) {
        const char *name = gcd_graph_summary(s->w->g)->types[p->path[i - 1].type].name;
        if (!p->path[i - 1].skipped && !suspects_is_array(name) && strncmp(name, library, sizeof library - 1) != 0)
            return &p->path[i - 1];
    }
    return &p->path[p->path_count - 2];
}

/* " It is held by ..., through ..." */
static void put_held_by(struct words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->path_count == 0)
        return;
    if (p->root == SIZE_MAX) {
        put(s, " What holds %s is not known: the dump has no roots.", p->objects == 1 ? "it" : "them");
        return;
    }
    put(s, " %s held by ", subject);
    put_root(s, p->root);
    if (p->path_count > 1) {
        put(s, p->path_count > 2 || p->path[0].repeats > 1 ? " by way of " : " through ");
        put_type(s, owner_of(s, p)->type);
        if (p->path[p->path_count - 1].dependent)
            put(s, " and a dependent handle");
    }
    put(s, ".");
}

/* ---- one function per kind ---- */

static void put_nested(struct words *s, const struct gcd_suspect *p)
{
    if (p->retained_bytes > p->bytes) {
        put(s, ", beside ");
        put_bytes(s, p->retained_bytes - p->bytes);
        put(s, " of other suspects in it");
    }
}

static void put_kept(struct words *s, const struct gcd_suspect *p, bool many)
{
    put(s, many ? " keep " : " keeps ");
    put_bytes(s, p->bytes);
    put(s, " alive, ");
    put_share(s, p->share);
    put_nested(s, p);
}

static void put_parts(struct words *s, uint64_t objects, const struct gcd_suspect_part *most)
{
    put_count(s, objects, "object", "objects");
    if (objects > 1) {
        put(s, most->objects == objects ? ", all " : ", mostly ");
        put_type(s, most->type);
        if (most->objects != objects) {
            put(s, " (");
            put_number(s, most->objects);
            put(s, ")");
        }
    } else {
        put(s, " of type ");
        put_type(s, most->type);
    }
}

static void say_object(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    if (x->recursive && p->objects > 1) {
        put(s, "A list or tree of ");
        put_typed(s, p->objects, p->type);
        put_kept(s, p, false);
        put(s, ".");
    } else if (p->shallow_bytes == p->bytes) {
        put_article(s, p->type);
        put_type(s, p->type);
        put(s, " is ");
        put_bytes(s, p->bytes);
        put(s, " large, ");
        put_share(s, p->share);
        put(s, ".");
    } else if (p->shallow_bytes >= p->bytes / 2) {
        put_article(s, p->type);
        put_type(s, p->type);
        put(s, " of ");
        put_bytes(s, p->shallow_bytes);
        put_kept(s, p, false);
        put(s, ", most of it itself.");
    } else {
        put_article(s, p->type);
        put_type(s, p->type);
        put_kept(s, p, false);
        if (p->held_count > 0) {
            put(s, ". It holds ");
            put_parts(s, p->held_objects, &p->held[0]);
        }
        put(s, ".");
    }
    put_held_by(s, x, "It is");
}

static void say_handlers(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put(s, "An event or delegate of type ");
    put_type(s, p->type);
    put(s, " has ");
    put_number(s, p->objects);
    put(s, " handlers");
    if (p->held_count > 0) {
        put(s, p->held[0].objects == p->objects ? ", all methods of " : ", mostly methods of ");
        put_type(s, p->held[0].type);
        put(s, " objects");
    }
    put(s, "; what has subscribed and never unsubscribed stays alive. It");
    put_kept(s, p, false);
    put(s, ".");
    put_held_by(s, x, "It is");
}

static void say_type(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put_typed(s, p->objects, p->type);
    put(s, " together");
    put_kept(s, p, true);
    put(s, "; no single object holds them all.");
    if (p->alike == 0 || p->path_count == 0)
        return;
    put(s, p->alike == p->objects ? " All of them" : " ");
    if (p->alike != p->objects) {
        put_number(s, p->alike);
        put(s, " of them");
    }
    put(s, p->alike == 1 ? " is" : " are");
    if (x->holder == SUSPECT_BY_ROOTS && p->root != SIZE_MAX) {
        put(s, " held directly by ");
        put_group(s, gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root]), true);
        put(s, ".");
    } else if (p->path_count > 1) {
        const struct gcd_suspect_step *by = &p->path[p->path_count - 2];
        put(s, x->holder == SUSPECT_BY_OBJECT ? " in one " : " in ");
        put_type(s, by->type);
        put(s, x->holder == SUSPECT_BY_OBJECT ? ", among others." : " objects, among others.");
    } else {
        put(s, " held in this way.");
    }
}

static void say_finalizers(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put_count(s, p->objects, "object waits for its finalizer", "objects wait for their finalizers");
    put(s, p->objects == x->type_objects ? ", all " : ", mostly ");
    put_type(s, p->type);
    if (p->objects != x->type_objects) {
        put(s, " (");
        put_number(s, x->type_objects);
        put(s, ")");
    }
    put(s, ", and");
    put_kept(s, p, p->objects != 1);
    put(s, ". A finalizer is slow or blocked, unless they died just before the dump.");
}

static void say_pinned(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put_bytes(s, p->bytes);
    put(s, " of ");
    put_bytes(s, x->around_bytes);
    put(s, " are free around ");
    put_number(s, p->objects);
    put(s, " pinned objects");
    put(s, p->objects == x->type_objects ? ", all " : ", mostly ");
    put_type(s, p->type);
    put(s, ": the collector cannot move them to close the gaps.");
    put_held_by(s, x, "One of them is");
}

static void say_collections(struct words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    put_typed(s, p->objects, p->type);
    put(s, x->is_array ? " without any element take " : " of the same size, ");
    if (!x->is_array) {
        put_bytes(s, x->each_bytes);
        put(s, " each with their arrays, take ");
    }
    put_bytes(s, p->bytes);
    put(s, ", ");
    put_share(s, p->share);
    if (!x->is_array) {
        put(s, "; their arrays refer to ");
        put_count(s, x->references, "object", "objects");
        put(s, " in all");
    }
    put(s, ".");
    put_held_by(s, x, "One of them is");
}

gcd_status suspects_sentence(const struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    static void (*const say[GCD_SUSPECT_KINDS])(struct words *, const struct suspect *) = {
        [GCD_SUSPECT_OBJECT] = say_object,         [GCD_SUSPECT_HANDLERS] = say_handlers, [GCD_SUSPECT_TYPE] = say_type,
        [GCD_SUSPECT_FINALIZERS] = say_finalizers, [GCD_SUSPECT_PINNED] = say_pinned,     [GCD_SUSPECT_COLLECTIONS] = say_collections,
    };
    struct words s = { .w = w };
    say[x->pub.kind](&s, x);
    gcd_status st = gcd_textpool_add(&w->s->pool, s.text, s.n, &x->pub.sentence);
    if (st == GCD_E_NOMEM)
        return gcd_fail_nomem(err, "describing suspects");
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "too many suspects to describe");
}
