/*
 * Memory and limits on it.
 */
#ifndef GCDUMPC_ALLOC_H
#define GCDUMPC_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One function does everything: PTR NULL allocates, NEW_BYTES 0 frees (and returns NULL), otherwise
 * it resizes the block and keeps its content. OLD_BYTES is always the true size of the block.
 * Alignment as malloc.  Returns NULL when out of memory; the old block then stays as it was.
 * Constructors that take a struct gcd_alloc take NULL for malloc, realloc and free.  The structure
 * must outlive every object made with it.
 */
struct gcd_alloc {
    void *(*resize)(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
    void *ctx;
};

/*
 * Limits on what an input can make the library hold.  Reaching one fails with GCD_E_LIMIT and a
 * message that names the limit.  Nothing is cut silently: a trace that reaches a limit of its
 * container (block_bytes, threads, metadata) is read up to that point, and the dump is incomplete.
 * 0 selects the default in the comment.
 */
struct gcd_limits {
    uint64_t block_bytes; /* one block of a container;                     default 16 MiB */
    uint64_t types;       /* type records;                                 default 2 Mi */
    uint64_t roots;       /* roots, statics, ranges ..., of each kind;    default 64 Mi */
    uint64_t text_bytes;  /* all names together;                           default 1 GiB */
    uint64_t threads;     /* capture threads with a sequence number;       default 256 Ki */
    uint64_t objects;     /* objects of one dump;                          default: no limit */
    uint64_t metadata;    /* event descriptions, label lists of a trace;   default 1 Mi */
};

#ifdef __cplusplus
}
#endif
#endif
