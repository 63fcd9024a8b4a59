#include "modules/module_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/full_names.h>

#include "input/fail.h"
#include "modules/finder.h"
#include "modules/folder_index.h"
#include "term/message.h"

static size_t folder_count(const struct cli_args *args)
{
    size_t n = 0;
    while (n < CLI_MODULE_FOLDERS_MAX && args->modules.folders[n] != NULL)
        n++;
    return n;
}

enum cli_exit cli_check_module_folders(const struct cli_args *args)
{
    size_t n = folder_count(args);
    for (size_t i = 0; i < n + (args->modules.sysroot != NULL); i++) {
        const char *folder = i < n ? args->modules.folders[i] : args->modules.sysroot;
        DIR *d = opendir(folder);
        if (d == NULL)
            return cli_error(CLI_FAILED, folder, "cannot search the folder of --%s: %s",
                             i < n ? "modules" : "sysroot", strerror(errno));
        (void)closedir(d);
    }
    return CLI_DONE;
}

/* Reports files that exist but cannot be used.  Missing files matter only to users who named
 * folders. */
static void say_problems(const struct cli_dump *d, const struct gcd_summary *s)
{
    const struct gcd_module *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < s->module_count; i++)
        if (s->modules[i].state == GCD_MODULE_REPLACED ||
            s->modules[i].state == GCD_MODULE_UNREADABLE) {
            first = first != NULL ? first : &s->modules[i];
            n++;
        }
    if (n == 1)
        cli_say(d->subject, "names from one module are incomplete: %s: %s",
                first->path[0] != '\0' ? first->path : s->process_name, first->problem);
    else if (n > 1)
        cli_say(d->subject, "names from %zu modules are incomplete: %s: %s, and others", n,
                first->path, first->problem);
}

static struct module_search search_of(const struct cli_args *args,
                                      const struct gcd_summary *summary)
{
    return (struct module_search){ .folders = args->modules.folders,
                                   .folder_count = folder_count(args),
                                   .sysroot = args->modules.sysroot,
                                   .folders_only = args->modules.folders_only,
                                   .summary = summary };
}

struct cli_image_files {
    struct module_search search;
    struct module_finder *finder;
    struct gcd_module_files files;
};

struct cli_image_files *cli_image_files_new(const struct cli_args *args)
{
    static const struct gcd_summary nothing = { .process_name = "", .command_line = "" };
    struct cli_image_files *ret = args->modules.off ? NULL : calloc(1, sizeof *ret);
    if (ret == NULL)
        return NULL;
    ret->search = search_of(args, &nothing);
    ret->finder = module_finder_new(&ret->search);
    if (ret->finder == NULL) {
        free(ret);
        return NULL;
    }
    ret->files = module_finder_files(ret->finder);
    return ret;
}

const struct gcd_module_files *cli_image_files(const struct cli_image_files *files)
{
    return files != NULL ? &files->files : NULL;
}

void cli_image_files_free(struct cli_image_files *files)
{
    if (files != NULL)
        module_finder_free(files->finder);
    free(files);
}

struct module_finder *cli_symbol_files(const struct cli_args *args, const struct cli_dump *d,
                                       struct module_search *search, struct gcd_module_files *ret)
{
    if (args->modules.off || d->dump == NULL)
        return NULL;
    *search = search_of(args, gcd_dump_summary(d->dump));
    search->pid = d->live ? d->pid : 0;
    struct module_finder *finder = module_finder_new(search);
    if (finder != NULL)
        *ret = module_finder_files(finder);
    return finder;
}

/* Completes the names of D from the files that SEARCH finds. */
static enum cli_exit resolve(const struct cli_dump *d, const struct module_search *search,
                             bool layouts, bool *ret_cut)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct module_finder *finder = module_finder_new(search);
    if (finder == NULL)
        return cli_no_memory(d->subject);
    struct gcd_module_files files = module_finder_files(finder);
    files.layouts = layouts;
    gcd_status st = gcd_dump_resolve(d->dump, &files, &err);
    *ret_cut = module_finder_cut(finder);
    module_finder_free(finder);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

enum cli_exit cli_read_modules_of(const struct cli_args *args, const struct cli_dump *d,
                                  uint32_t pid)
{
    struct module_search search = search_of(args, gcd_dump_summary(d->dump));
    bool cut;
    search.like_pid = pid;
    return resolve(d, &search, false, &cut);
}

enum cli_exit cli_read_modules(const struct cli_args *args, const struct cli_dump *d, bool layouts)
{
    if (args->modules.off || d->dump == NULL)
        return CLI_DONE;
    const struct gcd_summary *summary = gcd_dump_summary(d->dump);
    struct module_search search = search_of(args, summary);
    bool cut;
    search.pid = d->live ? d->pid : 0;
    search.image = d->input;
    enum cli_exit e = resolve(d, &search, layouts, &cut);
    if (e != CLI_DONE)
        return e;
    if (!gcd_trace_is_image(&summary->trace)) /* info says what a core file lacks */
        say_problems(d, summary);
    if (cut)
        cli_say(NULL,
                "--modules: only the first %zu entries and %u levels of folders were searched",
                FOLDER_INDEX_ENTRIES, FOLDER_INDEX_DEPTH);
    return CLI_DONE;
}
