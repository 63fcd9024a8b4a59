#ifndef FOLDER_H
#define FOLDER_H

/* Removes the folder PATH with everything in it; links are not followed.  0, or -1 and errno. */
int remove_folder(const char *path);

#endif
