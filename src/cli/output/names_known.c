#include <gcdumpc/summary.h>
#include <gcdumpc/unstable/loads.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_out.h"
#include "output/names_known.h"

static bool is_known(const struct gcd_module *m)
{
    return m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED;
}

static bool has_fields(const struct gcd_type *t)
{
    return t->layout != NULL && t->layout[0] != '\0' && t->layout[1] != '?';
}

static void count_types(const struct gcd_summary *s, struct cli_names_known *k)
{
    bool named = false;
    for (uint32_t i = 0; i < s->type_count; i++) {
        const struct gcd_type *t = &s->types[i];
        if (t->objects == 0)
            continue;
        bool known = t->module_number < s->module_count && is_known(&s->modules[t->module_number]);
        named = named || t->named;
        k->types++;
        k->types_known += known && t->named;
        k->types_with_fields += has_fields(t);
        k->types_too_long += t->described && !t->named && (t->flags & GCD_TYPE_NATIVE) == 0;
    }
    k->types_too_long = named ? k->types_too_long : 0;
}

static void count_statics(const struct gcd_summary *s, struct cli_names_known *k)
{
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        if (r->kind != GCD_ROOT_STATIC)
            continue;
        bool known = r->class_name[0] != '\0';
        k->statics++;
        k->statics_known += known;
        k->statics_several += !known && gcd_static_is_labelled(r);
    }
}

static void count_modules(const struct gcd_summary *s, struct cli_names_known *k)
{
    for (size_t i = 0; i < s->module_count; i++) {
        enum gcd_module_state state = s->modules[i].state;
        k->native += s->modules[i].native;
        if (s->modules[i].native && !is_known(&s->modules[i])) /* its symbols are missing */
            continue;
        if (k->modules[state] < CLI_MODULES_NAMED)
            k->first[state][k->modules[state]] = i;
        k->modules[state]++;
    }
}

bool cli_names_known(const struct gcd_summary *s, struct cli_names_known *ret)
{
    *ret = (struct cli_names_known){ .types = 0 };
    count_types(s, ret);
    count_statics(s, ret);
    count_modules(s, ret);
    return s->module_count > 0;
}

static const char *module_state(enum gcd_module_state state)
{
    static const char *const names[GCD_MODULE_STATES] = {
        [GCD_MODULE_NOT_READ] = "not_read",     [GCD_MODULE_READ] = "read",
        [GCD_MODULE_RECORDED] = "recorded",     [GCD_MODULE_NO_PATH] = "no_path",
        [GCD_MODULE_NOT_FOUND] = "not_found",   [GCD_MODULE_REPLACED] = "replaced",
        [GCD_MODULE_UNREADABLE] = "unreadable",
    };
    return names[state];
}

/* A list of modules; those without a name come last, as a number. */
struct labels {
    FILE *to;
    const char *before; /* the first one */
    unsigned named, unnamed;
};

static void put_label(struct labels *l, const char *label, const char *problem)
{
    if (label[0] == '\0' && problem[0] == '\0') {
        l->unnamed++;
        return;
    }
    bool told = label[0] == '\0' || strstr(problem, label) != NULL,
         both = !told && problem[0] != '\0';
    (void)fprintf(l->to, "%s%s%s%s%s", l->named++ > 0 ? ", " : l->before, told ? "" : label,
                  both ? " (" : "", problem, both ? ")" : "");
}

static void end_labels(const struct labels *l, uint64_t count)
{
    const char *before = l->named > 0 ? ", " : l->before;
    if (l->unnamed == 1)
        (void)fprintf(l->to, "%sone without a name", before);
    else if (l->unnamed > 1)
        (void)fprintf(l->to, "%s%u without a name", before, l->unnamed);
    if (count > l->named + l->unnamed)
        (void)fprintf(l->to, " and %" PRIu64 " more", count - l->named - l->unnamed);
}

char *cli_module_problem(const struct gcd_summary *s, const struct cli_names_known *k,
                         enum gcd_module_state state)
{
    static const struct {
        const char *one, *many;
    } words[GCD_MODULE_STATES] = {
        [GCD_MODULE_NO_PATH] = { "module has no file, or it is not known which",
                                 "modules have no file, or it is not known which" },
        [GCD_MODULE_NOT_FOUND] = { "module was not found", "modules were not found" },
        [GCD_MODULE_REPLACED] = { "module was replaced after it was loaded",
                                  "modules were replaced after they were loaded" },
        [GCD_MODULE_UNREADABLE] = { "module cannot be read", "modules cannot be read" },
    };
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL)
        return NULL;
    uint64_t count = k->modules[state];
    (void)fprintf(to, "%" PRIu64 " %s: ", count,
                  gcd_by_number(count, words[state].one, words[state].many));
    struct labels l = { .to = to, .before = "" };
    for (size_t i = 0; i < count && i < CLI_MODULES_NAMED; i++) {
        const struct gcd_module *m = &s->modules[k->first[state][i]];
        put_label(&l, gcd_module_label(m), state == GCD_MODULE_UNREADABLE ? m->problem : "");
    }
    end_labels(&l, count);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* RET[module_count]: does it have types whose fields are not known?  How many have. */
static uint64_t find_without_fields(const struct gcd_summary *s, bool *ret)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->type_count; i++) {
        const struct gcd_type *t = &s->types[i];
        if (t->objects == 0 || has_fields(t) || t->module_number >= s->module_count ||
            ret[t->module_number] || s->modules[t->module_number].native)
            continue;
        ret[t->module_number] = true;
        n++;
    }
    return n;
}

char *cli_modules_without_fields(const struct gcd_summary *s)
{
    char *text = NULL;
    size_t n;
    bool *without = calloc(s->module_count + 1, sizeof *without);
    FILE *to = without != NULL ? open_memstream(&text, &n) : NULL;
    if (to == NULL) {
        free(without);
        return NULL;
    }
    uint64_t count = find_without_fields(s, without);
    struct labels l = { .to = to, .before = "not of all in " };
    for (size_t i = 0; i < s->module_count && l.named + l.unnamed < CLI_MODULES_NAMED; i++)
        if (without[i])
            put_label(&l, gcd_module_label(&s->modules[i]), "");
    end_labels(&l, count);
    if (count > 0)
        (void)fprintf(to, ": a file of theirs, or of a value in them, is missing or does not tell");
    free(without);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- JSON ---- */

static bool is_problem(enum gcd_module_state state)
{
    return state == GCD_MODULE_NO_PATH || state == GCD_MODULE_NOT_FOUND ||
           state == GCD_MODULE_REPLACED || state == GCD_MODULE_UNREADABLE;
}

static json_t *problems(const struct gcd_summary *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        if (!is_problem(m->state))
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "path", cli_json_text_or_null(m->path));
        json_object_set_new(o, "assembly", cli_json_text_or_null(m->assembly));
        json_object_set_new(o, "state", json_string(module_state(m->state)));
        json_object_set_new(o, "why", cli_json_text_or_null(m->problem));
        json_array_append_new(all, o);
    }
    return all;
}

static json_t *native(const struct gcd_summary *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        if (!m->native)
            continue;
        json_t *o = json_object();
        json_object_set_new(o, "path", cli_json_text_or_null(m->path));
        json_object_set_new(o, "build_id",
                            cli_json_text_or_null(m->build_id != NULL ? m->build_id : ""));
        json_object_set_new(o, "state", json_string(module_state(m->state)));
        json_array_append_new(all, o);
    }
    return all;
}

json_t *cli_json_names(const struct gcd_summary *s)
{
    struct cli_names_known k;
    if (!cli_names_known(s, &k))
        return json_null();
    json_t *o = json_object(), *modules = json_object();
    json_object_set_new(o, "types", cli_json_number(k.types));
    json_object_set_new(o, "types_resolved", cli_json_number(k.types_known));
    json_object_set_new(o, "types_with_fields", cli_json_number(k.types_with_fields));
    json_object_set_new(o, "types_too_long", cli_json_number(k.types_too_long));
    json_object_set_new(o, "statics", cli_json_number(k.statics));
    json_object_set_new(o, "statics_resolved", cli_json_number(k.statics_known));
    json_object_set_new(o, "statics_ambiguous", cli_json_number(k.statics_several));
    for (int i = 0; i < GCD_MODULE_STATES; i++)
        json_object_set_new(modules, module_state((enum gcd_module_state)i),
                            cli_json_number(k.modules[i]));
    json_object_set_new(o, "modules", modules);
    if (k.native > 0)
        json_object_set_new(o, "native", native(s));
    json_object_set_new(o, "problems", problems(s));
    return o;
}
