#include "job/when.h"

#ifdef GCDUMPC_HAVE_IPC

#include <stdio.h>
#include <string.h>

#include "term/expression.h"
#include "term/message.h"
#include "term/term.h"

/* No process has been seen to grow faster than 1 GiB/s: the kernel clears pages at about 4 GB/s. */
#define BYTES_PER_MS (UINT64_C(1) << 20)
/* What no growth predicts: pressure, and memory that falls. */
#define UNPREDICTED_MS 1000u
/* Reading the mappings of a process takes longer than reading its memory. */
#define HEAP_MS 1000u
/* Fewer bytes than any process has: a number below it lacks its unit. */
#define LEAST_BYTES 1048576.0

static const char *const names[] = { [CLI_WHEN_RSS] = "rss",
                                     [CLI_WHEN_HEAP] = "heap",
                                     [CLI_WHEN_LEFT] = "left",
                                     [CLI_WHEN_PRESSURE] = "pressure",
                                     [CLI_WHEN_GROWTH] = "growth" };
#define NAME_COUNT (sizeof names / sizeof *names)

/* ---- reading ---- */

static enum cli_exit read_window(struct cli_expression *x, struct cli_when_test *t)
{
    static const struct {
        const char *letter;
        double ms;
    } units[] = { { "s", 1e3 }, { "m", 60e3 }, { "h", 3600e3 }, { "d", 86400e3 } };
    static const char expected[] = "/TIME, such as growth/10m,";
    double n;
    if (*x->at != '/')
        return cli_expression_wrong(x, expected);
    x->at++;
    enum cli_exit e = cli_expression_number(x, &n);
    for (size_t i = 0; e == CLI_DONE && i < sizeof units / sizeof *units; i++)
        if (cli_expression_word(x, &units[i].letter, 1) == 0) {
            n *= units[i].ms;
            if (n < 1e3 || n > 86400e3 * 365)
                break;
            t->window_ms = (uint64_t)n;
            return CLI_DONE;
        }
    return e == CLI_DONE ? cli_expression_wrong(x, "s, m, h or d, in a time from 1s to 365d,") : e;
}

/* "rss > 85" would mean 85 bytes. */
static enum cli_exit lacks_unit(const struct cli_expression *x, const struct cli_when_test *t)
{
    char percent[32] = "";
    if (t->limit <= 100 || t->what == CLI_WHEN_GROWTH)
        (void)snprintf(percent, sizeof percent, "%.15g%% or ", t->limit);
    return cli_error(CLI_USAGE, NULL,
                     "%s \"%s\": without a unit these are %.15g bytes: write %s%.15gM, or %.15gB "
                     "if bytes are meant",
                     x->option, x->text, t->limit, percent, t->limit, t->limit);
}

static enum cli_exit read_limit(struct cli_expression *x, struct cli_when_test *t)
{
    double bytes;
    cli_expression_spaces(x);
    enum cli_exit e = cli_expression_number(x, &t->limit);
    if (e != CLI_DONE)
        return e;
    cli_expression_spaces(x);
    t->percent = *x->at == '%';
    if (!t->percent && t->what == CLI_WHEN_PRESSURE)
        return cli_expression_wrong(x, "%");
    if (t->percent && t->what != CLI_WHEN_GROWTH && t->limit > 100)
        return cli_expression_wrong(x, "at most 100");
    if (t->percent) {
        x->at++;
        return CLI_DONE;
    }
    if (*x->at == '\0' || strncmp(x->at, "and", 3) == 0)
        return t->limit > 0 && t->limit < LEAST_BYTES ? lacks_unit(x, t) : CLI_DONE;
    e = cli_expression_unit(x, &bytes);
    t->limit *= bytes;
    return e;
}

static enum cli_exit read_test(struct cli_expression *x, struct cli_when_test *t)
{
    cli_expression_spaces(x);
    size_t what = cli_expression_word(x, names, NAME_COUNT);
    if (what == NAME_COUNT)
        return cli_expression_wrong(x, "rss, heap, left, pressure or growth/TIME");
    *t = (struct cli_when_test){ .what = (enum cli_when_what)what };
    enum cli_exit e = t->what == CLI_WHEN_GROWTH ? read_window(x, t) : CLI_DONE;
    if (e == CLI_DONE)
        e = cli_expression_operator(x, &t->below, &t->or_equal);
    return e == CLI_DONE ? read_limit(x, t) : e;
}

static enum cli_exit parse(const char *text, struct cli_when *ret)
{
    static const char *const and = "and";
    struct cli_expression x = { "--when", text, text };
    *ret = (struct cli_when){ .text = text };
    for (;;) {
        if (ret->count == CLI_WHEN_TESTS)
            return cli_error(CLI_USAGE, NULL, "--when \"%s\": it has more than %u tests", text,
                             CLI_WHEN_TESTS);
        enum cli_exit e = read_test(&x, &ret->tests[ret->count]);
        if (e != CLI_DONE)
            return e;
        ret->count++;
        cli_expression_spaces(&x);
        if (*x.at == '\0')
            return CLI_DONE;
        if (cli_expression_word(&x, &and, 1) != 0)
            return cli_expression_wrong(&x, "\"and\" or the end");
    }
}

enum cli_exit cli_whens_parse(const char *const *texts, struct cli_whens *ret)
{
    static const unsigned parts[] = { [CLI_WHEN_HEAP] = GCD_IPC_WATCH_HEAP,
                                      [CLI_WHEN_LEFT] = GCD_IPC_WATCH_LEFT,
                                      [CLI_WHEN_PRESSURE] = GCD_IPC_WATCH_PRESSURE,
                                      [CLI_WHEN_GROWTH] = 0 };
    *ret = (struct cli_whens){ .count = 0 };
    for (; ret->count < CLI_WHEN_MAX && texts[ret->count] != NULL; ret->count++) {
        struct cli_when *w = &ret->items[ret->count];
        enum cli_exit e = parse(texts[ret->count], w);
        if (e != CLI_DONE)
            return e;
        for (const struct cli_when_test *t = w->tests; t < w->tests + w->count; t++) {
            ret->parts |= parts[t->what];
            if (t->window_ms > ret->window_ms)
                ret->window_ms = t->window_ms;
        }
    }
    return CLI_DONE;
}

/* ---- values ---- */

/* One test with the figures of a process. */
struct figures {
    bool known;
    double value, limit; /* both in bytes, or in percent for pressure */
};

static struct figures figures_of(const struct cli_when_test *t, const struct cli_when_values *v,
                                 uint64_t before)
{
    const struct gcd_ipc_watch_values *now = &v->now;
    struct figures f = { .known = true, .limit = t->limit };
    double whole = (double)now->limit_bytes;
    switch (t->what) {
    case CLI_WHEN_RSS:
        f.value = (double)now->rss_bytes;
        break;
    case CLI_WHEN_HEAP:
        f.known = now->heap_bytes != 0;
        f.value = (double)now->heap_bytes;
        break;
    case CLI_WHEN_LEFT:
        f.known = now->left_bytes != UINT64_MAX;
        f.value = (double)now->left_bytes;
        break;
    case CLI_WHEN_PRESSURE:
        f.known = now->pressure != UINT32_MAX;
        f.value = now->pressure / 100.0;
        return f;
    case CLI_WHEN_GROWTH:
        f.known = before != 0;
        f.value = (double)now->rss_bytes - (double)before;
        whole = (double)before;
        break;
    }
    if (t->percent) {
        f.known = f.known && whole > 0;
        f.limit = t->limit / 100 * whole;
    }
    return f;
}

static bool is_true(const struct cli_when_test *t, const struct figures *f)
{
    if (!f->known)
        return false;
    if (f->value == f->limit)
        return t->or_equal;
    return t->below ? f->value < f->limit : f->value > f->limit;
}

const struct cli_when *cli_whens_true(const struct cli_whens *w, const struct cli_when_values *v)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct cli_when *one = &w->items[i];
        bool all = true;
        for (size_t k = 0; k < one->count && all; k++) {
            struct figures f = figures_of(&one->tests[k], v, v->before_bytes[i][k]);
            all = is_true(&one->tests[k], &f);
        }
        if (all)
            return one;
    }
    return NULL;
}

void cli_when_say(const struct cli_when *w, const struct cli_when_values *v, char *ret, size_t cap)
{
    static const char *const whose[] = { [GCD_IPC_LIMIT_NONE] = "unknown",
                                         [GCD_IPC_LIMIT_CGROUP] = "of its cgroup",
                                         [GCD_IPC_LIMIT_MACHINE] = "of the machine" };
    const struct gcd_ipc_watch_values *now = &v->now;
    bool limit = false;
    size_t n = 0;
    char size[CLI_NUMBER_BYTES];
    ret[0] = '\0';
    for (size_t k = 0; k < w->count && n < cap; k++) {
        const struct cli_when_test *t = &w->tests[k];
        const char *comma = k > 0 ? ", " : "", *name = names[t->what];
        uint64_t bytes = t->what == CLI_WHEN_HEAP   ? now->heap_bytes
                         : t->what == CLI_WHEN_LEFT ? now->left_bytes
                                                    : now->rss_bytes;
        bool known = t->what == CLI_WHEN_HEAP   ? bytes != 0
                     : t->what == CLI_WHEN_LEFT ? bytes != UINT64_MAX
                                                : true;
        limit = limit || (t->percent && t->what < CLI_WHEN_PRESSURE);
        if (t->what == CLI_WHEN_GROWTH)
            name = "rss";
        if (t->what == CLI_WHEN_PRESSURE && now->pressure != UINT32_MAX)
            n += (size_t)snprintf(ret + n, cap - n, "%spressure %.2f %%%s", comma,
                                  now->pressure / 100.0,
                                  now->machine_pressure ? " (of the machine)" : "");
        else if (t->what == CLI_WHEN_PRESSURE || !known)
            n += (size_t)snprintf(ret + n, cap - n, "%s%s unknown", comma, name);
        else
            n += (size_t)snprintf(ret + n, cap - n, "%s%s %s", comma, name, cli_size(bytes, size));
    }
    if (limit && n < cap)
        (void)snprintf(ret + n, cap - n, ", limit %s (%s)",
                       now->limit_bytes != 0 ? cli_size(now->limit_bytes, size) : "unknown",
                       whose[now->limit]);
}

/* ---- how long to wait ---- */

static uint64_t milliseconds(double bytes)
{
    return bytes <= 0 ? 0 : bytes > 1e15 ? UINT64_MAX : (uint64_t)(bytes / (double)BYTES_PER_MS);
}

static uint64_t quiet_ms(const struct cli_when_test *t, const struct figures *f)
{
    if (!f->known || t->what == CLI_WHEN_PRESSURE || t->below != (t->what == CLI_WHEN_LEFT))
        return UNPREDICTED_MS;
    uint64_t ms = milliseconds(t->below ? f->value - f->limit : f->limit - f->value);
    return t->what == CLI_WHEN_HEAP && ms < HEAP_MS ? HEAP_MS : ms;
}

uint64_t cli_whens_quiet_ms(const struct cli_whens *w, const struct cli_when_values *v)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < w->count; i++) {
        const struct cli_when *one = &w->items[i];
        uint64_t most = 0; /* until all of its tests can be true */
        for (size_t k = 0; k < one->count; k++) {
            struct figures f = figures_of(&one->tests[k], v, v->before_bytes[i][k]);
            uint64_t ms = is_true(&one->tests[k], &f) ? 0 : quiet_ms(&one->tests[k], &f);
            most = ms > most ? ms : most;
        }
        least = most < least ? most : least;
    }
    return least;
}

/* How much the process must grow before T can become true, at least 1.  0 = another thing decides.
 */
static uint64_t growth_to(const struct cli_when_test *t, const struct figures *f)
{
    /* what is left may be decided by the machine, too */
    if (!f->known || t->what == CLI_WHEN_PRESSURE || t->what == CLI_WHEN_LEFT || t->below)
        return 0;
    return f->limit > f->value + 1 ? (uint64_t)(f->limit - f->value) : 1;
}

uint64_t cli_whens_growth_bytes(const struct cli_whens *w, const struct cli_when_values *v)
{
    uint64_t least = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct cli_when *one = &w->items[i];
        uint64_t most = 0;
        for (size_t k = 0; k < one->count; k++) {
            struct figures f = figures_of(&one->tests[k], v, v->before_bytes[i][k]);
            uint64_t bytes = growth_to(&one->tests[k], &f);
            most = bytes > most ? bytes : most;
        }
        if (most == 0)
            return 0;
        least = i == 0 || most < least ? most : least;
    }
    return least;
}

#endif
