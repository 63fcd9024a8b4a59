/*
 * Any bytes as the file of each module of a dump.
 *
 * Only names of the dump change; memory and work are bounded whatever the file declares, and a
 * failing allocation leaks nothing.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/resolve_sample.h"

#include <gcdumpc/unstable/full_names.h>

#define MEMORY_MAX ((size_t)4 << 20)

struct file {
    const uint8_t *data;
    size_t size;
    unsigned open;
};

static gcd_status open_file(void *ctx, const struct gcd_module *m, unsigned n,
                            struct gcd_module_file *ret, struct gcd_error *err)
{
    struct file *f = ctx;
    if (n > (m == NULL ? 1u : 0u))
        return GCD_END;
    ret->certain = true;
    f->open++;
    return gcd_input_from_memory(f->data, f->size, NULL, &ret->input, err);
}

static void close_file(void *ctx, struct gcd_module_file *file)
{
    ((struct file *)ctx)->open--;
    gcd_input_free(file->input);
}

static void check(const struct gcd_summary *s, uint32_t types, size_t roots)
{
    if (s->type_count != types || s->root_count != roots)
        fuzz_fail("only names change", "there are more or fewer types or roots");
    for (uint32_t i = 0; i < s->type_count; i++)
        if (strlen(s->types[i].name) < strlen(s->types[i].raw_name))
            fuzz_fail("a name only gets longer", s->types[i].name);
    for (size_t i = 0; i < s->root_count; i++)
        if (strlen(s->roots[i].label) < strlen(s->roots[i].name))
            fuzz_fail("a label has the field", s->roots[i].label);
    for (size_t i = 0; i < s->module_count; i++)
        if ((s->modules[i].state == GCD_MODULE_UNREADABLE) != (s->modules[i].problem[0] != '\0') &&
            s->modules[i].state != GCD_MODULE_REPLACED)
            fuzz_fail("a file that cannot be read has a reason", s->modules[i].problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tb_bytes traces[2];
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_dump *d = NULL;
    struct file file = { data, size, 0 };
    struct gcd_module_files files = { .ctx = &file, .open = open_file, .close = close_file };
    uint64_t hash = fuzz_hash(data, size);
    const struct tb_bytes *trace = &traces[hash & 1];
    if (trace->p == NULL)
        for (unsigned i = 0; i < 2; i++)
            sample_trace(TB_LIST(struct tb_static, { 0x10400, 1, 0x400, "s_first" },
                                 { 0x10900, 2, 0x900, "s_lock" }, { 0x10500, 3, 0x500, "s_kit" },
                                 { 0x10900, 4, 0x900, "s_all" }, { 0x10900, 5, 0x900, "s_lock" },
                                 { 0x10600, 6, 0x600, "s_deep" }),
                         i == 1 ? SAMPLE_NO_MODULES : SAMPLE_AND_STREAM, &traces[i]);
    failalloc_init(&f);
    f.max_bytes = (size_t)64 << 20;
    struct gcd_dump_options options = { .context.alloc = &f.alloc };
    if (gcd_input_from_memory(trace->p, trace->n, NULL, &in, &err) != GCD_OK ||
        gcd_dump_open(in, &options, &d, &err) != GCD_OK)
        fuzz_fail("the sample is a dump", err.msg);
    uint32_t types = gcd_dump_summary(d)->type_count;
    size_t roots = gcd_dump_summary(d)->root_count;
    f.peak_bytes = f.bytes;
    size_t before = f.bytes;
    f.fail_at = hash % 8 == 7 ? f.calls + 1 + (hash >> 8) % 200 : 0;
    gcd_status st = gcd_dump_resolve(d, &files, &err);
    if (st != GCD_OK && (st != GCD_E_NOMEM || f.failed == 0))
        fuzz_fail("no file makes it fail", err.msg);
    if (f.peak_bytes - before > MEMORY_MAX)
        fuzz_fail("memory is bounded", "it is not");
    if (file.open != 0)
        fuzz_fail("files are closed", "they are not");
    check(gcd_dump_summary(d), types, roots);
    gcd_dump_free(d);
    gcd_input_free(in);
    fuzz_check_memory(&f);
    return 0;
}
