/*
 * The program file of a process.
 */
#ifndef GCD_IPC_PROGRAM_H
#define GCD_IPC_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* Does the program of process PID export NAME to a debugger or library: is it a string of the
 * dynamic symbols of its ELF file (64 bits, little-endian)?  False when unknown.  A few reads. */
bool gcd_program_exports(const char *proc, uint32_t pid, const char *name);

#endif
