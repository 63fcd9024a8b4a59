/*
 * Candidates for the file of a module, best first:
 *
 *     for a core file  the metadata in it
 *     for a process    the bundle that is its program, its path as the process sees it, that file
 *                      deleted but still mapped
 *     for all dumps    the folders of --modules, bundles in them
 *     for a recording  its path on this machine; also for a process that may not be examined; of a
 *                      native program, what another process runs
 *
 * A file of the first group that has not changed since the process began is certain.  For all
 * others the library compares the identity.
 */
#ifndef GCD_CLI_MODULES_FINDER_H
#define GCD_CLI_MODULES_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/summary.h>
#include <gcdumpc/unstable/full_names.h>

struct module_search {
    /* the process of the dump, with its PID on this machine; 0 = a recording, or not known */
    uint32_t pid;
    const char *const *folders; /* [folder_count] --modules */
    size_t folder_count;
    const char *sysroot;     /* recorded paths are below it; NULL = / */
    struct gcd_input *image; /* of a core file; NULL = another recording */
    bool folders_only;       /* for a recording: do not look at the recorded paths */
    /* a process that runs now, perhaps of the same build as the native program of the dump; 0 =
     * none */
    uint32_t like_pid;
    const struct gcd_summary *summary; /* of the dump */
};

struct module_finder;

/* SEARCH and what it refers to must outlive the finder.  NULL: out of memory. */
struct module_finder *module_finder_new(const struct module_search *search);
/* For gcd_dump_resolve; valid as long as the finder. */
struct gcd_module_files module_finder_files(struct module_finder *f);
/* Are there more files below the folders than were examined? */
bool module_finder_cut(const struct module_finder *f);
void module_finder_free(struct module_finder *f);

#endif
