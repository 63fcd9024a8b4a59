/* The two parts of a file's path. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include <stddef.h>

/* The part of PATH after its last slash. */
const char *cli_path_name(const char *path);
/* The same for a path that may be of Windows. */
const char *cli_any_path_name(const char *path);

/* The folder of PATH, in RET[CAP]: "." without a slash, "/" for the root; cut to CAP bytes. */
void cli_path_folder(const char *path, char *ret, size_t cap);

#endif
