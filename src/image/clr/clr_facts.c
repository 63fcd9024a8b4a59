/*
 * What the image says about itself: how the process ended, and what is missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "image/clr/clr.h"

#define TEXT_BYTES   2048u
#define PARENTS_MAX  64u
#define MODULES_TOLD 3u

/* "" = the process went on: it was stopped for a debugger, or the like. */
static const char *signal_name(uint32_t n)
{
    static const char *const names[] = {
        [3] = "SIGQUIT", [4] = "SIGILL",  [6] = "SIGABRT",  [7] = "SIGBUS",
        [8] = "SIGFPE",  [9] = "SIGKILL", [11] = "SIGSEGV", [15] = "SIGTERM"
    };
    return n < sizeof names / sizeof *names && names[n] != NULL ? names[n] : "";
}

/* The name of the exception that THREAD threw last, if there is one; of Thread.m_LastThrownObject
 * the offset is believed only if it leads to an object of a subclass of System.Exception. */
static const char *last_thrown(struct clr *c, uint64_t thread)
{
    uint64_t handle = image_u64(c->image, thread + c->layout.thread_last_thrown);
    uint64_t object = handle != 0 ? image_u64(c->image, handle) : 0;
    struct clr_object o;
    gcd_status st = GCD_OK;
    if (object == 0 || clr_region_at(c, object) == NULL || !clr_object_at(c, object, &o, &st))
        return "";
    const char *name = c->types[o.type].raw_name;
    uint32_t type = o.type;
    for (unsigned i = 0; type != GCD_IDMAP_NONE && i < PARENTS_MAX; i++) {
        const struct clr_type *t = &c->types[type];
        if (strcmp(t->raw_name, "System.Exception") == 0)
            return name;
        type = t->parent != 0 ? gcd_idmap_get(&c->type_by_id, t->parent) : GCD_IDMAP_NONE;
    }
    return "";
}

/* The thread that received the signal comes first in the notes. */
static gcd_status take_thread(struct clr *c, uint64_t thread, struct gcd_error *err)
{
    (void)err;
    if (c->image->thread_count > 0 &&
        image_u32(c->image, thread + c->layout.thread_os_id) == c->image->threads[0].id)
        c->last_thrown = last_thrown(c, thread);
    return GCD_OK;
}

static gcd_status keep_text(struct clr *c, const char *text, const char **ret,
                            struct gcd_error *err)
{
    gcd_status st = gcd_textpool_add(&c->text, text, strlen(text), ret);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep what a core file says");
}

static void put_modules(const struct clr *c, char *to, size_t cap)
{
    size_t n = 0, told = 0;
    n += (size_t)snprintf(to, cap,
                          "the names of types of %s module%s: the image has no metadata "
                          "of ",
                          GCD_DIGITS(c->gaps.unread_modules),
                          c->gaps.unread_modules == 1 ? "" : "s");
    for (size_t i = 0; i < c->module_count && told < MODULES_TOLD; i++) {
        const struct clr_module *m = &c->modules[i];
        if (m->named || m->used == 0)
            continue;
        const char *path = m->path[0] != '\0' ? m->path : "an assembly made in memory";
        n += (size_t)snprintf(to + n, n < cap ? cap - n : 0, "%s%s%s", told++ > 0 ? ", " : "", path,
                              m->replaced ? " (its file is of another build)" : "");
        n = n < cap ? n : cap - 1;
    }
    (void)snprintf(to + n, cap - n, "%s\n", c->gaps.unread_modules > told ? " and others" : "");
}

/* Assemblies of which no object was met: those that were made at run time are counted by them. */
static void put_assemblies(const struct clr *c, char *to, size_t cap)
{
    const char *n = GCD_DIGITS(c->gaps.unread_assemblies);
    bool one = c->gaps.unread_assemblies == 1;
    if (c->gaps.no_assembly_list)
        (void)snprintf(to, cap, "the assemblies without objects: their list was not found\n");
    else if (c->gaps.unread_assemblies > 0)
        (void)snprintf(to, cap,
                       "the name%s of %s assembl%s without objects: the image has no metadata of "
                       "%s\n",
                       one ? "" : "s", n, one ? "y" : "ies", one ? "it" : "them");
}

/* Precompiled code is read from files if the image leaves it out (clr_code_files.c). */
static void put_code(const struct clr *c, char *to, size_t cap)
{
    if (c->gaps.unread_code && c->missing_code != NULL)
        (void)snprintf(to, cap,
                       "the methods of some calls on stacks: the image has no code of %s\n",
                       c->missing_code);
}

gcd_status clr_find_facts(struct clr *c, struct gcd_error *err)
{
    char text[TEXT_BYTES] = "";
    c->last_thrown = "";
    if (signal_name(c->image->signal)[0] != '\0') {
        GCD_TRY(clr_each_thread(c, take_thread, err));
        (void)snprintf(text, sizeof text, "signal %" PRIu32 " (%s)%s%s", c->image->signal,
                       signal_name(c->image->signal), c->last_thrown[0] != '\0' ? ", after " : "",
                       c->last_thrown);
    }
    GCD_TRY(keep_text(c, text, &c->ended_by, err));
    text[0] = '\0';
    if (c->gaps.unread_modules > 0)
        put_modules(c, text, sizeof text / 2);
    size_t n = strlen(text);
    put_assemblies(c, text + n, sizeof text - n);
    n = strlen(text);
    put_code(c, text + n, sizeof text - n);
    return keep_text(c, text, &c->gap_text, err);
}
