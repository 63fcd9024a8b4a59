#include "analyze/suspects/suspects_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/short_name.h"
#include "base/text.h"

/* Number of own types shown for a suspect. */
#define OWN_SHOWN 3u

void suspects_put(struct suspect_words *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    gcd_text_append(s->text, sizeof s->text, &s->n, fmt, args);
    va_end(args);
}

/* Cuts between characters, not within one. */
void suspects_put_name(struct suspect_words *s, const char *name)
{
    size_t n = strlen(name);
    if (n <= SUSPECT_NAME_BYTES) {
        suspects_put(s, "%s", name);
        return;
    }
    n = SUSPECT_NAME_BYTES;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    suspects_put(s, "%.*s...", (int)n, name);
}

static const char *name_of(const struct suspect_words *s, uint32_t type)
{
    return s->w->o->names != NULL ? gcd_names_get(s->w->o->names, type)
                                  : gcd_graph_summary(s->w->g)->types[type].name;
}

static const char *raw_name_of(const struct suspect_words *s, uint32_t type)
{
    return gcd_graph_summary(s->w->g)->types[type].name;
}

/* What people call objects of types that compilers make: "iterator Shop.Cart.Items", "the iterator
 * …", "2 iterators of …". */
struct made {
    const char *word, *before_name, *article, *of;
};
static const struct made made_call = { "call", " of ", "a", "of" },
                         made_iterator = { "iterator", " ", "the", "of" },
                         made_lambda = { "lambda", " in ", "a", "in" },
                         made_function = { "function", " in ", "a", "in" };

/* NULL: by their type; the box of a call has words of its own. */
static const struct made *made_of(const struct suspect_words *s, uint32_t type)
{
    const struct gcd_names *names = s->w->o->names;
    switch (gcd_made_of(name_of(s, type))) {
    case GCD_MADE_OF_STATE:
        return names != NULL && gcd_names_is_iterator(names, type) ? &made_iterator : NULL;
    case GCD_MADE_OF_LAMBDA:
        return &made_lambda;
    case GCD_MADE_OF_FUNCTION:
        return &made_function;
    default:
        return NULL;
    }
}

void suspects_put_type(struct suspect_words *s, uint32_t type)
{
    const char *name = name_of(s, type);
    const struct made *made = made_of(s, type);
    if (made != NULL) {
        suspects_put(s, "%s%s", made->word, made->before_name);
        suspects_put_where(s, type);
        return;
    }
    if (suspects_is_call(s, type)) { /* as paths have it */
        suspects_put(s, "async ");
        suspects_put_where(s, type);
        return;
    }
    suspects_put_short(s, name, strlen(name), 1, raw_name_of(s, type));
}

#define TABLE_END ".Entry[]"

bool suspects_is_table(const struct suspect_words *s, uint32_t type)
{
    const char *name = name_of(s, type);
    return gcd_text_begins(name, "System.Collections.Generic.Dictionary<") &&
           gcd_text_ends(name, TABLE_END);
}

/* The type of a collection; the table of a dictionary stands for that. */
static void put_collection_type(struct suspect_words *s, uint32_t type)
{
    const char *name = name_of(s, type);
    if (suspects_is_table(s, type))
        suspects_put_short(s, name, strlen(name) - (sizeof TABLE_END - 1), 1, raw_name_of(s, type));
    else
        suspects_put_type(s, type);
}

/* "12,345" */
void suspects_put_number(struct suspect_words *s, uint64_t n)
{
    suspects_put(s, "%s", GCD_DIGITS(n));
}

/* "1 object", "2 objects" */
void suspects_put_count(struct suspect_words *s, uint64_t n, const char *one, const char *many)
{
    suspects_put_number(s, n);
    suspects_put(s, " %s", n == 1 ? one : many);
}

bool suspects_put_made(struct suspect_words *s, uint64_t n, uint32_t type)
{
    const struct made *made = suspects_is_call(s, type) ? &made_call : made_of(s, type);
    if (made == NULL)
        return false;
    suspects_put_number(s, n);
    suspects_put(s, " %s%s %s ", made->word, n == 1 ? "" : "s", made->of);
    suspects_put_where(s, type);
    return true;
}

void suspects_put_typed(struct suspect_words *s, uint64_t n, uint32_t type)
{
    if (suspects_put_made(s, n, type))
        return;
    suspects_put_number(s, n);
    suspects_put(s, " ");
    suspects_put_type(s, type);
    suspects_put(s, n == 1 ? " object" : " objects");
}

/* "12.3 MiB", as in all messages. */
void suspects_put_bytes(struct suspect_words *s, uint64_t bytes)
{
    char size[GCD_TEXT_SIZE_BYTES];
    suspects_put(s, "%s", gcd_text_size(bytes, size));
}

void suspects_put_share(struct suspect_words *s, double share)
{
    suspects_put(s, "%.1f %% of the heap", 100 * share);
}

void suspects_put_article(struct suspect_words *s, uint32_t type, bool small)
{
    size_t at = s->n;
    suspects_put_type(s, type);
    bool an = suspects_is_an(s->text + at);
    s->n = at;
    s->text[at] = '\0';
    suspects_put(s, an ? (small ? "an " : "An ") : small ? "a " : "A ");
}

/* ---- roots ---- */

/* "a static variable" or "static variables"; there is one finalizer queue. */
void suspects_put_group(struct suspect_words *s, enum gcd_root_group group, bool many)
{
    const struct gcd_root_label *label = gcd_root_group_label(group);
    if (group == GCD_GROUP_FINALIZER)
        suspects_put(s, "the ");
    else if (!many)
        suspects_put(s, group == GCD_GROUP_OTHER ? "an" : "a "); /* "another root" */
    suspects_put(s, "%s", many ? label->many : label->one);
}

void suspects_put_root(struct suspect_words *s, size_t root)
{
    const struct gcd_root *r = &gcd_graph_summary(s->w->g)->roots[root];
    const struct gcd_static_words w = gcd_static_words(s->w->g, s->w->o->names, r);
    if (gcd_root_group(r) == GCD_GROUP_STATICS && w.label[0][0] != '\0') {
        suspects_put(s,
                     gcd_static_is_property(r) ? "the static property " : "the static variable ");
        for (size_t i = 0; i < sizeof w.label / sizeof *w.label; i++)
            suspects_put_name(s, w.label[i]);
    } else if (gcd_root_is_thread_static(s->w->g, r)) {
        suspects_put(s, "a thread-static variable");
    } else if (suspects_statics_root(s->w, r->node) == root) {
        suspects_put(s, "a static variable without a name");
    } else if (r->kind == GCD_ROOT_STACK && r->label[0] != '\0') {
        suspects_put(s, "the stack of thread ");
        suspects_put_name(s, r->label);
    } else {
        suspects_put_group(s, gcd_root_group(r), false);
    }
}

void suspects_put_statics(struct suspect_words *s)
{
    suspects_put(s, " where the runtime keeps static variables; most of it is in variables without "
                    "a name, as those of generic classes.");
}

void suspects_advise_statics(struct suspect_words *s)
{
    suspects_put(s, "Look for static fields of generic classes that hold the types in it.");
}

/* The most informative step before the object: the owner, else one that is neither an array nor a
 * collection. */
static const struct gcd_suspect_step *owner_of(const struct suspect_words *s,
                                               const struct gcd_suspect *p)
{
    for (size_t i = p->path_count - 1; i > 0; i--)
        if (p->path[i - 1].node == p->owner_node)
            return &p->path[i - 1];
    for (size_t i = p->path_count - 1; i > 0; i--)
        if (!p->path[i - 1].skipped && p->path[i - 1].fold != GCD_FOLD_INSIDE &&
            gcd_collections_kind(s->w->collections, p->path[i - 1].type) == GCD_COLLECTION_NONE)
            return &p->path[i - 1];
    return &p->path[p->path_count - 2];
}

/* ---- bytes and objects of a suspect ---- */

/* Less than one part in so many is not worth a word. */
#define NESTED_PART 100u

void suspects_put_nested(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (p->retained_bytes > p->bytes &&
        p->retained_bytes - p->bytes >= p->retained_bytes / NESTED_PART) {
        suspects_put(s, ", beside ");
        suspects_put_bytes(s, p->retained_bytes - p->bytes);
        suspects_put(s, " of large parts in it, which count alone");
    }
}

void suspects_put_kept(struct suspect_words *s, const struct gcd_suspect *p, bool many)
{
    suspects_put(s, many ? " keep " : " keeps ");
    suspects_put_bytes(s, p->bytes);
    suspects_put(s, " alive, ");
    suspects_put_share(s, p->share);
    suspects_put_nested(s, p);
}

uint32_t suspects_part_type(const struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct gcd_suspect_part *most = &p->held[0];
    if (s->w->is_own[most->type] || most->objects == 1)
        return most->type;
    for (size_t i = 0; i < p->own_count; i++)
        if (p->own[i].objects == most->objects && p->own[i].type != s->w->alike[p->type])
            return p->own[i].type;
    return most->type;
}

static bool is_certain(struct gcd_field f)
{
    return f.name != NULL && f.name[0] != '\0' && f.other == NULL;
}

/* What P has in a field, if most of it is in one collection. */
static uint32_t only_collection(const struct suspect_words *s, const struct gcd_suspect *p)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(s->w->g, p->node, &n);
    if (p->held_count == 0 || p->held[0].objects != 1 || s->w->o->fields == NULL ||
        p->held[0].bytes <= p->retained_bytes / 2 ||
        !gcd_collections_has_inside(s->w->collections, p->held[0].type))
        return GCD_NODE_NONE;
    for (size_t i = 0; i < n; i++)
        if (suspects_type_of(s->w, edges[i]) == p->held[0].type)
            return edges[i];
    return GCD_NODE_NONE;
}

const char *suspects_only_field(const struct suspect_words *s, const struct gcd_suspect *p)
{
    uint32_t node = only_collection(s, p);
    if (node == GCD_NODE_NONE || !s->w->is_own[p->type])
        return "";
    struct gcd_field f = gcd_fields_only(s->w->o->fields, p->node, node);
    return is_certain(f) ? f.name : "";
}

void suspects_put_link(struct suspect_words *s, const char *words, uint32_t node)
{
    const struct gcd_fields *fields = s->w->o->fields;
    struct gcd_field f = fields != NULL
                             ? gcd_fields_between(fields, suspects_parent(s->w, node), node)
                             : GCD_FIELD_UNKNOWN;
    if (is_certain(f)) {
        suspects_put(s, "%s", words);
        suspects_put_name(s, f.name);
    }
}

void suspects_put_recent(struct suspect_words *s, const struct gcd_suspect *p)
{
    suspects_put_number(s, p->held[0].objects);
    suspects_put(s, " ");
    suspects_put_type(s, suspects_part_type(s, p));
}

bool suspects_put_parts(struct suspect_words *s, const struct gcd_suspect *p)
{
    const struct gcd_suspect_part *most = &p->held[0];
    uint32_t type = suspects_part_type(s, p);
    uint64_t objects = p->held_objects;
    bool few = objects > 1 && most->objects <= objects / 2; /* but they keep most of the bytes */
    suspects_put_count(s, objects, "object", "objects");
    if (few) {
        suspects_put(s, most->bytes > p->retained_bytes / 2 ? ", most of it in "
                                                            : ", the largest part in ");
        if (most->objects == 1) {
            const char *field = suspects_only_field(s, p);
            suspects_put(s, field[0] != '\0' ? "its field " : "one ");
            suspects_put_name(s, field);
            suspects_put(s, field[0] != '\0' ? ", a " : "");
            suspects_put_type(s, type);
        } else {
            suspects_put_typed(s, most->objects, type);
        }
    } else if (objects > 1) {
        suspects_put(s, most->objects == objects ? ", all " : ", mostly ");
        if (suspects_is_call(s, type)) {
            suspects_put(s, "calls of ");
            suspects_put_where(s, type);
        } else {
            suspects_put_type(s, type);
        }
        if (most->objects != objects) {
            suspects_put(s, " (");
            suspects_put_number(s, most->objects);
            suspects_put(s, ")");
        }
    } else {
        suspects_put(s, " of type ");
        suspects_put_type(s, type);
    }
    return few || objects > 1;
}

/* ---- the type behind a finding ---- */

bool suspects_is_call(const struct suspect_words *s, uint32_t type)
{
    const char *found;
    size_t n;
    return gcd_async_machine(name_of(s, type), &found, &n);
}

bool suspects_is_lambda(const struct suspect_words *s, uint32_t type)
{
    return gcd_made_of(name_of(s, type)) == GCD_MADE_OF_LAMBDA;
}

void suspects_put_where(struct suspect_words *s, uint32_t who)
{
    bool many = suspects_assemblies_of(s->w, who) > 1;
    const char *name = many ? gcd_names_plain(s->w->o->names, who) : name_of(s, who);
    enum gcd_made_of of = gcd_made_of(name);
    const struct gcd_names *names = s->w->o->names;
    const char *lambda_of = names != NULL ? gcd_names_lambda_method(names, who) : NULL;
    char method[4 * SUSPECT_NAME_BYTES];
    if (lambda_of != NULL) {
        name = lambda_of;
    } else if (of != GCD_MADE_OF_NOTHING) {
        gcd_made_of_method(name, method, sizeof method);
        name = method;
    }
    suspects_put_short(
        s, name, strlen(name),
        lambda_of != NULL || (of != GCD_MADE_OF_NOTHING && of != GCD_MADE_OF_LAMBDA) ? 2 : 1,
        raw_name_of(s, who));
}

bool suspects_is_linked_source(const struct suspect_words *s, uint32_t type)
{
    return strstr(raw_name_of(s, type), GCD_LINKED_SOURCE) != NULL;
}

void suspects_put_who(struct suspect_words *s, uint32_t who)
{
    if (suspects_is_linked_source(s, who)) {
        suspects_put(s, "linked sources (CreateLinkedTokenSource)");
        return;
    }
    const struct made *made = made_of(s, who);
    if (made != NULL)
        suspects_put(s, "%s %s%s", made->article, made->word, made->before_name);
    suspects_put_where(s, who);
}

/* This part of all objects or bytes makes a type worth its name. */
#define HOLDER_PART 10u

static bool has_tenth_of_bytes(const struct suspect *x, size_t i)
{
    return x->pub.held[i].bytes > 0 && x->pub.held[i].bytes >= x->held_bytes / HOLDER_PART;
}

bool suspects_is_holder(const struct suspect *x, size_t i)
{
    return i == 0 || has_tenth_of_bytes(x, i) ||
           x->pub.held[i].objects >= (x->pub.objects + HOLDER_PART - 1) / HOLDER_PART;
}

void suspects_put_holder_bytes(struct suspect_words *s, const struct suspect *x, size_t i,
                               const char *before)
{
    if (x->pub.held[i].bytes == 0)
        return;
    suspects_put(s, "%s", before);
    suspects_put_bytes(s, x->pub.held[i].bytes);
}

bool suspects_put_holders(struct suspect_words *s, const struct suspect *x,
                          void (*put)(struct suspect_words *s, uint32_t type))
{
    uint32_t types[GCD_SUSPECT_HOLDERS];
    size_t n = 0, count = 0;
    bool own = false;
    for (; count < x->pub.held_count && (count == 0 || has_tenth_of_bytes(x, count)); count++)
        own = own || s->w->is_own[x->pub.held[count].type];
    for (size_t i = 0; i < count; i++)
        if (!suspects_is_linked_source(s, x->pub.held[i].type) &&
            (!own || s->w->is_own[x->pub.held[i].type]))
            types[n++] = x->pub.held[i].type;
    for (size_t i = 0; i < n; i++) {
        suspects_put(s, i == 0 ? "" : i + 1 < n ? ", " : " and ");
        put(s, types[i]);
    }
    return n > 0;
}

/* Is it a delegate that a callback of KIND is given as? */
static bool is_callback(enum gcd_suspect_kind kind, const char *delegate, size_t n)
{
    static const struct {
        enum gcd_suspect_kind kind;
        const char *delegate;
    } callbacks[] = {
        { GCD_SUSPECT_CANCELLATION, "System.Action" },
        { GCD_SUSPECT_CANCELLATION, "System.Action`1" },
        { GCD_SUSPECT_CANCELLATION, "System.Action`2" },
        { GCD_SUSPECT_TIMERS, "System.Threading.TimerCallback" },
        { GCD_SUSPECT_TIMERS, "System.Timers.ElapsedEventHandler" },
    };
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        if (callbacks[i].kind == kind && strlen(callbacks[i].delegate) == n &&
            memcmp(callbacks[i].delegate, delegate, n) == 0)
            return true;
    return false;
}

/* ".Abort": the only method of WHO that it makes a callback of KIND of; nothing if there are
 * several or none.  What is written of a method is in gcd_metadata_delegates. */
static void put_callback(struct suspect_words *s, enum gcd_suspect_kind kind, uint32_t who)
{
    const char *method = NULL, *end;
    size_t length = 0;
    for (const char *p = gcd_graph_summary(s->w->g)->types[who].events; p != NULL && *p != '\0';
         p = end + 1) {
        const char *space = strchr(p, ' ');
        end = strchr(p, ';');
        if (end == NULL || space == NULL || space > end)
            break;
        if (space[1] != '&' || !is_callback(kind, space + 2, (size_t)(end - space - 2)))
            continue;
        size_t n = (size_t)(space - p);
        if (*p == '<' || (method != NULL && (n != length || memcmp(p, method, n) != 0)))
            return;
        method = p;
        length = n;
    }
    if (method != NULL)
        suspects_put(s, ".%.*s", (int)length, method);
}

void suspects_put_behind(struct suspect_words *s, const struct suspect *x, const char *how)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->held_count == 0)
        return;
    if (p->held[0].objects == p->objects) {
        suspects_put(s, ", all%s", how);
        suspects_put_who(s, p->held[0].type);
        put_callback(s, p->kind, p->held[0].type);
        return;
    }
    bool one = p->held[0].objects >= p->objects - p->objects / HOLDER_PART;
    for (size_t i = 0; i < p->held_count; i++) {
        if (!suspects_is_holder(x, i))
            continue;
        suspects_put(s, ", ");
        suspects_put_number(s, p->held[i].objects);
        suspects_put(s, "%s%s", i == 0 ? " of them" : "", how);
        suspects_put_who(s, p->held[i].type);
        put_callback(s, p->kind, p->held[i].type);
        if (one && (p->held_count == 1 || !suspects_is_holder(x, 1)))
            return;
        suspects_put_holder_bytes(s, x, i, " (");
        suspects_put(s, p->held[i].bytes > 0 ? ")" : "");
    }
}

/* ---- owners ---- */

void suspects_put_module(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (p->owner_module[0] != '\0') {
        suspects_put(s, " (");
        suspects_put_name(s, p->owner_module);
        suspects_put(s, ")");
    }
}

struct gcd_field gcd_suspect_field(const struct gcd_suspect *x, size_t i,
                                   const struct gcd_fields *fields)
{
    const struct gcd_suspect_step *at = &x->path[i], *next = at + 1;
    if (fields == NULL || i + 1 >= x->path_count || at->repeats > 1 || at->skipped ||
        next->skipped || next->dependent)
        return GCD_FIELD_UNKNOWN;
    return gcd_fields_between(fields, at->node, next->node);
}

/* Of the box of a call, in whose field StateMachine the variables of the method are. */
static const char *variable_of(const char *field)
{
    static const char machine[] = "StateMachine.";
    return gcd_text_begins(field, machine) ? field + sizeof machine - 1 : field;
}

/* The field by which the owner of P holds the next object of its path. */
static struct gcd_field owner_field(const struct suspect_words *s, const struct gcd_suspect *p)
{
    struct gcd_field f = GCD_FIELD_UNKNOWN;
    for (size_t i = 0; i < p->path_count && f.name == NULL; i++)
        if (p->path[i].node == p->owner_node)
            f = gcd_suspect_field(p, i, s->w->o->fields);
    /* "m_continuationObject or pallets": what is in a variable of a call is no continuation */
    if (f.name != NULL && f.other != NULL && suspects_is_call(s, p->owner) &&
        gcd_text_begins(f.name, "m_")) {
        f.name = f.other;
        f.other = NULL;
    }
    return f;
}

static void put_member(struct suspect_words *s, uint32_t type, struct gcd_field f)
{
    if (is_certain(f) && suspects_is_lambda(s, type)) /* a variable has no lambda */
        suspects_put_where(s, type);
    else
        suspects_put_who(s, type);
    /* the fields of the box of a call are those of a task, which nobody looks for */
    if (is_certain(f) && !(suspects_is_call(s, type) && gcd_text_begins(f.name, "m_"))) {
        suspects_put(s, ".");
        suspects_put_name(s, suspects_is_call(s, type) ? variable_of(f.name) : f.name);
    }
}

/* " It is held by ..., through ..." */
void suspects_put_held_by(struct suspect_words *s, const struct suspect *x, const char *subject)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->path_count == 0)
        return;
    if (p->root == SIZE_MAX) {
        suspects_put(s, " What holds %s is not known: the dump has no roots.",
                     p->objects == 1 ? "it" : "them");
        return;
    }
    suspects_put(s, " %s held by ", subject);
    suspects_put_root(s, p->root);
    if (p->path_count > 1) {
        suspects_put(s, p->path_count > 2 || p->path[0].repeats > 1 ? " by way of " : " through ");
        const struct gcd_suspect_step *by = owner_of(s, p);
        put_member(s, by->type, gcd_suspect_field(p, (size_t)(by - p->path), s->w->o->fields));
        if (p->path[p->path_count - 1].dependent)
            suspects_put(s, " and a dependent handle");
    }
    suspects_put(s, ".");
}

bool suspects_is_in_static(const struct suspect_words *s, const struct gcd_suspect *p)
{
    return p->path_count == 1 && p->root != SIZE_MAX &&
           gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root]) == GCD_GROUP_STATICS;
}

bool suspects_put_variable(struct suspect_words *s, const char *before, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    struct gcd_field f = GCD_FIELD_UNKNOWN;
    if (p->path_count > 1) {
        f = gcd_suspect_field(p, p->path_count - 2, s->w->o->fields);
        uint32_t holder = p->path[p->path_count - 2].type;
        /* what a source consists of is no place */
        if (!is_certain(f) || gcd_text_begins(gcd_graph_summary(s->w->g)->types[holder].name,
                                              "System.Threading.CancellationTokenSource+"))
            return false;
        suspects_put(s, "%s", before);
        put_member(s, holder, f);
        return true;
    }
    if (!suspects_is_in_static(s, p))
        return false;
    suspects_put(s, "%s", before);
    suspects_put_root_place(s, p->root);
    return true;
}

const char *suspects_owner_field(const struct suspect_words *s, const struct gcd_suspect *p)
{
    struct gcd_field f = owner_field(s, p);
    return is_certain(f) ? f.name : "";
}

void suspects_put_owner_place(struct suspect_words *s, const struct gcd_suspect *p)
{
    put_member(s, p->owner, owner_field(s, p));
}

void suspects_put_way_place(struct suspect_words *s, const struct gcd_suspect_way *way)
{
    bool one =
        s->w->o->fields != NULL && way->owner_node != GCD_NODE_NONE && way->next != GCD_NODE_NONE;
    put_member(s, way->owner,
               one ? gcd_fields_between(s->w->o->fields, way->owner_node, way->next)
                   : GCD_FIELD_UNKNOWN);
}

void suspects_put_owner(struct suspect_words *s, const struct gcd_suspect *p)
{
    struct gcd_field f = owner_field(s, p);
    bool captured = suspects_is_lambda(s, p->owner) && is_certain(f);
    if (captured ||
        (suspects_is_call(s, p->owner) && is_certain(f) && !gcd_text_begins(f.name, "m_"))) {
        suspects_put(s, "the variable ");
        suspects_put_name(s, variable_of(f.name));
        suspects_put(s, " of ");
    }
    if (!suspects_is_lambda(s, p->owner) && !suspects_is_call(s, p->owner)) {
        if (is_certain(f)) {
            suspects_put(s, "the field ");
            suspects_put_name(s, f.name);
            suspects_put(s, " of ");
        }
        if (made_of(s, p->owner) == NULL) /* else "a function in" follows */
            suspects_put(s, "one ");
    }
    if (captured)
        suspects_put_where(s, p->owner);
    else
        suspects_put_who(s, p->owner);
    suspects_put_module(s, p);
}

/* Has each of the counted objects, or each element of the collection, one own object of part I? */
static bool is_one_in_each(const struct suspect_words *s, const struct gcd_suspect *p, size_t i)
{
    bool elements = p->kind == GCD_SUSPECT_OBJECT && p->element.type != GCD_TYPE_NONE;
    uint32_t type = elements ? p->element.type : p->type;
    uint64_t n = elements ? p->element.objects : p->kind == GCD_SUSPECT_TYPE ? p->objects : 0;
    return n > 1 && (!elements || p->elements == n) && p->own[i].objects == n &&
           p->own[i].type != s->w->alike[type];
}

void suspects_put_own(struct suspect_words *s, const struct gcd_suspect *p)
{
    for (size_t i = 0; i < p->own_count && i < OWN_SHOWN; i++) {
        suspects_put(s, i == 0 ? " Your own types in it: " : ", ");
        bool call = suspects_is_call(s, p->own[i].type);
        uint32_t assemblies = suspects_assemblies_of(s->w, p->own[i].type);
        suspects_put_who(s, p->own[i].type);
        if (assemblies > 1)
            suspects_put(s, " of %" PRIu32 " assemblies", assemblies);
        suspects_put(s, " (");
        if (is_one_in_each(s, p, i))
            suspects_put(s, "one in each");
        else
            suspects_put_count(s, p->own[i].objects, call ? "call" : "object",
                               call ? "calls" : "objects");
        suspects_put(s, ", ");
        suspects_put_bytes(s, p->own[i].bytes);
        suspects_put(s, ")");
    }
    if (p->own_count > 0)
        suspects_put(s, ".");
}

/* The elements as people count them: N elements, TYPED of them of TYPE; TYPE GCD_TYPE_NONE = of
 * several types. */
struct elements {
    uint64_t n, typed;
    uint32_t type;
    const char *bound; /* words before N if it is a bound */
    bool text;         /* the elements are characters */
};

static struct elements elements_of(const struct suspect *x)
{
    const struct gcd_collection *it = &x->collection;
    const struct gcd_suspect_part *most = &x->pub.element;
    bool exact = gcd_collection_is_exact(it),
         known = exact || it->at_least > 0 || it->at_most != GCD_COUNT_UNKNOWN;
    struct elements e = { .n = known ? it->elements : 0,
                          .typed = most->objects,
                          .type = most->type,
                          .bound = "",
                          .text = it->kind == GCD_COLLECTION_TEXT };
    if (it->nulls > 0)
        e.n = e.typed;
    else if (e.type != GCD_TYPE_NONE && !exact && e.typed >= e.n - e.n / 10)
        e.n = e.typed; /* this many of this type are certain */
    else if (!exact)
        e.bound = gcd_bound(it->elements, it->at_least, it->at_most);
    return e;
}

/* "5,041 Shop.Session", "60 calls of Shop.Feed.ReadAsync", "12 elements" */
static void put_elements(struct suspect_words *s, const struct elements *e, bool all)
{
    suspects_put(s, "%s", e->bound);
    if (!all) {
        suspects_put_count(s, e->n, e->text ? "character" : "element",
                           e->text ? "characters" : "elements");
        return;
    }
    if (suspects_put_made(s, e->n, e->type))
        return;
    suspects_put_number(s, e->n);
    suspects_put(s, " ");
    suspects_put_type(s, e->type);
}

uint64_t suspects_put_elements(struct suspect_words *s, const struct suspect *x)
{
    const struct elements e = elements_of(x);
    bool all = e.type != GCD_TYPE_NONE && e.typed >= e.n - e.n / 10;
    if (e.n > 0)
        put_elements(s, &e, all);
    else
        suspects_put_type(s, suspects_type_of(s->w, x->collection.node));
    return e.text || e.bound[0] != '\0' ? 0 : e.n;
}

bool suspects_put_collection(struct suspect_words *s, const struct suspect *x, bool small)
{
    const struct elements e = elements_of(x);
    bool all = e.type != GCD_TYPE_NONE && e.typed >= e.n - e.n / 10,
         most = e.type != GCD_TYPE_NONE && e.typed >= e.n / 2 && e.typed > 1;
    uint32_t type = suspects_type_of(s->w, x->collection.node);
    if (e.n > 0 && small) {
        put_elements(s, &e, all);
        suspects_put(s, " in ");
    }
    suspects_put_article(s, type, small);
    put_collection_type(s, type);
    if (e.n > 0 && !small) {
        suspects_put(s, " with ");
        put_elements(s, &e, all);
    }
    if (e.n == 0 || !most || all)
        return false;
    suspects_put(s, ", mostly ");
    suspects_put_type(s, e.type);
    suspects_put(s, " (");
    suspects_put_number(s, e.typed);
    suspects_put(s, ")");
    return true;
}
