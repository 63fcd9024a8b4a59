/*
 * In a recording of a whole machine, the Windows kernel reports how every process was started,
 * including those that ran before.  This is needed to find a process by name, because the runtime
 * reports its command line only in a requested rundown.
 */
#include "base/error.h"
#include "base/mem.h"
#include "clr/clr_ids.h"
#include "clr/clr_windows.h"
#include "load/load.h"

/* Maximum number of processes stored. */
#define MAX_STARTED 65536u

void load_process_start_init(struct load_process_start *s, const struct gcd_alloc *a,
                             uint64_t max_text_bytes)
{
    *s = (struct load_process_start){ .alloc = a };
    gcd_textpool_init(&s->text, a, max_text_bytes);
    gcd_idmap_init(&s->by_process, a);
}

void load_process_start_done(struct load_process_start *s)
{
    if (s->alloc == NULL)
        return;
    gcd_textpool_done(&s->text);
    gcd_idmap_done(&s->by_process);
    gcd_mem_free(s->alloc, s->lines, s->cap * sizeof *s->lines);
}

/* The command line, or the name of the program if there is none. */
static gcd_status keep_text(struct load_process_start *s, const struct gcd_windows_process *p,
                            const char **ret)
{
    if (p->command_line_units > 0)
        return gcd_textpool_add_utf16(&s->text, p->command_line, p->command_line_units, ret);
    return gcd_textpool_add_utf8(&s->text, p->image, p->image_bytes, ret);
}

gcd_status load_process_start_event(struct load_process_start *s, const struct gcd_event *ev,
                                    struct gcd_error *err)
{
    struct gcd_windows_process p;
    if (ev->id < GCD_WIN_PROCESS_START || ev->id > GCD_WIN_PROCESS_DC_END ||
        gcd_windows_process(ev, &p) != GCD_OK)
        return GCD_OK;
    uint32_t i = gcd_idmap_get(&s->by_process, p.process);
    if (i != GCD_IDMAP_NONE && ev->id != GCD_WIN_PROCESS_START)
        return GCD_OK; /* known already; a start means a new process with an old number */
    if (i == GCD_IDMAP_NONE) {
        if (s->count == MAX_STARTED)
            return GCD_OK;
        if (!gcd_vec_reserve(s->alloc, &s->lines, &s->cap, s->count + 1, sizeof *s->lines,
                             MAX_STARTED))
            return gcd_fail_nomem(err, "reading processes");
        s->lines[s->count] = "";
        if (!gcd_idmap_put(&s->by_process, p.process, (uint32_t)s->count))
            return gcd_fail_nomem(err, "reading processes");
        i = (uint32_t)s->count++;
    }
    gcd_status st = keep_text(s, &p, &s->lines[i]);
    return st == GCD_E_NOMEM ? gcd_fail_nomem(err, "reading processes")
           : st < 0          ? gcd_fail(err, st, "too much text in names of processes")
                             : GCD_OK;
}

const char *load_process_start_line(const struct load_process_start *s, uint64_t process)
{
    uint32_t i = gcd_idmap_get(&s->by_process, process);
    return i != GCD_IDMAP_NONE ? s->lines[i] : "";
}
