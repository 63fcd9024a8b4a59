/*
 * Names as in the source code, from the files of the modules.
 */
#ifndef GCD_CLI_MODULES_MODULE_NAMES_H
#define GCD_CLI_MODULES_MODULE_NAMES_H

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "modules/finder.h"

/* Do the folders of --modules and --sysroot exist?  Call it before a process is disturbed.
 * CLI_FAILED after a message. */
enum cli_exit cli_check_module_folders(const struct cli_args *args);
/* The files for a core file that lacks metadata; free them after its input.  NULL with
 * --no-modules, or if memory is short. */
struct cli_image_files;
struct cli_image_files *cli_image_files_new(const struct cli_args *args);
const struct gcd_module_files *cli_image_files(const struct cli_image_files *files);
void cli_image_files_free(struct cli_image_files *files);
/*
 * Completes the names of D, and with LAYOUTS finds the fields of its types.  D must be open and
 * have neither graph nor names yet.  Does nothing with --no-modules, and for a dump that is a graph
 * already.  A file that is missing, damaged or
 * replaced is no failure; a message reports replaced and unreadable ones.  On failure the message
 * has been printed.
 */
enum cli_exit cli_read_modules(const struct cli_args *args, const struct cli_dump *d, bool layouts);
/* The same for a native program without names, by the program that process PID runs, if it is of
 * the same build. */
enum cli_exit cli_read_modules_of(const struct cli_args *args, const struct cli_dump *d,
                                  uint32_t pid);

/* The files with the symbols of D's modules; free the finder after use.  SEARCH is its own until
 * then.  NULL with --no-modules, or if memory is short. */
struct module_finder *cli_symbol_files(const struct cli_args *args, const struct cli_dump *d,
                                       struct module_search *search, struct gcd_module_files *ret);

#endif
