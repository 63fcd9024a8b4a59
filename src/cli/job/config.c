#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/folders.h>

#include "args.h"
#include "exit.h"
#include "job/config.h"
#include "opts.h"
#include "output/output.h"
#include "term/lists.h"
#include "term/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdio.h>

#define LINE_BYTES      8192
#define BLANKS          " \t\r\n\v\f"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define ENTRIES_MAX     100000u

struct entry {
    char *name, *value;
    size_t section; /* 0 = before the first */
    unsigned line;
};

struct job_config {
    const char *path;
    char **sections; /* [section_count]; the first one is "" */
    size_t section_count;
    struct entry *entries;
    size_t count, cap;
    /* while reading */
    FILE *file;
    unsigned line;
    enum cli_exit exit;
};

static enum cli_exit bad(struct job_config *c, const char *problem)
{
    if (c->exit == CLI_DONE)
        cli_say(c->path, "line %u: %s", c->line, problem);
    c->exit = CLI_USAGE;
    return CLI_USAGE;
}

static void no_memory(struct job_config *c)
{
    if (c->exit == CLI_DONE)
        cli_say(c->path, "out of memory");
    c->exit = CLI_FAILED;
}

/* ---- reading ---- */

/* Makes NAME the section of the options that follow. */
static void open_section(struct job_config *c, const char *name)
{
    for (size_t i = 0; i < c->section_count; i++)
        if (strcmp(c->sections[i], name) == 0) {
            if (i + 1 < c->section_count)
                (void)bad(c, "the job is already defined");
            return;
        }
    char **all = realloc(c->sections, (c->section_count + 1) * sizeof *all), *copy = strdup(name);
    if (all != NULL)
        c->sections = all;
    if (all == NULL || copy == NULL) {
        free(copy);
        no_memory(c);
        return;
    }
    c->sections[c->section_count++] = copy;
}

static void add(struct job_config *c, const char *name, const char *value)
{
    size_t section = c->section_count - 1;
    for (size_t i = c->count; i-- > 0 && c->entries[i].section == section;)
        if (strcmp(c->entries[i].name, name) == 0) {
            (void)bad(c, "the option is already set");
            return;
        }
    if (c->count == ENTRIES_MAX) {
        (void)bad(c, "too many options");
        return;
    }
    if (!cli_list_grow(&c->entries, c->count, &c->cap, sizeof *c->entries)) {
        no_memory(c);
        return;
    }
    struct entry *e = &c->entries[c->count];
    *e = (struct entry){
        .name = strdup(name), .value = strdup(value), .section = section, .line = c->line
    };
    c->count++;
    if (e->name == NULL || e->value == NULL)
        no_memory(c);
}

static char *trimmed(char *s)
{
    s += strspn(s, BLANKS);
    size_t n = strlen(s);
    while (n > 0 && strchr(BLANKS, s[n - 1]) != NULL)
        n--;
    s[n] = '\0';
    return s;
}

/* Text after a value is part of the value: a semicolon may be part of a name. */
static void read_line(struct job_config *c, char *line)
{
    if (c->line == 1 && strncmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        line += strlen(BYTE_ORDER_MARK);
    char *text = trimmed(line);
    if (text[0] == '\0' || text[0] == ';' || text[0] == '#')
        return;
    bool behind_option = c->count > 0 && c->entries[c->count - 1].section + 1 == c->section_count;
    char *end = text + strcspn(text, text[0] == '[' ? "]" : "=:");
    /* in other programs this continues the previous value */
    if (text > line && behind_option) {
        (void)bad(c, "the line is indented, but a value is one line");
    } else if (*end == '\0') {
        (void)bad(c, "is neither [NAME] nor OPTION = VALUE");
    } else if (text[0] == '[') {
        *end = '\0';
        open_section(c, text + 1);
    } else {
        *end = '\0';
        add(c, trimmed(text), trimmed(end + 1));
    }
}

static void read_lines(struct job_config *c)
{
    char line[LINE_BYTES];
    open_section(c, "");
    while (c->exit == CLI_DONE && fgets(line, sizeof line, c->file) != NULL) {
        c->line++;
        if (strchr(line, '\n') == NULL && !feof(c->file))
            (void)bad(c, "it is too long, or contains a NUL");
        else
            read_line(c, line);
    }
    if (c->exit == CLI_DONE && ferror(c->file)) {
        cli_say(c->path, "cannot read: %s", strerror(errno));
        c->exit = CLI_FAILED;
    }
}

/* The owner of a folder decides which of several files has a name in it. */
static bool is_in_our_folder(const char *path)
{
    int fd;
    if (gcd_folder_open_parent(path, &fd, NULL) != GCD_OK)
        return false;
    struct stat st;
    bool ours = gcd_folder_is_ours(fd) && fstat(fd, &st) == 0 &&
                ((st.st_mode & S_IWOTH) == 0 || (st.st_mode & S_ISVTX) != 0);
    (void)close(fd);
    return ours;
}

/* The same where a link leads. */
static bool leads_to_our_folder(int fd)
{
    char name[sizeof "/proc/self/fd/" + 12], path[4096];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof path - 1);
    if (n <= 0)
        return true; /* without /proc */
    path[n] = '\0';
    return is_in_our_folder(path);
}

/* Root runs what the file says, including programs, so nobody else may have written it. */
static enum cli_exit check_owner(const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return cli_error(CLI_FAILED, path, "is not a regular file");
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return cli_error(
            CLI_FAILED, path,
            "belongs to another user (%lu); its owner must be root or the user who runs it (chown)",
            (unsigned long)st.st_uid);
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return cli_error(CLI_FAILED, path, "others may write it; chmod go-w");
    if (!is_in_our_folder(path) || !leads_to_our_folder(fd))
        return cli_error(CLI_FAILED, path,
                         "is in a folder where another user could replace it; move it to a folder "
                         "of root or of the user who runs it");
    return CLI_DONE;
}

enum cli_exit job_config_read(const char *path, struct job_config **ret)
{
    *ret = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    int fd;
    /* the owner of a link could choose which jobs run */
    if (gcd_path_open(path, &fd, &err) != GCD_OK) {
        return cli_error(CLI_FAILED, path,
                         "%s; --config names another file, see gcdumpc run --help", err.msg);
    }
    enum cli_exit e = check_owner(path, fd);
    struct job_config *c = e == CLI_DONE ? calloc(1, sizeof *c) : NULL;
    FILE *f = c != NULL ? fdopen(fd, "r") : NULL;
    if (f == NULL) {
        (void)close(fd);
        free(c);
        if (e == CLI_DONE)
            cli_say(path, "cannot open: %s", strerror(errno));
        return CLI_FAILED;
    }
    c->path = path;
    c->file = f;
    read_lines(c);
    (void)fclose(f);
    c->file = NULL;
    e = c->exit;
    if (e == CLI_DONE)
        *ret = c;
    else
        job_config_free(c);
    return e;
}

void job_config_free(struct job_config *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++) {
        free(c->entries[i].name);
        free(c->entries[i].value);
    }
    for (size_t i = 0; i < c->section_count; i++)
        free(c->sections[i]);
    free(c->entries);
    free(c->sections);
    free(c);
}

/* ---- jobs ---- */

size_t job_config_count(const struct job_config *c)
{
    return c->section_count - 1;
}

const char *job_config_name(const struct job_config *c, size_t i)
{
    return c->sections[i + 1];
}

static bool overridden(const struct job_config *c, const struct entry *general, size_t section)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->entries[i].section == section && strcmp(c->entries[i].name, general->name) == 0)
            return true;
    return false;
}

enum cli_exit job_config_args(const struct job_config *c, size_t i,
                              const struct cli_command *command, struct cli_args *ret)
{
    char place[300];
    enum cli_exit e = CLI_DONE;
    cli_args_init(ret);
    ret->job.name = job_config_name(c, i);
    ret->job.others = c->sections + 1;
    ret->job.other_count = job_config_count(c);
    for (size_t k = 0; k < c->count && e == CLI_DONE; k++) {
        const struct entry *one = &c->entries[k];
        if (one->section != i + 1 && (one->section != 0 || overridden(c, one, i + 1)))
            continue;
        (void)snprintf(place, sizeof place, "%s: line %u", c->path, one->line);
        cli_at(place);
        e = cli_set_option(command, one->name, one->value, ret);
    }
    if (e == CLI_DONE) {
        (void)snprintf(place, sizeof place, "%s: job %s", c->path, job_config_name(c, i));
        cli_at(place);
        e = cli_check_args(command, ret);
        if (e == CLI_DONE && ret->job.adopt) /* else a list that is lost would not be noticed */
            e = cli_error(CLI_USAGE, place, "adopt is for one run: gcdumpc run JOB --adopt");
        if (e == CLI_DONE)
            e = cli_check_job(ret);
        if (e == CLI_DONE)
            e = cli_output_check(ret);
    }
    cli_at(NULL);
    return e;
}
