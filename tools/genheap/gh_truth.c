#include "gh_truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const root_kind_names[GH_ROOT_KINDS] = { "stack", "finalizer", "handle",
                                                            "other" };
static const char *const gen_names[GH_GENS] = { "gen0", "gen1", "gen2", "loh", "poh", "frozen" };

static void put_string(FILE *f, const char *s)
{
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putc('\\', f);
        putc(*s, f);
    }
    putc('"', f);
}

static void put_bool(FILE *f, const char *name, bool v)
{
    fprintf(f, "  \"%s\": %s,\n", name, v ? "true" : "false");
}

static void put_num(FILE *f, const char *name, uint64_t v)
{
    fprintf(f, "  \"%s\": %" PRIu64 ",\n", name, v);
}

/* "NAME": { "a": 1, … } */
static void put_group(FILE *f, const char *name, const char *const *names, const uint64_t *v,
                      unsigned n)
{
    unsigned i;

    fprintf(f, "  \"%s\": { ", name);
    for (i = 0; i < n; i++)
        fprintf(f, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], v[i]);
    fprintf(f, " },\n");
}

/* Events and records per kind: how many were written, or lost. */
static void put_parts(FILE *f, const char *name, uint64_t events, const uint64_t *by_kind,
                      const uint64_t *items)
{
    const struct {
        const char *name;
        uint64_t v;
    } parts[] = {
        { "events", events },
        { "objects", items[GH_K_NODE] },
        { "edges", items[GH_K_EDGE] },
        { "roots", items[GH_K_ROOT] },
        { "statics", items[GH_K_STATIC] },
        { "dependent_handles", items[GH_K_HANDLE] },
        { "type_records", items[GH_K_TYPE] },
        { "node_events", by_kind[GH_K_NODE] },
        { "edge_events", by_kind[GH_K_EDGE] },
        { "type_events", by_kind[GH_K_TYPE] },
        { "root_events", by_kind[GH_K_ROOT] },
        { "gcstart", by_kind[GH_K_GCSTART] },
        { "gcend", by_kind[GH_K_GCEND] },
        { "modules", by_kind[GH_K_MODULE] },
    };
    size_t i;

    fprintf(f, "  \"%s\": {", name);
    for (i = 0; i < sizeof parts / sizeof parts[0]; i++)
        fprintf(f, "%s\n    \"%s\": %" PRIu64, i ? "," : "", parts[i].name, parts[i].v);
    fprintf(f, "\n  },\n");
}

static void put_types(FILE *f, const struct gh_script *s)
{
    const struct gh_types *ty = s->m->types;
    const struct gh_totals *t = &s->totals[0];
    const char *comma = "";
    uint32_t i;

    fprintf(f, "  \"types\": [");
    for (i = 0; i < ty->n; i++) {
        if (!t->type_objects[i])
            continue;
        fprintf(f, "%s\n    { \"id\": \"0x%" PRIx64 "\", \"name\": ", comma, ty->t[i].id);
        put_string(f, s->o->empty_names ? "" : ty->t[i].name);
        fprintf(f, ", \"module\": ");
        put_string(f, ty->modules[ty->t[i].module].path);
        fprintf(f, ", \"described\": %s, \"count\": %" PRIu64 ", \"bytes\": %" PRIu64 " }",
                s->walk->described[i] ? "true" : "false", t->type_objects[i], t->type_bytes[i]);
        comma = ",";
    }
    fprintf(f, "%s],\n", *comma ? "\n  " : "");
}

/* "retained": null if nothing holds the heap, or if it is too large to compute that. */
static void put_retained(FILE *f, const struct gh_model *m, const struct gh_retained *r)
{
    uint32_t i;

    if (!r->known) {
        fprintf(f, "  \"retained\": null,\n");
        return;
    }
    fprintf(f,
            "  \"retained\": {\n    \"alive_objects\": %" PRIu64 ", \"alive_bytes\": %" PRIu64
            ",\n    \"largest\": [",
            r->alive_objects, r->alive_bytes);
    for (i = 0; i < r->n_top; i++) {
        struct gh_object obj;

        gh_model_object(m, r->top[i].object, &obj);
        fprintf(f,
                "%s\n      { \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64
                ", \"retained\": %" PRIu64 " }",
                i ? "," : "", obj.addr, obj.size, r->top[i].bytes);
    }
    fprintf(f, "\n    ]\n  },\n");
}

static void put_dumps(FILE *f, const struct gh_script *s)
{
    uint32_t i;

    fprintf(f, "  \"dump_list\": [");
    for (i = 0; i < s->o->n_dumps; i++) {
        const struct gh_totals *t = &s->totals[i];

        fprintf(f,
                "%s\n    { \"objects\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"edges\": %" PRIu64,
                i ? "," : "", t->objects, t->bytes, t->edges);
        fprintf(f,
                ", \"roots\": %" PRIu64 ", \"statics\": %" PRIu64
                ", \"dependent_handles\": %" PRIu64 " }",
                t->roots, t->statics, t->dependent);
    }
    fprintf(f, "\n  ]\n");
}

bool gh_truth_write(const struct gh_script *s, const struct gh_container *c,
                    const struct gh_retained *retained, uint64_t file_bytes)
{
    const struct gh_opts *o = s->o;
    const struct gh_totals *t = &s->totals[0];
    const struct gh_pipe *p = s->pipe;
    bool cut = file_bytes < c->off;
    uint64_t described = 0, with_objects = 0;
    FILE *f;
    uint32_t i;
    bool ok;

    f = strcmp(o->truth_path, "-") == 0 ? stdout : fopen(o->truth_path, "wb");
    if (!f) {
        perror("genheap: cannot create the truth file");
        return false;
    }
    for (i = 0; i < s->m->types->n; i++) {
        described += s->walk->described[i];
        with_objects += t->type_objects[i] != 0;
    }
    fprintf(f, "{\n  \"schema\": 1,\n  \"shape\": \"%s\",\n", gh_shape_names[o->shape]);
    put_num(f, "seed", o->seed);
    put_num(f, "format", o->format);
    put_bool(f, "compressed", o->compressed);
    put_num(f, "pointer_bytes", o->ptr_bytes);
    put_num(f, "file_bytes", file_bytes);
    put_num(f, "uncut_bytes", c->off);
    put_num(f, "dumps", o->n_dumps);
    put_bool(f, "complete", p->n_lost == 0 && o->final_sp && o->end_tag && !cut);
    put_bool(f, "final_sequence_point", o->final_sp && !cut && o->format != GH_V3);
    put_bool(f, "end_tag", o->end_tag && !cut);
    put_bool(f, "truncated", cut);
    put_num(f, "objects", t->objects);
    put_num(f, "bytes", t->bytes);
    put_num(f, "edges", t->edges);
    put_num(f, "roots", t->roots);
    put_group(f, "roots_by_kind", root_kind_names, t->roots_by_kind, GH_ROOT_KINDS);
    put_num(f, "roots_weak", t->roots_weak);
    put_num(f, "roots_pinned", t->roots_pinned);
    put_num(f, "roots_null", t->roots_null);
    put_num(f, "statics", t->statics);
    put_num(f, "dependent_handles", t->dependent);
    put_num(f, "dependent_handles_null", t->dependent_null);
    put_group(f, "objects_by_generation", gen_names, t->gen_objects, GH_GENS);
    put_bool(f, "ranges", o->ranges);
    put_bool(f, "all_reachable",
             t->objects == 0 ||
                 (gh_model_connected(s->m) && t->roots_by_kind[2] > t->gen_objects[GH_FROZEN]));
    put_num(f, "types_with_objects", with_objects);
    put_num(f, "types_described", described);
    put_num(f, "modules", GH_MODULES);
    put_num(f, "events", p->n_attempted);
    put_num(f, "lost_events", p->n_lost);
    /* what the sequence numbers of a complete file show; V3 has none */
    if (o->format == GH_V3 || cut)
        fprintf(f, "  \"lost_events_visible\": null,\n");
    else
        put_num(f, "lost_events_visible", gh_pipe_visible_loss(p));
    put_parts(f, "written", c->n_events_written, c->events_written, c->items_written);
    put_parts(f, "lost", p->n_lost, p->events_lost, p->items_lost);
    put_retained(f, s->m, retained);
    put_types(f, s);
    put_dumps(f, s);
    fprintf(f, "}\n");
    ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        perror("genheap: cannot write the truth file");
        return false;
    }
    return true;
}
