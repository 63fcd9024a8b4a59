/*
 * Random graphs in every format: the first byte chooses the format, the next ones options, the rest
 * makes the graph.
 *
 * A writer accepts every graph, returns how much it wrote, and leaks no memory, even if an
 * allocation fails; the same graph gives the same bytes.  Readable formats give the same graph as
 * far as they can store it; text is valid UTF-8.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/unstable/staged_file.h>

#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run.h"
#include "support/run_graph.h"
#include "support/v8_check.h"

#define NODES     60u
#define FEW_NODES 12u

/* What the readable formats cannot store: the round trips in tests/unit are stricter. */
#define NOT_IN_GCLOG                                                                   \
    (GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS | \
     GRAPH_EQ_MODULES | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | GRAPH_EQ_VERDICT |    \
     GRAPH_EQ_NAMES | GRAPH_EQ_ROOT_FLAGS)
#define NOT_IN_GCDUMP                                                                       \
    (GRAPH_EQ_BIG_SIZES | GRAPH_EQ_ROOT_FLAGS | GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_ROOT_NAMES | \
     GRAPH_EQ_WEAK_ROOTS | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS |      \
     GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_VERDICT | GRAPH_EQ_FACTS)
#define NOT_IN_DART                                                                         \
    (GRAPH_EQ_ADDRESSES | GRAPH_EQ_ROOT_FLAGS | GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_ROOT_ORDER | \
     GRAPH_EQ_WEAK_ROOTS | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS |      \
     GRAPH_EQ_MODULES | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | GRAPH_EQ_NAMES |           \
     GRAPH_EQ_VERDICT | GRAPH_EQ_BIG_SIZES)

struct job {
    const struct gcd_format *format;
    const struct gcd_graph *graph;
    struct gcd_write_options options;
    struct gcd_write_notes notes;
};

static gcd_status write_sink(struct job *j, struct tb_bytes *ret, struct gcd_error *err)
{
    struct gcd_sink *s;
    size_t n;
    gcd_status st = gcd_sink_new_memory(j->options.context.alloc, &s, err);
    if (st != GCD_OK)
        return st;
    st = gcd_write_graph(j->format, j->graph, s, &j->options, &j->notes, err);
    if (st == GCD_OK)
        st = gcd_sink_commit(s, err);
    if (st == GCD_OK) {
        const uint8_t *p = gcd_sink_memory(s, &n);
        tb_put(ret, p, n);
    }
    gcd_sink_free(s);
    return st;
}

/* Removes PATH and the files in it; returns their number. */
static size_t clear(const char *path)
{
    size_t files = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        files += e->d_name[0] != '.' && unlinkat(dirfd(d), e->d_name, 0) == 0;
    if (d != NULL)
        (void)closedir(d);
    (void)remove(path);
    return files;
}

/* A folder or a database: without reading it, only that it appears completely or not at all. */
static gcd_status write_place(struct job *j, struct gcd_error *err)
{
    char folder[64], path[80];
    struct gcd_staged *p = NULL;
    struct stat sb;
    /* in memory if possible: each output is flushed to the disk */
    (void)snprintf(folder, sizeof folder, "%s/gcdumpc-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    (void)snprintf(path, sizeof path, "%s/out", folder);
    gcd_status st =
        gcd_staged_open(path, gcd_format_staged_kind(j->format), j->options.context.alloc, &p, err);
    if (st == GCD_OK)
        st = gcd_write_staged(j->format, j->graph, p, &j->options, &j->notes, err);
    if (st == GCD_OK)
        st = gcd_staged_commit(p, err);
    gcd_staged_free(p);
    if ((stat(path, &sb) == 0) != (st == GCD_OK))
        fuzz_fail("an output is there, or an error", gcd_status_name(st));
    if (st == GCD_OK && S_ISDIR(sb.st_mode) && clear(path) == 0)
        fuzz_fail("a folder has files", "none");
    (void)unlink(path);
    if (rmdir(folder) != 0)
        fuzz_fail("nothing else is left", folder);
    return st;
}

static void check_again(const struct graph_reader *reader, const struct job *j,
                        const struct tb_bytes *b, unsigned may_differ)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph *back;
    if (run_graph_read(reader, b->p, b->n,
                       &(struct gcd_graph_options){ .context.alloc = j->options.context.alloc },
                       &back, &err) != GCD_OK)
        fuzz_fail("what was written can be read", err.msg);
    const char *wrong = run_graph_check(back);
    if (wrong == NULL)
        wrong = graph_eq(j->graph, back, may_differ);
    if (wrong != NULL)
        fuzz_fail("a round trip changes nothing", wrong);
    gcd_graph_free(back);
}

/* PLAIN: every format can store the graph. */
static void check_bytes(const struct job *j, const struct tb_bytes *b, bool plain)
{
    const char *name = gcd_format_name(j->format);
    const char *wrong =
        strcmp(name, "v8") == 0 && j->options.names == NULL ? v8_check(b->p, b->n, j->graph) : NULL;
    if (wrong != NULL)
        fuzz_fail("the v8 file is sound", wrong);
    if (gcd_format_is_text(j->format) && !run_is_utf8((const char *)b->p, b->n))
        fuzz_fail("text is well-formed", name);
    if (!plain)
        return;
    if (strcmp(name, "gclog") == 0)
        check_again(&gcd_r_gclog, j, b, NOT_IN_GCLOG);
    else if (strcmp(name, "gcdump") == 0)
        check_again(&gcd_r_gcdump, j, b, NOT_IN_GCDUMP);
    else if (strcmp(name, "dart") == 0)
        check_again(&gcd_r_dart, j, b, NOT_IN_DART);
}

static void write_failing(struct job j, uint64_t fail_at)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb_bytes b = { NULL, 0, 0 };
    struct failalloc f;
    failalloc_init(&f);
    f.fail_at = fail_at;
    j.options.context.alloc = &f.alloc;
    gcd_status st = gcd_format_kind(j.format) == GCD_FORMAT_STAGED ? write_place(&j, &err)
                                                                   : write_sink(&j, &b, &err);
    if (st != GCD_OK && (st != GCD_E_NOMEM || f.failed == 0))
        fuzz_fail("a writer takes every graph", err.msg);
    fuzz_check_memory(&f);
    tb_free(&b);
}

static void write_twice(struct job *j, bool plain)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb_bytes once = { NULL, 0, 0 }, twice = { NULL, 0, 0 };
    struct failalloc f;
    failalloc_init(&f);
    j->options.context.alloc = &f.alloc;
    if (write_sink(j, &once, &err) != GCD_OK || write_sink(j, &twice, &err) != GCD_OK)
        fuzz_fail("a writer takes every graph", err.msg);
    if (once.n != twice.n || (once.n > 0 && memcmp(once.p, twice.p, once.n) != 0))
        fuzz_fail("the same graph gives the same bytes", gcd_format_name(j->format));
    check_bytes(j, &once, plain);
    tb_free(&once);
    tb_free(&twice);
    fuzz_check_memory(&f);
}

/* A database takes a hundred times as long as other formats, a page ten times: so only one input in
 * that many. */
static unsigned one_in(const struct gcd_format *format)
{
    if (gcd_format_kind(format) == GCD_FORMAT_STAGED)
        return gcd_format_staged_kind(format) == GCD_STAGED_FILE ? 64 : 16;
    return strcmp(gcd_format_name(format), "html") == 0 ? 8 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats = 0;
    if (size < 4)
        return 0;
    while (gcd_format_at(formats) != NULL)
        formats++;
    uint64_t hash = fuzz_hash(data, size);
    const struct gcd_format *format = gcd_format_at(data[0] % formats);
    for (size_t next = data[0] + 1u; hash % one_in(format) != 0; next++)
        format = gcd_format_at(next % formats);
    bool plain = data[1] & 1;
    struct graph_gen o = { .seed = data[3],
                           .bytes = data + 4,
                           .byte_count = size - 4,
                           .plain_names = plain,
                           .plain_sizes = plain || data[1] & 2,
                           .no_addresses = !plain && data[1] & 4,
                           .keep_unknown = data[1] & 8,
                           .max_nodes = (hash >> 24) % 4 == 0 ? NODES : FEW_NODES,
                           .name_bytes = (hash >> 8) % 32 == 0 ? 0 : 300 };
    struct gcd_graph *g = graph_gen(&o);
    struct gcd_names *names = NULL;
    if (data[1] & 16 &&
        gcd_names_new(gcd_graph_summary(g), data[1] & 32 ? GCD_NAMES_RAW : GCD_NAMES_CSHARP, NULL,
                      &names, NULL) != GCD_OK)
        fuzz_fail("types have names", "");
    struct job j = { .format = format,
                     .graph = g,
                     .options = { .names = names,
                                  .name = data[1] & 64 ? "Pro\"gram" : NULL,
                                  .stack_by = data[1] & 128 ? GCD_STACK_BY_PATHS
                                                            : GCD_STACK_BY_DOMINATORS } };
    if (gcd_format_kind(j.format) == GCD_FORMAT_STAGED || hash >> 16 & 1)
        write_failing(j, data[2]);
    else
        /* if references are addresses, two objects at one address are the same, and the unknown
         * node has none */
        write_twice(&j, plain && names == NULL && gcd_graph_notes(g)->objects_doubled == 0 &&
                            gcd_graph_unknown(g) == GCD_NODE_NONE);
    gcd_names_free(names);
    gcd_graph_free(g);
    return 0;
}
