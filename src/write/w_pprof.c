/*
 * pprof profile (profile.proto of github.com/google/pprof): objects and bytes of each stack, with
 * the innermost field that holds them as a label.
 * system_name is omitted: pprof would treat .NET names as mangled names and shorten them.
 */
#include <string.h>

#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/version.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "write/protobuf.h"
#include "write/stacks.h"
#include "write/write.h"

#define TOOL          "gcdumpc " GCDUMPC_VERSION
#define MESSAGE_BYTES ((STACKS_DEPTH + 8) * VARINT_BYTES)

/* Strings that every profile has, in the order of their numbers. */
enum {
    STRING_NONE,
    STRING_OBJECTS,
    STRING_COUNT,
    STRING_SPACE,
    STRING_BYTES,
    STRING_TOOL,
    STRING_FOLD,
    STRING_VERDICT,
    STRING_FIELD,
    STRING_NAMES
};

struct pprof {
    struct stacks stacks;
    struct gcd_alloc alloc;
    struct gcd_sink *out;
    uint32_t labels;
    uint32_t *id;        /* [labels] location and function of a frame, 0 = not used */
    uint32_t *frame_at;  /* [labels] frame of id - 1 */
    uint32_t *by_module; /* [labels] ids - 1 of used frames, by module */
    uint32_t *file;      /* [labels] string number of the module of id - 1 */
    uint32_t used;
    uint32_t slots;    /* room of the next two */
    uint32_t *text_of; /* [slots] label of a field, from 1 on, 0 = not used */
    uint32_t *texts;   /* [text_count] the step behind the field of text i + 1 */
    uint32_t text_count;
    uint64_t clamped;
};

/* ---- the parts of a profile ---- */

static uint32_t location(struct pprof *w, uint32_t frame)
{
    if (w->id[frame] == 0) {
        w->frame_at[w->used] = frame;
        w->id[frame] = ++w->used;
    }
    return w->id[frame];
}

static uint64_t as_int64(struct pprof *w, uint64_t v)
{
    if (v <= INT64_MAX)
        return v;
    w->clamped++;
    return INT64_MAX;
}

/* The label of the field that leads to STEP or one above it, the innermost one; 0 = none is known.
 */
static uint32_t field_text(struct pprof *w, uint32_t step)
{
    const struct gcd_merged_step *steps = w->stacks.steps;
    if (w->slots == 0)
        return 0;
    while (step != GCD_STEP_NONE && steps[step].slot == GCD_SLOT_NONE)
        step = steps[step].parent;
    if (step == GCD_STEP_NONE)
        return 0;
    uint32_t *text = &w->text_of[steps[step].slot];
    if (*text == 0) {
        w->texts[w->text_count] = step;
        *text = ++w->text_count;
    }
    return *text;
}

/* Writes a sample with its locations from the leaf to the root. */
static void write_sample(struct pprof *w, uint32_t number)
{
    char ids[MESSAGE_BYTES], values[4 * VARINT_BYTES], body[2 * MESSAGE_BYTES], *p = ids, *q = body;
    uint32_t text = field_text(w, number);
    const struct gcd_merged_step *steps = w->stacks.steps;
    for (uint32_t i = number; i != GCD_STEP_NONE; i = steps[i].parent)
        p = put_varint(p, location(w, steps[i].label));
    q = put_bytes(q, SAMPLE_LOCATION_ID, ids, (size_t)(p - ids));
    p = put_varint(put_varint(values, steps[number].own_count),
                   as_int64(w, steps[number].own_bytes));
    q = put_bytes(q, SAMPLE_VALUE, values, (size_t)(p - values));
    if (text > 0) {
        p = put_number(values, LABEL_KEY, STRING_FIELD);
        p = put_number(p, LABEL_TEXT, STRING_NAMES - 1 + (uint64_t)text);
        q = put_bytes(q, SAMPLE_LABEL, values, (size_t)(p - values));
    }
    write_bytes(w->out, PROFILE_SAMPLE, body, (size_t)(q - body));
}

static const char *module_of(const struct pprof *w, uint32_t used)
{
    const char *module;
    (void)stacks_frame(&w->stacks, w->frame_at[used], &module);
    return module;
}

static int compare_modules(const void *ctx, uint32_t a, uint32_t b)
{
    return strcmp(module_of(ctx, a), module_of(ctx, b));
}

/* The number of the string of the first frame: those of fields come before. */
static uint32_t first_name(const struct pprof *w)
{
    return STRING_NAMES + w->text_count;
}

/* Numbers the modules as strings after those of the frames, each once. */
static gcd_status number_modules(struct pprof *w, struct gcd_error *err)
{
    uint32_t next = first_name(w) + w->used;
    for (uint32_t i = 0; i < w->used; i++)
        w->by_module[i] = i;
    if (!gcd_sort_numbers(&w->alloc, w->by_module, w->used, compare_modules, w))
        return gcd_fail_nomem(err, "sorting modules");
    for (uint32_t i = 0; i < w->used; i++) {
        uint32_t used = w->by_module[i];
        if (i > 0 && compare_modules(w, w->by_module[i - 1], used) == 0)
            w->file[used] = w->file[w->by_module[i - 1]];
        else
            w->file[used] = module_of(w, used)[0] == '\0' ? STRING_NONE : next++;
    }
    return GCD_OK;
}

static void write_locations(const struct pprof *w)
{
    for (uint32_t i = 0; i < w->used; i++) {
        char line[2 * VARINT_BYTES], body[6 * VARINT_BYTES],
            *line_end = put_number(line, LINE_FUNCTION_ID, i + 1), *p = body;
        p = put_number(p, LOCATION_ID, i + 1);
        p = put_bytes(p, LOCATION_LINE, line, (size_t)(line_end - line));
        write_bytes(w->out, PROFILE_LOCATION, body, (size_t)(p - body));
        p = put_number(body, FUNCTION_ID, i + 1);
        p = put_number(p, FUNCTION_NAME, first_name(w) + (uint64_t)i);
        p = put_number(p, FUNCTION_FILENAME, w->file[i]);
        write_bytes(w->out, PROFILE_FUNCTION, body, (size_t)(p - body));
    }
}

static void write_string(const struct pprof *w, const char *s)
{
    write_bytes(w->out, PROFILE_STRING, s, strlen(s));
}

/* "Shop.SessionStore._byUser" */
static void write_field(const struct pprof *w, uint32_t step)
{
    const char *module;
    const struct gcd_merged_step *s = &w->stacks.steps[step];
    const char *class = stacks_frame(&w->stacks, w->stacks.steps[s->parent].label, &module),
               *field = gcd_merged_tree_field(w->stacks.tree, s);
    size_t n = strlen(class), k = strlen(field);
    char *p = gcd_sink_reserve(w->out, 2 * VARINT_BYTES),
         *end = put_varint(put_varint(p, PROFILE_STRING << 3 | BYTES), n + 1 + k);
    gcd_sink_advance(w->out, (size_t)(end - p));
    gcd_sink_write(w->out, class, n);
    gcd_sink_write(w->out, ".", 1);
    gcd_sink_write(w->out, field, k);
}

static void write_strings(const struct pprof *w)
{
    const struct stacks *f = &w->stacks;
    const char *module;
    static const char *const by[] = { "stacks: dominators", "stacks: shortest path from a root",
                                      "stacks: what asynchronous operations wait for" };
    bool waits = stacks_by_waits(f);
    const char *always[] = { "",      waits ? "waiting" : "inuse_objects",
                             "count", waits ? "retained" : "inuse_space",
                             "bytes", TOOL };
    _Static_assert(sizeof always / sizeof *always == STRING_FOLD,
                   "strings in the order of their numbers");
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        write_string(w, always[i]);
    write_string(w, by[f->options->stack_by]);
    write_string(w, gcd_graph_summary(f->g)->verdict.complete
                        ? "complete"
                        : "incomplete: objects or references are missing");
    write_string(w, "field");
    for (uint32_t i = 0; i < w->text_count; i++)
        write_field(w, w->texts[i]);
    for (uint32_t i = 0; i < w->used; i++)
        write_string(w, stacks_frame(f, w->frame_at[i], &module));
    uint32_t next = first_name(w) + w->used;
    for (uint32_t i = 0; i < w->used; i++)
        if (w->file[w->by_module[i]] == next) {
            write_string(w, module_of(w, w->by_module[i]));
            next++;
        }
}

/* Start of the GC in ns since 1970; 0 = unknown. */
static uint64_t time_of(const struct gcd_summary *f)
{
    int64_t ns;
    if (f->trace.start_unix_ms <= 0 ||
        __builtin_mul_overflow(f->trace.start_unix_ms, INT64_C(1000000), &ns) ||
        __builtin_add_overflow(ns, f->gc_start_ns, &ns) || ns < 0)
        return 0;
    return (uint64_t)ns;
}

static gcd_status write_profile(struct pprof *w, struct gcd_error *err)
{
    const struct gcd_merged_step *steps = w->stacks.steps;
    bool waits = stacks_by_waits(&w->stacks);
    w->labels = w->stacks.labels;
    w->id = gcd_mem_new_array(&w->alloc, w->labels, sizeof *w->id);
    w->frame_at = gcd_mem_new_array(&w->alloc, w->labels, sizeof *w->frame_at);
    w->by_module = gcd_mem_new_array(&w->alloc, w->labels, sizeof *w->by_module);
    w->file = gcd_mem_new_array(&w->alloc, w->labels, sizeof *w->file);
    w->slots = w->stacks.fields != NULL ? gcd_fields_slot_count(w->stacks.fields) : 0;
    w->text_of = gcd_mem_new_array(&w->alloc, w->slots, sizeof *w->text_of);
    w->texts = gcd_mem_new_array(&w->alloc, w->slots, sizeof *w->texts);
    if (w->id == NULL || w->frame_at == NULL || w->by_module == NULL || w->file == NULL ||
        w->text_of == NULL || w->texts == NULL)
        return gcd_fail_nomem(err, "numbering the frames of a profile");
    write_value_type(w->out, PROFILE_SAMPLE_TYPE, STRING_OBJECTS, STRING_COUNT);
    write_value_type(w->out, PROFILE_SAMPLE_TYPE, STRING_SPACE, STRING_BYTES);
    for (uint32_t i = 0; i < w->stacks.count; i++) {
        if (steps[i].own_count > 0)
            write_sample(w, i);
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(gcd_sink_status(w->out, err));
    }
    GCD_TRY(number_modules(w, err));
    write_locations(w);
    write_strings(w);
    write_number(w->out, PROFILE_TIME_NANOS, time_of(gcd_graph_summary(w->stacks.g)));
    write_value_type(w->out, PROFILE_PERIOD_TYPE, STRING_SPACE, STRING_BYTES);
    write_number(w->out, PROFILE_PERIOD, 1);
    write_number(w->out, PROFILE_COMMENT, STRING_TOOL);
    write_number(w->out, PROFILE_COMMENT, STRING_FOLD);
    write_number(w->out, PROFILE_COMMENT, STRING_VERDICT);
    write_number(w->out, PROFILE_DEFAULT_SAMPLE_TYPE, waits ? STRING_OBJECTS : STRING_SPACE);
    return gcd_sink_status(w->out, err);
}

static gcd_status pprof_write(const struct gcd_graph *g, struct gcd_sink *s,
                              const struct gcd_write_options *options,
                              struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct pprof w = { .out = s, .alloc = gcd_alloc_or_default(options->context.alloc) };
    gcd_status st = stacks_new(g, options, true, &w.stacks, err);
    if (st == GCD_OK)
        st = write_profile(&w, err);
    if (st == GCD_OK) {
        stacks_note(&w.stacks, notes);
        write_note_loss(notes, w.clamped,
                        "stack has more than 2^63 - 1 bytes and is written as 2^63 - 1",
                        "stacks have more than 2^63 - 1 bytes and are written as 2^63 - 1");
    }
    gcd_mem_free(&w.alloc, w.id, w.labels * sizeof *w.id);
    gcd_mem_free(&w.alloc, w.frame_at, w.labels * sizeof *w.frame_at);
    gcd_mem_free(&w.alloc, w.by_module, w.labels * sizeof *w.by_module);
    gcd_mem_free(&w.alloc, w.file, w.labels * sizeof *w.file);
    gcd_mem_free(&w.alloc, w.text_of, w.slots * sizeof *w.text_of);
    gcd_mem_free(&w.alloc, w.texts, w.slots * sizeof *w.texts);
    stacks_done(&w.stacks);
    return st;
}

const struct gcd_format gcd_w_pprof = {
    .name = "pprof",
    .needs = GCD_FOR_RETAINED,
    .suffix = ".pb",
    .about = "pprof profile, usually .pb.gz",
    .size_percent = 10,
    .names = GCD_NAMES_CSHARP,
    .write_graph = pprof_write,
};
