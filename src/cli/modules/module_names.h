/*
 * Names as they stand in the source, from the files of the modules.
 */
#ifndef GCD_CLI_MODULES_MODULE_NAMES_H
#define GCD_CLI_MODULES_MODULE_NAMES_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Before a process is disturbed: are the folders of --modules there?  CLI_FAILED after a line. */
enum cli_exit cli_check_module_folders(const struct cli_args *args);
/*
 * Completes the names of D, which must be open, and of which no graph and no names have been made.  Does nothing with --no-modules, and for a
 * dump that is a graph already.  A file that is missing, damaged or replaced is no failure; a line says so if it was replaced or cannot be read.
 * On failure the message has been printed.
 */
enum cli_exit cli_read_modules(const struct cli_args *args, const struct cli_dump *d);

#endif
