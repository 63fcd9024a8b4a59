#include <gcdumpc/unstable/sites.h>

#include "output/json_out.h"
#include "summary/summary.h"

/* The bytes are per hour, because windows can have different lengths. */
static json_t *site_row(const struct gcd_site_list *l, const struct gcd_site *site,
                        const struct gcd_summary *summary, const struct gcd_names *names)
{
    const struct gcd_site_frame *f = gcd_site_frame_of(l, site);
    double hours = (double)l->sites->window_ms / 3600000;
    json_t *o = json_object();
    cli_json_put_text(o, "type",
                      site->type < summary->type_count ? gcd_names_plain(names, site->type)
                                                       : l->sites->totals[site->total].type);
    cli_json_put_text(o, "method", f->method);
    cli_json_put_text(o, "file", f->file);
    if (f->line != 0)
        cli_json_count(o, "line", f->line);
    cli_json_count(o, "alive_samples", site->alive);
    cli_json_count(o, "kept_bytes_per_hour", gcd_site_estimate(site->bytes / hours));
    cli_json_count(o, "error_bytes_per_hour",
                   gcd_site_estimate(gcd_site_error(site->variance) / hours));
    return o;
}

json_t *cli_summary_sites(const struct gcd_site_list *l, const struct gcd_summary *summary,
                          const struct gcd_names *names)
{
    if (l == NULL || l->sites->window_ms == 0)
        return NULL;
    json_t *rows = json_array();
    for (size_t i = 0; i < l->count && json_array_size(rows) < CLI_SUMMARY_SITES; i++)
        if (l->items[i].alive > 0)
            (void)json_array_append_new(rows, site_row(l, &l->items[i], summary, names));
    return rows;
}
