/* Formats that write to a path (kind PLACE): which paths they take, and that a failure half-way
 * leaves nothing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/writer.h>
#include <gcdumpc/unstable/format_plan.h>
#include <gcdumpc/unstable/staged_file.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/folder.h"
#include "support/graph_gen.h"

static char folder[FOLDER_BYTES];
static struct gcd_error err = GCD_ERROR_INIT;

static const char *target(void)
{
    static char path[sizeof folder + 8];
    (void)snprintf(path, sizeof path, "%s/x", folder);
    return path;
}

static int setup(void **state)
{
    (void)state;
    return make_folder(folder);
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if something is left */
}

/* Formats of this kind; sqlite can be left out of a build. */
static const struct gcd_format *place_format(size_t i)
{
    for (size_t k = 0; gcd_format_at(k) != NULL; k++)
        if (gcd_format_kind(gcd_format_at(k)) == GCD_FORMAT_STAGED && i-- == 0)
            return gcd_format_at(k);
    return NULL;
}

static void every_format_has_a_size(void **state)
{
    (void)state;
    for (size_t i = 0; gcd_format_at(i) != NULL; i++) {
        const struct gcd_format *f = gcd_format_at(i);
        uint64_t size = gcd_format_size(f, 1000000);
        assert_in_range(size, 10000, 10000000);
        assert_int_equal(gcd_format_size(f, 0), 0);
        assert_true(gcd_format_size(f, UINT64_C(1) << 50) > size);
    }
}

static void formats_by_path(void **state)
{
    (void)state;
    const struct gcd_format *csv = gcd_format_by_name("csv"),
                            *sqlite = gcd_format_by_name("sqlite"),
                            *gclog = gcd_format_by_name("gclog");
    assert_non_null(csv);
    assert_int_equal(gcd_format_kind(csv), GCD_FORMAT_STAGED);
    assert_int_equal(gcd_format_staged_kind(csv), GCD_STAGED_FOLDER);
    assert_ptr_equal(gcd_format_by_path("a/b.csv"), csv);
    assert_ptr_equal(gcd_format_by_path("a/b.csv//"), csv);
    assert_null(gcd_format_by_path("b.csv.gz"));
    assert_ptr_equal(gcd_format_by_path("b.gclog.gz"), gclog);
    assert_null(gcd_format_by_path("b.gclog/"));
    assert_null(gcd_format_by_path("///"));
    assert_ptr_equal(gcd_format_by_path("b.db"), sqlite); /* NULL in a build without it */
    assert_ptr_equal(gcd_format_by_path("b.sqlite"), sqlite);
    assert_null(gcd_format_by_path("b.sqlite.gz"));
    assert_null(gcd_format_by_path("b.sqlite/"));
    if (sqlite != NULL)
        assert_int_equal(gcd_format_staged_kind(sqlite), GCD_STAGED_FILE);
}

/* RET_ERR may be NULL, as for every function: then the status alone reports the failure. */
static gcd_status write_to(const struct gcd_format *f, enum gcd_staged_kind kind,
                           const struct gcd_graph *g, const struct gcd_write_options *options,
                           struct gcd_error *ret_err)
{
    struct gcd_staged *p = NULL;
    assert_int_equal(gcd_staged_open(target(), kind, NULL, &p, &err), GCD_OK);
    gcd_status st = gcd_write_staged(f, g, p, options, NULL, ret_err);
    gcd_staged_free(p); /* without a commit */
    assert_int_equal(folder_entries(folder), 0);
    return st;
}

/* The owner of the folder can replace the temporary file, for example by a link to a file that only
 * we may write. */
static void the_name_of_the_file_does_not_matter(void **state)
{
    (void)state;
    const struct gcd_format *f = gcd_format_by_name("sqlite");
    if (f == NULL)
        skip(); /* a build without it */
    struct gcd_graph *g = graph_gen_random(3, 40);
    struct gcd_staged *p = NULL;
    char moved[sizeof folder + 8], victim[sizeof folder + 8], magic[16] = "";
    size_t n;
    struct stat st;
    (void)snprintf(moved, sizeof moved, "%s/moved", folder);
    (void)snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_int_equal(close(open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    assert_int_equal(gcd_staged_open(target(), GCD_STAGED_FILE, NULL, &p, &err), GCD_OK);
    assert_int_equal(rename(gcd_staged_temporary(p), moved), 0);
    assert_int_equal(symlink(victim, gcd_staged_temporary(p)), 0);
    assert_int_equal(gcd_write_staged(f, g, p, NULL, NULL, &err), GCD_OK);
    assert_int_equal(gcd_staged_read_at(p, 0, magic, sizeof magic, &n, &err), GCD_OK);
    assert_memory_equal(magic, "SQLite format 3", sizeof magic);
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_size, 0);
    gcd_staged_free(p);
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(unlink(victim), 0);
    assert_int_equal(folder_entries(folder), 0);
    gcd_graph_free(g);
}

static void the_wrong_kind_of_place(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(1, 10);
    for (size_t i = 0; place_format(i) != NULL; i++) {
        const struct gcd_format *f = place_format(i);
        enum gcd_staged_kind wrong =
            gcd_format_staged_kind(f) == GCD_STAGED_FILE ? GCD_STAGED_FOLDER : GCD_STAGED_FILE;
        assert_int_equal(write_to(f, wrong, g, NULL, &err), GCD_E_ARG);
        assert_int_equal(write_to(f, gcd_format_staged_kind(f), g, NULL, &err), GCD_OK);
    }
    assert_int_equal(write_to(gcd_format_by_name("gclog"), GCD_STAGED_FILE, g, NULL, &err),
                     GCD_E_ARG);
    gcd_graph_free(g);
}

static void no_memory(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(7, 60);
    for (size_t i = 0; place_format(i) != NULL; i++) {
        for (uint64_t n = 2;; n++) {
            struct failalloc f;
            failalloc_init(&f);
            f.fail_at = n / 2;
            gcd_status st = write_to(place_format(i), gcd_format_staged_kind(place_format(i)), g,
                                     &(struct gcd_write_options){ .context.alloc = &f.alloc },
                                     n % 2 == 0 ? &err : NULL);
            assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
    }
    gcd_graph_free(g);
}

struct watch {
    gcd_cancel_flag cancel;
    uint64_t calls, cancel_at, last;
};

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct watch *w = ctx;
    assert_true(done <= total);
    w->last = done;
    if (++w->calls == w->cancel_at)
        atomic_store(&w->cancel, true);
}

/* Large enough for some calls of the progress hook. */
static struct gcd_graph *large_graph(void)
{
    for (uint64_t seed = 1;; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 100000);
        if (gcd_graph_edge_count(g) > 200000)
            return g;
        gcd_graph_free(g);
    }
}

static void canceled_in_the_midst(void **state)
{
    (void)state;
    struct gcd_graph *g = large_graph();
    for (size_t i = 0; place_format(i) != NULL; i++) {
        const struct gcd_format *f = place_format(i);
        struct watch w = { .cancel_at = 0 };
        struct gcd_write_options o = { .context.cancel = &w.cancel,
                                       .context.progress = on_progress,
                                       .context.progress_ctx = &w };
        assert_int_equal(write_to(f, gcd_format_staged_kind(f), g, &o, &err), GCD_OK);
        assert_true(w.calls >= 4);
        uint64_t calls = w.calls;
        const uint64_t moments[] = { 1, 2, calls / 2, calls - 1, calls };
        for (size_t k = 0; k < sizeof moments / sizeof *moments; k++) {
            w.calls = 0;
            w.cancel_at = moments[k];
            atomic_store(&w.cancel, false);
            assert_int_equal(write_to(f, gcd_format_staged_kind(f), g, &o, &err), GCD_E_CANCELED);
        }
    }
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_has_a_size),
        cmocka_unit_test(formats_by_path),
        cmocka_unit_test(the_name_of_the_file_does_not_matter),
        cmocka_unit_test(the_wrong_kind_of_place),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(canceled_in_the_midst),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
