#include "modules/finder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/regular_file.h>

#include "input/memory.h"
#include "modules/folder_index.h"
#include "modules/mapped_files.h"
#include "modules/program_bundle.h"
#include "signals.h"
#include "term/path.h"

#define BUNDLES_MAX 16u
/* small, because many are kept at the same time */
#define EXPANDED_IN_MEMORY ((size_t)16 << 10)
#define NS_PER_MS          INT64_C(1000000)
/*
 * File times lag by up to 10 ms, and so does the start time of a process.  A process reads no
 * assembly in its first 20 ms: it has to find, load and start the runtime first (40 ms and more,
 * measured).  So a program may be started right after it is copied.
 */
#define FIRST_MS        10
#define CLOCKS_APART_MS 2000 /* how far the recording's clock and ours may differ */

struct module_finder {
    const struct module_search *search;
    bool visible; /* the process can be examined */
    int root;     /* its root folder, which stays valid when it ends; -1 = none */
    int64_t start_ns;
    struct mapped_files mapped;
    /* [loaded_count] indexes of mapped files that are modules */
    size_t *loaded, loaded_count;
    struct folder_index index;
    bool indexed;
    /* first own_bundles of the process, then those below the folders */
    struct program_bundle bundles[BUNDLES_MAX];
    size_t own_bundles, bundle_count;
    bool own_tried, hosts_tried;
    /* problem with the process's bundle or permissions: candidates may be missing */
    struct gcd_error damage;
    /* the search for the module that was last asked for */
    const struct gcd_module *module;
    unsigned given; /* candidates so far */
    unsigned stage;
    size_t bundle, next; /* position in the stage */
};

/* Paths of a Windows program have backslashes. */
static const char *file_name(const char *path)
{
    const char *name = cli_path_name(path),
               *backslash = path[0] != '/' ? strrchr(name, '\\') : NULL;
    return backslash != NULL ? backslash + 1 : name;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcasecmp(text + n - k, end) == 0;
}

static bool is_module(const char *path)
{
    return ends_with(path, ".dll") || ends_with(path, ".exe");
}

/* Puts the name of a file that is not at the module's own path in front of ERR. */
static gcd_status named(const char *path, gcd_status st, struct gcd_error *err)
{
    char msg[sizeof err->msg];
    memcpy(msg, err->msg, sizeof msg);
    (void)snprintf(err->msg, sizeof err->msg, "%.255s%s: %.200s", path,
                   strlen(path) > 255 ? "..." : "", msg);
    return st;
}

/* ---- stages: GCD_OK; GCD_END: the stage is over; GCD_E_NOT_FOUND: this candidate is not there;
 * any other error ---- */

static gcd_status no_memory(struct gcd_error *err)
{
    (void)snprintf(err->msg, sizeof err->msg, "out of memory");
    return err->code = GCD_E_NOMEM;
}

static gcd_status open_path(const char *path, struct gcd_module_file *ret,
                            struct gcd_regular_file *ret_about, struct gcd_error *err)
{
    struct gcd_input *in;
    gcd_status st = gcd_input_open_regular(path, cli_alloc(), &in, ret_about, err);
    if (st == GCD_OK)
        *ret = (struct gcd_module_file){ .input = in, .bytes = UINT64_MAX, .ctx = in };
    return st == GCD_E_IO && err->reason == GCD_ERROR_NO_FILE ? GCD_E_NOT_FOUND : st;
}

static bool is_before(int64_t time_ns, const struct module_finder *f)
{
    return time_ns < f->start_ns + FIRST_MS * NS_PER_MS;
}

/* Does the process map the file at PATH with INODE?  The mapped name can differ, because links in
 * it are resolved. */
static bool is_mapped(const struct module_finder *f, const char *path, uint64_t inode)
{
    for (size_t i = mapped_files_find(&f->mapped, path);
         i < f->mapped.count && strcmp(f->mapped.items[i].path, path) == 0; i++)
        if (!f->mapped.items[i].deleted)
            return true;
    for (size_t i = 0; i < f->mapped.count; i++)
        if (!f->mapped.items[i].deleted && f->mapped.items[i].inode == inode &&
            strcmp(cli_path_name(f->mapped.items[i].path), cli_path_name(path)) == 0)
            return true;
    return false;
}

static gcd_status open_in_root(const struct module_finder *f, const char *seen,
                               struct gcd_module_file *ret, struct gcd_error *err)
{
    struct gcd_regular_file about;
    char *path = NULL;
    if (asprintf(&path, "/proc/self/fd/%d%s", f->root, seen) < 0)
        return no_memory(err);
    gcd_status st = open_path(path, ret, &about, err);
    free(path);
    if (st == GCD_OK)
        ret->certain = is_before(about.modified_ns, f) && is_before(about.changed_ns, f) &&
                       is_mapped(f, seen, about.inode);
    return st;
}

/* Stage: the module's path, as the process sees it. */
static gcd_status in_root(struct module_finder *f, const struct gcd_module *module,
                          struct gcd_module_file *ret, struct gcd_error *err)
{
    return f->visible && module->path[0] == '/' && f->next++ == 0
               ? open_in_root(f, module->path, ret, err)
               : GCD_END;
}

static gcd_status open_deleted(const struct module_finder *f, const struct mapped_file *m,
                               struct gcd_module_file *ret, struct gcd_error *err)
{
    struct gcd_regular_file about;
    char path[96];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
                   f->search->pid, m->start, m->end);
    gcd_status st = open_path(path, ret, &about, err);
    if (st == GCD_OK)
        ret->certain =
            is_before(about.modified_ns, f); /* deleting the file changed its other time */
    if (st != GCD_E_IO || (err->os_errno != EPERM && err->os_errno != EACCES))
        return st;
    if (f->given > 0) /* the file that now has its name tells more */
        return GCD_E_NOT_FOUND;
    (void)snprintf(err->msg, sizeof err->msg,
                   "was deleted or replaced, and only root can still read what the process maps");
    return st;
}

/* Stage: the mapped file, if it was deleted or replaced. */
static gcd_status deleted(struct module_finder *f, const struct gcd_module *module,
                          struct gcd_module_file *ret, struct gcd_error *err)
{
    size_t i = mapped_files_find(&f->mapped, module->path) + f->next;
    for (; i < f->mapped.count && strcmp(f->mapped.items[i].path, module->path) == 0; i++) {
        f->next++;
        if (f->mapped.items[i].deleted)
            return open_deleted(f, &f->mapped.items[i], ret, err);
    }
    return GCD_END;
}

static gcd_status add_bundle(struct module_finder *f, const char *path, const char *folder,
                             struct gcd_error *err)
{
    struct program_bundle *b = &f->bundles[f->bundle_count];
    gcd_status st = program_bundle_open(path, folder, b, err);
    if (b->count > 0)
        f->bundle_count++;
    else
        program_bundle_done(b);
    return st;
}

/* Adds the program that the process runs, if it is a bundle. */
static gcd_status add_own_bundle(struct module_finder *f, struct gcd_error *err)
{
    char path[32], folder[PATH_MAX] = "";
    if (f->own_tried || !f->visible)
        return GCD_OK;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", f->search->pid);
    ssize_t n = readlink(path, folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    folder[cli_path_name(folder) - folder] = '\0';
    gcd_status st = add_bundle(f, path, folder, err);
    f->own_tried = true;
    f->own_bundles = f->bundle_count;
    if (st < 0 && st != GCD_E_NOMEM) {
        f->damage = *err;
        (void)named("the program", st, &f->damage);
    }
    return st == GCD_E_NOMEM ? st : GCD_OK;
}

/* Opens an entry of a bundle; it is certain if the bundle is the process's own. */
static gcd_status open_entry(const struct module_finder *f, struct program_bundle *b,
                             struct bundle_entry *e, struct gcd_module_file *ret,
                             struct gcd_error *err)
{
    const char *tmpdir = getenv("TMPDIR");
    struct gcd_input_options options = {
        .context = { .alloc = cli_alloc(), .cancel = &cli_canceled },
        .spool_memory_bytes = EXPANDED_IN_MEMORY,
        .spool_dir = tmpdir != NULL && tmpdir[0] != '\0' ? tmpdir : NULL
    };
    struct bundle_view view;
    gcd_status st = program_bundle_view(b, e, &options, &view, err);
    if (st != GCD_OK)
        return st == GCD_E_NOMEM ? st : named(e->full, st, err);
    *ret = (struct gcd_module_file){ .input = view.input,
                                     .off = view.off,
                                     .bytes = view.bytes,
                                     .path = e->full,
                                     .ctx = view.own ? view.input : NULL,
                                     .certain = b < f->bundles + f->own_bundles };
    return GCD_OK;
}

/* Opens the next matching entry of the bundles from F->bundle up to END. */
static gcd_status in_bundles(struct module_finder *f, const struct gcd_module *module, size_t end,
                             struct gcd_module_file *ret, struct gcd_error *err)
{
    const char *name = file_name(module->path);
    for (; f->bundle < end; f->bundle++, f->next = 0) {
        struct program_bundle *b = &f->bundles[f->bundle];
        size_t i = program_bundle_find(b, name) + f->next++;
        if (i >= b->count || strcasecmp(b->items[i].name, name) != 0)
            continue;
        gcd_status st = open_entry(f, b, &b->items[i], ret, err);
        /* files in different folders of the bundle can have the same name */
        ret->certain = st == GCD_OK && ret->certain && strcmp(module->path, b->items[i].full) == 0;
        return st;
    }
    return GCD_END;
}

static gcd_status in_own_bundle(struct module_finder *f, const struct gcd_module *module,
                                struct gcd_module_file *ret, struct gcd_error *err)
{
    gcd_status st = add_own_bundle(f, err);
    return st == GCD_OK ? in_bundles(f, module, f->own_bundles, ret, err) : st;
}

static gcd_status make_index(struct module_finder *f, struct gcd_error *err)
{
    for (size_t i = 0; i < f->search->folder_count && !f->indexed; i++)
        if (!folder_index_add(&f->index, f->search->folders[i], (unsigned)i))
            return no_memory(err);
    if (!f->indexed)
        folder_index_sort(&f->index);
    f->indexed = true;
    return GCD_OK;
}

static gcd_status below_folders(struct module_finder *f, const struct gcd_module *module,
                                struct gcd_module_file *ret, struct gcd_error *err)
{
    gcd_status st = make_index(f, err);
    if (st != GCD_OK)
        return st;
    const char *name = file_name(module->path);
    size_t i = folder_index_find(&f->index, name) + f->next++;
    if (i >= f->index.count || strcasecmp(f->index.items[i].name, name) != 0)
        return GCD_END;
    st = open_path(f->index.items[i].path, ret, NULL, err);
    return st < 0 && st != GCD_E_NOMEM && st != GCD_E_NOT_FOUND
               ? named(f->index.items[i].path, st, err)
               : st;
}

/* Adds bundles below the folders that are called NAME[N], with or without ".exe".  GCD_E_NOMEM; a
 * damaged bundle gives its readable entries. */
static gcd_status add_hosts(struct module_finder *f, const char *name, size_t n,
                            struct gcd_error *err)
{
    static const char *const ends[] = { "", ".exe" };
    char host[256];
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        if (n == 0 ||
            (size_t)snprintf(host, sizeof host, "%.*s%s", (int)(n < sizeof host ? n : sizeof host),
                             name, ends[e]) >= sizeof host)
            continue;
        for (size_t i = folder_index_find(&f->index, host);
             i < f->index.count && strcasecmp(f->index.items[i].name, host) == 0; i++) {
            bool known = f->bundle_count == BUNDLES_MAX;
            for (size_t k = f->own_bundles; k < f->bundle_count && !known; k++)
                known = strcmp(f->bundles[k].path, f->index.items[i].path) == 0;
            if (!known && add_bundle(f, f->index.items[i].path, "", err) == GCD_E_NOMEM)
                return GCD_E_NOMEM;
        }
    }
    return GCD_OK;
}

/* Finds single-file programs, which have the name of one of their modules, the entry assembly. */
static gcd_status find_hosts(struct module_finder *f, struct gcd_error *err)
{
    const struct gcd_summary *s = f->search->summary;
    size_t n = strcspn(s->command_line, " ");
    while (n > 0 && s->command_line[n - 1] != '/' && s->command_line[n - 1] != '\\')
        n--;
    gcd_status st = add_hosts(f, s->command_line + n, strcspn(s->command_line + n, " "), err);
    if (st == GCD_OK)
        st = add_hosts(f, s->process_name, strlen(s->process_name), err);
    for (size_t i = 0; i < s->module_count && st == GCD_OK; i++) {
        const char *name = file_name(s->modules[i].path);
        st = add_hosts(f, name, strlen(name) - (is_module(name) ? strlen(".dll") : 0), err);
    }
    return st;
}

static gcd_status below_folders_in_bundles(struct module_finder *f, const struct gcd_module *module,
                                           struct gcd_module_file *ret, struct gcd_error *err)
{
    if (!f->hosts_tried && f->search->folder_count > 0) {
        gcd_status st = find_hosts(f, err);
        if (st != GCD_OK)
            return st;
        f->hosts_tried = true;
    }
    if (f->next == 0 && f->bundle < f->own_bundles)
        f->bundle = f->own_bundles;
    return in_bundles(f, module, f->bundle_count, ret, err);
}

/* Stage: the recorded path on this machine.  Worth as much as a folder of --modules when the
 * process cannot be examined. */
static gcd_status at_recorded_path(struct module_finder *f, const struct gcd_module *module,
                                   struct gcd_module_file *ret, struct gcd_error *err)
{
    if (f->visible || f->search->folders_only || module->path[0] != '/' || f->next++ > 0)
        return GCD_END;
    char path[PATH_MAX];
    const char *sysroot = f->search->sysroot != NULL ? f->search->sysroot : "";
    if ((size_t)snprintf(path, sizeof path, "%s%s", sysroot, module->path) >= sizeof path)
        return GCD_END;
    return open_path(path, ret, NULL, err);
}

/* Stage: the metadata in the core file, which need no file. */
static gcd_status in_image(struct module_finder *f, const struct gcd_module *module,
                           struct gcd_module_file *ret, struct gcd_error *err)
{
    struct gcd_input *in;
    if (f->search->image == NULL || f->next++ > 0)
        return GCD_END;
    gcd_status st = gcd_input_image_module(f->search->image, module->id, &in, err);
    if (st == GCD_OK)
        *ret = (struct gcd_module_file){
            .input = in, .bytes = UINT64_MAX, .certain = true, .path = module->path, .ctx = in
        };
    return st;
}

/* ---- programs compiled ahead of time: the file that is mapped there, and files with its symbols
 * ---- */

static const char *const symbol_ends[] = { "", ".dbg", ".debug" };
#define SYMBOL_ENDS (sizeof symbol_ends / sizeof *symbol_ends)

/* Adds the next end to PATH in RET[PATH_MAX].  False: there is none. */
static bool next_symbols(struct module_finder *f, const char *root, const char *path, char *ret)
{
    size_t i = f->next++;
    return path[0] != '\0' && i < SYMBOL_ENDS &&
           snprintf(ret, PATH_MAX, "%s%s%s", root, path, symbol_ends[i]) < PATH_MAX;
}

/* The path of the file that the process has mapped at the place of MODULE; "" = unknown. */
static const struct mapped_file *native_file(const struct module_finder *f,
                                             const struct gcd_module *module)
{
    for (size_t i = 0; f->visible && i < f->mapped.count; i++)
        if (f->mapped.items[i].start == module->id)
            return &f->mapped.items[i];
    return NULL;
}

static gcd_status native_in_root(struct module_finder *f, const struct gcd_module *module,
                                 struct gcd_module_file *ret, struct gcd_error *err)
{
    const struct mapped_file *m = native_file(f, module);
    char path[PATH_MAX];
    if (m == NULL || !next_symbols(f, "", m->path, path))
        return GCD_END;
    gcd_status st =
        m->deleted && f->next == 1 ? open_deleted(f, m, ret, err) : open_in_root(f, path, ret, err);
    ret->certain = ret->certain && f->next == 1;
    ret->path = m->path;
    return st;
}

static gcd_status native_below_folders(struct module_finder *f, const struct gcd_module *module,
                                       struct gcd_module_file *ret, struct gcd_error *err)
{
    const struct mapped_file *m = native_file(f, module);
    const char *of = m != NULL                 ? m->path
                     : module->path[0] != '\0' ? module->path
                                               : f->search->summary->process_name;
    gcd_status st = make_index(f, err);
    char name[PATH_MAX];
    for (; st == GCD_OK && f->bundle < SYMBOL_ENDS; f->bundle++, f->next = 0) {
        size_t i;
        if (of[0] == '\0' || snprintf(name, sizeof name, "%s%s", file_name(of),
                                      symbol_ends[f->bundle]) >= (int)sizeof name)
            return GCD_END;
        i = folder_index_find(&f->index, name) + f->next++;
        if (i >= f->index.count || strcasecmp(f->index.items[i].name, name) != 0)
            continue;
        st = open_path(f->index.items[i].path, ret, NULL, err);
        return st < 0 && st != GCD_E_NOMEM && st != GCD_E_NOT_FOUND
                   ? named(f->index.items[i].path, st, err)
                   : st;
    }
    return st == GCD_OK ? GCD_END : st;
}

static gcd_status native_at_recorded_path(struct module_finder *f, const struct gcd_module *module,
                                          struct gcd_module_file *ret, struct gcd_error *err)
{
    char path[PATH_MAX];
    const char *sysroot = f->search->sysroot != NULL ? f->search->sysroot : "";
    return f->visible || f->search->folders_only || module->path[0] != '/' ||
                   !next_symbols(f, sysroot, module->path, path)
               ? GCD_END
               : open_path(path, ret, NULL, err);
}

/* The program of another process, or the symbols beside it. */
static gcd_status native_like_process(struct module_finder *f, const struct gcd_module *module,
                                      struct gcd_module_file *ret, struct gcd_error *err)
{
    char root[32], program[PATH_MAX] = "", path[PATH_MAX];
    (void)module;
    if (f->search->like_pid == 0)
        return GCD_END;
    (void)snprintf(root, sizeof root, "/proc/%" PRIu32 "/exe", f->search->like_pid);
    if (f->next == 0) { /* also if it was deleted */
        f->next++;
        return open_path(root, ret, NULL, err);
    }
    if (readlink(root, program, sizeof program - 1) < 0)
        return GCD_END;
    (void)snprintf(root, sizeof root, "/proc/%" PRIu32 "/root", f->search->like_pid);
    return next_symbols(f, root, program, path) ? open_path(path, ret, NULL, err) : GCD_END;
}

/* The assemblies that it may have been compiled from: all below the folders. */
static gcd_status native_assemblies(struct module_finder *f, const struct gcd_module *module,
                                    struct gcd_module_file *ret, struct gcd_error *err)
{
    (void)module;
    gcd_status st = make_index(f, err);
    if (st != GCD_OK)
        return st;
    while (f->next < f->index.count && !is_module(f->index.items[f->next].name))
        f->next++;
    return f->next < f->index.count ? open_path(f->index.items[f->next++].path, ret, NULL, err)
                                    : GCD_END;
}

typedef gcd_status stage(struct module_finder *f, const struct gcd_module *module,
                         struct gcd_module_file *ret, struct gcd_error *err);
static stage *const stages[] = { in_image,        in_own_bundle, in_root,
                                 deleted,         below_folders, below_folders_in_bundles,
                                 at_recorded_path };
#define STAGES              (sizeof stages / sizeof *stages)
#define STAGES_WITHOUT_PATH 1u
static stage *const native_stages[] = { native_in_root, native_below_folders,
                                        native_at_recorded_path, native_like_process,
                                        native_assemblies };
#define NATIVE_STAGES (sizeof native_stages / sizeof *native_stages)

static void close_candidate(void *ctx, struct gcd_module_file *file)
{
    (void)ctx;
    gcd_input_free(file->ctx);
    *file = (struct gcd_module_file){ .input = NULL };
}

/* Opens the next candidate for the file of F->module. */
static gcd_status open_next(struct module_finder *f, struct gcd_module_file *ret,
                            struct gcd_error *err)
{
    bool native = f->module->native, known = native || f->module->path[0] != '\0';
    size_t stages_of = native ? NATIVE_STAGES : known ? STAGES : STAGES_WITHOUT_PATH;
    while (f->stage < stages_of) {
        if (cli_canceled) {
            (void)snprintf(err->msg, sizeof err->msg, "interrupted");
            return err->code = GCD_E_CANCELED;
        }
        *err = (struct gcd_error)GCD_ERROR_INIT;
        stage *next = native ? native_stages[f->stage] : stages[f->stage];
        gcd_status st = next(f, f->module, ret, err);
        if (st == GCD_END) {
            f->stage++;
            f->bundle = f->next = 0;
        } else if (st != GCD_E_NOT_FOUND) {
            f->given++;
            return st;
        }
    }
    *err = (struct gcd_error)GCD_ERROR_INIT;
    if (!known || f->given > 0 || f->damage.code == GCD_OK)
        return GCD_END;
    f->given++;
    *err = f->damage;
    return err->code;
}

/* Opens file N of those that the process has loaded: first the mapped files, then the entries of
 * its bundle, loaded or not. */
static gcd_status open_loaded(struct module_finder *f, unsigned n, struct gcd_module_file *ret,
                              struct gcd_error *err)
{
    gcd_status st = add_own_bundle(f, err);
    if (st != GCD_OK)
        return st;
    if (n < f->loaded_count) {
        const struct mapped_file *m = &f->mapped.items[f->loaded[n]];
        st = m->deleted ? open_deleted(f, m, ret, err) : open_in_root(f, m->path, ret, err);
        ret->path = m->path;
        return st;
    }
    size_t i = n - f->loaded_count;
    return f->own_bundles > 0 && i < f->bundles[0].count
               ? open_entry(f, &f->bundles[0], &f->bundles[0].items[i], ret, err)
               : GCD_END;
}

static gcd_status open_candidate(void *ctx, const struct gcd_module *module, unsigned n,
                                 struct gcd_module_file *ret, struct gcd_error *err)
{
    struct module_finder *f = ctx;
    gcd_status st = GCD_OK;
    if (module == NULL)
        return open_loaded(f, n, ret, err);
    if (n == 0 || module != f->module || n < f->given) {
        f->module = module;
        f->given = f->stage = 0;
        f->bundle = f->next = 0;
    }
    while (f->given < n) { /* a candidate that was given before is asked for again */
        st = open_next(f, ret, err);
        if (st == GCD_OK)
            close_candidate(f, ret);
        else if (st == GCD_END || st == GCD_E_NOMEM || st == GCD_E_CANCELED)
            return st;
    }
    return open_next(f, ret, err);
}

/* Opens the root folder of the process. Without permission to examine it, its paths may still exist
 * on this machine: the identity decides, as for a recording. */
static void open_root(struct module_finder *f)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/root", f->search->pid);
    f->root = f->visible ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (!f->visible || f->root >= 0)
        return;
    f->visible = false;
    f->damage.code = GCD_E_IO;
    (void)snprintf(f->damage.msg, sizeof f->damage.msg,
                   "cannot look at the files of the process: %s", strerror(errno));
}

static bool list_loaded(struct module_finder *f)
{
    if (!mapped_files_read(f->search->pid, &f->mapped))
        return false;
    f->loaded = calloc(f->mapped.count + 1, sizeof *f->loaded);
    for (size_t i = 0; i < f->mapped.count && f->loaded != NULL; i++)
        if (is_module(f->mapped.items[i].path))
            f->loaded[f->loaded_count++] = i;
    return f->loaded != NULL;
}

struct module_finder *module_finder_new(const struct module_search *search)
{
    struct module_finder *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->search = search;
    f->damage = (struct gcd_error)GCD_ERROR_INIT;
    int64_t recorded_ms = search->summary->trace.start_unix_ms;
    f->start_ns = search->pid != 0 ? process_start_ns(search->pid) : INT64_MIN;
    /* a process that began after the recording only has the same PID */
    f->visible =
        f->start_ns != INT64_MIN &&
        (recorded_ms == INT64_MIN || f->start_ns / NS_PER_MS <= recorded_ms + CLOCKS_APART_MS);
    open_root(f);
    if (f->visible && !list_loaded(f)) {
        module_finder_free(f);
        return NULL;
    }
    return f;
}

struct gcd_module_files module_finder_files(struct module_finder *f)
{
    return (struct gcd_module_files){ .ctx = f, .open = open_candidate, .close = close_candidate };
}

bool module_finder_cut(const struct module_finder *f)
{
    return f->index.cut;
}

void module_finder_free(struct module_finder *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->bundle_count; i++)
        program_bundle_done(&f->bundles[i]);
    free(f->loaded);
    if (f->root >= 0)
        (void)close(f->root);
    mapped_files_done(&f->mapped);
    folder_index_done(&f->index);
    free(f);
}
