/*
 * User input: a configuration file, the name of an output with fields, a pattern, a threshold.  The
 * first byte chooses.
 *
 * It is accepted, or refused with a line that says why; accepted input can be used.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "commands/threshold.h"
#include "exit.h"
#include "fuzz/fuzz.h"
#include "job/config.h"
#include "job/template.h"
#include "opts.h"
#include "output/filter.h"
#include "output/type_pattern.h"
#include "signals.h"
#include "support/run.h"
#include "term/message.h"

#define TEXT_BYTES 4096u

static void expect_line(enum cli_exit e, bool usage_only)
{
    if (e == CLI_DONE)
        return;
    if (e != CLI_USAGE && (usage_only || e != CLI_FAILED))
        fuzz_fail("it is the user's mistake", "another exit status");
    if (cli_last_said()[0] == '\0')
        fuzz_fail("a refusal is told", "no line");
}

static size_t slashes(const char *path)
{
    size_t n = 0;
    for (; *path != '\0'; path++)
        n += *path == '/';
    return n;
}

/* The name of a process cannot change the path: the output has as many parts as with any other
 * name, in the same folder. */
static void check_template(const char *text)
{
    struct cli_template_values values = {
        .name = "../Sh\x01op", .pid = 4711, .host = "web1", .time = 1795279385
    };
    struct cli_template *t = NULL;
    char path[TEXT_BYTES], plain[TEXT_BYTES], folder[TEXT_BYTES];
    enum cli_exit e = cli_template_new(text, &t);
    expect_line(e, true);
    if (e != CLI_DONE)
        return;
    (void)cli_template_has_time(t);
    (void)cli_template_has_process(t);
    e = cli_template_expand(t, &values, path, sizeof path);
    expect_line(e, false);
    values.name = "Shop";
    if (e == CLI_DONE && cli_template_expand(t, &values, plain, sizeof plain) == CLI_DONE &&
        slashes(path) != slashes(plain))
        fuzz_fail("the name of a process is no path", path);
    if (e == CLI_DONE && cli_template_folder(t, folder, sizeof folder) &&
        strcmp(folder, ".") != 0 && strncmp(path, folder, strlen(folder)) != 0)
        fuzz_fail("an output is in its folder", path);
    cli_template_free(t);
}

/* Does TEXT mean the only type, whose names are NAMES? */
static bool means(const char *text, const struct cli_type_names *names)
{
    struct cli_type_pattern *p;
    uint8_t found = 0;
    const char *wrong = cli_type_pattern_new(text, &p);
    if (wrong == NULL && p == NULL)
        abort();
    bool other = wrong != NULL || cli_type_pattern_is_regex(p) || cli_type_pattern_is_module(p);
    if (wrong == NULL &&
        cli_type_pattern_select(p, names, false, &cli_canceled, &found) != CLI_MATCH)
        fuzz_fail("nobody cancels", text);
    cli_type_pattern_free(p);
    return other || found != 0;
}

/* A name matches its own type, and so does the name that is shown. */
static void check_filter(const char *text)
{
    struct cli_filter *f = NULL;
    enum cli_exit e = cli_filter_new(text, &f);
    expect_line(e, true);
    cli_filter_free(f);
    if (e != CLI_DONE)
        return;
    struct gcd_type t = { .id = 1,
                          .name = text,
                          .raw_name = text,
                          .module_path = "/x/Shop.dll",
                          .module_number = GCD_MODULE_NONE,
                          .element_type = 0x12,
                          .described = true,
                          .named = true };
    struct gcd_summary summary = { .types = &t, .type_count = 1 };
    struct gcd_names *names = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (gcd_names_new(&summary, GCD_NAMES_CSHARP, NULL, &names, &err) != GCD_OK)
        fuzz_fail("a name is a name", err.msg);
    struct cli_type_names n = { &summary, names, names };
    if (!means(text, &n))
        fuzz_fail("a raw name means its type", text);
    if (!means(gcd_names_get(names, 0), &n))
        fuzz_fail("a name means its type", gcd_names_get(names, 0));
    gcd_names_free(names);
}

static void check_threshold(const char *text)
{
    struct cli_threshold t;
    enum cli_exit e = cli_threshold_parse(text, &t);
    expect_line(e, true);
    if (e != CLI_DONE)
        return;
    /* a larger value does not fall below the limit again */
    if (!t.below && cli_threshold_exceeded(&t, 1000, 2000) &&
        !cli_threshold_exceeded(&t, 1000, 3000))
        fuzz_fail("more exceeds a limit, too", text);
    cli_threshold_done(&t);
}

static void check_config(const uint8_t *data, size_t size)
{
    struct job_config *c;
    struct cli_args args;
    char path[64];
    int fd = memfd_create("config", 0);
    if (fd < 0 || fchmod(fd, 0600) != 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum cli_exit e = job_config_read(path, &c);
    expect_line(e, true);
    (void)close(fd);
    if (e != CLI_DONE)
        return;
    /* only one job: each unknown option is compared with all known ones, which is slow */
    size_t jobs = job_config_count(c), one = jobs > 0 ? (size_t)(fuzz_hash(data, size) % jobs) : 0;
    for (size_t i = 0; i < jobs; i++)
        if (job_config_name(c, i) == NULL)
            fuzz_fail("a job has a name", "NULL");
    if (jobs > 0) {
        cli_hold(true);
        e = job_config_args(c, one, cli_collect(), &args);
        expect_line(e, false);
    }
    job_config_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_BYTES];
    if (size == 0)
        return 0;
    size_t n = size - 1 < sizeof text ? size - 1 : sizeof text - 1;
    memcpy(text, data + 1, n);
    text[n] = '\0';
    cli_hold(true); /* lines are collected, not printed */
    switch (data[0]) {
    case 't':
        check_template(text);
        break;
    case 'f':
        check_filter(text);
        break;
    case '>':
        check_threshold(text);
        break;
    default: /* the whole file, which need not depend on this byte */
        check_config(data, size);
    }
    return 0;
}
