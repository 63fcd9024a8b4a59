/*
 * run --check: checks the options of the jobs, and finds what cron would find too late: jobs that
 * write the same files, and hook programs that do not exist.
 */
#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "job/config.h"
#include "job/template.h"
#include "output/output.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- programs ---- */

static bool can_run(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Would posix_spawnp find the program WORD[N]? */
static bool is_found(const char *word, size_t n)
{
    char path[4096];
    const char *folders = getenv("PATH");
    if (memchr(word, '/', n) != NULL) {
        (void)snprintf(path, sizeof path, "%.*s", (int)n, word);
        return n < sizeof path && can_run(path);
    }
    for (const char *f = folders != NULL ? folders : "/bin:/usr/bin"; *f != '\0';
         f += f[0] == ':') {
        size_t k = strcspn(f, ":");
        int length =
            snprintf(path, sizeof path, "%.*s/%.*s", (int)k, k > 0 ? f : ".", (int)n, word);
        if (length > 0 && (size_t)length < sizeof path && can_run(path))
            return true;
        f += k;
    }
    return false;
}

static enum cli_exit check_hook(const char *job, const char *option, const char *command)
{
    if (command == NULL)
        return CLI_DONE;
    command += strspn(command, " \t");
    size_t n = strcspn(command, " \t");
    if (n > 0 && is_found(command, n))
        return CLI_DONE;
    return cli_error(CLI_FAILED, NULL, "job %s: %s: there is no program \"%.*s\" that can be run",
                     job, option, (int)(n < 1000 ? n : 1000), command);
}

/* ---- files ---- */

/* Do both jobs dump one process each, with different names, and do both outputs contain the name?
 */
static bool tells_processes(const struct cli_args *a, const struct cli_template *x,
                            const struct cli_args *b, const struct cli_template *y)
{
    const char *one = a->target.name, *other = b->target.name;
    return one != NULL && other != NULL && strpbrk(one, "*?[") == NULL &&
           strpbrk(other, "*?[") == NULL && strcmp(one, other) != 0 && cli_template_uses(x, "n") &&
           cli_template_uses(y, "n");
}

/* Can PATH_A of job A and PATH_B of job B become the same file? */
static bool meet(const struct cli_args *a, const char *path_a, const struct cli_args *b,
                 const char *path_b)
{
    struct cli_template *x = NULL, *y = NULL;
    bool ret = false;
    if (path_a == NULL || path_b == NULL || strcmp(path_a, "-") == 0 || strcmp(path_b, "-") == 0)
        return false;
    if (cli_template_new(path_a, &x) == CLI_DONE && cli_template_new(path_b, &y) == CLI_DONE)
        ret = cli_template_meets(x, a->job.name, y, b->job.name) && !tells_processes(a, x, b, y);
    cli_template_free(x);
    cli_template_free(y);
    return ret;
}

/* Warns when A and B write the same files. */
static void compare(const char *path, const struct cli_args *a, const struct cli_args *b)
{
    const char *const of_a[] = { a->output.path, a->live.save_trace, a->output.summary };
    const char *const of_b[] = { b->output.path, b->live.save_trace, b->output.summary };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            if (meet(a, of_a[i], b, of_b[k])) {
                cli_say(path,
                        "jobs %s and %s write the same files: %s; %%J in it, the name of the job, "
                        "tells them apart",
                        a->job.name, b->job.name, of_b[k]);
                return;
            }
    if (a->job.metrics != NULL && b->job.metrics != NULL &&
        strcmp(a->job.metrics, b->job.metrics) == 0)
        cli_say(path,
                "jobs %s and %s write the same metrics, so each replaces those of the other: %s",
                a->job.name, b->job.name, b->job.metrics);
}

/* ---- all jobs ---- */

static enum cli_exit check_job(const char *path, const struct job_config *c, size_t i,
                               struct cli_args *ret)
{
    const char *job = job_config_name(c, i);
    enum cli_exit e = job_config_args(c, i, cli_collect(), ret);
    if (e == CLI_DONE)
        e = check_hook(job, "on-success", ret->job.on_success);
    if (e == CLI_DONE)
        e = check_hook(job, "on-failure", ret->job.on_failure);
    if (e == CLI_DONE)
        printf("%s: job %s: ok\n", path, job);
    return e;
}

enum cli_exit job_config_check(const char *path, const struct job_config *c, const char *name)
{
    size_t n = job_config_count(c);
    struct cli_args *args = calloc(n + 1, sizeof *args);
    bool *good = calloc(n + 1, sizeof *good);
    enum cli_exit worst = args != NULL && good != NULL ? CLI_DONE : cli_no_memory(NULL);
    for (size_t i = 0; i < n && args != NULL && good != NULL; i++) {
        bool wanted = name == NULL || strcmp(name, job_config_name(c, i)) == 0;
        enum cli_exit e = wanted ? check_job(path, c, i, &args[i]) : CLI_DONE;
        good[i] = wanted && e == CLI_DONE;
        worst = e != CLI_DONE ? e : worst;
        for (size_t k = 0; k < i; k++)
            if (good[i] && good[k])
                compare(path, &args[k], &args[i]);
    }
    free(args);
    free(good);
    enum cli_exit e = cli_flush_stdout();
    return worst != CLI_DONE ? worst : e;
}
