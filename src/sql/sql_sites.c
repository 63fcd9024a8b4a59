/* The tables of sampled allocations: lines of the program with what they allocated, and the living
 * samples. */
#include "base/error.h"
#include "sql/sql.h"

enum {
    SITE_ID,
    SITE_TYPE_ID,
    SITE_TYPE,
    SITE_METHOD,
    SITE_FILE,
    SITE_LINE,
    SITE_MODULE,
    SITE_OBJECTS,
    SITE_BYTES,
    SITE_ERROR,
    SITE_ALLOCATED_OBJECTS,
    SITE_ALLOCATED_BYTES,
    SITE_SAMPLES,
    SITE_ALIVE,
    SITE_DEAD,
    SITE_LOST
};
const char sql_site_columns[] =
    "id INTEGER PRIMARY KEY, type_id INTEGER, type TEXT NOT NULL, method TEXT, file TEXT, "
    "line INTEGER, module TEXT, objects INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "error_bytes INTEGER NOT NULL, allocated_objects INTEGER NOT NULL, "
    "allocated_bytes INTEGER NOT NULL, samples INTEGER NOT NULL, alive_samples INTEGER NOT NULL, "
    "dead_samples INTEGER NOT NULL, lost_samples INTEGER NOT NULL";

enum {
    SAMPLE_ID,
    SAMPLE_SITE,
    SAMPLE_OBJECT,
    SAMPLE_ADDRESS,
    SAMPLE_SIZE,
    SAMPLE_BYTES,
    SAMPLE_AGE,
    SAMPLE_STACK
};
const char sql_sample_columns[] =
    "id INTEGER PRIMARY KEY, site_id INTEGER NOT NULL, object_id INTEGER, address INTEGER, "
    "size_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL, age_ms INTEGER NOT NULL, stack TEXT";

gcd_status sql_need_sites(struct gcd_sql *db, struct gcd_error *err)
{
    return gcd_session_site_list(db->session, db->call, &db->sites, err);
}

uint64_t sql_site_rows(const struct gcd_sql *db)
{
    return db->sites != NULL ? db->sites->count : 0;
}

uint64_t sql_sample_rows(const struct gcd_sql *db)
{
    return db->sites != NULL ? db->sites->sites->living_count : 0;
}

static void put_estimate(sqlite3_context *to, double n)
{
    sql_put_number(to, gcd_site_estimate(n));
}

gcd_status sql_site_column(struct sql_cursor *c, int column, sqlite3_context *to,
                           struct gcd_error *err)
{
    const struct gcd_site_list *l = c->db->sites;
    const struct gcd_site *s = &l->items[cursor_row(c)];
    const struct gcd_site_frame *f = gcd_site_frame_of(l, s);
    const uint64_t counts[] = { s->samples, s->alive, s->dead, s->lost };
    (void)err;
    if (column >= SITE_SAMPLES) {
        sql_put_number(to, counts[column - SITE_SAMPLES]);
        return GCD_OK;
    }
    switch (column) {
    case SITE_ID:
        sql_put_number(to, cursor_row(c));
        break;
    case SITE_TYPE_ID:
        if (s->type < c->db->summary->type_count)
            sqlite3_result_int64(to, s->type);
        break;
    case SITE_TYPE:
        sql_put_text(to, gcd_site_type_name(l, s, c->db->summary, c->db->names));
        break;
    case SITE_METHOD:
        sql_put_text(to, f->method);
        break;
    case SITE_FILE:
        sql_put_text(to, f->file);
        break;
    case SITE_LINE:
        if (f->line != 0)
            sqlite3_result_int64(to, f->line);
        break;
    case SITE_MODULE:
        sql_put_text(to, f->module);
        break;
    case SITE_OBJECTS:
        put_estimate(to, s->objects);
        break;
    case SITE_BYTES:
        put_estimate(to, s->bytes);
        break;
    case SITE_ERROR:
        put_estimate(to, gcd_site_error(s->variance));
        break;
    case SITE_ALLOCATED_OBJECTS:
        put_estimate(to, s->allocated_objects);
        break;
    default:
        put_estimate(to, s->allocated_bytes);
        break;
    }
    return GCD_OK;
}

/* "Shop.Store.Open (/src/Store.cs:12) < Shop.Program.Main", the innermost method first. */
static gcd_status put_stack(sqlite3_context *to, const struct gcd_sites *s, uint32_t stack,
                            struct gcd_error *err)
{
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(to));
    for (const char *between = ""; stack != GCD_SITE_NONE; stack = s->stacks[stack].caller) {
        const struct gcd_site_frame *f = &s->frames[s->stacks[stack].frame];
        sqlite3_str_appendf(text, "%s%s", between, f->method[0] != '\0' ? f->method : "?");
        if (f->line != 0)
            sqlite3_str_appendf(text, " (%s:%u)", f->file, (unsigned)f->line);
        between = " < ";
    }
    int n = sqlite3_str_length(text), failed = sqlite3_str_errcode(text);
    char *whole = sqlite3_str_finish(text);
    if (failed != SQLITE_OK)
        return gcd_fail_nomem(err, "the text of a stack");
    if (whole != NULL)
        sqlite3_result_text(to, whole, n, sqlite3_free);
    return GCD_OK;
}

gcd_status sql_sample_column(struct sql_cursor *c, int column, sqlite3_context *to,
                             struct gcd_error *err)
{
    const struct gcd_sites *sites = c->db->sites->sites;
    const struct gcd_site_sample *s = &sites->living[cursor_row(c)];
    uint32_t node;
    switch (column) {
    case SAMPLE_ID:
        sql_put_number(to, cursor_row(c));
        break;
    case SAMPLE_SITE:
        sqlite3_result_int64(to, c->db->sites->site_of[s->total]);
        break;
    case SAMPLE_OBJECT:
        node = s->address != 0 ? gcd_graph_find(c->db->graph, s->address) : GCD_NODE_NONE;
        if (node != GCD_NODE_NONE)
            sqlite3_result_int64(to, node);
        break;
    case SAMPLE_ADDRESS:
        if (s->address != 0)
            sqlite3_result_int64(to, (sqlite3_int64)s->address);
        break;
    case SAMPLE_SIZE:
        sql_put_number(to, s->size_bytes);
        break;
    case SAMPLE_BYTES:
        put_estimate(to, s->bytes);
        break;
    case SAMPLE_AGE:
        sql_put_number(to, s->age_ms);
        break;
    default:
        return put_stack(to, sites, sites->totals[s->total].stack, err);
    }
    return GCD_OK;
}
