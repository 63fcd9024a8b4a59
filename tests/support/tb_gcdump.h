/*
 * .gcdump files for tests, built byte by byte; no code is shared with reader or writer.
 *
 *     struct tb_gcdump g;
 *     tb_gcdump_init(&g, 4);                    labels of 4 bytes
 *     tb_gcdump_begin(&g, "GCHeapDump", 10, 8);
 *     ...
 *     tb_gcdump_end(&g);
 *     tb_gcdump_close(&g);                      use g.out.p, g.out.n
 *     tb_gcdump_done(&g);
 */
#ifndef TB_GCDUMP_H
#define TB_GCDUMP_H

#include "support/tb.h"

struct tb_gcdump {
    struct tb_bytes out;
    unsigned label_bytes;
    struct {
        char name[32];
        uint64_t label;
    } classes[8];
    size_t class_count;
    uint64_t forward[8]; /* ends of regions */
    size_t forward_count;
};

void tb_gcdump_init(struct tb_gcdump *g, unsigned label_bytes);
void tb_gcdump_done(struct tb_gcdump *g);

/* An object of a class, which is defined on first use; returns the object's label. */
uint64_t tb_gcdump_begin(struct tb_gcdump *g, const char *class_name, uint32_t version,
                         uint32_t minimum);
void tb_gcdump_end(struct tb_gcdump *g);
void tb_gcdump_null(struct tb_gcdump *g);
void tb_gcdump_label(struct tb_gcdump *g, uint64_t label);
/* A region that ends at tb_gcdump_region_end with the same number. */
uint32_t tb_gcdump_region(struct tb_gcdump *g);
void tb_gcdump_region_end(struct tb_gcdump *g, uint32_t region);
/* Well-formed UTF-8; NULL = null. */
void tb_gcdump_string(struct tb_gcdump *g, const char *utf8);
void tb_gcdump_cint(struct tb_bytes *b, int32_t v);
/* End of all objects, table of forward references, trailer. */
void tb_gcdump_close(struct tb_gcdump *g);

/* ---- whole files ---- */

struct tb_gcdump_type {
    const char *name; /* NULL: deferred */
    int32_t size;
    const char *module;
};
struct tb_gcdump_node {
    uint32_t type;
    int32_t size; /* -1 = not written: that of the type */
    uint64_t address;
    bool undefined;
    uint32_t children[6]; /* node numbers */
    uint32_t child_count;
};

struct tb_gcdump_options {
    unsigned label_bytes; /* 4 or 8 */
    uint32_t version;     /* 4 ... 7, 9, 10 */
    bool wide;            /* counts of nodes have 8 bytes */
    bool deferred, no_addresses, is_64bit;
    bool no_tail;      /* neither interop nor tool */
    unsigned segments; /* of DotNetHeapInfo; 0 = null */
    uint32_t segment_version;
    bool interop;
    bool js;
    uint32_t multipliers;
    const char *log, *process;
    uint64_t ticks;
    uint32_t pid, root;
};
void tb_gcdump_file(struct tb_bytes *ret, const struct tb_gcdump_options *o,
                    const struct tb_gcdump_type *types, size_t type_count,
                    const struct tb_gcdump_node *nodes, size_t node_count);

/* Small files with every feature that any program has written: number I into RET (tb_free), its
 * name; NULL after the last. */
const char *tb_gcdump_sample(size_t i, struct tb_bytes *ret);
/* Each sample has these objects, references and roots. */
#define TB_GCDUMP_SAMPLE_OBJECTS 5
#define TB_GCDUMP_SAMPLE_EDGES   5
#define TB_GCDUMP_SAMPLE_ROOTS   9

#endif
