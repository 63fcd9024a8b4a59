/* All suspects, a single one, and what is shown without any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/suspect_checks.h>

#include "browse/opening.h"
#include "output/memory_notes.h"
#include "term/term.h"

/* The suspects of the session, or the largest consumer alone. */
static const struct gcd_suspects *shown(const struct browse_model *m)
{
    return m->largest != NULL ? m->largest : m->suspects;
}

static void put_whole(const struct browse_view *v, const struct gcd_suspect *s,
                      struct browse_line *ret)
{
    ret->has[0] = true;
    ret->numbers[0] = s->bytes;
    ret->part = s->bytes;
    ret->whole =
        gcd_suspect_kind_is_free(s->kind) ? 0 : gcd_suspects_heap_bytes(v->model->suspects);
}

static void suspect_line(const struct browse_view *v, const struct browse_section *section,
                         uint64_t i, struct browse_line *ret)
{
    const struct gcd_suspect *s = gcd_suspects_get(shown(v->model), (size_t)i);
    (void)section;
    put_whole(v, s, ret);
    ret->goal = GOAL_SUSPECT;
    ret->to = (uint32_t)i;
}

static void put_part(const struct browse_view *v, const struct gcd_suspect_part *p,
                     struct browse_line *ret)
{
    browse_put_type(ret, v->model, p->type);
    ret->has[0] = ret->has[1] = true;
    ret->numbers[0] = p->bytes;
    ret->numbers[1] = p->objects;
    ret->part = p->bytes;
    ret->whole = gcd_suspects_heap_bytes(v->model->suspects);
    ret->goal = GOAL_TYPE;
    ret->to = p->type;
}

static void consumer_line(const struct browse_view *v, const struct browse_section *section,
                          uint64_t i, struct browse_line *ret)
{
    (void)section;
    put_part(v, gcd_suspects_consumer(v->model->suspects, (size_t)i), ret);
}

static void content_line(const struct browse_view *v, const struct browse_section *section,
                         uint64_t i, struct browse_line *ret)
{
    (void)section;
    put_part(v, &gcd_suspects_get(shown(v->model), v->subject)->content[i], ret);
}

static void held_line(const struct browse_view *v, const struct browse_section *section, uint64_t i,
                      struct browse_line *ret)
{
    (void)section;
    put_part(v, &gcd_suspects_get(shown(v->model), v->subject)->held[i], ret);
}

static struct browse_section *add_parts(struct browse_view *v, const char *title, size_t n,
                                        browse_line_fn line)
{
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){ .title = title,
                                  .heads = { "Bytes", "Objects" },
                                  .what = "Type",
                                  .counts = { [1] = true },
                                  .count = n,
                                  .line = line };
    return s;
}

static struct answer_of_suspects asked(const struct browse_model *m)
{
    return (struct answer_of_suspects){ .session = m->session,
                                        .suspects = m->suspects,
                                        .shown = shown(m) };
}

/* Puts one line: a name may have a line break. */
static void put_words(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        putc(*text != '\n' ? *text : ' ', to);
}

/* The text that was written to F with its end; NULL: out of memory. */
static char *text_of(FILE *f, char *const *text)
{
    bool ok = !ferror(f);
    if (fclose(f) == 0 && ok)
        return *text;
    free(*text);
    return NULL;
}

/* A list of SUSPECTS: where each is, and what it holds. */
static gcd_status add_suspects(struct browse_view *v, const struct gcd_suspects *suspects, size_t n,
                               struct gcd_error *err)
{
    struct browse_section *list = add_parts(v, NULL, 0, suspect_line);
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    list->heads[1] = NULL;
    list->what = "Where, and what";
    if (f == NULL)
        return browse_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct gcd_suspect *s = gcd_suspects_get(suspects, i);
        put_words(f, s->place);
        fputs(s->place[0] != '\0' && s->what[0] != '\0' ? ": " : "", f);
        put_words(f, s->what);
        putc('\n', f);
    }
    return browse_put_text(v, list, text_of(f, &text), err);
}

static gcd_status put_waiting(FILE *to, struct gcd_session *session, const struct gcd_context *call,
                              struct gcd_error *err)
{
    struct answer *jam = NULL;
    gcd_status st = answer_jam(session, call, &jam, err);
    for (size_t i = 0; st == GCD_OK && i < jam->rows; i++)
        fprintf(to, "\nWaiting: %s%s\n", answer_find(jam, i, "sentence")->text,
                strcmp(answer_find(jam, i, "kind")->text, "calls") == 0
                    ? " Key 4 shows their stacks."
                    : "");
    answer_free(jam);
    return st;
}

/* What leaks says below its table: where calls wait, and the notes. */
static gcd_status put_said(FILE *to, const struct answer_of_suspects *of,
                           const struct gcd_context *call, struct gcd_error *err)
{
    struct answer *notes = NULL;
    char untold[ANSWER_UNTOLD_BYTES];
    const struct gcd_unnamed *unnamed = gcd_suspects_unnamed(of->suspects);
    gcd_status st = put_waiting(to, of->session, call, err);
    if (unnamed->most && gcd_suspects_count(of->suspects) > 0)
        fprintf(to, "\nNote: %s\n", answer_untold(unnamed, 0, GCD_SUSPECTS_BY_NAMES, untold));
    if (st == GCD_OK)
        st = answer_notes(of, &notes, err);
    for (size_t i = 0; st == GCD_OK && i < notes->rows; i++) {
        const struct answer_cell *keys = answer_find(notes, i, "keys");
        fprintf(to, "\nNote: %s%s%s %s\n", answer_find(notes, i, "sentence")->text,
                keys->known ? " " : "", keys->known ? keys->text : "",
                answer_find(notes, i, "advice")->text);
    }
    answer_free(notes);
    return st;
}

static gcd_status add_said(struct browse_view *v, const struct answer_of_suspects *of,
                           const struct gcd_context *call, struct gcd_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        return browse_no_memory(err);
    gcd_status st = put_said(f, of, call, err);
    text = text_of(f, &text);
    if (st == GCD_OK && (text == NULL || text[0] != '\0'))
        return browse_add_text(v, text, err);
    free(text);
    return st;
}

/* The last line of leaks: where all memory of the process is. */
static gcd_status add_memory(struct browse_view *v, const struct gcd_paths *p,
                             struct gcd_error *err)
{
    struct cli_unreachable u;
    char *text = NULL, *parts = NULL;
    if (cli_count_unreachable(NULL, v->model->dump, p, &u) == CLI_DONE)
        parts = cli_memory_parts_text(v->model->dump, &u, 0);
    if (parts == NULL || asprintf(&text, "\nMemory:%s", parts) < 0)
        text = NULL;
    free(parts);
    return browse_add_text(v, text, err);
}

gcd_status browse_open_suspects(struct browse_view *v, const struct gcd_context *call,
                                struct gcd_error *err)
{
    const struct gcd_dominators *d;
    const struct gcd_paths *p;
    const struct gcd_suspects *s, *largest;
    char size[CLI_NUMBER_BYTES], headline[GCD_HEADLINE_BYTES], *text = NULL;
    gcd_status st = gcd_session_paths_with_dominators(v->model->session, call, &d, &p, err);
    if (st == GCD_OK)
        st = gcd_session_suspects(v->model->session, call, &s, err);
    if (st == GCD_OK)
        st = gcd_session_largest_consumer(v->model->session, call, &largest, err);
    if (st == GCD_OK)
        st = gcd_session_headline(v->model->session, call, headline, err);
    if (st != GCD_OK)
        return st;
    bool none = gcd_suspects_count(s) == 0;
    if (asprintf(&text, none ? "%s\nSuspects retain %s or more.%s" : "%s", headline,
                 cli_size(gcd_suspects_threshold(s), size),
                 largest != NULL ? " The largest consumer:" : "") < 0)
        text = NULL;
    st = browse_add_text(v, text, err);
    if (st != GCD_OK)
        return st;
    struct answer_of_suspects of = { .session = v->model->session,
                                     .suspects = s,
                                     .shown = largest != NULL ? largest : s };
    st = add_suspects(v, of.shown, largest != NULL ? 1 : gcd_suspects_count(s), err);
    if (st == GCD_OK)
        st = add_said(v, &of, call, err);
    if (st == GCD_OK)
        st = add_memory(v, p, err);
    if (st != GCD_OK)
        return st;
    if (none)
        add_parts(v, "Largest consumers by type", gcd_suspects_consumer_count(s), consumer_line);
    v->title = strdup("Suspects");
    return v->title != NULL ? GCD_OK : browse_no_memory(err);
}

/* Its sentence, where it was allocated, and advice; then its path. */
static gcd_status add_suspect(struct browse_view *v, const struct gcd_suspect *s,
                              const struct gcd_context *call, struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    struct answer_of_suspects of = asked(m);
    char *text = NULL, site[ANSWER_SITE_BYTES];
    const char *keys = NULL;
    gcd_status st = gcd_session_dominators(m->session, call, &of.dominators, err);
    if (st == GCD_OK)
        st = gcd_session_origins(m->session, call, &of.origins, err);
    struct answer *groups = answer_new(NULL, &answer_keys_shape);
    if (st == GCD_OK)
        st = answer_suspect_keys(&of, s, groups, &keys, err);
    if (st == GCD_OK && (!answer_suspect_site(&of, s, NULL, site) ||
                         asprintf(&text, "%s%s%s%s%s%s%s%s%s", s->sentence,
                                  site[0] != '\0' ? "\n" : "", site, keys != NULL ? "\n" : "",
                                  keys != NULL ? keys : "", s->advice[0] != '\0' ? "\n" : "",
                                  s->advice, s->evidence[0] != '\0' ? "\n" : "", s->evidence) < 0))
        st = browse_no_memory(err);
    answer_free(groups);
    if (st != GCD_OK)
        return st;
    st = browse_add_text(v, text, err);
    if (st != GCD_OK || s->path_count == 0)
        return st;
    return browse_add_path(v, st, answer_suspect_path(&of, s, !v->full), err);
}

gcd_status browse_open_suspect(struct browse_view *v, const struct gcd_context *call,
                               struct gcd_error *err)
{
    const struct gcd_suspect *s = gcd_suspects_get(shown(v->model), v->subject);
    if (asprintf(&v->title, "%s %u: %s", s->size_only ? "Large holder" : "Suspect", v->subject + 1,
                 s->place[0] != '\0' ? s->place : gcd_suspect_kind_title(s->kind)) < 0)
        v->title = NULL;
    if (v->title == NULL)
        return browse_no_memory(err);
    gcd_status st = add_suspect(v, s, call, err);
    if (st == GCD_OK && s->held_count > 0)
        add_parts(v, "It holds, by type", s->held_count, held_line);
    if (st == GCD_OK && s->content_count > 0)
        add_parts(v, "In it, by type", s->content_count, content_line);
    return st;
}
