/*
 * paths --object: which object, and the paths to it.
 */
#ifndef GCD_CLI_OBJECT_PATHS_H
#define GCD_CLI_OBJECT_PATHS_H

#include <jansson.h>

#include "answer/answers.h"
#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/folded_paths.h"

#define CLI_DEFAULT_PATHS 10u

/* The object that WHICH names, by its address (0x...) or its number.  CLI_USAGE and CLI_FAILED
 * after a message. */
enum cli_exit cli_find_object(const char *which, const struct cli_dump *d, uint32_t *ret);

/*
 * Prints one path for each root that holds OBJECT and for each object that refers to it, shortest
 * first; at most --max-paths of them, else CLI_DEFAULT_PATHS.  Paths through OBJECT itself do not
 * count.
 */
enum cli_exit cli_object_paths(const struct cli_args *args, const struct cli_dump *d,
                               const struct gcd_paths *p, uint32_t object);

/* The paths of PATHS, whose second half is not filled yet, to all objects of some types; what it
 * adds to the head of a document.  *RET NULL on failure. */
extern const struct answer_shape cli_paths_shape;
gcd_status cli_paths_answer(const struct cli_type_paths *paths, const struct gcd_context *call,
                            struct answer **ret, struct gcd_error *err);
json_t *cli_paths_head(json_t *o, const struct gcd_merged_tree *tree);

#endif
