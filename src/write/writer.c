#include "write/write.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/format_plan.h>
#include <gcdumpc/unstable/staged_file.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/text/shown.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

static const struct gcd_format *const formats[] = {
    &gcd_w_gclog,  &gcd_w_gcdump, &gcd_w_v8,   &gcd_w_dart,
    &gcd_w_pprof,  &gcd_w_folded, &gcd_w_html, &gcd_w_csv,
#ifdef GCDUMPC_HAVE_SQLITE
    &gcd_w_sqlite,
#endif
};

const struct gcd_format *gcd_format_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

const struct gcd_format *gcd_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const struct gcd_format *gcd_format_by_path(const char *path)
{
    size_t all = strlen(path);
    bool gzip = gcd_bytes_end(path, all, ".gz");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct gcd_format *f = formats[i];
        size_t n = all;
        while (f->folder && n > 0 && path[n - 1] == '/')
            n--;
        if (gzip && gcd_format_kind(f) != GCD_FORMAT_STAGED)
            n -= 3;
        if (gcd_bytes_end(path, n, f->suffix) ||
            (f->suffix2 != NULL && gcd_bytes_end(path, n, f->suffix2)))
            return f;
    }
    return NULL;
}

const char *gcd_format_name(const struct gcd_format *f)
{
    return f->name;
}

const char *gcd_format_suffix(const struct gcd_format *f)
{
    return f->suffix;
}

const char *gcd_format_about(const struct gcd_format *f)
{
    return f->about;
}

enum gcd_workload gcd_format_workload(const struct gcd_format *f)
{
    return f->needs;
}

bool gcd_format_is_text(const struct gcd_format *f)
{
    return f->text;
}

enum gcd_format_kind gcd_format_kind(const struct gcd_format *f)
{
    return f->write != NULL         ? GCD_FORMAT_STREAM
           : f->write_graph != NULL ? GCD_FORMAT_GRAPH
                                    : GCD_FORMAT_STAGED;
}

enum gcd_staged_kind gcd_format_staged_kind(const struct gcd_format *f)
{
    return f->folder ? GCD_STAGED_FOLDER : GCD_STAGED_FILE;
}

enum gcd_name_style gcd_format_names(const struct gcd_format *f)
{
    return f->names;
}

uint64_t gcd_format_size(const struct gcd_format *f, uint64_t stream_bytes)
{
    return stream_bytes / 100 * f->size_percent;
}

static const struct gcd_write_options defaults;

/* Says of values that may be written that F has no place for them. */
static void note_values(const struct gcd_format *f, const struct gcd_write_options *options,
                        struct gcd_write_notes *notes)
{
    if (options != NULL && options->values != NULL && options->values->values != NULL && !f->values)
        write_note_loss(notes, gcd_values_count(options->values->values), "value has no place",
                        "values have no place");
}

gcd_status gcd_write(const struct gcd_format *f, struct gcd_dump *d, struct gcd_sink *s,
                     const struct gcd_write_options *options, struct gcd_write_notes *ret_notes,
                     struct gcd_error *err)
{
    struct gcd_write_notes notes = { .objects = 0 };
    if (f->write == NULL)
        return gcd_fail(err, GCD_E_ARG, "the format %s is written from a graph", f->name);
    gcd_status st = f->write(d, s, options != NULL ? options : &defaults, &notes, err);
    note_values(f, options, &notes);
    if (ret_notes != NULL)
        *ret_notes = notes;
    return st;
}

gcd_status gcd_write_graph(const struct gcd_format *f, const struct gcd_graph *g,
                           struct gcd_sink *s, const struct gcd_write_options *options,
                           struct gcd_write_notes *ret_notes, struct gcd_error *err)
{
    struct gcd_write_notes notes = { .objects = 0 };
    if (f->write_graph == NULL)
        return gcd_fail(err, GCD_E_ARG, "the format %s is not a stream of bytes", f->name);
    gcd_status st = f->write_graph(g, s, options != NULL ? options : &defaults, &notes, err);
    note_values(f, options, &notes);
    if (ret_notes != NULL)
        *ret_notes = notes;
    return st;
}

gcd_status gcd_format_check_output(const struct gcd_format *f, const char *path,
                                   struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_status st = GCD_OK;
    for (const char *const *journal = f->journals;
         journal != NULL && *journal != NULL && st == GCD_OK; journal++) {
        size_t n = strlen(path) + strlen(*journal) + 1;
        char *name = gcd_mem_new(&alloc, n);
        if (name == NULL)
            return gcd_fail_nomem(err, "opening the output");
        (void)snprintf(name, n, "%s%s", path, *journal);
        if (access(name, F_OK) == 0)
            st = gcd_fail(err, GCD_E_IO,
                          "an older database of that name is in use or was not closed: there is a "
                          "file with its name and \"%s\"",
                          *journal);
        gcd_mem_free(&alloc, name, n);
    }
    return st;
}

gcd_status gcd_write_staged(const struct gcd_format *f, const struct gcd_graph *g,
                            struct gcd_staged *p, const struct gcd_write_options *options,
                            struct gcd_write_notes *ret_notes, struct gcd_error *err)
{
    struct gcd_write_notes notes = { .objects = 0 };
    if (f->write_place == NULL)
        return gcd_fail(err, GCD_E_ARG, "the format %s is a stream of bytes", f->name);
    if (gcd_staged_kind(p) != gcd_format_staged_kind(f))
        return gcd_fail(err, GCD_E_ARG, "the format %s is written to a %s", f->name,
                        f->folder ? "folder" : "file");
    GCD_TRY(gcd_format_check_output(f, gcd_staged_path(p), err));
    gcd_status st = f->write_place(g, p, options != NULL ? options : &defaults, &notes, err);
    note_values(f, options, &notes);
    if (ret_notes != NULL)
        *ret_notes = notes;
    return st;
}

/* ---- shared by writers ---- */

gcd_status write_check(const struct gcd_write_options *options, struct gcd_sink *s, uint64_t done,
                       uint64_t total, struct gcd_error *err)
{
    GCD_TRY(gcd_context_step(&options->context, done, total, err));
    return s != NULL ? gcd_sink_status(s, err) : GCD_OK;
}

void write_shown(struct gcd_sink *out, const char *s, size_t n)
{
    while (n > 0) {
        uint32_t code;
        bool shown = true;
        size_t taken = 0;
        while (taken < n && s[taken] >= 0x20 && s[taken] < 0x7f) /* nearly always all of it */
            taken++;
        if (taken == 0)
            taken = gcd_text_next(s, n, &code, &shown);
        gcd_sink_write(out, shown ? s : "?", shown ? taken : 1);
        s += taken;
        n -= taken;
    }
}

const char *write_type_name(const struct gcd_write_options *options, const struct gcd_graph *g,
                            uint32_t type)
{
    return options->names != NULL ? gcd_names_get(options->names, type)
                                  : gcd_graph_summary(g)->types[type].name;
}

bool write_has_texts(const struct gcd_write_options *options, const struct gcd_graph *g,
                     uint32_t type)
{
    const struct gcd_values_view *view = options->values;
    return view != NULL && view->values != NULL && view->show != GCD_SHOW_EQUAL &&
           strcmp(gcd_graph_summary(g)->types[type].name, "System.String") == 0;
}

uint32_t write_text_of(const struct gcd_write_options *options, const struct gcd_graph *g,
                       uint32_t node)
{
    return gcd_values_find(options->values->values, gcd_graph_node_address(g, node));
}

const char *write_module_file(const char *module_path, size_t *ret_n, size_t *ret_stem)
{
    const char *file = gcd_module_name(module_path, ret_stem);
    *ret_n = strlen(file);
    return file;
}

void write_note_loss(struct gcd_write_notes *notes, uint64_t count, const char *one,
                     const char *many)
{
    if (count > 0 && notes->loss_count < GCD_WRITE_LOSSES)
        notes->losses[notes->loss_count++] =
            (struct gcd_write_loss){ .text = gcd_by_number(count, one, many), .count = count };
}

void write_note_fields(struct gcd_write_notes *notes, const struct gcd_summary *summary)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < summary->type_count; i++) {
        const struct gcd_type *t = &summary->types[i];
        n += t->objects > 0 && t->layout != NULL && t->layout[0] == 'o' &&
             strchr(t->layout, '\n') != NULL; /* no array, and with references */
    }
    write_note_loss(notes, n, "type loses the names of its fields",
                    "types lose the names of their fields");
}

void write_note_root_losses(struct gcd_write_notes *notes, const struct gcd_graph *g,
                            bool weak_roots_are_there)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint64_t weak = 0, flags = 0;
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        enum gcd_root_group group = gcd_root_group(r);
        uint32_t told = group == GCD_GROUP_PINNED_HANDLES ? GCD_ROOT_PINNED
                        : group == GCD_GROUP_REFCOUNTED   ? GCD_ROOT_REFCOUNTED
                        : group == GCD_GROUP_WEAK         ? GCD_ROOT_WEAK
                                                          : 0;
        bool there = group != GCD_GROUP_WEAK || weak_roots_are_there;
        weak += !there;
        flags += there && (r->flags & ~told) != 0;
    }
    write_note_loss(notes, weak, "weak root is not stored", "weak roots are not stored");
    write_note_loss(notes, flags, "root loses its flags (pinned, interior)",
                    "roots lose their flags (pinned, interior)");
    write_note_loss(notes, summary->range_count, "memory range of a generation is not stored",
                    "memory ranges of generations are not stored");
}
