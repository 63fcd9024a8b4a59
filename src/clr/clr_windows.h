/* The only Windows record that a heap dump uses: how a process was started. */
#ifndef GCD_CLR_WINDOWS_H
#define GCD_CLR_WINDOWS_H

#include <gcdumpc/event.h>

/*
 * Process V3 {key P; process, parent, session, exit status u32; page table P; [V4: flags u32];
 * user; image name in bytes with NUL; command line z, ...}.  The user is u32 0, or two P and a SID:
 * {u8, count u8, 6 bytes, count * u32}.
 */
struct gcd_windows_process {
    uint64_t process;
    const uint8_t *image; /* "dotnet.exe", in the code page of the system */
    size_t image_bytes;
    const uint8_t *command_line; /* UTF-16LE */
    size_t command_line_units;
};
/* GCD_E_FORMAT also for older versions. */
gcd_status gcd_windows_process(const struct gcd_event *ev, struct gcd_windows_process *ret);

#endif
