/* The two parts of a file's path. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include <stddef.h>

/* What is behind the last slash of PATH. */
const char *cli_path_name(const char *path);

/* What is before it goes to RET, "." when there is none, "/" for the root; what CAP bytes do not hold is cut. */
void cli_path_folder(const char *path, char *ret, size_t cap);

#endif
