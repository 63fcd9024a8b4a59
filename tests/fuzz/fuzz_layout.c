/*
 * Any bytes as all modules of a program: the layouts of the types in them.
 *
 * Whatever they declare, memory and work are bounded, each description has the format that
 * gcdumpc/unstable/fields.h promises, and a failing allocation leaks nothing.
 */
#include <string.h>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "layout/layout.h"
#include "support/failalloc.h"

#define TYPES_MAX  256u
#define MEMORY_MAX ((size_t)256 << 20)

struct program {
    const uint8_t *data;
    size_t size;
    const struct gcd_alloc *alloc;
    struct gcd_input *in[LAYOUT_OPEN_MAX];
    struct gcd_metadata *m[LAYOUT_OPEN_MAX];
};

static gcd_status open_module(void *ctx, uint32_t module, unsigned place, struct gcd_metadata **ret,
                              struct gcd_error *err)
{
    struct program *p = ctx;
    (void)module;
    gcd_status st = gcd_input_from_memory(p->data, p->size, NULL, &p->in[place], err);
    if (st != GCD_OK)
        return st;
    st = gcd_metadata_open(p->in[place], 0, UINT64_MAX, p->alloc, &p->m[place], err);
    if (st == GCD_OK)
        *ret = p->m[place];
    else
        gcd_input_free(p->in[place]);
    return st;
}

static void close_module(void *ctx, unsigned place)
{
    struct program *p = ctx;
    gcd_metadata_free(p->m[place]);
    gcd_input_free(p->in[place]);
}

static void check_text(const char *s)
{
    uint64_t before = 0;
    if (*s == '\0')
        return;
    if (strchr("ovm", *s++) == NULL)
        fuzz_fail("a layout has a kind", s);
    s += *s == '?';
    if (*s++ != ' ')
        fuzz_fail("a space follows the kind", s);
    s += *s == '*';
    while (*s >= '0' && *s <= '9') {
        uint64_t n = 0;
        while (*s >= '0' && *s <= '9')
            n = n * 10 + (unsigned)(*s++ - '0');
        if (n <= before)
            fuzz_fail("keys are sorted", s);
        before = n;
        s += *s == ',';
    }
    while (*s == '\n') {
        size_t digits = strspn(++s, "0123456789");
        if (digits == 0 || s[digits] != ' ')
            fuzz_fail("a reference has a key", s);
        s += strcspn(s, "\n");
    }
    if (*s != '\0')
        fuzz_fail("nothing else is in a layout", s);
}

static gcd_status walk_types(struct layout *l, uint32_t count, struct gcd_error *err)
{
    uint32_t types[TYPES_MAX], plain, string;
    uint32_t n = count < TYPES_MAX ? count : TYPES_MAX;
    GCD_TRY(layout_plain(l, 8, &plain, err));
    GCD_TRY(layout_array(l, plain, 0, &string, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t arguments[] = { string, i > 1 ? types[i - 1] : plain, plain, string };
        struct layout_name name = {
            i % 2, GCD_TOKEN_TYPE | (i + 1), i % 3 == 0, { arguments, i % 5 }
        };
        GCD_TRY(layout_named(l, &name, &types[i], err));
        if (i % 7 == 6)
            GCD_TRY(layout_array(l, types[i], i % 4, &types[i], err));
        GCD_TRY(layout_find_slots(l, types[i], err));
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *text;
        GCD_TRY(layout_describe(l, types[i], &text, err));
        check_text(text);
    }
    return GCD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct layout_module modules[] = { { "System.Private.CoreLib" },
                                                    { "System.Runtime" } };
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t hash = fuzz_hash(data, size);
    failalloc_init(&f);
    f.max_bytes = MEMORY_MAX;
    f.fail_at = hash % 8 == 7 ? 1 + (hash >> 8) % 500 : 0;
    struct program p = { .data = data, .size = size, .alloc = &f.alloc };
    struct layout_files files = { &p, open_module, close_module };
    struct gcd_metadata *m = NULL;
    struct layout *l = NULL;
    uint32_t count = 0;
    gcd_status st = open_module(&p, 0, 0, &m, &err);
    if (st == GCD_OK) {
        count = gcd_metadata_type_count(m);
        close_module(&p, 0);
    }
    if (st != GCD_E_NOMEM)
        st = layout_new(&f.alloc, &files, modules, 2, &l, &err);
    if (st == GCD_OK)
        st = walk_types(l, count, &err);
    layout_free(l);
    if (st != GCD_OK && (st != GCD_E_NOMEM || f.failed == 0))
        fuzz_fail("no file makes it fail", err.msg);
    fuzz_check_memory(&f);
    return 0;
}
