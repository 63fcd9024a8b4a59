#include "modules/program_bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gcdumpc/unstable/regular_file.h>

#include "input/memory.h"
#include "term/lists.h"
#include "term/path.h"

/* Most bytes of expanded assemblies kept of a compressed program: most programs have 50 to 150 MB.
 * Large ones are in unnamed files. */
#define KEPT_BYTES_MAX ((uint64_t)256 << 20)

/* Adds the file F.  False: out of memory. */
static bool add(struct program_bundle *b, const char *folder, const struct gcd_bundle_file *f)
{
    if (f->kind != GCD_BUNDLE_ASSEMBLY && f->kind != GCD_BUNDLE_UNKNOWN)
        return true;
    if (!cli_list_grow(&b->items, b->count, &b->room, sizeof *b->items))
        return false;
    struct bundle_entry *e = &b->items[b->count];
    *e = (struct bundle_entry){ .off = f->off, .bytes = f->bytes, .stored_bytes = f->stored_bytes };
    if (asprintf(&e->full, "%s%s", folder, f->path) < 0)
        return false;
    e->path = e->full + strlen(folder);
    e->name = cli_path_name(e->path);
    b->count++;
    return true;
}

static gcd_status read_entries(struct program_bundle *b, const char *folder, struct gcd_error *err)
{
    struct gcd_bundle_file f;
    gcd_status st;
    while ((st = gcd_bundle_next(b->bundle, &f, err)) == GCD_OK) {
        if (b->count == BUNDLE_ENTRIES_MAX)
            return err->code = GCD_E_LIMIT;
        if (!add(b, folder, &f))
            return err->code = GCD_E_NOMEM;
    }
    return st == GCD_END ? GCD_OK : st;
}

static int by_name(const void *a, const void *b)
{
    const struct bundle_entry *x = a, *y = b;
    int c = strcasecmp(x->name, y->name);
    return c != 0 ? c : strcmp(x->path, y->path);
}

gcd_status program_bundle_open(const char *path, const char *folder, struct program_bundle *ret,
                               struct gcd_error *err)
{
    *ret = (struct program_bundle){ .path = strdup(path) };
    if (ret->path == NULL)
        return err->code = GCD_E_NOMEM;
    gcd_status st = gcd_input_open_regular(path, cli_alloc(), &ret->input, NULL, err);
    if (st == GCD_OK)
        st = gcd_bundle_open(ret->input, cli_alloc(), &ret->bundle, err);
    if (st != GCD_OK)
        return st == GCD_E_NOMEM || st == GCD_E_FORMAT || st == GCD_E_TRUNCATED ? st : GCD_END;
    st = read_entries(ret, folder, err);
    if (ret->count > 0)
        qsort(ret->items, ret->count, sizeof *ret->items, by_name);
    return st;
}

static int compare_name(const void *item, const char *name)
{
    return strcasecmp(((const struct bundle_entry *)item)->name, name);
}

size_t program_bundle_find(const struct program_bundle *b, const char *name)
{
    return cli_list_find(b->items, b->count, sizeof *b->items, name, compare_name);
}

gcd_status program_bundle_view(struct program_bundle *b, struct bundle_entry *e,
                               const struct gcd_input_options *options, struct bundle_view *ret,
                               struct gcd_error *err)
{
    *ret = (struct bundle_view){ .input = b->input, .off = e->off, .bytes = e->bytes };
    if (e->stored_bytes == 0)
        return GCD_OK;
    if (e->expanded != NULL) {
        *ret = (struct bundle_view){ .input = e->expanded, .bytes = UINT64_MAX };
        return GCD_OK;
    }
    struct gcd_bundle_file f = {
        .path = e->path, .off = e->off, .bytes = e->bytes, .stored_bytes = e->stored_bytes
    };
    gcd_status st = gcd_bundle_expand(b->bundle, &f, options, &ret->input, err);
    bool keep = st == GCD_OK && b->expanded_bytes + e->bytes <= KEPT_BYTES_MAX;
    if (keep) {
        e->expanded = ret->input;
        b->expanded_bytes += e->bytes;
    }
    *ret = (struct bundle_view){ .input = ret->input,
                                 .bytes = UINT64_MAX,
                                 .own = st == GCD_OK && !keep };
    return st;
}

void program_bundle_done(struct program_bundle *b)
{
    for (size_t i = 0; i < b->count; i++) {
        gcd_input_free(b->items[i].expanded);
        free(b->items[i].full);
    }
    free(b->items);
    gcd_bundle_free(b->bundle);
    gcd_input_free(b->input);
    free(b->path);
    *b = (struct program_bundle){ .path = NULL };
}
