/* The container that a process is in. */
#ifndef GCD_IPC_CONTAINER_H
#define GCD_IPC_CONTAINER_H

#include <stdint.h>

#define GCD_CONTAINER_ID_MAX 65 /* with the terminating zero */

/* The id of the innermost container of PID, 64 hexadecimal digits; "" when its cgroups name none.
 */
void gcd_container_find(const char *proc, uint32_t pid, char *ret);

#endif
