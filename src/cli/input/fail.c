#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>

#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "input/fail.h"
#include "input/memory.h"
#include "signals.h"
#include "term/message.h"

/* Advice, where the kind of error alone suggests one. */
static const char *what_next(const struct gcd_error *err, char memory[CLI_MEMORY_HINT_BYTES])
{
    static const char *const reasons[] = {
        [GCD_ERROR_NO_FOLDER] = "; create that folder first, or choose another",
        [GCD_ERROR_DISK_RESERVE] = "; make room, write to another disk (TMPDIR moves temporary "
                                   "files), or insist with --force",
        [GCD_ERROR_BLOCK_LIMIT] = "; --max-block raises it",
        [GCD_ERROR_COPY_LIMIT] = "; --max-bytes raises it",
        [GCD_ERROR_OBJECT_LIMIT] = "; --max-objects raises it",
        [GCD_ERROR_PROCESS_NOT_RECORDED] = "; gcdumpc info lists the dumps in it",
        [GCD_ERROR_WALK_NOT_RECORDED] = "; choose with --walk",
    };
    static const struct {
        int os_errno;
        const char *text;
    } steps[] = {
        { EACCES, "; run gcdumpc as the owner, or as root" },
        { EPERM, "; run gcdumpc as the owner, or as root" },
        { EROFS, "; choose a place that can be written (TMPDIR moves temporary files, as to "
                 "/dev/shm)" },
        { ENOSPC, "; make room, or write to another disk (TMPDIR moves temporary files)" },
        { EDQUOT, "; make room, or write to another disk (TMPDIR moves temporary files)" },
        { EFBIG, "; a limit of the shell (ulimit -f) or of the file system is too small" },
        { EMFILE, "; raise the limit of open files (ulimit -n)" },
    };
    if (err->reason < sizeof reasons / sizeof *reasons && reasons[err->reason] != NULL)
        return reasons[err->reason];
    if (err->code == GCD_E_NOMEM && cli_memory_hint(memory)[0] != '\0')
        return memory;
    if (err->code == GCD_E_TRUNCATED && err->off == 0)
        return "; record it again";
    if (err->code == GCD_E_NOMEM)
        return "; info, report without --retained and gclog need little memory";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (err->os_errno == steps[i].os_errno)
            return steps[i].text;
    return "";
}

enum cli_exit cli_fail(const char *subject, const struct gcd_error *err)
{
    if (err->code == GCD_E_CANCELED && atomic_load(&cli_timed_out))
        return cli_error(CLI_FAILED, subject, "the time is up (--timeout)");
    if (err->code == GCD_E_CANCELED)
        return cli_error(CLI_INTERRUPTED, subject, "interrupted");
    char memory[CLI_MEMORY_HINT_BYTES];
    const char *hint = what_next(err, memory);
    if (err->code == GCD_E_NOMEM && cli_memory_problem() != NULL)
        return cli_error(CLI_FAILED, subject, "%s: %s", err->msg, cli_memory_problem());
    if (err->off != GCD_OFF_NONE && (err->off > 0 || err->code != GCD_E_TRUNCATED))
        return cli_error(CLI_FAILED, subject, "%s (at byte %" PRIu64 ")%s", err->msg, err->off,
                         hint);
    return cli_error(CLI_FAILED, subject, "%s%s",
                     err->msg[0] != '\0' ? err->msg : gcd_status_text(err->code), hint);
}

enum cli_exit cli_no_memory(const char *subject)
{
    return cli_error(CLI_FAILED, subject, "out of memory");
}
