/*
 * metadata_list FILE ...: prints what gcdumpc/unstable/metadata.h reports about assemblies, also in
 * single-file programs, in the same lines as readers/metadata_cs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/bundle.h>
#include <gcdumpc/unstable/metadata.h>

static struct gcd_error err = GCD_ERROR_INIT;

static void put_hex(const uint8_t *p, size_t n)
{
    putchar(' ');
    for (size_t i = 0; i < n; i++)
        printf("%02x", p[i]);
}

static void print_module(const struct gcd_metadata *m)
{
    const struct gcd_module_identity *id = gcd_metadata_identity(m);
    printf("module %s", id->module_name);
    put_hex(id->mvid.bytes, 16);
    putchar('\n');
    if (id->assembly_name[0] != '\0') {
        printf("assembly %s %d.%d.%d.%d", id->assembly_name, id->version[0], id->version[1],
               id->version[2], id->version[3]);
        put_hex(id->public_key_token, id->has_public_key ? 8 : 0);
        putchar('\n');
    }
    for (size_t i = 0; i < id->codeview_count; i++) {
        printf("codeview");
        put_hex(id->codeview[i].guid.bytes, 16);
        printf(" %" PRIu32 "\n", id->codeview[i].age);
    }
}

static gcd_status print_type(struct gcd_metadata *m, uint32_t token)
{
    struct gcd_type_definition t;
    const char *name = "";
    gcd_status st = gcd_metadata_type(m, token, &t, &err);
    if (st == GCD_OK)
        st = gcd_metadata_name(m, token, NULL, 0, &name, &err);
    if (st == GCD_OK)
        printf("type %08x %x %08x %u %s : ", token, t.flags, t.outer, t.parameters, name);
    if (st == GCD_OK && t.base != 0 &&
        (st = gcd_metadata_name(m, t.base, NULL, 0, &name, &err)) == GCD_OK)
        printf("%s", name);
    for (uint32_t i = 0; st == GCD_OK && i < t.interfaces; i++) {
        uint32_t interface;
        st = gcd_metadata_interface(m, token, i, &interface, &err);
        if (st == GCD_OK && (st = gcd_metadata_name(m, interface, NULL, 0, &name, &err)) == GCD_OK)
            printf(", %s", name);
    }
    putchar('\n');
    if (st == GCD_OK && (st = gcd_metadata_events(m, token, &name, &err)) == GCD_OK &&
        name[0] != '\0')
        printf("events %08x %s\n", token, name);
    return st;
}

static gcd_status print(struct gcd_metadata *m)
{
    struct gcd_static_field f = { 0 };
    gcd_status st = GCD_OK;
    print_module(m);
    for (uint32_t i = 1; i <= gcd_metadata_type_count(m) && st == GCD_OK; i++)
        st = print_type(m, GCD_TOKEN_TYPE + i);
    while (st == GCD_OK && (st = gcd_metadata_next_static(m, &f, &err)) == GCD_OK) {
        const char *type = "";
        st = gcd_metadata_field_type(m, &f, &type, &err);
        printf("static %08x %x %08x %s %s%s\n", f.token, f.flags, f.class_token, f.name,
               f.thread_static ? "thread " : "", type);
    }
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status print_image(struct gcd_input *in, uint64_t off, uint64_t n)
{
    struct gcd_metadata *m = NULL;
    gcd_status st = gcd_metadata_open(in, off, n, NULL, &m, &err);
    if (st == GCD_OK)
        st = print(m);
    gcd_metadata_free(m);
    return st;
}

static gcd_status print_bundle(struct gcd_input *in)
{
    struct gcd_bundle *b = NULL;
    struct gcd_bundle_file f;
    gcd_status st = gcd_bundle_open(in, NULL, &b, &err);
    while (st == GCD_OK && (st = gcd_bundle_next(b, &f, &err)) == GCD_OK) {
        struct gcd_input *plain = NULL;
        if (f.kind != GCD_BUNDLE_ASSEMBLY)
            continue;
        printf("file %s\n", f.path);
        if (f.stored_bytes == 0)
            st = print_image(in, f.off, f.bytes);
        else if ((st = gcd_bundle_expand(b, &f, NULL, &plain, &err)) == GCD_OK)
            st = print_image(plain, 0, UINT64_MAX);
        gcd_input_free(plain);
    }
    gcd_bundle_free(b);
    return st == GCD_END ? GCD_OK : st;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        struct gcd_input *in = NULL;
        printf("file %s\n", slash != NULL ? slash + 1 : argv[i]);
        gcd_status st = gcd_input_open(argv[i], NULL, &in, &err);
        if (st == GCD_OK)
            st = print_image(in, 0, UINT64_MAX);
        if (st == GCD_E_UNSUPPORTED)
            st = print_bundle(in);
        if (st == GCD_E_UNSUPPORTED) {
            puts("no metadata");
        } else if (st != GCD_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], err.msg);
            status = 1;
        }
        gcd_input_free(in);
    }
    return status;
}
