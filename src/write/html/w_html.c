/*
 * A page that shows what fills the heap and what retains it: html_data.c collects the data,
 * html_json.c writes it into the page of src/write/html.
 */
#include "write/html/html_data.h"
#include "write/html/html_page.h"
#include "write/json_put.h"
#include "write/write.h"

#include "base/error.h"

#include <gcdumpc/unstable/estimate.h>

static void note(const struct html_data *h, size_t others, struct gcd_write_notes *notes)
{
    notes->objects = gcd_graph_node_count(h->g);
    notes->edges = gcd_graph_edge_count(h->g) + gcd_graph_dependent_count(h->g);
    notes->roots = gcd_graph_summary(h->g)->root_count;
    notes->types = h->types_with_objects;
    write_note_loss(notes, others, "type shares a row with others", "types share one row");
}

static gcd_status put_page(const struct html_data *h, struct gcd_sink *s, size_t *ret_others,
                           struct gcd_error *err)
{
    struct json_put j = { .s = s, .html = true };
    GCD_TRY(html_part_write(html_page_head, html_page_head_bytes, &h->alloc, s, err));
    html_plain_write(h, s);
    GCD_TRY(html_part_write(html_page_middle, html_page_middle_bytes, &h->alloc, s, err));
    GCD_TRY(html_json_put(h, &j, NULL, ret_others, err));
    return html_part_write(html_page_tail, html_page_tail_bytes, &h->alloc, s, err);
}

static gcd_status write_for(const struct gcd_graph *g, struct gcd_sink *s,
                            const struct gcd_write_options *options, const struct html_role *role,
                            struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct html_data h;
    size_t others = 0;
    gcd_status st = html_data_make(&h, g, options, role, err);
    if (st == GCD_OK)
        st = put_page(&h, s, &others, err);
    if (st == GCD_OK)
        note(&h, others, notes);
    html_data_done(&h);
    return st == GCD_OK ? gcd_sink_status(s, err) : st;
}

static gcd_status html_write(const struct gcd_graph *g, struct gcd_sink *s,
                             const struct gcd_write_options *options, struct gcd_write_notes *notes,
                             struct gcd_error *err)
{
    return write_for(g, s, options, &(struct html_role){ .start = "map" }, notes, err);
}

gcd_status gcd_write_leaks_page(struct gcd_session *session, struct gcd_sink *s,
                                const struct gcd_write_options *options, struct gcd_error *err)
{
    const struct html_role role = { .start = "suspects", .session = session };
    struct gcd_write_options own = html_options_of(session, options);
    struct gcd_write_notes notes = { .objects = 0 };
    return write_for(gcd_session_graph(session), s, &own, &role, &notes, err);
}

const struct gcd_format gcd_w_html = {
    .name = "html",
    .needs = GCD_FOR_PAGE,
    .suffix = ".html",
    .size_percent = 10,
    .suffix2 = ".htm",
    .about = "a page for browsers: what fills the heap and what retains it",
    .text = true,
    .names = GCD_NAMES_CSHARP,
    .values = true,
    .write_graph = html_write,
};
