/*
 * What others do between two looks of ours: a hook that is called before each call into the system that has a name in a folder.  Only for
 * programs that tests/CMakeLists.txt builds with meanwhile.c, which defines these calls.
 */
#ifndef MEANWHILE_H
#define MEANWHILE_H

enum meanwhile_call { MEANWHILE_OPEN, MEANWHILE_STAT, MEANWHILE_RENAME, MEANWHILE_LINK, MEANWHILE_UNLINK };

/* NAME and FLAGS are those of the call.  The hook is not told of its own calls.  NULL: nobody does anything. */
typedef void (*meanwhile_hook)(enum meanwhile_call call, const char *name, int flags);
void meanwhile(meanwhile_hook hook);

#endif
