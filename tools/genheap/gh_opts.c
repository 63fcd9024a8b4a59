#include "gh_opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gh_kind_names[GH_K_COUNT] = {
    [GH_K_NODE] = "node",           [GH_K_EDGE] = "edge",
    [GH_K_TYPE] = "type",           [GH_K_ROOT] = "root",
    [GH_K_HANDLE] = "handle",       [GH_K_STATIC] = "static",
    [GH_K_GCSTART] = "gcstart",     [GH_K_GCEND] = "gcend",
    [GH_K_HEAPSTATS] = "heapstats", [GH_K_RANGE] = "range",
    [GH_K_SUSPEND] = "suspend",     [GH_K_MODULE] = "module",
    [GH_K_RUNDOWN] = "rundown",     [GH_K_PROCESSINFO] = "processinfo",
    [GH_K_NOISE] = "noise",
};

const char *const gh_shape_names[GH_SHAPE_RANDOM + 1] = {
    [GH_SHAPE_MIX] = "mix", [GH_SHAPE_TREE] = "tree",     [GH_SHAPE_LIST] = "list",
    [GH_SHAPE_FAN] = "fan", [GH_SHAPE_RANDOM] = "random",
};

static const char help_text[] =
    "usage: genheap [OPTIONS] FILE        (FILE - is standard output)\n"
    "Writes a .nettrace file with one or more complete heap dumps and known contents.\n"
    "\n"
    "heap\n"
    "  -n, --objects N      objects of the first dump (10000)\n"
    "      --seed N         other heap of the same kind (1)\n"
    "      --shape S        mix, tree, list, fan, random (mix)\n"
    "      --pointer 4|8    pointer size of the target (8)\n"
    "      --heaps N        GC heaps the regions belong to (1; 4 with --server)\n"
    "      --roots N  --statics N  --dependent N     number of records (by size)\n"
    "stream\n"
    "      --format V       v3, v4, v6 (v4)\n"
    "      --uncompressed   long event headers (v4, v6; v3 has no others)\n"
    "      --server         GCStart from another thread, in a later block than the first nodes\n"
    "      --ranges         GCGenerationRange events\n"
    "      --noise          foreign events, threads, providers and GCs; in v6 also unknown blocks\n"
    "      --dumps N        several dumps, each a little larger (1)\n"
    "      --late-types     types after the nodes\n"
    "      --empty-names    types without names\n"
    "      --sp-bytes N     event bytes between sequence points (10485760)\n"
    "      --thread-reuse   a thread id given to a second thread (v4, v6)\n"
    "      --forget-threads sequence points forget the threads, which come back with new indexes "
    "(v6)\n"
    "losses\n"
    "      --drop KIND[:A[-[B]]][@DUMP]   events A to B of a kind are lost; repeatable.  Kinds: "
    "node edge\n"
    "                       type root handle static gcstart gcend heapstats range suspend module\n"
    "                       rundown processinfo noise\n"
    "      --drop-random N  N of 1000 bulk events are lost\n"
    "      --hide-gaps      gaps show at the next long event or sequence point\n"
    "      --no-final-sp    no sequence point at the end\n"
    "      --no-end-tag     no mark of the end\n"
    "      --truncate N     file cut after N bytes\n"
    "result\n"
    "  -o FILE              as FILE alone\n"
    "      --truth FILE     the known answers, as JSON\n"
    "      --help\n";

static int complain(const char *what, const char *arg)
{
    fprintf(stderr, "genheap: %s%s%s (see --help)\n", what, arg ? ": " : "", arg ? arg : "");
    return 2;
}

/* Decimal or 0x number of at most MAX; *RET_END is the first character after it. */
static bool number(const char *s, uint64_t max, uint64_t *ret, const char **ret_end)
{
    char *end;
    unsigned long long v;

    if (*s < '0' || *s > '9')
        return false;
    errno = 0;
    v = strtoull(s, &end, s[0] == '0' && s[1] == 'x' ? 16 : 10);
    if (errno || end == s || v > max || (!ret_end && *end))
        return false;
    *ret = v;
    if (ret_end)
        *ret_end = end;
    return true;
}

/* KIND[:A[-[B]]][@DUMP] */
static bool drop_spec(struct gh_opts *o, const char *s)
{
    struct gh_drop d = { .first = 0, .last = UINT64_MAX };
    size_t len = strcspn(s, ":@");
    unsigned kind;
    uint64_t v;

    for (kind = 0; kind < GH_K_COUNT; kind++)
        if (strlen(gh_kind_names[kind]) == len && memcmp(gh_kind_names[kind], s, len) == 0)
            break;
    if (kind == GH_K_COUNT || o->n_drops == GH_DROPS_MAX)
        return false;
    d.kind = (enum gh_kind)kind;
    s += len;
    if (*s == ':') {
        if (!number(s + 1, UINT64_MAX, &d.first, &s))
            return false;
        d.last = d.first;
        if (*s == '-') {
            s++;
            d.last = UINT64_MAX;
            if (*s && *s != '@' && (!number(s, UINT64_MAX, &d.last, &s) || d.last < d.first))
                return false;
        }
    }
    if (*s == '@') {
        if (!number(s + 1, GH_DUMPS_MAX, &v, &s))
            return false;
        d.dump = (uint32_t)v;
    }
    if (*s)
        return false;
    o->drops[o->n_drops++] = d;
    return true;
}

static bool shape_of(const char *s, enum gh_shape *ret)
{
    unsigned i;

    for (i = 0; i <= GH_SHAPE_RANDOM; i++)
        if (strcmp(s, gh_shape_names[i]) == 0) {
            *ret = (enum gh_shape)i;
            return true;
        }
    return false;
}

static bool format_of(const char *s, enum gh_format *ret)
{
    if (s[0] != 'v' || !s[1] || s[2])
        return false;
    switch (s[1]) {
    case '3':
        *ret = GH_V3;
        return true;
    case '4':
        *ret = GH_V4;
        return true;
    case '6':
        *ret = GH_V6;
        return true;
    default:
        return false;
    }
}

/* Options without a value: a flag and the value that it gets. */
static bool set_flag(struct gh_opts *o, const char *a)
{
    const struct {
        const char *name;
        bool *flag;
        bool value;
    } flags[] = {
        { "--uncompressed", &o->compressed, false },
        { "--server", &o->server, true },
        { "--ranges", &o->ranges, true },
        { "--noise", &o->noise, true },
        { "--late-types", &o->late_types, true },
        { "--empty-names", &o->empty_names, true },
        { "--thread-reuse", &o->thread_reuse, true },
        { "--forget-threads", &o->forget_threads, true },
        { "--hide-gaps", &o->hide_gaps, true },
        { "--no-final-sp", &o->final_sp, false },
        { "--no-end-tag", &o->end_tag, false },
    };
    size_t i;

    for (i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(a, flags[i].name) == 0) {
            *flags[i].flag = flags[i].value;
            return true;
        }
    return false;
}

/* Options with a value.  1 = taken, 0 = no such option, -1 = bad value. */
static int set_value(struct gh_opts *o, const char *a, const char *v)
{
    uint64_t heaps = o->n_heaps, dumps = o->n_dumps, permille = o->drop_permille,
             ptr = o->ptr_bytes;
    const struct {
        const char *name;
        uint64_t *num;
        uint64_t max;
    } nums[] = {
        { "-n", &o->n_objects, UINT64_C(4000000000) },
        { "--objects", &o->n_objects, UINT64_C(4000000000) },
        { "--seed", &o->seed, UINT64_MAX },
        { "--roots", &o->n_roots, UINT64_C(1000000000) },
        { "--statics", &o->n_statics, UINT64_C(1000000000) },
        { "--dependent", &o->n_dependent, UINT64_C(1000000000) },
        { "--sp-bytes", &o->sp_bytes, UINT64_MAX },
        { "--truncate", &o->truncate_off, UINT64_MAX - 1 },
        { "--heaps", &heaps, 1024 },
        { "--dumps", &dumps, GH_DUMPS_MAX },
        { "--drop-random", &permille, 1000 },
        { "--pointer", &ptr, 8 },
    };
    size_t i;

    for (i = 0; i < sizeof nums / sizeof nums[0]; i++)
        if (strcmp(a, nums[i].name) == 0) {
            if (!v || !number(v, nums[i].max, nums[i].num, NULL))
                return -1;
            if ((ptr != 4 && ptr != 8) || dumps == 0 || o->sp_bytes == 0)
                return -1;
            o->n_heaps = (uint32_t)heaps;
            o->n_dumps = (uint32_t)dumps;
            o->drop_permille = (uint32_t)permille;
            o->ptr_bytes = (unsigned)ptr;
            return 1;
        }
    if (strcmp(a, "--shape") == 0)
        return v && shape_of(v, &o->shape) ? 1 : -1;
    if (strcmp(a, "--format") == 0)
        return v && format_of(v, &o->format) ? 1 : -1;
    if (strcmp(a, "--drop") == 0)
        return v && drop_spec(o, v) ? 1 : -1;
    if (strcmp(a, "--truth") == 0) {
        o->truth_path = v;
        return v ? 1 : -1;
    }
    if (strcmp(a, "-o") == 0) {
        o->out_path = v;
        return v ? 1 : -1;
    }
    return 0;
}

int gh_opts_parse(struct gh_opts *ret, int argc, char **argv)
{
    struct gh_opts o = {
        .n_objects = 10000,
        .seed = 1,
        .n_roots = GH_AUTO,
        .n_statics = GH_AUTO,
        .n_dependent = GH_AUTO,
        .sp_bytes = 10 * 1024 * 1024,
        .truncate_off = UINT64_MAX,
        .shape = GH_SHAPE_MIX,
        .format = GH_V4,
        .ptr_bytes = 8,
        .n_dumps = 1,
        .compressed = true,
        .final_sp = true,
        .end_tag = true,
    };
    char name[32];
    int i;

    for (i = 1; i < argc; i++) {
        const char *a = argv[i], *eq = strchr(a, '='), *value;
        int taken;

        if (a[0] != '-' || !a[1]) {
            if (o.out_path)
                return complain("more than one output", a);
            o.out_path = a;
            continue;
        }
        if (strcmp(a, "--help") == 0) {
            fputs(help_text, stdout);
            return 1;
        }
        if (set_flag(&o, a))
            continue;
        if (a[1] == '-' && eq && (size_t)(eq - a) < sizeof name) { /* --name=value */
            memcpy(name, a, (size_t)(eq - a));
            name[eq - a] = '\0';
            a = name;
            value = eq + 1;
        } else {
            eq = NULL;
            value = i + 1 < argc ? argv[i + 1] : NULL;
        }
        taken = set_value(&o, a, value);
        if (taken == 0)
            return complain("unknown option", a);
        if (taken < 0)
            return complain("bad or missing value", a);
        if (!eq)
            i++;
    }
    if (!o.out_path)
        return complain("no output file", NULL);
    if (o.truth_path && strcmp(o.truth_path, "-") == 0 && strcmp(o.out_path, "-") == 0)
        return complain("file and truth cannot both go to standard output", NULL);
    if (o.format == GH_V3)
        o.compressed = false;
    if (o.n_heaps == 0)
        o.n_heaps = o.server ? 4 : 1;
    *ret = o;
    return 0;
}
