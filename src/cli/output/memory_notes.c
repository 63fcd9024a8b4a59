#include "output/memory_notes.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "input/fail.h"
#include "output/json_out.h"
#include "term/term.h"

/* Fewer are objects of the runtime, which every dump has. */
#define WORTH_A_LINE 20u
/* Fewer SafeHandles are those of the runtime. */
#define LEAST_HANDLES 10u

/* Adds up the nodes without a parent by type.  AGES: NULL = which are frozen is not known. */
static bool add_up(const struct gcd_graph *g, const struct gcd_paths *p,
                   const struct gcd_generations *ages, struct cli_unreachable *ret)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    size_t hint = 0;
    struct sum {
        uint64_t objects, bytes;
    } *sums = calloc((size_t)s->type_count + 1, sizeof *sums);
    if (sums == NULL)
        return false;
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        uint32_t type = gcd_graph_node_type(g, node);
        if (gcd_paths_parent(p, node) != GCD_NODE_NONE)
            continue;
        if (gcd_is_frozen(ages, gcd_graph_node_address(g, node), &hint)) {
            ret->frozen_objects++;
            ret->frozen_bytes += gcd_graph_node_size(g, node);
            continue;
        }
        sums[type].objects++;
        sums[type].bytes += gcd_graph_node_size(g, node);
        ret->objects++;
        ret->bytes += gcd_graph_node_size(g, node);
    }
    for (uint32_t i = 0; i < s->type_count; i++)
        if (sums[i].bytes > ret->type_bytes) {
            ret->type = i;
            ret->type_objects = sums[i].objects;
            ret->type_bytes = sums[i].bytes;
        }
    free(sums);
    return true;
}

enum cli_exit cli_count_unreachable(const struct cli_args *args, const struct cli_dump *d,
                                    const struct gcd_paths *paths, struct cli_unreachable *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_paths *own = NULL;
    *ret = (struct cli_unreachable){ .known = false };
    if (d->graph == NULL)
        return CLI_DONE;
    if (paths == NULL) {
        struct gcd_context context = cli_context_steps(args, "following references");
        if (gcd_paths_new(d->graph, &context, &own, &err) != GCD_OK)
            return cli_fail(d->subject, &err);
    }
    paths = paths != NULL ? paths : own;
    ret->known = gcd_paths_pseudo_roots(paths) == 0;
    const struct gcd_summary *s = cli_summary(d);
    struct gcd_generations *ages = NULL;
    bool ok = gcd_frozen_new(s, gcd_paths_pseudo_roots(paths), NULL, &ages, &err) == GCD_OK;
    ok = ok && (!ret->known || add_up(d->graph, paths, ages, ret));
    gcd_generations_free(ages);
    gcd_paths_free(own);
    return ok ? CLI_DONE : cli_no_memory(d->subject);
}

char *cli_unreachable_text(const struct cli_dump *d, const struct cli_unreachable *u)
{
    const struct gcd_summary *s = cli_summary(d);
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], *most = NULL, *all = NULL;
    char frozen[200] = "";
    if (u->frozen_objects > 0)
        (void)snprintf(frozen, sizeof frozen, "%s %s (%s) %s " ANSWER_FROZEN_WORDS,
                       u->objects > 0 ? ";" : ", but", cli_number(u->frozen_objects, true, a),
                       cli_size(u->frozen_bytes, b), gcd_by_number(u->frozen_objects, "is", "are"));
    if (u->objects == 0)
        return asprintf(&all, "all objects are reachable from roots%s", frozen) >= 0 ? all : NULL;
    const char *why = s->verdict.complete
                          ? "dead, not yet collected, or held by what the file does not store"
                          : "the dump is incomplete, and what is missing may hold them";
    const char *name = d->names != NULL ? gcd_names_get(d->names, u->type) : s->types[u->type].name;
    if ((u->type_objects == u->objects ? asprintf(&most, "all %s", name)
                                       : asprintf(&most, "by size mostly %s (%s)", name,
                                                  cli_number(u->type_objects, true, a))) < 0)
        return NULL;
    if (asprintf(&all,
                 "%s object%s (%s, %.2f %% of the heap) %s not reachable from roots, %s: %s%s",
                 cli_number(u->objects, true, b), gcd_plural(u->objects), cli_size(u->bytes, c),
                 s->bytes > 0 ? 100.0 * (double)u->bytes / (double)s->bytes : 0,
                 gcd_by_number(u->objects, "is", "are"), most, why, frozen) < 0)
        all = NULL;
    free(most);
    return all;
}

bool cli_print_memory_notes(FILE *to, const struct cli_dump *d, const struct cli_unreachable *u,
                            bool apart)
{
    char memory[GCD_MEMORY_TEXT_BYTES];
    const struct gcd_summary *s = cli_summary(d);
    bool dead = u->known && u->bytes > 0 && u->bytes >= s->bytes / WORTH_A_LINE,
         known = gcd_process_memory_text(&s->memory, memory, sizeof memory) > 0 &&
                 (!apart || gcd_is_native(&s->memory));
    char *text = dead ? cli_unreachable_text(d, u) : NULL;
    if (dead && text == NULL)
        return false;
    if (dead) {
        fputc('(', to);
        cli_print_sanitized(to, text);
        fputs(")\n", to);
    }
    if (known)
        fprintf(to, "(before the dump, %s)\n", memory);
    if (apart && (dead || known))
        fputc('\n', to);
    free(text);
    return true;
}

/* "12 SafeSocketHandle and 3 other SafeHandle objects", the handles of native resources; NULL =
 * there are none, or out of memory. */
static char *handles_text(const struct cli_dump *d)
{
    const struct gcd_summary *s = cli_summary(d);
    uint64_t all = 0, most = 0;
    uint32_t type = 0;
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], *text = NULL;
    for (uint32_t i = 0; i < s->type_count; i++) {
        const char *found = strstr(s->types[i].name, "Safe");
        if (found == NULL || strstr(found, "Handle") == NULL || strchr(found, '[') != NULL)
            continue;
        all += s->types[i].objects;
        if (s->types[i].objects > most) {
            most = s->types[i].objects;
            type = i;
        }
    }
    if (all < LEAST_HANDLES)
        return NULL;
    const char *name = strrchr(s->types[type].name, '.');
    if (asprintf(&text, "; the heap has %s SafeHandle objects, %s of them %s",
                 cli_number(all, true, a), cli_number(most, true, b),
                 name != NULL ? name + 1 : s->types[type].name) < 0)
        return NULL;
    return text;
}

char *cli_memory_parts_text(const struct cli_dump *d, const struct cli_unreachable *u,
                            uint64_t observed_bytes)
{
    const struct gcd_summary *s = cli_summary(d);
    struct gcd_memory_size sizes[GCD_MEMORY_PARTS];
    char *text = NULL, number[CLI_NUMBER_BYTES], *handles = handles_text(d);
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        free(handles);
        return NULL;
    }
    gcd_memory_parts(s, u->known ? u->bytes : UINT64_MAX, sizes);
    const char *between = " ";
    if (s->memory.resident_bytes > 0)
        fprintf(to, " %s resident before the dump:", cli_size(s->memory.resident_bytes, number));
    for (unsigned i = 0; i < GCD_MEMORY_PARTS; i++) {
        if (sizes[i].bytes == 0)
            continue;
        fprintf(to, "%s%s %s", between, cli_size(sizes[i].bytes, number),
                gcd_memory_part_title((enum gcd_memory_part)i));
        if (i == GCD_MEMORY_ALIVE && observed_bytes > 0)
            fprintf(to, " (%s of it from being observed)", cli_size(observed_bytes, number));
        if (i == GCD_MEMORY_NATIVE)
            fprintf(to, " (threads' stacks among it%s)", handles != NULL ? handles : "");
        between = ", ";
    }
    fputc('.', to);
    if (s->memory.resident_bytes == 0)
        fputs(" What the process had besides is not known.", to);
    if (!sizes[GCD_MEMORY_DEAD].known)
        fputs(s->image.made_from[0] != '\0' ? " Dead objects: --with-dead."
                                            : " Objects that died before the dump are not in it.",
              to);
    free(handles);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

json_t *cli_json_memory_parts(const struct cli_dump *d, const struct cli_unreachable *u)
{
    struct gcd_memory_size sizes[GCD_MEMORY_PARTS];
    json_t *o = json_object();
    gcd_memory_parts(cli_summary(d), u->known ? u->bytes : UINT64_MAX, sizes);
    for (unsigned i = 0; i < GCD_MEMORY_PARTS; i++) {
        const char *key = gcd_memory_part_key((enum gcd_memory_part)i);
        if (sizes[i].known || sizes[i].bytes > 0)
            cli_json_count(o, key, sizes[i].bytes);
        else
            (void)json_object_set_new(o, key, json_null());
    }
    return o;
}

json_t *cli_json_unreachable(const struct cli_unreachable *u)
{
    json_t *o = u->known ? json_object() : json_null();
    if (u->known) {
        cli_json_count(o, "objects", u->objects);
        cli_json_count(o, "bytes", u->bytes);
        cli_json_count(o, "frozen_objects", u->frozen_objects);
        cli_json_count(o, "frozen_bytes", u->frozen_bytes);
    }
    return o;
}
