/*
 * Traces for tests, built in memory byte by byte; no code is shared with the decoder.
 *
 *     struct tb t;
 *     tb_init(&t, TB_V4, 8);
 *     tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
 *     tb_gc_start(&t, 1);
 *     tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }, { 0x1018, 24, 0x100, 0 }));
 *     tb_edges(&t, TB_LIST(uint64_t, 0x1018));
 *     tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
 *     tb_gc_end(&t, 1);
 *     tb_close(&t);
 *     use(t.out.p, t.out.n);
 *     tb_done(&t);
 *
 * Event descriptions, thread records, sequence numbers, index numbers and times are set
 * automatically; the settable fields of struct tb change them.  Out of memory ends the program.
 */
#ifndef TB_H
#define TB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bytes ---- */

struct tb_bytes {
    uint8_t *p; /* free() */
    size_t n, cap;
};

void tb_put(struct tb_bytes *b, const void *bytes, size_t n);
void tb_zeros(struct tb_bytes *b, size_t n);
void tb_u8(struct tb_bytes *b, unsigned v);
void tb_u16(struct tb_bytes *b, unsigned v);
void tb_u32(struct tb_bytes *b, uint32_t v);
void tb_u64(struct tb_bytes *b, uint64_t v);
void tb_varuint(struct tb_bytes *b, uint64_t v);
/* UTF-16LE of valid UTF-8, with terminator.  NULL: no bytes, as the runtime writes a missing
 * string. */
void tb_utf16z(struct tb_bytes *b, const char *utf8);
/* Format 6: length and UTF-8. */
void tb_utf8(struct tb_bytes *b, const char *utf8);
void tb_free(struct tb_bytes *b);

/* Two arguments of a call: an array and its length. */
#define TB_LIST(type, ...) \
    (const type[]){ __VA_ARGS__ }, sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)

/* ---- the container ---- */

enum tb_format {
    /* as the runtime writes it: compressed event headers, only what changed */
    TB_V4,
    TB_V4_PLAIN, /* uncompressed event headers */
    TB_V3,       /* no sequence numbers, no sequence points */
    TB_V6,
    TB_V6_PLAIN
};

#define TB_RUNTIME   "Microsoft-Windows-DotNETRuntime"
#define TB_RUNDOWN   "Microsoft-Windows-DotNETRuntimeRundown"
#define TB_EVENTPIPE "Microsoft-DotNETCore-EventPipe"

enum { TB_ROOTS, TB_DEPENDENTS, TB_NODES, TB_EDGES, TB_BULKS };

struct tb_thread {
    uint64_t id;
    uint32_t process;
    uint32_t number; /* of its last event */
    bool announced;  /* format 6: a thread record was written */
};

struct tb_meta {
    char provider[64];
    uint32_t event_id, version;
};

struct tb {
    struct tb_bytes out; /* the trace so far, without anything that waits for tb_flush */

    /* may be set at any time, for later events */
    uint64_t thread;    /* who writes; 7 at first.  Format 6: a thread index */
    uint32_t process;   /* format 6: of threads that are new; 1234 */
    uint32_t labels;    /* format 6: label list of the next events; 0 = none */
    int64_t time_ns;    /* ns of the next event since the start of the trace; initially 1000 */
    int64_t step_ns;    /* ns to the event after it; 1000 */
    size_t block_bytes; /* a block with more is flushed; 100 KiB like the runtime's */
    bool statics;       /* the walk has its static variables */
    uint32_t stack;     /* of the next events; 1 = the empty one */
    bool bare;          /* tb_gc_end adds no empty events of roots and static variables */
    uint32_t index[TB_BULKS]; /* of the next bulk event; all go back to 0 with tb_gc_end */

    /* read them */
    enum tb_format format;
    unsigned ptr_bytes;
    struct tb_bytes payload; /* of the last event */

    struct tb_bytes metas, events; /* blobs or rows that are pending */
    struct tb_meta meta[64];
    size_t meta_count;
    struct tb_thread *threads;
    size_t thread_count, thread_cap;
    struct {
        uint32_t meta_id, number, payload_bytes, stack, labels;
        uint64_t capture, thread, ticks;
    } last, last_meta;
    bool stacks_written;
};

/* Writes the header.  PTR_BYTES: 4 or 8. */
void tb_init(struct tb *t, enum tb_format format, unsigned ptr_bytes);
void tb_done(struct tb *t);

/* An event with its description, which is written when it is new. */
void tb_event(struct tb *t, const char *provider, uint32_t event_id, uint32_t version,
              const void *payload, size_t n);
/* The same with a metadata id that need not have been described: ids from 1 on are given by
 * tb_event. */
void tb_event_by_meta(struct tb *t, uint32_t meta_id, const void *payload, size_t n);
/* A block with stacks of EACH addresses of 8 bytes, numbered from 2 on, up to the next sequence
 * point. */
void tb_stacks(struct tb *t, const uint64_t *addresses, size_t n, size_t each);
/* The next N events of the current thread are lost in the target. */
void tb_lose(struct tb *t, uint32_t n);

/* Writes everything pending as blocks. */
void tb_flush(struct tb *t);
/* FLAGS are of format 6: 1 forgets the threads, 2 the descriptions.  Nothing in format 3, which has
 * none. */
void tb_sequence_point(struct tb *t, uint32_t flags);
/* Only the end tag, after everything pending. */
void tb_end(struct tb *t);
/* Ends a trace like the runtime: sequence point and end tag. */
void tb_close(struct tb *t);

/* Any object of format 3 and 4 with a block body, any block of format 6. */
void tb_object(struct tb *t, const char *name, uint32_t version, uint32_t min_reader,
               const void *body, size_t n);
void tb_block_v6(struct tb *t, uint32_t kind, const void *body, size_t n);

/* Format 6: label list INDEX, valid up to the next sequence point, prescribes the version of its
 * events. */
void tb_label_version(struct tb *t, uint32_t index, unsigned version);
/* Format 6: the current thread has ended. */
void tb_remove_thread(struct tb *t);

/* ---- the events of a heap walk ---- */

struct tb_type {
    uint64_t id, module;
    uint32_t token, flags;
    uint8_t element_type;
    const char *name;   /* NULL = empty */
    uint64_t parameter; /* one type parameter when not 0 */
};
struct tb_node {
    uint64_t address, size, type, edges;
};
struct tb_root {
    uint64_t object;
    uint8_t kind;
    uint32_t flags;
    uint64_t id;
};
struct tb_static {
    uint64_t object, slot, type;
    const char *name;
};
struct tb_dependent {
    uint64_t key, value;
};

/* An induced, blocking GC of generation 2; tb_gc_start_full sets every field. */
void tb_gc_start(struct tb *t, uint32_t number);
void tb_gc_start_full(struct tb *t, uint32_t number, uint32_t depth, uint32_t reason,
                      uint32_t type);
void tb_gc_end(struct tb *t, uint32_t number);
void tb_heap_count(struct tb *t, uint32_t heaps);
void tb_types(struct tb *t, const struct tb_type *types, size_t n);
void tb_nodes(struct tb *t, const struct tb_node *nodes, size_t n);
void tb_edges(struct tb *t, const uint64_t *targets, size_t n);
void tb_roots(struct tb *t, const struct tb_root *roots, size_t n);
void tb_statics(struct tb *t, const struct tb_static *statics, size_t n);
void tb_dependents(struct tb *t, const struct tb_dependent *dependents, size_t n);
void tb_ccws(struct tb *t, const uint64_t *objects, size_t n);
void tb_rcws(struct tb *t, const uint64_t *objects, size_t n);
void tb_range(struct tb *t, unsigned generation, uint64_t start, uint64_t used_bytes,
              uint64_t reserved_bytes);
void tb_module(struct tb *t, uint64_t id, const char *path);
/* The same with a symbol file whose GUID has this byte 16 times. */
void tb_module_symbols(struct tb *t, uint64_t id, const char *path, unsigned guid, uint32_t age);
void tb_runtime_info(struct tb *t, unsigned major, unsigned minor, unsigned patch,
                     const char *command_line);
void tb_process_info(struct tb *t, const char *command_line, const char *os, const char *arch);

/* ---- ready-made small traces, about 2 KiB each: a complete dump with every kind of record ---- */

struct tb_sample {
    const char *name;
    uint64_t objects, edges; /* of the dump */
    bool complete;           /* the verdict; format 3 cannot be complete */
};
/* Sample I into RET (tb_free); NULL after the last. */
const struct tb_sample *tb_sample(size_t i, struct tb_bytes *ret);

#endif
