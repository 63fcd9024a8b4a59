#ifndef FOLDER_H
#define FOLDER_H

#include <stddef.h>

#define FOLDER_BYTES 64

/* Makes a new folder and stores its path in RET.  Returns 0, or -1 and errno. */
int make_folder(char ret[FOLDER_BYTES]);
/* FOLDER/NAME; valid until the eighth call from now. */
const char *path_in_folder(const char *folder, const char *name);
/* Files and folders in the folder PATH; fails the test if there is none. */
size_t folder_entries(const char *path);
/* Makes a file at PATH with these bytes and replaces an existing one; fails the test if it cannot.
 */
void fill_file(const char *path, const void *bytes, size_t n);
/* Removes the folder PATH with everything in it; links are not followed.  0, or -1 and errno. */
int remove_folder(const char *path);

#endif
