/*
 * Names as in the source: the outer types of a nested type, and the class of a static variable.
 *
 * The runtime sends neither (docs of GCBulkType and GCBulkRootStaticVar; measured, .NET 8 to 10);
 * the files of the loaded modules have both. The caller finds files, the library decides whether a
 * file is the module that was loaded, and reads it:
 *
 *     struct gcd_module_files files = { .ctx = &folders, .open = open_file, .close = close_file };
 *     st = gcd_dump_resolve(dump, &files, &err);         then name, class_name and label in the
 *                                                        summary are complete
 *
 * A program compiled ahead of time (Native AOT, gcd_module.native) sends no names at all; its
 * symbols have them, in its own ELF file or in a separate one with the same build id.  The caller
 * finds these files, too: the certain one tells the build id.  Symbols are mangled; assemblies that
 * the program was compiled from, behind them in the list of candidates, tell the names of its own
 * types.
 *
 * A recording can contain the names; then they are in the summary from the beginning, and no file
 * is needed.
 */
#ifndef GCDUMPC_UNSTABLE_FULL_NAMES_H
#define GCDUMPC_UNSTABLE_FULL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* A file that may be the one of a module. */
struct gcd_module_file {
    struct gcd_input *input; /* seekable */
    uint64_t off, bytes;     /* range of the image in it; 0, UINT64_MAX = all of it */
    bool certain; /* apart from its identity, it is what the process has loaded: the process maps
                     it, or it has not changed since before the process started.  Decides when the
                     identity cannot */
    const char *path; /* as the process sees it, "" = unknown; valid until it is closed.  Used only
                         where the runtime named none */
    void *ctx;        /* the caller's */
};

/* How files are found. */
struct gcd_module_files {
    void *ctx;
    /*
     * Candidate number N = 0, 1, 2 … for the file of MODULE, best first.  GCD_OK; GCD_END: there
     * are no more; any error: this candidate exists but cannot be used, and ERR says why in one
     * clause, which names the file unless it is at the path of MODULE.  GCD_E_NOMEM and
     * GCD_E_CANCELED end the search. MODULE NULL: file number N of all that the process has loaded,
     * in any order.  Used when no event describes a module (the default before .NET 9); the types
     * in a file tell which module it is.
     * Up to 128 files stay open until all names are complete.  An error with os_errno EMFILE closes
     * them, and asks once more.
     */
    gcd_status (*open)(void *ctx, const struct gcd_module *module, unsigned n,
                       struct gcd_module_file *ret, struct gcd_error *err);
    void (*close)(void *ctx, struct gcd_module_file *file);
    bool layouts; /* also find the layouts of types, for unstable/fields.h */
};

/*
 * Completes the names in the summary of D, which must be closed; call it before gcd_graph_from_dump
 * and gcd_names_new.  Names that no file provides stay as they are, and gcd_module.state and
 * problem say why; a missing, damaged or replaced file is not an error. GCD_E_NOMEM,
 * GCD_E_CANCELED, GCD_E_STATE.
 */
GCD_MUST_CHECK gcd_status gcd_dump_resolve(struct gcd_dump *d, const struct gcd_module_files *files,
                                           struct gcd_error *err);

/*
 * The same for a program compiled ahead of time, by the names in FROM, the summary of another dump
 * of the same build: the places of types in the program are the same.  *RET_SAME: is it of the same
 * build?  If either dump does not know its build, it is so if the types are in the same places, and
 * then D knows its build, too.  A type that FROM does not name stays without a name, and the
 * verdict says so.  GCD_E_NOMEM, GCD_E_STATE.
 */
GCD_MUST_CHECK gcd_status gcd_dump_borrow_names(struct gcd_dump *d, const struct gcd_summary *from,
                                                bool *ret_same, struct gcd_error *err);

#endif
