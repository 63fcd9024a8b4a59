/*
 * Finds the runtime: the module that exports g_dacTable, which is an array of addresses of its
 * globals (src/coreclr/inc/dacvars.h).  One of them is the address of GcDacVars
 * (gc/gcinterface.dacvars.def), which has the same layout in .NET 8 to 11 and is recognised by its
 * content, because the number of entries before it changes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/clr/clr.h"
#include "image/clr/clr_dac.h"

#define TABLE_MAX    256u /* entries; 129 to 158 so far */
#define GC_INTERFACE 2u   /* major version of what the collector publishes; .NET 7 had 1 */
#define NEWEST_MAJOR 11u

static const struct clr_layout layouts[] = {
    { .major = 8,
      .handle_types = 12,
      .thread_list = 160,
      .thread_link = 232,
      .thread_os_id = 424,
      .thread_stack_base = 248,
      .thread_last_thrown = 464,
      .alloc_context = 88,
      .module_pe = 272,
      .module_assembly = 296,
      .assembly_module = 24,
      .module_types = 752,
      .module_instances = 968,
      .module_statics = 1224,
      .module_precompiled = 1152,
      .precompiled_map = 448 },
    { .major = 9,
      .handle_types = 12,
      .thread_list = 160,
      .thread_link = 112,
      .thread_os_id = 296,
      .thread_stack_base = 120,
      .thread_last_thrown = 336,
      .thread_locals = 32,
      .alloc_context = 0,
      .thread_statics = 928,
      .module_base = 288,
      .module_path = 272,
      .module_assembly = 312,
      .assembly_module = 16,
      .module_allocator = 248,
      .module_types = 624,
      .module_instances = 808,
      .module_dynamic = 1120,
      .module_precompiled = 984,
      .precompiled_map = 448 },
    { .major = 10,
      .handle_types = 13,
      .thread_list = 88,
      .thread_link = 112,
      .thread_os_id = 296,
      .thread_stack_base = 120,
      .thread_last_thrown = 336,
      .thread_locals = 32,
      .alloc_context = 8,
      .thread_statics = 568,
      .module_base = 224,
      .module_path = 200,
      .module_assembly = 248,
      .assembly_module = 16,
      .module_allocator = 176,
      .module_types = 416,
      .module_instances = 600,
      .module_dynamic = 840,
      .module_precompiled = 704,
      .precompiled_map = 376,
      .allocator_handle = 752 },
    { .major = 11,
      .handle_types = 13,
      .thread_list = 88,
      .thread_link = 112,
      .list_of_threads = true,
      .thread_os_id = 224,
      .thread_stack_base = 120,
      .thread_last_thrown = 264,
      .thread_locals = 32,
      .alloc_context = 8,
      .thread_statics = 496,
      .module_base = 224,
      .module_path = 200,
      .module_assembly = 248,
      .assembly_module = 16,
      .list_of_assemblies = true,
      .module_allocator = 176,
      .module_types = 416,
      .module_instances = 600,
      .module_dynamic = 840,
      .module_precompiled = 704,
      .precompiled_map = 392,
      .allocator_handle = 664 },
};

/* ---- the collector's globals ---- */

static bool is_gc(struct image *m, uint64_t address)
{
    uint64_t version = image_u64(m, address), generation = image_u64(m, address + 8);
    return address != 0 && (version & 255) >= 1 && (version & 255) <= 6 &&
           (version >> 8 & 255) < 16 && generation >= 64 && generation <= 2048 &&
           image_u64(m, address + 16) == 5;
}

static bool find_gc(struct clr *c)
{
    unsigned found = 0;
    for (unsigned i = 4; i < TABLE_MAX; i++) {
        uint64_t entry = image_u64(c->image, c->dac + 8 * (uint64_t)i);
        uint64_t gc = entry != 0 ? image_u64(c->image, entry) : 0;
        if (gc == 0 || !is_gc(c->image, gc))
            continue;
        c->dac_index = i;
        c->gc = gc;
        found++;
    }
    return found == 1;
}

static gcd_status count_thread(struct clr *c, uint64_t thread, struct gcd_error *err)
{
    (void)err;
    uint32_t id = image_u32(c->image, thread + c->layout.thread_os_id);
    for (size_t i = 0; i < c->image->thread_count; i++)
        if (c->image->threads[i].id == id)
            c->heaps++;
    return GCD_OK;
}

/* How many of the runtime's threads are threads of the process, if this is its layout? */
static uint32_t fitting_threads(struct clr *c, const struct clr_layout *layout)
{
    struct gcd_error own = GCD_ERROR_INIT;
    c->layout = *layout;
    c->heaps = 0;
    if (clr_each_thread(c, count_thread, &own) != GCD_OK)
        return 0;
    return c->heaps;
}

/* The layout with which most threads of the runtime are threads of the process.  Those of 10 and 11
 * may find the same ones: then the minor version of the collector's interface decides. */
static bool find_layout(struct clr *c)
{
    const struct clr_layout *best = NULL;
    uint32_t most = 0;
    unsigned minor = (unsigned)(image_u64(c->image, c->gc) >> 8 & 255);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        uint32_t n = fitting_threads(c, &layouts[i]);
        if (n > most || (n == most && n > 0 && layouts[i].major == 11 && minor >= 9)) {
            best = &layouts[i];
            most = n;
        }
    }
    c->heaps = 0;
    if (best != NULL)
        c->layout = *best;
    return best != NULL;
}

/* ---- the module ---- */

static bool try_module(struct clr *c, const struct image_mapping *m)
{
    uint64_t dac = m->file_off == 0 ? elf_symbol(c->image, m->start, "g_dacTable") : 0;
    if (dac == 0)
        return false;
    c->dac = dac;
    c->module_base = m->start;
    c->runtime_path = m->path;
    return true;
}

/* Of ".../Microsoft.NETCore.App/10.0.12/libcoreclr.so"; 0 = a program that brings its runtime. */
static unsigned major_of(const struct clr *c)
{
    static const char folder[] = "/Microsoft.NETCore.App/";
    const char *at = strstr(c->runtime_path, folder);
    return at != NULL ? (unsigned)strtoul(at + sizeof folder - 1, NULL, 10) : 0;
}

/* The library first; a program that is one file has the runtime in itself. */
static bool find_module(struct clr *c)
{
    const struct image *m = c->image;
    for (int other = 0; other < 2; other++)
        for (size_t i = 0; i < m->mapping_count; i++)
            if (gcd_text_ends(m->mappings[i].path, "/libcoreclr.so") == (other == 0) &&
                try_module(c, &m->mappings[i]))
                return true;
    return false;
}

gcd_status clr_open(struct clr *c, struct image *image, const struct gcd_context *context,
                    const struct gcd_alloc *alloc, struct gcd_error *err)
{
    *c = (struct clr){ .alloc = *alloc, .image = image, .context = context, .runtime_path = "" };
    gcd_idmap_init(&c->type_by_id, &c->alloc);
    gcd_idmap_init(&c->module_by_id, &c->alloc);
    gcd_textpool_init(&c->text, &c->alloc, UINT64_C(1) << 30);
    if (!find_module(c) && image->cut_off != GCD_OFF_NONE)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the core file was cut before the .NET runtime in it");
    if (c->dac == 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the %s has no .NET runtime that can be read: no module in it exports "
                        "g_dacTable (Native AOT and Mono have none)",
                        image_kind(image));
    if (!find_gc(c))
        return gcd_fail(
            err, GCD_E_UNSUPPORTED,
            "the .NET runtime in the %s (%s) is not one of .NET 8 to 11, or its globals "
            "are missing",
            image_kind(image), c->runtime_path);
    unsigned interface = (unsigned)(image_u64(image, c->gc) & 255), major = major_of(c);
    if (interface != GC_INTERFACE ||
        (major != 0 && (major < layouts[0].major || major > NEWEST_MAJOR)))
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the .NET runtime in the %s (%s) is not one of .NET 8 to 11: the interface "
                        "of its collector has version %u",
                        image_kind(image), c->runtime_path, interface);
    if (!find_layout(c))
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the .NET runtime in the %s (%s) has a layout that is not known: none of "
                        "its threads can be found",
                        image_kind(image), c->runtime_path);
    c->gaps.collecting = image_u32(image, image_u64(image, c->gc + GC_STRUCTURES_INVALID)) != 0;
    uint64_t state = image_u64(image, c->gc + GC_CURRENT_STATE);
    c->gaps.in_background =
        image_available(image, state) >= 4 && image_u32(image, state) != GC_STATE_FREE;
    return GCD_OK;
}

void clr_close(struct clr *c)
{
    clr_forget_regions(c);
    clr_code_files_close(c);
    gcd_mem_free(&c->alloc, c->types, c->type_cap * sizeof *c->types);
    gcd_mem_free(&c->alloc, c->series, c->series_cap * sizeof *c->series);
    gcd_mem_free(&c->alloc, c->groups, c->group_cap * sizeof *c->groups);
    gcd_mem_free(&c->alloc, c->args, c->arg_cap * sizeof *c->args);
    gcd_mem_free(&c->alloc, c->holes, c->hole_cap * sizeof *c->holes);
    gcd_mem_free(&c->alloc, c->modules, c->module_cap * sizeof *c->modules);
    gcd_mem_free(&c->alloc, c->roots, c->root_cap * sizeof *c->roots);
    gcd_mem_free(&c->alloc, c->dependents, c->dependent_cap * sizeof *c->dependents);
    gcd_mem_free(&c->alloc, c->statics, c->static_cap * sizeof *c->statics);
    gcd_mem_free(&c->alloc, c->frames, c->frame_cap * sizeof *c->frames);
    gcd_mem_free(&c->alloc, c->threads, c->thread_cap * sizeof *c->threads);
    gcd_mem_free(&c->alloc, c->stack_words, c->stack_word_cap * sizeof *c->stack_words);
    gcd_idmap_done(&c->type_by_id);
    gcd_idmap_done(&c->module_by_id);
    gcd_textpool_done(&c->text);
}
