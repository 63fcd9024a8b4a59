/*
 * Completes the names of a dump from the files of its modules: see gcdumpc/unstable/full_names.h.
 *
 *     resolve.c          the modules one by one, and whether a file is the module that was loaded
 *     resolve_loaded.c   modules that no event describes
 *     resolve_types.c    outer types of nested types
 *     resolve_statics.c  which static fields a static variable can be
 *     resolve_order.c    which of these the order of the events permits
 *     resolve_holds.c    can a field hold an object of a type?
 *     resolve_layouts.c  the layouts of types
 *     resolve_native.c   names from the symbols of a program that was compiled ahead of time
 */
#ifndef GCD_RESOLVE_RESOLVE_H
#define GCD_RESOLVE_RESOLVE_H

#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/metadata.h>

#include "base/idmap.h"
#include "base/text.h"
#include "load/load.h"
#include "names/csharp.h"

#define RESOLVE_NONE UINT32_MAX

struct resolve;

/* ---- resolve_types.c ---- */

/* A type of the summary, and the definition that its name comes from. */
struct resolve_type {
    /* itself; for an array or pointer, its innermost element type; NULL = unknown */
    const struct gcd_type *definition;
    /* number of the definition's module, GCD_MODULE_NONE = unknown */
    uint32_t module;
    /* the next type of the same module, RESOLVE_NONE = none */
    uint32_t next;
};

/* ---- resolve_holds.c ---- */

/* The type of an object in a static variable. */
struct resolve_stored {
    uint32_t type; /* type number */
    /* the next one of the same module, RESOLVE_NONE = none */
    uint32_t next;
    const char *name; /* C# */
    uint64_t hash;    /* of NAME */
    /* [ancestor_count] hashes of the keys of its base types and interfaces */
    uint64_t *ancestors;
    size_t ancestor_count, ancestor_cap;
    bool all_ancestors; /* the list is complete */
    bool bare;          /* outer types may be missing in NAME */
    bool array, delegate;
    /* an array of values: not compatible with any other array type */
    bool holds_values;
};

/* ---- resolve.c, resolve_loaded.c ---- */

/* An open file of a module. */
struct resolve_file {
    struct gcd_module_file file;
    struct gcd_metadata *m;
};

struct resolve_module {
    uint32_t first_type, first_stored; /* the lists of its types, RESOLVE_NONE = none */
    uint32_t same_as;                  /* the module whose file it shares; usually itself */
    unsigned candidate;                /* the number of the candidate that was its file, */
    /* its candidate is from the list for any module: all files that the process has loaded */
    bool loaded;
    bool found;               /* the recording has its names, and its file is there, too */
    struct resolve_file kept; /* its file, which nobody uses just now; m NULL = it is closed */
};

/* Candidate N of MODULE, NULL = of any module.  GCD_END: there is none. */
gcd_status resolve_open(struct resolve *r, const struct gcd_module *module, unsigned n,
                        struct resolve_file *ret, struct gcd_error *err);
void resolve_close(const struct resolve *r, struct resolve_file *f);
/* Finds the file of MODULE, whose names are in the recording, for layouts. */
gcd_status resolve_find_recorded(struct resolve *r, uint32_t module, struct gcd_error *err);
/* The file found for MODULE, or for the one whose file it shares. */
gcd_status resolve_open_again(struct resolve *r, uint32_t module, struct resolve_file *ret,
                              struct gcd_error *err);
/* Closes F, the file of MODULE, or keeps it open for resolve_open_again. */
void resolve_put_back(struct resolve *r, uint32_t module, struct resolve_file *f);
/* Makes room for one more module, with empty lists. */
gcd_status resolve_add_module(struct resolve *r, struct gcd_error *err);

/*
 * For a process whose modules no event describes: finds out which of the files that it has loaded
 * they are, and adds the other files to the list of modules.
 */
gcd_status resolve_loaded(struct resolve *r, struct gcd_error *err);

/* ---- resolve_statics.c ---- */

/* A static field that a static variable can be. */
struct resolve_candidate {
    uint32_t module, token; /* of the field */
    uint32_t variable;      /* index in resolve.variables */
    const char *class_name; /* as reflection spells it, in resolve.text */
    bool gone;              /* the order of the events excludes it */
};

/* A static variable: a root without a class yet. */
struct resolve_variable {
    struct gcd_root *root;
    uint32_t stored; /* index in resolve.stored */
    /* the next one of the same name, RESOLVE_NONE = none */
    uint32_t next;
    uint32_t first, count; /* its candidates, when they are sorted */
    /* the nearest ones that can be no other field, RESOLVE_NONE = none */
    uint32_t before, behind;
    bool open; /* it can also be a field of a module without a file */
};

struct resolve {
    struct gcd_dump *d;
    const struct gcd_module_files *files;
    const struct gcd_alloc *alloc; /* that of D */
    struct gcd_textpool text;      /* until the end of the call */
    struct csharp spelling;
    struct gcd_idmap module_by_id;

    struct resolve_type *types; /* [type_count] */
    size_t type_count;
    struct resolve_module *modules; /* [module_count], by number */
    size_t module_count, module_cap;
    unsigned kept; /* how many of them have an open file that nobody uses */
    /* how many files may still be opened to find those of the modules */
    unsigned files_left;
    uint64_t comparisons_left; /* of types with files */

    struct resolve_stored *stored;
    size_t stored_count, stored_cap;
    struct resolve_variable *variables; /* [variable_count] in the order of the events */
    size_t variable_count;
    struct gcd_idmap variable_by_name; /* hash of the name -> first of the variables */
    struct resolve_candidate *candidates;
    size_t candidate_count, candidate_cap;
    /* comparisons that may still be made: a hostile file must not take forever */
    uint64_t work;
};

/* The definition of each type, and the types of each module. */
gcd_status resolve_types_begin(struct resolve *r, struct gcd_error *err);
/*
 * Does a type of MODULE have another name in M, or is it missing there?  If not, M can be the file
 * that was loaded. GCD_E_LIMIT: more comparisons than any program needs.
 */
gcd_status resolve_types_differ(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                                bool *ret_differ, struct gcd_error *err);
/* Puts the outer types before the names of the types of MODULE, whose file is M. */
gcd_status resolve_types_name(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                              struct gcd_error *err);

/* The static variables, and the types of the objects in them. */
gcd_status resolve_statics_begin(struct resolve *r, struct gcd_error *err);
/* Notes the base types and interfaces of the stored types of MODULE, whose file is M. */
gcd_status resolve_statics_ancestors(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                                     struct gcd_error *err);
/* All types have their names. */
gcd_status resolve_statics_names(struct resolve *r, struct gcd_error *err);
/* Adds the static fields of MODULE, whose file is M, to the candidates. */
gcd_status resolve_statics_add(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                               struct gcd_error *err);
/* Decides on class and label of each variable, and writes them. */
gcd_status resolve_statics_end(struct resolve *r, struct gcd_error *err);

/* Marks the candidates (sorted by variable) that the order of the events excludes, and the
 * variables that are open. */
gcd_status resolve_order(struct resolve *r, struct gcd_error *err);

/* Notes the base types and interfaces of the stored type S, defined as TOKEN of M. */
gcd_status resolve_holds_ancestors(struct resolve *r, struct resolve_stored *s,
                                   struct gcd_metadata *m, uint32_t token, struct gcd_error *err);
/* Can field F, declared with type NAME in C#, hold an object of type S?  False is certain.  SEALED:
 * no class extends its class. */
bool resolve_holds(const struct gcd_static_field *f, const char *name, bool sealed,
                   const struct resolve_stored *s);

/* ---- resolve_native.c ---- */

/* Names the types of MODULE, a native program, from its symbols. */
gcd_status resolve_native(struct resolve *r, uint32_t module, struct gcd_error *err);

/* ---- resolve_layouts.c ---- */

/* Stores the layouts of all types that have objects; all modules have been read. */
gcd_status resolve_layouts(struct resolve *r, struct gcd_error *err);

#endif
