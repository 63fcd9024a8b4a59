/*
 * Any bytes as a single-file program, whose assemblies are opened.
 *
 * Errors have a reason; files lie in the bundle; a name is valid UTF-8 without NUL; memory is
 * bounded whatever the declared sizes; no leak.
 */
#include "fuzz/fuzz_ask.h"

#include <gcdumpc/unstable/bundle.h>
#include <gcdumpc/unstable/metadata.h>

#define MEMORY_MAX   ((size_t)4 << 20)   /* what is expanded goes to a file */
#define EXPANDED_MAX (UINT64_C(1) << 20) /* a bomb costs only time */
#define FILES_MAX    64u

static void check_status(gcd_status st, const struct gcd_error *err)
{
    if (st < GCD_OK && (err->code != st || err->msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
}

static void open_assembly(struct gcd_input *in, struct gcd_bundle *b,
                          const struct gcd_bundle_file *f, const struct gcd_alloc *alloc)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *plain = NULL;
    struct gcd_metadata *m = NULL;
    gcd_status st = GCD_OK;
    if (f->stored_bytes != 0 && f->bytes > EXPANDED_MAX)
        return;
    if (f->stored_bytes != 0)
        st = gcd_bundle_expand(b, f, &(struct gcd_input_options){ .context.alloc = alloc }, &plain,
                               &err);
    check_status(st, &err);
    if (st == GCD_OK && plain != NULL && gcd_input_size(plain) != f->bytes)
        fuzz_fail("an expanded file has the size that the bundle says", f->path);
    if (st == GCD_OK)
        st = gcd_metadata_open(plain != NULL ? plain : in, plain != NULL ? 0 : f->off,
                               plain != NULL ? UINT64_MAX : f->bytes, alloc, &m, &err);
    check_status(st, &err);
    gcd_metadata_free(m);
    gcd_input_free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_bundle *b = NULL;
    struct gcd_bundle_file file;
    uint64_t hash = fuzz_hash(data, size);
    failalloc_init(&f);
    f.max_bytes = MEMORY_MAX;
    f.fail_at = hash % 8 == 7 ? 1 + (hash >> 8) % 40 : 0;
    if (gcd_input_from_memory(data, size, NULL, &in, &err) != GCD_OK)
        fuzz_fail("bytes are an input", err.msg);
    gcd_status st = gcd_bundle_open(in, &f.alloc, &b, &err);
    for (unsigned i = 0; st == GCD_OK && i < FILES_MAX; i++) {
        st = gcd_bundle_next(b, &file, &err);
        if (st != GCD_OK)
            break;
        uint64_t stored = file.stored_bytes != 0 ? file.stored_bytes : file.bytes;
        if (file.off > size || stored > size - file.off)
            fuzz_fail("a file lies in the bundle", file.path);
        fuzz_check_utf8(file.path, strlen(file.path));
        open_assembly(in, b, &file, &f.alloc);
    }
    check_status(st, &err);
    gcd_bundle_free(b);
    gcd_input_free(in);
    fuzz_check_memory(&f);
    return 0;
}
