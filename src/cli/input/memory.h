/*
 * How much memory the library may use.
 */
#ifndef GCD_CLI_INPUT_MEMORY_H
#define GCD_CLI_INPUT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/unstable/estimate.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"

struct gcd_spill;

/* Limits the library to BYTES; call it before the library allocates.  0 = no limit. */
void cli_memory_limit(uint64_t bytes);
/* SQL gets a quarter of the limit, at most 1 GiB without one; call it before heaps are read. */
void cli_memory_for_sql(void);
/* The allocator with that limit; NULL = no limit. */
const struct gcd_alloc *cli_limited_alloc(void);
/* After GCD_E_NOMEM: advice in BUF if the limit was the cause, else "". */
#define CLI_MEMORY_HINT_BYTES 256
const char *cli_memory_hint(char buf[CLI_MEMORY_HINT_BYTES]);

/* The allocator for the library: that of the budget or the limit; NULL, which means malloc, without
 * either. */
const struct gcd_alloc *cli_alloc(void);
/*
 * Arrays of the program itself that grow with the objects, from ALLOC (of cli_alloc, NULL =
 * malloc), cleared; NULL = out of memory.  Free them with their count.
 */
void *cli_array_new(const struct gcd_alloc *alloc, size_t count, size_t item_bytes);
void cli_array_free(const struct gcd_alloc *alloc, void *items, size_t count, size_t item_bytes);

/* The spill of --memory or of our cgroup, NULL = none; cli_memory_close frees it. */
void cli_memory_use(struct gcd_spill *s);
struct gcd_spill *cli_memory_spill(void);
/* Opens the budget: that of ARGS, or what our own cgroup has left; unless it is open.  CLI_USAGE or
 * CLI_FAILED after a message. */
enum cli_exit cli_memory_open(const struct cli_args *args);
/* The folders for what does not fit: --spill-dir, else TMPDIR and /var/tmp; NULL after the last. */
const char *const *cli_spill_folders(const struct cli_args *args);
/*
 * Call it when the objects of D are counted.  Checks whether the work NEED fits into the budget, or
 * else can be spilled, and says so.  CLI_FAILED after a message.
 */
enum cli_exit cli_memory_plan(const struct cli_args *args, const struct cli_dump *d,
                              enum cli_need need);
/* The same before a dump that will need about BYTES, so that the pause is not paid for nothing. */
enum cli_exit cli_memory_check_live(const char *subject, uint64_t bytes);
/* The name of a workload for people, and the memory that it will take for D, in bytes. */
const char *cli_workload_name(enum gcd_workload workload);
uint64_t cli_estimate(const struct cli_dump *d, enum gcd_workload workload);
/* Why a large block could not be allocated; NULL = for another reason. */
const char *cli_memory_problem(void);
/* Call it after everything from cli_alloc is freed. */
void cli_memory_close(void);

#endif
