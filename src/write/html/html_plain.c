/*
 * The page without scripts: the verdict, the suspects and the largest types, as plain markup.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/blocked.h>

#include "write/html/html_data.h"
#include "write/html/html_page.h"
#include "write/json_put.h"
#include "write/write.h"

#define PLAIN_TYPES    25
#define PLAIN_SUSPECTS 10
#define PLAIN_DUMPS    20
#define TEXT_BYTES     ((size_t)500)

static void put(struct gcd_sink *s, const char *before, const char *text, const char *behind)
{
    gcd_sink_text(s, before);
    json_put_as_html(s, text, TEXT_BYTES);
    gcd_sink_text(s, behind);
}

static void put_number(struct gcd_sink *s, const char *before, uint64_t n, const char *behind)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, n);
    put(s, before, text, behind);
}

static void put_verdict(struct gcd_sink *s, const struct gcd_verdict *v, const char *of)
{
    put(s, "<p>", of,
        v->complete ? v->unverified ? "Not verified.</p>" : "Complete.</p>"
                    : "Incomplete:</p><ul>");
    for (size_t i = 0; i < v->reason_count; i++)
        put(s, "<li>", v->reasons[i].text, "</li>");
    if (!v->complete)
        gcd_sink_text(s, "</ul>");
}

static void put_types(const struct html_data *h, struct gcd_sink *s)
{
    gcd_sink_text(
        s, "<table><caption>Types with most bytes</caption><thead><tr><th "
           "scope=\"col\">Type</th><th scope=\"col\">Objects</th>"
           "<th scope=\"col\">Bytes</th><th scope=\"col\">Retained</th></tr></thead><tbody>");
    for (size_t i = 0; i < h->type_count && i < PLAIN_TYPES; i++) {
        const struct gcd_type *t = &gcd_graph_summary(h->g)->types[h->types[i]];
        put(s, "<tr><th scope=\"row\"><bdi dir=\"ltr\">",
            write_type_name(h->options, h->g, h->types[i]), "</bdi></th>");
        put_number(s, "<td>", t->objects, "</td>");
        put_number(s, "<td>", t->bytes, "</td>");
        put_number(s, "<td>", h->retained[h->types[i]], "</td></tr>");
    }
    gcd_sink_text(s, "</tbody></table>");
}

static void put_suspects(const struct html_data *h, struct gcd_sink *s)
{
    char threads[GCD_BLOCKED_BYTES];
    (void)gcd_blocked_text(h->g, false, threads, sizeof threads);
    if (threads[0] != '\0')
        put(s, "<p>Waiting: <bdi dir=\"ltr\">", threads, "</bdi></p>");
    if (h->grown == NULL)
        put(s, "<p>", h->headline, "</p>");
    gcd_sink_text(s, "<ol>");
    for (size_t i = 0; i < gcd_suspects_count(h->suspects) && i < PLAIN_SUSPECTS; i++) {
        const struct gcd_page_growth *growth;
        const struct gcd_suspect *x = html_suspect(h, i, &growth);
        gcd_sink_text(s, "<li>");
        if (growth != NULL)
            put(s, "<bdi dir=\"ltr\">", growth->said, ".</bdi> ");
        put(s, "<bdi dir=\"ltr\">", x->sentence, "</bdi>");
        put(s, " <bdi dir=\"ltr\">", growth != NULL ? growth->advice : x->advice, "</bdi></li>");
    }
    gcd_sink_text(s, "</ol>");
}

void html_plain_write(const struct html_data *h, struct gcd_sink *s)
{
    const struct gcd_summary *f = gcd_graph_summary(h->g);
    const char *name = f->process_name[0] != '\0' ? f->process_name
                       : h->options->name != NULL ? h->options->name
                                                  : "";
    put(s, "<h1><bdi dir=\"ltr\">", name, "</bdi></h1>");
    put_verdict(s, &f->verdict, "");
    put_number(s, "<p>", f->objects, " objects take ");
    put_number(s, "", f->bytes, " bytes.</p>");
    put_suspects(h, s);
    put_types(h, s);
}

/* Compares the first and the last of several dumps.  Types that have grown most come first. */
static void put_growth(const struct gcd_diff *d, struct gcd_sink *s)
{
    size_t last = gcd_diff_dumps(d) - 1;
    gcd_sink_text(
        s, "<table><caption>Types whose bytes have grown most</caption><thead><tr><th "
           "scope=\"col\">Type</th>"
           "<th scope=\"col\">Objects before</th><th scope=\"col\">Objects</th>"
           "<th scope=\"col\">Bytes before</th><th scope=\"col\">Bytes</th></tr></thead><tbody>");
    for (size_t i = 0; i < gcd_diff_row_count(d) && i < PLAIN_TYPES; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(d, i);
        put(s, "<tr><th scope=\"row\"><bdi dir=\"ltr\">", row->name, "</bdi></th>");
        put_number(s, "<td>", row->sums[0].objects, "</td>");
        put_number(s, "<td>", row->sums[last].objects, "</td>");
        put_number(s, "<td>", row->sums[0].bytes, "</td>");
        put_number(s, "<td>", row->sums[last].bytes, "</td></tr>");
    }
    gcd_sink_text(s, "</tbody></table>");
}

static void put_dump(const struct gcd_page_dump *d, const char *what, struct gcd_sink *s)
{
    put(s, "<h2><bdi dir=\"ltr\">", d->name, "</bdi></h2>");
    put_verdict(s, d->verdict, what);
    put_number(s, "<p>", d->sum.objects, " objects take ");
    put_number(s, "", d->sum.bytes, " bytes.</p>");
}

void html_plain_write_sides(const struct gcd_diff_page *page, const struct html_data *h,
                            struct gcd_sink *s)
{
    put_dump(&page->sides[0], "Older dump: ", s);
    put_dump(&page->sides[1], "Newer dump: ", s);
    if (h != NULL)
        put_suspects(h, s);
    put_growth(page->types, s);
}

void html_plain_write_dumps(const struct gcd_trend_page *page, struct gcd_sink *s)
{
    size_t n = page->dump_count;
    put_growth(page->types, s);
    for (size_t i = 0; i < n && i < PLAIN_DUMPS; i++) /* the first and the last ones */
        put_dump(&page->dumps[n > PLAIN_DUMPS && i >= PLAIN_DUMPS / 2 ? n - PLAIN_DUMPS + i : i],
                 "", s);
}
