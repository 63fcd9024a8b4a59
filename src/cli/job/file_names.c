#include <gcdumpc/gcdumpc.h>

#include "job/job.h"
#include "term/message.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void job_given_names(const struct cli_args *a, const char *ret[JOB_FILES])
{
    ret[JOB_OUTPUT] = a->output.path;
    ret[JOB_TRACE] = a->live.save_trace;
    ret[JOB_SUMMARY] = a->output.summary;
}

const struct cli_template *job_template(const struct job_dump *d)
{
    return d->templates[JOB_OUTPUT] != NULL ? d->templates[JOB_OUTPUT] : d->templates[JOB_SUMMARY];
}

bool job_names_taken(const struct job_dump *d)
{
    struct stat st;
    for (size_t i = 0; i < JOB_FILES; i++)
        if (d->templates[i] != NULL && cli_template_has_time(d->templates[i]) &&
            lstat(d->paths[i], &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
            return true;
    return false;
}

/* Expands the names of D's files, into d->paths and ARGS. */
static enum cli_exit expand_names(struct job_dump *d, struct cli_args *args)
{
    const char *names[JOB_FILES],
        **const to[] = { &args->output.path, &args->live.save_trace, &args->output.summary };
    enum cli_exit e = CLI_DONE;
    job_given_names(d->args, names);
    for (size_t i = 0; i < JOB_FILES && e == CLI_DONE; i++) {
        if (d->templates[i] != NULL)
            e = cli_template_expand(d->templates[i], &d->values, d->paths[i], sizeof d->paths[i]);
        else if (names[i] != NULL && strcmp(names[i], "-") != 0)
            (void)snprintf(d->paths[i], sizeof d->paths[i], "%s", names[i]);
        if (d->paths[i][0] != '\0')
            *to[i] = d->paths[i];
    }
    return e;
}

/* How many later seconds to try for a free name.  More taken names are no accident. */
#define TAKEN_MAX 3600u

enum cli_exit job_name_files(struct job_dump *d, struct cli_args *args)
{
    enum cli_exit e = expand_names(d, args);
    for (unsigned i = 0; i < TAKEN_MAX && e == CLI_DONE && job_names_taken(d); i++) {
        d->values.time++;
        e = expand_names(d, args);
    }
    if (e == CLI_DONE && job_names_taken(d))
        return cli_error(CLI_FAILED, args->output.path,
                         "exists, as do the files of all seconds before it since this run began");
    return e;
}

/* ---- their places ---- */

static enum cli_exit make_folders(const struct job_dump *d)
{
    enum cli_exit e = CLI_DONE;
    for (size_t i = 0; i < JOB_FILES && e == CLI_DONE; i++)
        if (d->templates[i] != NULL)
            e = cli_template_make_folders(d->templates[i], &d->values);
    return e;
}

/* Others can guess a generated name, so do not follow links or write to devices. */
static enum cli_exit check_name(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode) ||
        S_ISDIR(st.st_mode)) /* only the format knows whether it may be a folder */
        return CLI_DONE;
    return cli_error(
        CLI_FAILED, path,
        "exists and is not a regular file; a name with fields needs a new or a regular file");
}

enum cli_exit job_prepare_places(const struct job_dump *d)
{
    for (size_t i = 0; i < JOB_FILES; i++)
        if (d->templates[i] != NULL) /* opening the new file cleans only its own folder */
            cli_template_sweep(d->templates[i], &d->values);
    enum cli_exit e = make_folders(d);
    for (size_t i = 0; i < JOB_FILES && e == CLI_DONE; i++)
        if (d->templates[i] != NULL)
            e = check_name(d->paths[i]);
    return e;
}
