/* Whose code a type is, by its defining module, or else by its namespace. */
#include <string.h>

#include <gcdumpc/unstable/origins.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "names/framework_keys.h"

/* Hostile names have namespaces of any depth, and hostile command lines any length. */
#define LEVELS_MAX    16u
#define COMMAND_BYTES 4096u

struct gcd_origins {
    struct gcd_alloc alloc;
    uint8_t *types; /* [type_count] enum gcd_origin */
    uint32_t type_count;
    /* hash of a namespace, or of a definition's name -> bits of the origins of its types, 1 << enum
     * gcd_origin */
    struct gcd_idmap named;
    bool chosen; /* the user has said what is theirs */
};

const char *gcd_origin_name(enum gcd_origin origin)
{
    static const char *const names[GCD_ORIGINS] = { "own", "library", "framework" };
    return names[origin];
}

/* ---- names ---- */

/* Does NAME, of a type or an assembly, belong to the framework?  "System.X", "Interop+Sys". */
static bool is_framework_name(const char *name)
{
    static const char *const words[] = {
        "System",      "Microsoft",        "Internal",
        "Interop",     "Windows",          "MS",
        "Mono",        "mscorlib",         "netstandard",
        "WindowsBase", "PresentationCore", "PresentationFramework"
    };
    size_t n = strcspn(name, ".+[,");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(name, words[i], n) == 0)
            return true;
    return false;
}

/* Bytes of NAME up to its type arguments: "Shop.Box`1+Slot" of "Shop.Box`1+Slot[System.Int32][]".
 */
static size_t definition_bytes(const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0' && name[n] != '['; n++)
        if (name[n] == '<' && n > 0 && name[n - 1] != '.' &&
            name[n - 1] != '+') /* C# spelling, not the "<" of a compiler's name */
            break;
    return n;
}

/* Length of the outermost type in NAME: "Shop.Box`1". */
static size_t outermost_bytes(const char *name, size_t n)
{
    const char *plus = memchr(name, '+', n);
    return plus != NULL ? (size_t)(plus - name) : n;
}

/* Bytes of NAME before its last dot: the namespace of an outermost type. */
static size_t namespace_bytes(const char *name, size_t n)
{
    while (n > 0 && name[n - 1] != '.')
        n--;
    return n > 0 ? n - 1 : 0;
}

/* ---- modules ---- */

/* ".../shared/Microsoft.NETCore.App/10.0.1/X.dll", with either slash. */
static bool is_in_shared_framework(const char *path)
{
    static const char folder[] = "shared", vendor[] = "Microsoft.";
    for (const char *s = path; (s = strstr(s, folder)) != NULL; s++) {
        const char *name = s + sizeof folder;
        size_t n;
        if (s == path || (s[-1] != '/' && s[-1] != '\\') || (name[-1] != '/' && name[-1] != '\\'))
            continue;
        n = strcspn(name, "/\\");
        if (gcd_text_begins(name, vendor) && gcd_bytes_end(name, n, ".App"))
            return true;
    }
    return false;
}

/* Assemblies made in memory, by a library for the types of others. */
static bool is_generated_assembly(const char *assembly)
{
    static const char *const begin[] = { "DynamicProxyGenAssembly2",
                                         "Anonymously Hosted DynamicMethods", "ProxyBuilder",
                                         "Microsoft." };
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (gcd_text_begins(assembly, begin[i]))
            return true;
    return false;
}

static bool is_read(const struct gcd_module *m)
{
    return m->state == GCD_MODULE_READ || m->state == GCD_MODULE_RECORDED;
}

static bool ends_word(char c)
{
    return c == '\0' || c == ' ' || c == '"' || c == '\'';
}

/* Where the command line names the program STEM[N], itself or as STEM.dll; SIZE_MAX = nowhere. */
static size_t place_in(const char *command_line, const char *stem, size_t n)
{
    const char *first_end = command_line + strcspn(command_line + (command_line[0] == '"'), " \"") +
                            (command_line[0] == '"');
    for (const char *s = command_line; *s != '\0' && s < command_line + COMMAND_BYTES; s++) {
        bool starts = s == command_line || ends_word(s[-1]) || s[-1] == '/' || s[-1] == '\\';
        if (!starts || strncmp(s, stem, n) != 0)
            continue;
        const char *end = s + n;
        bool host = s < first_end && (ends_word(*end) || gcd_text_begins(end, ".exe"));
        if (host || (gcd_text_begins(end, ".dll") && ends_word(end[4])))
            return (size_t)(s - command_line);
    }
    return SIZE_MAX;
}

/* The module of the entry assembly, the first one that the command line names; NULL = unknown. */
static const struct gcd_module *entry_of(const struct gcd_summary *s)
{
    const struct gcd_module *entry = NULL;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        size_t n, at = SIZE_MAX;
        const char *stem = m->path[0] != '\0' ? gcd_module_name(m->path, &n)
                                              : (n = strlen(m->assembly), m->assembly);
        if (n > 0)
            at = place_in(s->command_line, stem, n);
        if (n > 0 && at == SIZE_MAX && strlen(s->process_name) == n &&
            memcmp(s->process_name, stem, n) == 0)
            at = SIZE_MAX - 1;
        if (at < first) {
            first = at;
            entry = m;
        }
    }
    return entry;
}

/* The part of PATH that the projects of one build share, whatever their folders: "/src", "/tmp", a
 * user's home, "C:\\Users\\ann"; 0 bytes = the compiler was told to leave it out ("X.pdb", "/_/…").
 */
static size_t build_root_bytes(const char *path)
{
    static const char *const homes[] = { "home", "Users", "users" };
    static const char slashes[] = "/\\";
    size_t n = path[0] != '\0' && path[1] == ':' ? 2 : 0;
    if (path[n] != '/' && path[n] != '\\')
        return 0;
    size_t first = strcspn(path + ++n, slashes);
    if (path[n] == '_' || path[n + first] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        if (strlen(homes[i]) == first && memcmp(path + n, homes[i], first) == 0)
            return n + first + 1 + strcspn(path + n + first + 1, slashes);
    return n + first;
}

/*
 * Many packages have no key, but their symbol files say that they were compiled elsewhere: the
 * projects of one program have one build, with the same root and the same options.
 */
static bool is_built_elsewhere(const struct gcd_module *m, const struct gcd_module *entry)
{
    size_t n = entry != NULL && entry->pdb_path != NULL ? build_root_bytes(entry->pdb_path) : 0;
    return n > 0 && m->pdb_path != NULL &&
           (build_root_bytes(m->pdb_path) != n || memcmp(m->pdb_path, entry->pdb_path, n) != 0);
}

static enum gcd_origin module_origin(const struct gcd_module *m, const struct gcd_module *entry)
{
    const enum gcd_origin unsigned_one =
        is_built_elsewhere(m, entry) ? GCD_ORIGIN_LIBRARY : GCD_ORIGIN_OWN;

    if (m == entry)
        return GCD_ORIGIN_OWN;
    if (is_in_shared_framework(m->path))
        return GCD_ORIGIN_FRAMEWORK;
    if (is_read(m)) {
        if (!m->has_public_key)
            return unsigned_one;
        if (gcd_is_framework_key(m->public_key_token))
            return GCD_ORIGIN_FRAMEWORK;
        bool same = entry != NULL && entry->has_public_key &&
                    memcmp(entry->public_key_token, m->public_key_token, 8) == 0;
        return same ? GCD_ORIGIN_OWN : GCD_ORIGIN_LIBRARY;
    }
    if (m->path[0] == '\0')
        return is_generated_assembly(m->assembly) ? GCD_ORIGIN_LIBRARY
               : is_framework_name(m->assembly)   ? GCD_ORIGIN_FRAMEWORK
                                                  : GCD_ORIGIN_OWN;
    return is_framework_name(m->assembly) ||
                   is_framework_name(gcd_module_name(m->path, &(size_t){ 0 }))
               ? GCD_ORIGIN_FRAMEWORK
               : unsigned_one;
}

/* For a recording that ended before it named its modules. */
static bool is_nameless(const struct gcd_module *m)
{
    return m->path[0] == '\0' && m->assembly[0] == '\0' && !is_read(m);
}

/* If no module is unsigned and the entry assembly is unknown, modules with a key other than
 * Microsoft's can only be the program's. */
static void adopt_signed(uint8_t *modules, const struct gcd_summary *s,
                         const struct gcd_module *entry)
{
    for (size_t i = 0; i < s->module_count; i++)
        if (entry != NULL || modules[i] == GCD_ORIGIN_OWN)
            return;
    for (size_t i = 0; i < s->module_count; i++)
        if (modules[i] == GCD_ORIGIN_LIBRARY && is_read(&s->modules[i]))
            modules[i] = GCD_ORIGIN_OWN;
}

/* ---- types ---- */

/* A file without modules.  Names without a namespace are compiler-generated, nested types without
 * their outer types, or from a small program. */
static enum gcd_origin origin_by_name(const char *name)
{
    size_t n = definition_bytes(name);
    bool bare = namespace_bytes(name, outermost_bytes(name, n)) == 0,
         generic = name[n] != '\0' && strchr("],*", name[n + 1]) == NULL;
    if (is_framework_name(name) ||
        (bare && (name[0] == '<' || generic || strchr(name, '`') != NULL)))
        return GCD_ORIGIN_FRAMEWORK;
    return GCD_ORIGIN_OWN;
}

/* All types of a native program are in one module.  Names that were left as its symbols have them
 * begin with the assembly. */
static enum gcd_origin native_origin(const char *name)
{
    bool framework = is_framework_name(name) || gcd_text_begins(name, "System_") ||
                     gcd_text_begins(name, "S_P_") || gcd_text_begins(name, "Microsoft_");
    return framework ? GCD_ORIGIN_FRAMEWORK : GCD_ORIGIN_OWN;
}

static enum gcd_origin type_origin(const struct gcd_type *t, const struct gcd_summary *s,
                                   const uint8_t *modules)
{
    if ((t->flags & GCD_TYPE_NATIVE) != 0)
        return t->named ? native_origin(t->name) : GCD_ORIGIN_FRAMEWORK;
    if (t->module_number < s->module_count && !is_nameless(&s->modules[t->module_number]))
        return modules[t->module_number];
    if (is_in_shared_framework(t->module_path))
        return GCD_ORIGIN_FRAMEWORK;
    return t->named ? origin_by_name(t->name) : GCD_ORIGIN_FRAMEWORK;
}

static bool remember(struct gcd_origins *o, const char *name, size_t n, enum gcd_origin origin)
{
    uint64_t id = gcd_text_hash(name, n, GCD_TEXT_HASH);
    uint32_t bits = gcd_idmap_get(&o->named, id),
             all = (bits == GCD_IDMAP_NONE ? 0 : bits) | UINT32_C(1) << origin;
    return all == bits || gcd_idmap_put(&o->named, id, all);
}

static bool remember_type(struct gcd_origins *o, const struct gcd_type *t, enum gcd_origin origin)
{
    size_t n = outermost_bytes(t->name, definition_bytes(t->name)),
           space = namespace_bytes(t->name, n);
    return remember(o, t->name, n, origin) && (space == 0 || remember(o, t->name, space, origin));
}

static bool one_of(uint32_t bits, enum gcd_origin *ret)
{
    for (unsigned i = 0; i < GCD_ORIGINS; i++)
        if (bits == UINT32_C(1) << i) {
            *ret = (enum gcd_origin)i;
            return true;
        }
    return false;
}

enum gcd_origin gcd_origins_of_name(const struct gcd_origins *o, const char *name)
{
    size_t n = outermost_bytes(name, definition_bytes(name));
    enum gcd_origin ret;
    for (unsigned level = 0; n > 0 && level < LEVELS_MAX; level++, n = namespace_bytes(name, n)) {
        uint32_t bits = gcd_idmap_get(&o->named, gcd_text_hash(name, n, GCD_TEXT_HASH));
        if (bits == GCD_IDMAP_NONE)
            continue;
        if (one_of(bits, &ret))
            return ret;
        break; /* a namespace of several */
    }
    return is_framework_name(name) ? GCD_ORIGIN_FRAMEWORK
           : o->chosen             ? GCD_ORIGIN_LIBRARY
                                   : GCD_ORIGIN_OWN;
}

/* If NAME is the state of an asynchronous method, its last type argument, a structure of that
 * method; otherwise NULL. */
static const char *state_machine(const char *name)
{
    static const char box[] = "AsyncStateMachineBox`1[";
    const char *at = strstr(name, box), *last;
    unsigned depth = 0;
    if (at == NULL || (!gcd_text_begins(name, "System.") && at != name) ||
        name[strlen(name) - 1] != ']')
        return NULL;
    last = at += sizeof box - 1;
    for (; *at != '\0'; at++) {
        depth += *at == '[';
        depth -= *at == ']' && depth > 0;
        if (*at == ',' && depth == 0)
            last = at + 1;
    }
    return last;
}

/* Asynchronous methods last: by then the origins of namespaces are known. */
static bool look_at_types(struct gcd_origins *o, const struct gcd_summary *s, const uint8_t *mine,
                          const uint8_t *modules)
{
    for (uint32_t i = 0; i < o->type_count; i++) {
        enum gcd_origin origin = type_origin(&s->types[i], s, modules);
        if (mine != NULL)
            origin = mine[i] != 0               ? GCD_ORIGIN_OWN
                     : origin == GCD_ORIGIN_OWN ? GCD_ORIGIN_LIBRARY
                                                : origin;
        o->types[i] = (uint8_t)origin;
        if (s->types[i].named && !remember_type(o, &s->types[i], origin))
            return false;
    }
    for (uint32_t i = 0; i < o->type_count; i++) {
        const char *method = o->types[i] == GCD_ORIGIN_FRAMEWORK && s->types[i].named
                                 ? state_machine(s->types[i].name)
                                 : NULL;
        if (method != NULL)
            o->types[i] = (uint8_t)gcd_origins_of_name(o, method);
    }
    return true;
}

gcd_status gcd_origins_new(const struct gcd_summary *summary,
                           const struct gcd_origins_options *options, struct gcd_origins **ret,
                           struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options != NULL ? options->alloc : NULL);
    struct gcd_origins *o = gcd_mem_new(&a, sizeof *o);
    if (o == NULL)
        return gcd_fail_nomem(err, "looking whose the types are");
    o->alloc = a;
    gcd_idmap_init(&o->named, &o->alloc);
    o->type_count = summary->type_count;
    o->chosen = options != NULL && options->mine != NULL;
    o->types = gcd_mem_new_array(&a, o->type_count, 1);
    uint8_t *modules =
        summary->module_count > 0 ? gcd_mem_new_array(&a, summary->module_count, 1) : NULL;
    bool ok =
        (o->types != NULL || o->type_count == 0) && (modules != NULL || summary->module_count == 0);
    if (ok) {
        const struct gcd_module *entry = entry_of(summary);
        for (size_t i = 0; i < summary->module_count; i++)
            modules[i] = (uint8_t)module_origin(&summary->modules[i], entry);
        adopt_signed(modules, summary, entry);
        ok = look_at_types(o, summary, o->chosen ? options->mine : NULL, modules);
    }
    gcd_mem_free(&a, modules, summary->module_count);
    if (!ok) {
        gcd_origins_free(o);
        return gcd_fail_nomem(err, "looking whose the types are");
    }
    *ret = o;
    return GCD_OK;
}

void gcd_origins_free(struct gcd_origins *o)
{
    if (o == NULL)
        return;
    struct gcd_alloc a = o->alloc;
    gcd_idmap_done(&o->named);
    gcd_mem_free(&a, o->types, o->type_count);
    gcd_mem_free(&a, o, sizeof *o);
}

enum gcd_origin gcd_origins_get(const struct gcd_origins *o, uint32_t type)
{
    return (enum gcd_origin)o->types[type];
}

void gcd_origins_outside_framework(const struct gcd_origins *o, uint8_t *ret)
{
    for (uint32_t i = 0; i < o->type_count; i++)
        ret[i] = gcd_origins_get(o, i) != GCD_ORIGIN_FRAMEWORK;
}
