/*
 * Writes the seed files of the fuzz targets: make_corpus FOLDER (see README.md).  The same files
 * each time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "fuzz/fuzz.h"
#include "support/dart_sample.h"
#include "support/elf_sample.h"
#include "support/fake_target.h"
#include "support/pdb_file.h"
#include "support/site_trace.h"
#include "support/tb.h"
#include "support/tb_gcdump.h"

static const char *folder;

static void write_file(const char *target, const char *name, const void *p, size_t n)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        exit(1);
    }
    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* ---- fuzz_nettrace ---- */

static void write_trace(const char *name, struct tb *t)
{
    write_file("fuzz_nettrace", name, t->out.p, t->out.n);
    tb_done(t);
}

/* A walk that restarts without an end, after a closed one. */
static void trace_restart(void)
{
    struct tb t;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    tb_gc_end(&t, 1);
    tb_gc_start(&t, 2);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x2000, 24, 0x100, 0 }, { 0x2020, 24, 0x200, 0 }));
    t.index[TB_NODES] = 0;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x3000, 24, 0x300, 0 }));
    tb_close(&t);
    write_trace("v4-restart.nettrace", &t);
}

/* Lost events, an event without description, a reused thread id, gaps in the numbers, an unknown
 * block. */
static void trace_losses(void)
{
    struct tb t;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 2 }, { 0x1018, 24, 0x100, 0 }));
    tb_lose(&t, 3);
    t.index[TB_NODES] = 4;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x2000, 24, 0x100, 0 }));
    tb_event_by_meta(&t, 77, "abc", 3);
    tb_edges(&t, TB_LIST(uint64_t, 0x1018, 0x2000, 0x1000));
    tb_sequence_point(&t, 0);
    t.threads[0].number = 0;
    tb_gc_end(&t, 1);
    tb_object(&t, "FutureBlock", 9, 2, "12345678", 8);
    tb_close(&t);
    tb_u32(&t.out, 0xabcdef);
    write_trace("v4-losses.nettrace", &t);
}

/* Features of format 6: labels that set a version, threads that end, flushed caches. */
static void trace_v6(void)
{
    static const uint8_t labels[] = { 1, 0, 0, 0, 2, 0,  0,  0,  0x8a, 0,  1,  1,  2,    3, 4,
                                      5, 6, 7, 8, 9, 10, 11, 12, 13,   14, 15, 16, 0x87, 3 };
    static const uint8_t ended[] = { 7, 2 };
    struct tb t;
    tb_init(&t, TB_V6, 4);
    tb_gc_start(&t, 5);
    tb_flush(&t);
    tb_block_v6(&t, 8, labels, sizeof labels);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 12, 0x100, 0 }));
    tb_sequence_point(&t, 3);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1010, 12, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    tb_gc_end(&t, 5);
    tb_flush(&t);
    tb_block_v6(&t, 7, ended, sizeof ended);
    tb_block_v6(&t, 99, "?", 1);
    tb_close(&t);
    write_trace("v6-all.nettrace", &t);
}

static void corpus_nettrace(void)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    char name[80];
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        (void)snprintf(name, sizeof name, "%s.nettrace", s->name);
        write_file("fuzz_nettrace", name, b.p, b.n);
        tb_free(&b);
    }
    trace_restart();
    trace_losses();
    trace_v6();
}

/* ---- fuzz_payload: the numbers are the rows of its table ---- */

static void record(struct tb_bytes *to, unsigned kind, unsigned flags, struct tb *t)
{
    tb_u8(to, kind);
    tb_u8(to, flags);
    tb_u16(to, (unsigned)t->payload.n);
    tb_put(to, t->payload.p, t->payload.n);
}

/* A block of its own instead of an event. */
static void block(struct tb_bytes *to, unsigned kind, const void *p, size_t n)
{
    tb_u8(to, kind);
    tb_u8(to, 0x80);
    tb_u16(to, (unsigned)n);
    tb_put(to, p, n);
}

static void corpus_payload(unsigned ptr_bytes, unsigned format, const char *name)
{
    struct tb_bytes b = { NULL, 0, 0 };
    struct tb t;
    tb_init(&t, TB_V4, ptr_bytes);
    tb_u8(&b, (ptr_bytes == 4) | format << 1);
    tb_gc_start(&t, 1);
    record(&b, 1, 0, &t);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .module = 0x10, .name = "A" },
                         { .id = 0x200, .flags = 8, .parameter = 0x100 }));
    record(&b, 3, 0, &t);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 2 }, { 0x1020, 24, 0x200, 0 }));
    record(&b, 6, 0, &t);
    tb_edges(&t, TB_LIST(uint64_t, 0x1020, 0x1000));
    record(&b, 7, 0, &t);
    tb_roots(&t,
             TB_LIST(struct tb_root, { 0x1000, 0, 0, 0 }, { 0x1020, 2, 3, 0x99 }, { 0, 1, 0, 0 }));
    record(&b, 4, 0, &t);
    tb_dependents(&t, TB_LIST(struct tb_dependent, { 0x1020, 0x1000 }, { 0x1000, 0x1020 }));
    record(&b, 5, 0, &t);
    tb_statics(&t, TB_LIST(struct tb_static, { 0x1000, 0x50, 0x100, "s_a" }));
    record(&b, 11, 0, &t);
    tb_ccws(&t, TB_LIST(uint64_t, 0x1000));
    record(&b, 9, 0, &t);
    tb_rcws(&t, TB_LIST(uint64_t, 0x1000));
    record(&b, 10, 0, &t);
    tb_range(&t, 2, 0x1000, 0x100, 0x1000);
    record(&b, 8, 0, &t);
    tb_heap_count(&t, 4);
    record(&b, 14, 0, &t);
    tb_gc_end(&t, 1);
    record(&b, 2, 0, &t);
    tb_module(&t, 0x10, "/opt/a.dll");
    record(&b, 16, 0x01, &t);
    tb_runtime_info(&t, 9, 0, 1, "dotnet a.dll");
    record(&b, 17, 0x03, &t);
    tb_process_info(&t, "/usr/bin/dotnet /opt/a.dll --x", "Linux", "arm64");
    record(&b, 18, 0x01, &t);
    if (format == 3) {
        static const uint8_t thread[] = { 11, 0, 5, 1, 1, 'x', 2, 0xd2, 9, 3, 0x88, 0x27, 9 };
        static const uint8_t label[] = { 9, 0, 0, 0, 1, 0, 0, 0, 0x0a, 1, 0x86, 1, 'k', 5 };
        static const uint8_t ended[] = { 7, 1, 8, 2 };
        static const uint8_t point[] = { 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 7, 9 };
        block(&b, 6, thread, sizeof thread);
        block(&b, 8, label, sizeof label);
        block(&b, 7, ended, sizeof ended);
        block(&b, 4, point, sizeof point);
    }
    write_file("fuzz_payload", name, b.p, b.n);
    tb_free(&b);
    tb_done(&t);
}

/* ---- fuzz_gzip ---- */

/* BAD_CHECKSUM: of the last member. */
static void corpus_gzip(const char *name, int level, size_t members, bool bad_checksum,
                        const char *tail)
{
    struct tb_bytes b, to = { NULL, 0, 0 };
    (void)tb_sample(7, &b);
    for (size_t i = 0; i < members; i++) {
        uint8_t out[8192];
        size_t from = b.n * i / members, end = b.n * (i + 1) / members;
        z_stream z;
        memset(&z, 0, sizeof z);
        if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            abort();
        z.next_in = b.p + from;
        z.avail_in = (uInt)(end - from);
        z.next_out = out;
        z.avail_out = sizeof out;
        if (deflate(&z, Z_FINISH) != Z_STREAM_END)
            abort();
        tb_put(&to, out, sizeof out - z.avail_out);
        (void)deflateEnd(&z);
    }
    if (bad_checksum)
        to.p[to.n - 8] ^= 1;
    tb_put(&to, tail, strlen(tail));
    write_file("fuzz_gzip", name, to.p, to.n);
    tb_free(&to);
    tb_free(&b);
}

/* ---- fuzz_dart ---- */

/* Groups of roots, fields, a length, a percent-encoded module; sizes as written by w_dart.c. */
static void corpus_dart(void)
{
    static const char own[] = "dartheap\x00\x04shop\xec\x02\x80\x20\x00\x05"
                              "\x00\x04Root\x00\x00\x00\x00"
                              "\x00\x12[static variables]\x00\x00\x00\x00"
                              "\x00\x09[handles]\x00\x00\x00\x00"
                              "\x00\x0cShop.Order[]\x00\x19package:My%20B/My%20B.dll\x00\x00"
                              "\x00\x0d_WeakProperty\x00\x09"
                              "dart:core\x00\x02\x01\x00\x04key_\x00\x01\x01\x06value_\x00"
                              "\x07\x05"
                              "\x01\x00\x00\x02\x02\x03"
                              "\x02\x00\x08\x06static\x01\x04"
                              "\x03\x00\x08\x06handle\x01\x05"
                              "\x04\x28\x07\x02\x02\x05\x00"
                              "\x04\xac\x02\x00\x01\x04"
                              "\x00"
                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    write_file("fuzz_dart", "own.dartheap", own, sizeof own - 1);
    write_file("fuzz_dart", "vm.dartheap", dart_sample, dart_sample_bytes);
}

/* ---- fuzz_gcdump ---- */

static void corpus_gcdump(void)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = tb_gcdump_sample(i, &b)) != NULL; i++) {
        char file[64];
        (void)snprintf(file, sizeof file, "%s.gcdump", name);
        write_file("fuzz_gcdump", file, b.p, b.n);
        tb_free(&b);
    }
}

/* ---- fuzz_gclog ---- */

/* The worked example; then everything tolerated: two sections, a byte order mark, CRLF, tabs, late
 * types, bad lines, no end. */
static void corpus_gclog(void)
{
    static const char own[] = "a 2 shop 1a2f\nt 1 Shop.Store\nt 2 Shop.Order[]\nt 3 Shop.Order\nr "
                              "7f0000001000 4 0 1\nr 7f0000001040 3 2\n"
                              "o 7f0000001000 1 18 7f0000001018\no 7f0000001018 2 28 "
                              "7f0000001040\no 7f0000001040 3 20\nc shop 1a2f\n";
    static const char odd[] =
        "\xef\xbb\xbf"
        "a 2 My Shop.exe\r\nr 10 1 c\r\n\r\no 10 1 18  20\tbeef 10 \r\nO 1\no 20 9 "
        "FFFFFFFFFFFFFFFF 10 zz\n"
        "t 1 A<B,C>\tD\rE\nt 1 again\nc My Shop.exe\na 2 next 5\nt 1 \xff\xed\xa0\x80\no 10 1 8 "
        "20\nr 10 7 ff\nr 20 5 8\nr 30 2 0\no 30 1";
    write_file("fuzz_gclog", "own.gclog", own, sizeof own - 1);
    write_file("fuzz_gclog", "odd.gclog", odd, sizeof odd - 1);
    static const char profiler[] = "r 0x10 1 0\no 0x10 1 18\n";
    write_file("fuzz_gclog", "clrprofiler.log", profiler, sizeof profiler - 1);
}

/* ---- fuzz_ipc ---- */

/* Replies of runtimes, with the texts of ProcessInfo3, and their advertisements. */
static void corpus_ipc(void)
{
    static const char session[] = FAKE_OK_SESSION_BYTES, refused[] = FAKE_BAD_ENCODING_BYTES,
                      unknown[] = FAKE_UNKNOWN_COMMAND_BYTES;
    static const char advertise[] =
        FAKE_ADVERTISE_BYTES("0123456789abcdef", "\x2f\x1a\0\0\0\0\0\0");
    static const char *const texts[] = { "dotnet Shop.dll", "Linux", "x64", "Shop", "10.0.12" };
    static const char *const names[] = { "process-info", "process-info2", "process-info3" };
    write_file("fuzz_ipc", "session", session, sizeof session - 1);
    write_file("fuzz_ipc", "refused", refused, sizeof refused - 1);
    write_file("fuzz_ipc", "unknown-command", unknown, sizeof unknown - 1);
    write_file("fuzz_ipc", "advertise", advertise, sizeof advertise - 1);
    for (size_t version = 0; version < 3; version++) {
        struct tb_bytes b = { NULL, 0, 0 };
        tb_put(&b, FAKE_MAGIC, sizeof FAKE_MAGIC - 1);
        tb_u16(&b, 0);
        tb_put(&b, "\xff\0\0\0", 4);
        if (version == 2)
            tb_u32(&b, 1);
        tb_u64(&b, 6703);
        tb_put(&b, "0123456789abcdef", 16);
        for (size_t i = 0; i < (version == 0 ? 3u : 5u); i++) {
            tb_u32(&b, (uint32_t)strlen(texts[i]) + 1);
            for (const char *s = texts[i]; s == texts[i] || s[-1] != '\0'; s++)
                tb_u16(&b, (unsigned char)*s);
        }
        b.p[14] = (uint8_t)b.n;
        b.p[15] = (uint8_t)(b.n >> 8);
        write_file("fuzz_ipc", names[version], b.p, b.n);
        tb_free(&b);
    }
}

/* ---- fuzz_config ---- */

static void write_text(const char *target, const char *name, const char *text)
{
    write_file(target, name, text, strlen(text));
}

static void corpus_config(void)
{
    write_text("fuzz_config", "jobs",
               "# all of them\nkeep = 7\nstrict = true\n\n[nightly]\nname = Shop\noutput = "
               "/var/lib/gcdumpc/%n/%n-%p-%Y%m%dT%H%M%SZ.gclog.gz\n"
               "max-total = 20G\nlog = json\nif-rss-above = 1G\n[weekly]\npid = 4711\noutput = "
               "out.gcdump\nkeep = 0\nnice = 10\n; the end\n");
    write_text(
        "fuzz_config", "jobs-wrong",
        "[a]\nkeep = -1\n[b]\nnothing = 5\n[c]\nname=x\n[a]\nname = again\n[d]\n key = indented\n");
    write_text("fuzz_config", "template", "t/var/dumps/%n/%h-%p-%Y%m%dT%H%M%SZ-%j%y%s%%.gclog.gz");
    write_text("fuzz_config", "template-short", "t%F.gcdump");
    write_text("fuzz_config", "filter", "fSystem.*.Dictionary`2[?,System.Int32[]]");
    write_text("fuzz_config", "threshold", ">bytes(MyApp.*) >= +10.5%");
    write_text("fuzz_config", "threshold-absolute", ">count < 500");
    write_text("fuzz_config", "threshold-unit", ">retained(A<B>) > -64 MiB");
}

/* ---- fuzz_write, fuzz_analyze: a generator turns any bytes into a graph ---- */

static void corpus_graphs(void)
{
    uint8_t bytes[404];
    for (size_t i = 0; i < 12; i++) { /* at least the number of formats */
        char name[40];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] =
                (uint8_t)(fuzz_hash((const uint8_t[]){ (uint8_t)i, (uint8_t)k, (uint8_t)(k >> 8) },
                                    3) >>
                          40);
        bytes[0] = (uint8_t)i;
        bytes[1] = i % 2 == 0; /* only what every format can store */
        bytes[2] = 0;
        (void)snprintf(name, sizeof name, "format-%zu", i);
        write_file("fuzz_write", name, bytes, sizeof bytes);
        (void)snprintf(name, sizeof name, "graphs-%zu", i);
        bytes[0] = 128;
        if (i < 4)
            write_file("fuzz_analyze", name, bytes, sizeof bytes);
    }
}

/* ---- fuzz_symbols, fuzz_elf, fuzz_sites ---- */

static void corpus_symbols(void)
{
    struct tb_bytes b = { 0 };
    pdb_file(&b, false);
    write_file("fuzz_symbols", "store.pdb", b.p, b.n);
    b.n = 0;
    pdb_file(&b, true);
    write_file("fuzz_symbols", "store-wide.pdb", b.p, b.n);
    b.n = 0;
    pdb_embedded(&b);
    write_file("fuzz_symbols", "embedded.dll", b.p, b.n);
    tb_free(&b);
}

static void corpus_elf(void)
{
    static const struct elf_sample_symbol symbols[] = {
        { 0x100, "_ZTV6String" },
        { 0x200, "_ZTV66S_P_CoreLib_System_Collections_Generic_List_1<__Array<shop_Order>>" },
        { 0x300, "__GCStaticEEType_01" },
        { 0x400, "_ZTV38S_P_CoreLib_System_Func_2<Int32__Char>" },
    };
    struct tb_bytes b;
    elf_sample(&b, 0xab, 20, symbols, 4);
    write_file("fuzz_elf", "program.dbg", b.p, b.n);
    tb_free(&b);
    elf_sample(&b, 0xab, 8, NULL, 0);
    write_file("fuzz_elf", "stripped", b.p, b.n);
    tb_free(&b);
}

static void corpus_sites(void)
{
    struct tb t;
    site_trace(&t, SITE_SAMPLED);
    write_file("fuzz_sites", "sampled.nettrace", t.out.p, t.out.n);
    tb_done(&t);
    site_trace(&t, SITE_TICKS);
    write_file("fuzz_sites", "ticks.nettrace", t.out.p, t.out.n);
    tb_done(&t);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    folder = argv[1];
    corpus_nettrace();
    corpus_gcdump();
    corpus_payload(8, 0, "v4-64bit");
    corpus_payload(4, 1, "v4-plain-32bit");
    corpus_payload(8, 2, "v3-64bit");
    corpus_payload(4, 3, "v6-32bit");
    corpus_dart();
    corpus_gclog();
    corpus_ipc();
    corpus_config();
    corpus_graphs();
    corpus_gzip("one.gz", 6, 1, false, "");
    corpus_gzip("stored.gz", 0, 1, false, "");
    corpus_gzip("three-and-tail.gz", 1, 3, false, "tail");
    corpus_gzip("bad-checksum.gz", 6, 1, true, "");
    write_file("fuzz_gzip", "plain", "Nettrace", 8);
    static const char utf16[] =
        "A\0\xe4\0\x70\x65\x3d\xd8\x00\xde\x00\xd8z\0\x00\xdcz\0\xff\xff\0\0B\0";
    write_file("fuzz_utf16", "mixed-utf16", utf16, sizeof utf16 - 1);
    static const char utf8[] =
        "A\xc3\xa4\xe6\x95\xb0\xf0\x9f\x98\x80\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xe2\x82 \xff";
    write_file("fuzz_utf16", "mixed-utf8", utf8, sizeof utf8 - 1);
    corpus_symbols();
    corpus_elf();
    corpus_sites();
    return 0;
}
