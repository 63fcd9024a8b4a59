/*
 * Keys that are no texts: numbers, dates, enums, structs in an entry itself; boxed ones; objects of
 * the program's own classes by their fields.
 */
#include <stdarg.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>

#include "base/text.h"
#include "session/session.h"

/* Fields of an object that is a key; elements of an array in it that are compared. */
#define OBJECT_FIELDS 4u
#define ELEMENTS_MAX  64u

/* ---- words ---- */

struct words {
    char *to; /* [GCD_QUOTED_BYTES] */
    size_t n;
    struct gcd_text text; /* the last one, if it is there */
    bool secret;          /* a text is hidden */
};

GCD_PRINTF(2, 3)
static void say(struct words *w, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    gcd_text_append(w->to, GCD_QUOTED_BYTES, &w->n, form, args);
    va_end(args);
}

/* A string or a boxed value; false: NODE is neither. */
static bool say_plain(struct gcd_session *s, struct gcd_image_numbers *numbers, uint32_t node,
                      struct words *w)
{
    char quoted[GCD_QUOTED_BYTES], number[GCD_NUMBER_BYTES];
    struct gcd_number boxed;
    const char *shown = gcd_session_text(s, node, &w->text, quoted);
    w->secret = w->secret || (shown != NULL && w->text.utf8 == NULL);
    if (shown == NULL && numbers != NULL &&
        gcd_image_boxed(numbers, gcd_graph_node_address(s->graph, node), &boxed) == GCD_OK)
        shown = gcd_number_text(&boxed, number);
    if (shown != NULL)
        say(w, "%s", shown);
    return shown != NULL;
}

static void say_reference(struct gcd_session *s, struct gcd_image_numbers *numbers,
                          uint64_t address, struct words *w)
{
    uint32_t node = address != 0 ? gcd_graph_find(s->graph, address) : GCD_NODE_NONE;
    if (address == 0)
        say(w, "null");
    else if (node == GCD_NODE_NONE)
        say(w, "?");
    else if (!say_plain(s, numbers, node, w))
        say(w, "%s", gcd_names_get(gcd_session_names(s), gcd_graph_node_type(s->graph, node)));
}

static void say_field(struct gcd_session *s, struct gcd_image_numbers *numbers,
                      const struct gcd_image_field *f, struct words *w)
{
    char number[GCD_NUMBER_BYTES];
    if (!f->known)
        say(w, "?");
    else if (f->number.kind == GCD_NUMBER_REFERENCE)
        say_reference(s, numbers, f->number.bits, w);
    else
        say(w, "%s", gcd_number_text(&f->number, number));
}

/* Is PART an element of a tuple, "Item1" or "Item2.Item1"? */
static bool is_of_tuple(const char *part)
{
    const char *last = strrchr(part, '.');
    last = last != NULL ? last + 1 : part;
    return gcd_text_begins(last, "Item") && last[4] >= '1' && last[4] <= '9' && last[5] == '\0';
}

/* SEPARATOR, and what PART is called, "X = "; those of a tuple have no names. */
static void begin_part(struct words *w, const char *separator, const char *part)
{
    bool named = part[0] != '\0' && !is_of_tuple(part);
    say(w, "%s%s%s", separator, named ? part : "", named ? " = " : "");
}

/* Classes of the platform that are keys, and the field that says all. */
static const struct {
    const char *raw_name, *field;
} keys_of_platform[] = { { "System.Uri", "_string" }, { "System.RuntimeType", "m_handle" } };

/* The name of the type with this method table, if the heap has one of its objects. */
static const char *type_called(const struct gcd_session *s, uint64_t table)
{
    const struct gcd_summary *of = gcd_graph_summary(s->graph);
    for (uint32_t i = 0; i < of->type_count; i++)
        if (of->types[i].id == table)
            return gcd_names_get(gcd_session_names(s), i);
    return NULL;
}

/* "10.0.0.1".  One of version 6 has its numbers in an array, which nobody reads. */
static bool say_ip_address(struct gcd_image_numbers *numbers, uint64_t address, struct words *w)
{
    uint32_t n = gcd_image_field_count(numbers, address);
    uint64_t bits = 0;
    bool known = false, version_6 = false;
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(numbers, address, i);
        if (gcd_field_is_called(f.name, strlen(f.name), "addressOrScopeId")) {
            bits = f.number.bits;
            known = f.known;
        } else if (gcd_field_is_called(f.name, strlen(f.name), "numbers")) {
            version_6 = !f.known || f.number.bits != 0;
        }
    }
    if (known && !version_6)
        say(w, "%u.%u.%u.%u", (unsigned)(bits & 255), (unsigned)(bits >> 8 & 255),
            (unsigned)(bits >> 16 & 255), (unsigned)(bits >> 24 & 255));
    return known && !version_6;
}

/* A Uri by its text, a Type by its name. */
static bool say_of_platform(struct gcd_session *s, struct gcd_image_numbers *numbers, uint32_t node,
                            const char *raw, struct words *w)
{
    uint64_t address = gcd_graph_node_address(s->graph, node);
    const char *field = NULL, *name;
    if (strcmp(raw, "System.Net.IPAddress") == 0)
        return say_ip_address(numbers, address, w);
    for (size_t i = 0; i < sizeof keys_of_platform / sizeof *keys_of_platform; i++)
        if (strcmp(keys_of_platform[i].raw_name, raw) == 0)
            field = keys_of_platform[i].field;
    uint32_t n = field != NULL ? gcd_image_field_count(numbers, address) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(numbers, address, i);
        if (!f.known || strcmp(f.name, field) != 0)
            continue;
        if (f.number.kind != GCD_NUMBER_REFERENCE) {
            name = type_called(s, f.number.bits);
            say(w, "%s", name != NULL ? name : "");
            return name != NULL;
        }
        uint32_t text = gcd_graph_find(s->graph, f.number.bits);
        return text != GCD_NODE_NONE && say_plain(s, numbers, text, w);
    }
    return false;
}

/* "Order { Id = 4711, Region = 2 }", of the program's own classes, "("a", 2)", a boxed tuple. */
static bool say_object(struct gcd_session *s, struct gcd_image_numbers *numbers, uint32_t node,
                       struct words *w)
{
    uint32_t type = gcd_graph_node_type(s->graph, node);
    uint64_t address = gcd_graph_node_address(s->graph, node);
    const char *raw = gcd_graph_summary(s->graph)->types[type].raw_name;
    uint32_t n = numbers != NULL ? gcd_image_field_count(numbers, address) : 0;
    bool tuple = gcd_text_begins(raw, "System.ValueTuple`");
    bool own = !gcd_text_begins(raw, "System.") && !gcd_text_begins(raw, "Microsoft.");
    if (n > 0 && !own && say_of_platform(s, numbers, node, raw, w))
        return true;
    if (n == 0 || n > OBJECT_FIELDS || (!own && !tuple && strcmp(raw, "System.Version") != 0))
        return false;
    if (!tuple)
        say(w, "%s { ", gcd_names_get(gcd_session_names(s), type));
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(numbers, address, i);
        begin_part(w, i > 0 ? ", " : tuple ? "(" : "", f.name);
        say_field(s, numbers, &f, w);
    }
    say(w, "%s", tuple ? ")" : " }");
    return true;
}

/* ---- equal contents ---- */

static uint64_t mixed(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The content of what a key refers to: a text, an array of texts; else the object itself. */
static uint64_t hash_of(const struct gcd_session *s, uint64_t address)
{
    uint32_t node = gcd_graph_find(s->graph, address),
             text = gcd_values_find(s->values.values, address);
    uint64_t hash = text;
    size_t n = 0;
    const uint32_t *edges = NULL;
    if (text != GCD_TEXT_NONE)
        return mixed(1, text);
    if (node != GCD_NODE_NONE)
        edges = gcd_graph_node_edges(s->graph, node, &n);
    hash = mixed(2, n);
    for (size_t i = 0; i < n && i < ELEMENTS_MAX; i++) {
        text = gcd_values_find(s->values.values, gcd_graph_node_address(s->graph, edges[i]));
        if (text == GCD_TEXT_NONE)
            return address;
        hash = mixed(hash, text);
    }
    return n > 0 && n <= ELEMENTS_MAX ? hash : address;
}

bool session_key_hash(struct gcd_session *s, uint32_t key, uint64_t *ret)
{
    struct gcd_image_numbers *numbers;
    uint64_t address = gcd_graph_node_address(s->graph, key);
    if (s->values.values == NULL || gcd_session_numbers(s, &numbers, NULL) != GCD_OK ||
        numbers == NULL)
        return false;
    uint32_t n = gcd_image_field_count(numbers, address);
    *ret = mixed(3, gcd_graph_node_type(s->graph, key));
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(numbers, address, i);
        if (!f.known)
            return false;
        bool object = f.number.kind == GCD_NUMBER_REFERENCE && f.number.bits != 0;
        *ret = mixed(*ret, object ? hash_of(s, f.number.bits) : f.number.bits);
    }
    return n > 0;
}

/* ---- in an entry ---- */

/* An entry: an object, or an element of an array. */
struct entry {
    struct gcd_image_numbers *numbers;
    uint64_t address, element; /* GCD_ELEMENT_NONE: it is no array */
    uint32_t fields;
};

static struct gcd_image_field field_of(const struct entry *e, uint32_t i)
{
    return e->element != GCD_ELEMENT_NONE ? gcd_image_element(e->numbers, e->address, e->element, i)
                                          : gcd_image_field(e->numbers, e->address, i);
}

/* The end of the name of the last value in NAME[N], "_value" or "value.Item1"; 0 = it has none. */
static size_t value_in(const char *name, size_t n)
{
    while (n > 0 && !gcd_field_is_called(name, n, "value") && !gcd_field_is_called(name, n, "val"))
        while (n > 0 && name[--n] != '.')
            ;
    return n;
}

/* The field of E that refers to VALUE and is that of a value, or in one; NULL = none does. */
static const char *value_field(const struct entry *e, uint64_t value)
{
    for (uint32_t i = 0; i < e->fields; i++) {
        struct gcd_image_field f = field_of(e, i);
        if (f.known && f.number.kind == GCD_NUMBER_REFERENCE && f.number.bits == value &&
            value_in(f.name, strlen(f.name)) > 0)
            return f.name;
    }
    return NULL;
}

/* Is NAME the key, or a part of it, whose name begins after the first PREFIX bytes, which are those
 * of VALUE?  *RET_PART: "X" of "key.X"; "" = it is all of the key. */
static bool is_key_at(const char *name, const char *value, size_t prefix, const char **ret_part)
{
    if (strncmp(name, value, prefix) != 0)
        return false;
    size_t n = strcspn(name + prefix, ".");
    *ret_part = name[prefix + n] == '.' ? name + prefix + n + 1 : "";
    return gcd_field_is_called(name + prefix, n, "key");
}

/* The key of E beside its field VALUE, of which the first PREFIX bytes are those of the key, too.
 */
static bool say_key(struct gcd_session *s, const struct entry *e, const char *value, size_t prefix,
                    struct words *w)
{
    bool any = false, parts = false;
    for (uint32_t i = 0; i < e->fields; i++) {
        struct gcd_image_field f = field_of(e, i);
        const char *part;
        if (!is_key_at(f.name, value, prefix, &part))
            continue;
        uint32_t node = f.known && f.number.kind == GCD_NUMBER_REFERENCE && f.number.bits != 0
                            ? gcd_graph_find(s->graph, f.number.bits)
                            : GCD_NODE_NONE;
        parts = parts || part[0] != '\0';
        begin_part(w, any ? ", " : parts ? "(" : "", part);
        if (node == GCD_NODE_NONE || part[0] != '\0' ||
            (!say_plain(s, e->numbers, node, w) && !say_object(s, e->numbers, node, w)))
            say_field(s, e->numbers, &f, w);
        any = true;
    }
    say(w, "%s", parts ? ")" : "");
    return any;
}

/* The element of E that has VALUE becomes that of E; NULL = none. */
static const char *find_element(struct entry *e, uint64_t value, uint64_t count)
{
    const char *name = NULL;
    for (e->element = 0; e->element < count && name == NULL; e->element++)
        name = value_field(e, value);
    e->element--;
    return name;
}

/* The key that HOLDER has beside VALUE, in ELEMENT of it if that is known. */
static bool say_inline(struct gcd_session *s, struct gcd_image_numbers *numbers, uint32_t holder,
                       uint64_t element, uint32_t value, struct words *w)
{
    struct gcd_image_elements elements;
    struct entry e = { .numbers = numbers,
                       .address = gcd_graph_node_address(s->graph, holder),
                       .element = GCD_ELEMENT_NONE };
    uint64_t to = gcd_graph_node_address(s->graph, value);
    const char *name;
    if (gcd_image_elements(numbers, e.address, &elements)) {
        e.element = element;
        e.fields = elements.fields;
        name = element < elements.count ? value_field(&e, to) : NULL;
        if (name == NULL && elements.count > 0)
            name = find_element(&e, to, elements.count);
    } else {
        e.fields = gcd_image_field_count(numbers, e.address);
        name = value_field(&e, to);
    }
    for (size_t n = name != NULL ? strlen(name) : 0; (n = value_in(name, n)) > 0;) {
        while (n > 0 && name[n - 1] != '.')
            n--;
        if (say_key(s, &e, name, n, w))
            return true;
        n -= n > 0; /* the value may be a part of another one */
    }
    return false;
}

/* An element of an array of keys. */
static bool say_element(struct gcd_session *s, struct gcd_image_numbers *numbers, uint32_t array,
                        uint64_t element, struct words *w)
{
    struct gcd_image_elements elements;
    uint64_t address = gcd_graph_node_address(s->graph, array);
    if (!gcd_image_elements(numbers, address, &elements) || element >= elements.count)
        return false;
    bool parts = elements.fields > 1;
    for (uint32_t i = 0; i < elements.fields; i++) {
        struct gcd_image_field f = gcd_image_element(numbers, address, element, i);
        begin_part(w, i > 0 ? ", " : parts ? "(" : "", f.name);
        say_field(s, numbers, &f, w);
    }
    say(w, "%s", parts ? ")" : "");
    return true;
}

/* At which index ARRAY has VALUE; GCD_ELEMENT_NONE: not certain, or nowhere. */
static uint64_t element_of(const struct gcd_graph *g, const struct gcd_fields *f, uint32_t array,
                           uint32_t value)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, array, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] == value)
            return gcd_fields_get(f, array, i).element;
    return GCD_ELEMENT_NONE;
}

/* Were the keys and values of COLLECTION, which are in two arrays, read at different moments?  Then
 * they still belong together if it cannot change. */
static bool may_have_changed(const struct gcd_session *s, uint32_t collection)
{
    uint32_t type = gcd_graph_node_type(s->graph, collection);
    const char *raw = gcd_graph_summary(s->graph)->types[type].raw_name;
    return s->values.values != NULL && gcd_values_facts(s->values.values)->after_ms > 0 &&
           !gcd_text_begins(raw, "System.Collections.Frozen.");
}

static bool say_other(struct gcd_session *s, const struct gcd_fields *f,
                      const struct gcd_session_entry *e, uint32_t key, struct words *w)
{
    struct gcd_image_numbers *numbers;
    if (gcd_session_numbers(s, &numbers, NULL) != GCD_OK || numbers == NULL)
        return false;
    if (key != GCD_NODE_NONE)
        return say_plain(s, numbers, key, w) || say_object(s, numbers, key, w);
    uint64_t element = element_of(s->graph, f, e->entry, e->value);
    uint32_t keys = e->collection != GCD_NODE_NONE
                        ? gcd_key_array_of(s->graph, f, e->collection, e->entry)
                        : GCD_NODE_NONE;
    if (keys != GCD_NODE_NONE)
        return !may_have_changed(s, e->collection) && say_element(s, numbers, keys, element, w);
    return say_inline(s, numbers, e->entry, element, e->value, w);
}

const char *session_other_key(struct gcd_session *s, const struct gcd_fields *f,
                              const struct gcd_session_entry *e, uint32_t key, struct gcd_text *ret,
                              char buf[GCD_QUOTED_BYTES])
{
    struct words w = { .to = buf };
    buf[0] = '\0';
    if (!say_other(s, f, e, key, &w))
        return NULL;
    if (buf[0] == '"') /* it is a text only */
        *ret = w.text;
    else if (!w.secret)
        *ret = (struct gcd_text){ .utf8 = buf, .bytes = (uint32_t)w.n };
    return buf;
}
