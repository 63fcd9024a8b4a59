/*
 * How much memory the library gets.
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

/* From here on the library gets so many bytes at most; before it has got any.  0 = as many as there are. */
void cli_memory_limit(uint64_t bytes);
/* The allocator with that limit; NULL = no limit. */
const struct gcd_alloc *cli_limited_alloc(void);
/* After GCD_E_NOMEM: what to do when it was the limit, in BUF, else "". */
#define CLI_MEMORY_HINT_BYTES 256
const char *cli_memory_hint(char buf[CLI_MEMORY_HINT_BYTES]);

/* What is handed to everything of the library that takes an allocator: that of a budget or a limit; NULL, which is malloc, without. */
const struct gcd_alloc *cli_alloc(void);
/*
 * Arrays of the program itself that grow with the objects, from ALLOC (of cli_alloc, NULL = malloc).  cli_array_new clears them; NULL: no memory.
 * Growing keeps the items and clears nothing; without memory it returns NULL and changes nothing.  Free them with their count.
 */
void *cli_array_new(const struct gcd_alloc *alloc, size_t count, size_t item_bytes);
void *cli_array_grow(const struct gcd_alloc *alloc, void *items, size_t old_count, size_t new_count, size_t item_bytes);
void cli_array_free(const struct gcd_alloc *alloc, void *items, size_t count, size_t item_bytes);

/* The spill of --memory, NULL = none; cli_memory_close frees it. */
void cli_memory_use(struct gcd_spill *s);
struct gcd_spill *cli_memory_spill(void);
/* The budget of ARGS begins, unless there is one.  CLI_USAGE or CLI_FAILED after a line. */
enum cli_exit cli_memory_open(const struct cli_args *args);
/* The objects of D are counted: does the work NEED fit, is it spilled, or is there no room?  CLI_FAILED after a line. */
enum cli_exit cli_memory_plan(const struct cli_args *args, const struct cli_dump *d, enum cli_need need);
/* What people call a workload, and how much memory it will take of D, in bytes. */
const char *cli_workload_name(enum gcd_workload workload);
uint64_t cli_estimate(const struct cli_dump *d, enum gcd_workload workload);
/* Why a large block could not be had; NULL when that was not the reason. */
const char *cli_memory_problem(void);
/* After all that was made with cli_alloc is gone. */
void cli_memory_close(void);

#endif
