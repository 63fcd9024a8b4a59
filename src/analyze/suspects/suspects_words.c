#include "analyze/suspects/suspects_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/static_names.h>

/* Names are cut after this many bytes: nested generic arguments would bury the sentence. */
#define NAME_MAX_BYTES 160u

void suspects_put(struct suspect_words *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(s->text + s->n, sizeof s->text - s->n, fmt, args);
    va_end(args);
    if (n > 0)
        s->n = (size_t)n < sizeof s->text - s->n ? s->n + (size_t)n : sizeof s->text - 1;
}

/* Cuts between characters, not within one. */
void suspects_put_name(struct suspect_words *s, const char *name)
{
    size_t n = strlen(name);
    if (n <= NAME_MAX_BYTES) {
        suspects_put(s, "%s", name);
        return;
    }
    n = NAME_MAX_BYTES;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    suspects_put(s, "%.*s...", (int)n, name);
}

void suspects_put_type(struct suspect_words *s, uint32_t type)
{
    const struct gcd_names *names = s->w->o->names;
    suspects_put_name(s, names != NULL ? gcd_names_get(names, type) : gcd_graph_summary(s->w->g)->types[type].name);
}

/* "12,345" */
void suspects_put_number(struct suspect_words *s, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < len; i++)
        suspects_put(s, "%s%c", i > 0 && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* "1 object", "2 objects" */
void suspects_put_count(struct suspect_words *s, uint64_t n, const char *one, const char *many)
{
    suspects_put_number(s, n);
    suspects_put(s, " %s", n == 1 ? one : many);
}

void suspects_put_typed(struct suspect_words *s, uint64_t n, uint32_t type)
{
    suspects_put_number(s, n);
    suspects_put(s, " ");
    suspects_put_type(s, type);
    suspects_put(s, n == 1 ? " object" : " objects");
}

/* "12.3 MiB", as in all messages. */
void suspects_put_bytes(struct suspect_words *s, uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 1024) {
        suspects_put_count(s, bytes, "byte", "bytes");
        return;
    }
    double v = (double)bytes / 1024;
    size_t unit = 0;
    for (; v >= 1023.95 && unit + 1 < sizeof units / sizeof *units; unit++)
        v /= 1024;
    suspects_put(s, "%.1f %s", v, units[unit]);
}

void suspects_put_share(struct suspect_words *s, double share)
{
    suspects_put(s, "%.1f %% of the heap", 100 * share);
}

/* "A" or "An", by the first letter of the name. */
void suspects_put_article(struct suspect_words *s, uint32_t type)
{
    const struct gcd_names *names = s->w->o->names;
    const char *name = names != NULL ? gcd_names_get(names, type) : gcd_graph_summary(s->w->g)->types[type].name;
    suspects_put(s, name[0] != '\0' && strchr("AEIOaeio", name[0]) != NULL ? "An " : "A ");
}

void suspects_put_elements(struct suspect_words *s, const struct gcd_collection *it)
{
    if (it->kind == GCD_COLLECTION_NONE || (it->at_least == 0 && it->at_most == GCD_COUNT_UNKNOWN && it->elements == 0))
        return;
    suspects_put(s, " with ");
    if (!gcd_collection_is_exact(it))
        suspects_put(s, it->elements == it->at_least ? "at least " : it->elements == it->at_most ? "at most " : "about ");
    suspects_put_count(s, it->elements, "element", "elements");
}

/* ---- roots ---- */

/* "a static variable" or "static variables"; there is one finalizer queue. */
void suspects_put_group(struct suspect_words *s, enum gcd_root_group group, bool many)
{
    const struct gcd_root_label *label = gcd_root_group_label(group);
    if (group == GCD_GROUP_FINALIZER)
        suspects_put(s, "the ");
    else if (!many)
        suspects_put(s, group == GCD_GROUP_OTHER ? "an" : "a ");      /* "another root" */
    suspects_put(s, "%s", many ? label->many : label->one);
}

static void put_root(struct suspect_words *s, size_t root)
{
    const struct gcd_root *r = &gcd_graph_summary(s->w->g)->roots[root];
    const struct gcd_static_words w = gcd_static_words(s->w->g, s->w->o->names, r);
    if (gcd_root_group(r) == GCD_GROUP_STATICS && w.label[0][0] != '\0') {
        suspects_put(s, "the static variable ");
        for (size_t i = 0; i < sizeof w.label / sizeof *w.label; i++)
            suspects_put_name(s, w.label[i]);
    } else {
        suspects_put_group(s, gcd_root_group(r), false);
    }
}

/* The most telling step before the object: arrays and collections of the library are everywhere. */
static const struct gcd_suspect_step *owner_of(const struct suspect_words *s, const struct gcd_suspect *p)
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
void suspects_put_held_by(struct suspect_words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->path_count == 0)
        return;
    if (p->root == SIZE_MAX) {
        suspects_put(s, " What holds %s is not known: the dump has no roots.", p->objects == 1 ? "it" : "them");
        return;
    }
    suspects_put(s, " %s held by ", subject);
    put_root(s, p->root);
    if (p->path_count > 1) {
        suspects_put(s, p->path_count > 2 || p->path[0].repeats > 1 ? " by way of " : " through ");
        suspects_put_type(s, owner_of(s, p)->type);
        if (p->path[p->path_count - 1].dependent)
            suspects_put(s, " and a dependent handle");
    }
    suspects_put(s, ".");
}

/* ---- bytes and objects of a suspect ---- */

static void put_nested(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (p->retained_bytes > p->bytes) {
        suspects_put(s, ", beside ");
        suspects_put_bytes(s, p->retained_bytes - p->bytes);
        suspects_put(s, " of other suspects in it");
    }
}

void suspects_put_kept(struct suspect_words *s, const struct gcd_suspect *p, bool many)
{
    suspects_put(s, many ? " keep " : " keeps ");
    suspects_put_bytes(s, p->bytes);
    suspects_put(s, " alive, ");
    suspects_put_share(s, p->share);
    put_nested(s, p);
}

void suspects_put_parts(struct suspect_words *s, uint64_t objects, const struct gcd_suspect_part *most)
{
    suspects_put_count(s, objects, "object", "objects");
    if (objects > 1) {
        suspects_put(s, most->objects == objects ? ", all " : ", mostly ");
        suspects_put_type(s, most->type);
        if (most->objects != objects) {
            suspects_put(s, " (");
            suspects_put_number(s, most->objects);
            suspects_put(s, ")");
        }
    } else {
        suspects_put(s, " of type ");
        suspects_put_type(s, most->type);
    }
}

/* ---- who is behind a finding ---- */

void suspects_put_who(struct suspect_words *s, uint32_t who)
{
    static const char lambda[] = ".<>c";
    const char *name = s->w->o->names != NULL ? gcd_names_get(s->w->o->names, who) : gcd_graph_summary(s->w->g)->types[who].name, *found;
    char method[NAME_MAX_BYTES + 1];
    size_t n;
    if (gcd_async_machine(name, &found, &n)) {
        gcd_async_method(found, n, method, sizeof method);
        suspects_put(s, "%s", method);
    } else if ((found = strstr(name, lambda)) != NULL && found > name && (size_t)(found - name) < sizeof method) {
        suspects_put(s, "a lambda in %.*s", (int)(found - name), name);
    } else {
        suspects_put_type(s, who);
    }
}

void suspects_put_behind(struct suspect_words *s, const struct suspect *x, const char *how)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->held_count == 0)
        return;
    suspects_put(s, p->held[0].objects == p->objects ? ", all" : ", ");
    if (p->held[0].objects != p->objects) {
        suspects_put_number(s, p->held[0].objects);
        suspects_put(s, " of them");
    }
    suspects_put(s, "%s", how);
    suspects_put_who(s, p->held[0].type);
}
