/*
 * Any bytes as a program with symbols.
 *
 * Errors have a reason; names of types are valid UTF-8; memory is bounded whatever the file
 * declares, and never leaked, even if an allocation fails; asking again gives the same.
 */
#include "fuzz/fuzz_ask.h"
#include "metadata/elf_file.h"
#include "names/aot_names.h"

#define MEMORY_MAX ((size_t)300 * 1024)

static void tell(struct elf_file *f, uint64_t i, struct tb_bytes *text)
{
    static char symbol[AOT_SYMBOL_MAX], name[AOT_NAME_MAX];
    struct gcd_error err = GCD_ERROR_INIT;
    struct elf_entry e;
    const char *m;
    size_t n, k;
    if (elf_file_symbol(f, i, &e, &err) != GCD_OK ||
        elf_file_name(f, e.name, symbol, sizeof symbol, &n, &err) != GCD_OK) {
        if (err.msg[0] == '\0')
            fuzz_fail("an error says so", "a symbol");
        return;
    }
    if (n == sizeof symbol || !aot_symbol_of_type(symbol, n, &m, &k))
        return;
    n = aot_name(m, k, e.rva % 2 == 0, NULL, name);
    if (n >= sizeof name || name[n] != '\0')
        fuzz_fail("a name fits", "it does not");
    tb_put(text, name, n);
}

static gcd_status ask(struct gcd_input *in, const struct gcd_alloc *alloc, struct tb_bytes *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct elf_file *f = NULL;
    gcd_status st = elf_file_open(in, 0, UINT64_MAX, alloc, &f, &err);
    if (st != GCD_OK && (err.code != st || err.msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
    if (st != GCD_OK)
        return st;
    size_t n;
    const uint8_t *id = elf_file_build_id(f, &n);
    for (size_t i = 0; i < n; i++)
        tb_put(text, &"0123456789abcdef"[id[i] % 16], 1);
    for (uint64_t i = 0; i < elf_file_symbols(f) && i < 256; i++)
        tell(f, i, text);
    elf_file_free(f);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_ask(data, size, ask, MEMORY_MAX);
    return 0;
}
