#include <stdio.h>
#include <string.h>

#include "args.h"
#include "commands/commands.h"
#include "exit.h"
#include "input/memory.h"
#include "job/config.h"
#include "term/message.h"
#include "term/suggest.h"

#ifndef GCDUMPC_CONFIG
#define GCDUMPC_CONFIG "/etc/gcdumpc.conf"
#endif

static void say_jobs(const char *path, const struct job_config *c, const char *wanted)
{
    char all[1000] = "", meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, wanted != NULL ? wanted : "");
    for (size_t i = 0; i < job_config_count(c); i++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "" : ", ", job_config_name(c, i));
        cli_nearest_try(&near, job_config_name(c, i));
    }
    cli_say(path, "%s%s; there is: %s",
            wanted != NULL ? "has no job of that name" : "a job is needed",
            cli_meant(&near, "", meant), all[0] != '\0' ? all : "none");
}

/* The index of job NAME; SIZE_MAX = there is none. */
static size_t find(const struct job_config *c, const char *name)
{
    for (size_t i = 0; i < job_config_count(c); i++)
        if (strcmp(job_config_name(c, i), name) == 0)
            return i;
    return SIZE_MAX;
}

enum cli_exit cmd_run(const struct cli_args *args)
{
    const char *path = args->job.config != NULL ? args->job.config : GCDUMPC_CONFIG;
    struct job_config *c = NULL;
    struct cli_args job;
    enum cli_exit e = job_config_read(path, &c);
    if (e != CLI_DONE)
        return e;
    size_t i = args->input != NULL ? find(c, args->input) : SIZE_MAX;
    if ((i == SIZE_MAX && (args->input != NULL || !args->job.check)) || job_config_count(c) == 0) {
        say_jobs(path, c, args->input);
        e = CLI_USAGE;
    } else if (args->job.check) {
        e = job_config_check(path, c, args->input);
    } else {
        e = job_config_args(c, i, cli_collect(), &job);
        job.quiet = job.quiet || args->quiet;
        job.job.adopt = args->job.adopt;
        if (e == CLI_DONE) {
            cli_memory_limit(job.limits.max_memory_bytes);
            e = cmd_collect(&job);
        }
    }
    job_config_free(c);
    return e;
}
