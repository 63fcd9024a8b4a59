/*
 * Any bytes as an assembly, with every query.
 *
 * Errors have a reason; names are valid UTF-8; memory is bounded whatever the image declares, and
 * never leaked, even if an allocation fails; a second query gives the same.
 */
#include "fuzz/fuzz_ask.h"
#include "support/shop_image.h"

#include <gcdumpc/unstable/metadata.h>

#include "base/mem.h"
#include "names/aot_definitions.h"
#include "names/aot_names.h"

#define MEMORY_MAX ((size_t)600 * 1024)

static void check_status(gcd_status st, const struct gcd_error *err)
{
    if (st != GCD_OK && (err->code != st || err->msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
    if (st != GCD_OK && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT && st != GCD_E_UNSUPPORTED &&
        st != GCD_E_LIMIT && st != GCD_E_NOMEM)
        fuzz_fail("an image is damaged, not read, or too much", err->msg);
}

/* Its types as Native AOT names them.  Many rows can have one long name, so this takes more memory
 * than the queries. */
static void ask_definitions(struct gcd_metadata *m)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_error err = GCD_ERROR_INIT;
    struct aot_definitions d;
    aot_definitions_init(&d, &alloc);
    check_status(aot_definitions_add(&d, m, &err), &err);
    for (size_t i = 0; i < d.count; i++) {
        const char *mangled = d.items[i].mangled,
                   *name = aot_definition(&d, mangled, strlen(mangled));
        if (strlen(mangled) >= AOT_SYMBOL_MAX || (name != NULL && name != d.items[i].name))
            fuzz_fail("a mangled name is short, and finds its type", mangled);
    }
    aot_definitions_done(&d);
}

static gcd_status ask(struct gcd_input *in, const struct gcd_alloc *alloc, struct tb_bytes *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_metadata *m = NULL;
    gcd_status st = gcd_metadata_open(in, 0, UINT64_MAX, alloc, &m, &err);
    check_status(st, &err);
    if (st != GCD_OK)
        return st;
    for (uint32_t table = 1; table <= 0x1b;
         table += 0x1a) /* references and specifications, including unused ones */
        for (uint32_t row = 1; row <= 8; row++) {
            const char *name;
            if (gcd_metadata_name(m, table << 24 | row, NULL, 0, &name, &err) == GCD_OK)
                tb_put(text, name, strlen(name));
        }
    for (uint32_t row = 1; row <= 16; row++) {
        const char *name;
        size_t last;
        if (gcd_metadata_reflection_name(
                m, (row & 1 ? GCD_TOKEN_TYPE : UINT32_C(0x01000000)) | row / 2, &name, &last,
                &err) != GCD_OK)
            continue;
        if (last > strlen(name))
            fuzz_fail("the last name is in the name", name);
        tb_put(text, name, strlen(name));
    }
    for (uint32_t row = 1; row <= 16; row++) {
        uint32_t il = 0;
        struct gcd_il_range range = { row % 4 * 7, 64 * row };
        if (gcd_metadata_instruction(m, GCD_TOKEN_METHOD + row, range, row % 2 == 0, &il, &err) ==
                GCD_OK &&
            (il < range.first || il >= range.end))
            fuzz_fail("an instruction is in the range", "it is not");
    }
    ask_definitions(m);
    st = metadata_text(m, text, &err);
    check_status(st, &err);
    gcd_metadata_free(m);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_ask(data, size, ask, MEMORY_MAX);
    return 0;
}
