/* Reports about a dump: log lines, metrics, hooks. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "exit.h"
#include "job/job.h"
#include "signals.h"
#include "support/check.h"
#include "support/folder.h"
#include "term/message.h"

#define BEGUN 1795279385 /* 2026-11-21 16:43:05 UTC */
#define TIME  "2026-11-21T16:43:05Z"

extern char **environ;

static char folder[64], held[1 << 16];
static struct cli_args args;
static struct job_dump d;

static void path_in(char *ret, const char *name)
{
    assert_true(snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX);
}

static const char *content(const char *name)
{
    char path[PATH_MAX];
    path_in(path, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    held[fread(held, 1, sizeof held - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    return held;
}

static struct job_dump a_dump(void)
{
    return (struct job_dump){
        .args = &args,
        .pid = 4711,
        .name = "Shop",
        .runtime = "10.0.1",
        .rss_bytes = 300,
        .begun = BEGUN,
        .paths = { "/d/x.gclog" },
        .status = JOB_DONE,
        .file_bytes = 77,
        .duration_ms = 1250,
        .facts = { .taken = true,
                   .complete = true,
                   .objects = 5,
                   .edges = 6,
                   .heap_bytes = 800,
                   .stream_bytes = 9,
                   .pause_ns = 1499999 },
    };
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-tell-XXXXXX");
    memset(&args, 0, sizeof args);
    d = a_dump();
    cli_hold(false);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

static int saved_stderr;

/* Captures standard error from here to captured(). */
static void capture(void)
{
    char path[PATH_MAX];
    path_in(path, "stderr");
    (void)fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(saved_stderr >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    (void)close(fd);
}

static const char *captured(void)
{
    (void)fflush(stderr);
    assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
    (void)close(saved_stderr);
    return content("stderr");
}

/* ---- lines ---- */

static void told(const char *line)
{
    capture();
    job_log_run(&d);
    assert_string_equal(captured(), line);
}

static void text_lines(void **state)
{
    (void)state;
    args.job.log = CLI_LOG_TEXT;
    told(TIME " gcdumpc done name=Shop pid=4711 runtime=10.0.1 complete=yes objects=5 "
              "heap_bytes=800 pause_ms=1 lost_events=0 seconds=1.2 "
              "file_bytes=77 file=/d/x.gclog\n");
    (void)snprintf(d.paths[JOB_SUMMARY], sizeof d.paths[JOB_SUMMARY], "/d/x.json");
    told(TIME " gcdumpc done name=Shop pid=4711 runtime=10.0.1 complete=yes objects=5 "
              "heap_bytes=800 pause_ms=1 lost_events=0 seconds=1.2 "
              "file_bytes=77 file=/d/x.gclog summary=/d/x.json\n");
    d.paths[JOB_SUMMARY][0] = '\0';
    d.facts.pause_ns = 1500000; /* rounded to the nearest */
    d.facts.complete = false;
    d.facts.lost_events = 3;
    d.status = JOB_INCOMPLETE;
    d.removed = 2;
    d.duration_ms = 12345;
    told(TIME " gcdumpc incomplete name=Shop pid=4711 runtime=10.0.1 complete=no objects=5 "
              "heap_bytes=800 pause_ms=2 lost_events=3 seconds=12.3 "
              "file_bytes=77 file=/d/x.gclog removed=2\n");
    d = (struct job_dump){ .args = &args,
                           .begun = BEGUN,
                           .status = JOB_FAILED,
                           .reason = "no process",
                           .paths = { "/d/x.gclog" } };
    told(TIME " gcdumpc failed name=\"\" seconds=0.0 reason=\"no process\"\n");
    d.status = JOB_SKIPPED;
    d.pid = 1;
    d.name[0] = 'x';
    told(TIME " gcdumpc skipped name=x pid=1 seconds=0.0 reason=\"no process\"\n");
}

/* A value never ends early and never starts another one. */
static void quoted_values(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "plain", "plain" },
        { "a b", "\"a b\"" },
        { "a=b", "\"a=b\"" },
        { "a\"b", "\"a\\\"b\"" },
        { "a\\b", "\"a\\\\b\"" },
        { "\" pid=1", "\"\\\" pid=1\"" },
        { "\\", "\"\\\\\"" },
        { "", "\"\"" },
        { "\xc3\xa4", "\xc3\xa4" },
        { "a\nb", "a?b" },
        { "a \x1b[1m\xff", "\"a ?[1m?\"" },
        { "'", "'" },
    };
    char want[400];
    d = (struct job_dump){ .args = &args, .begun = BEGUN, .status = JOB_DONE };
    args.job.log = CLI_LOG_TEXT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned field = 0; field < 4; field++) {
            struct job_dump *x = &d;
            x->name[0] = x->runtime[0] = x->paths[0][0] = x->reason[0] = '\0';
            if (rows[i][0][0] == '\0' && field > 0)
                continue; /* a field that is not there */
            (void)snprintf(field == 0   ? x->name
                           : field == 1 ? x->runtime
                           : field == 2 ? x->paths[0]
                                        : x->reason,
                           64, "%s", rows[i][0]);
            const char *quoted = rows[i][1];
            (void)snprintf(
                want, sizeof want, TIME " gcdumpc done name=%s%s%s seconds=0.0%s%s%s%s\n",
                field == 0 ? quoted : "\"\"", field == 1 ? " runtime=" : "",
                field == 1 ? quoted : "", field == 2 ? " file_bytes=0 file=" : "",
                field == 2 ? quoted : "", field == 3 ? " reason=" : "", field == 3 ? quoted : "");
            told(want);
        }
    }
}

static void json_lines(void **state)
{
    (void)state;
    args.job.log = CLI_LOG_JSON;
    d.removed = 4;
    told("{\"schema\": 1, \"time\": \"" TIME "\", \"status\": \"done\", \"exit\": 0, \"name\": "
         "\"Shop\", \"pid\": 4711, \"runtime\": \"10.0.1\", "
         "\"seconds\": 1.25, \"removed\": 4, \"file\": \"/d/x.gclog\", \"summary\": null, "
         "\"reason\": null, \"complete\": true, "
         "\"objects\": 5, \"references\": 6, \"heap_bytes\": 800, \"pause_ns\": 1499999, "
         "\"lost_events\": 0, \"rss_bytes\": 300, \"file_bytes\": 77}\n");
    d.status = JOB_INCOMPLETE;
    d.exit = CLI_INCOMPLETE;
    d.facts.complete = false;
    d.facts.lost_events = 2;
    (void)snprintf(d.reason, sizeof d.reason, "2 \"events\"");
    told("{\"schema\": 1, \"time\": \"" TIME "\", \"status\": \"incomplete\", \"exit\": 3, "
         "\"name\": \"Shop\", \"pid\": 4711, \"runtime\": "
         "\"10.0.1\", \"seconds\": 1.25, \"removed\": 4, \"file\": \"/d/x.gclog\", \"summary\": "
         "null, \"reason\": \"2 \\\"events\\\"\", "
         "\"complete\": false, "
         "\"objects\": 5, \"references\": 6, \"heap_bytes\": 800, \"pause_ns\": 1499999, "
         "\"lost_events\": 2, \"rss_bytes\": 300, \"file_bytes\": 77}\n");
    d = (struct job_dump){ .args = &args,
                           .begun = BEGUN,
                           .status = JOB_FAILED,
                           .exit = CLI_FAILED,
                           .name = "\xff",
                           .paths = { "/d/x" } };
    told(
        "{\"schema\": 1, \"time\": \"" TIME
        "\", \"status\": \"failed\", \"exit\": 1, \"name\": \"?\", \"pid\": 0, \"runtime\": null, "
        "\"seconds\": 0.0, \"removed\": 0, \"file\": null, \"summary\": null, \"reason\": null}\n");
}

/* Without a log only skipped dumps get a line: failures have printed their message. */
static void without_a_log(void **state)
{
    (void)state;
    told("");
    d.status = JOB_SKIPPED;
    (void)snprintf(d.reason, sizeof d.reason, "it has ended");
    told("gcdumpc: process 4711: no dump: it has ended\n");
    d.status = JOB_FAILED;
    told("");
    assert_string_equal(job_status_name(JOB_NOT_TRIED), "not tried");
}

/* ---- metrics ---- */

static void metrics(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct stat st;
    struct job_dump all[3] = { a_dump(), a_dump(), a_dump() };
    path_in(path, "m.prom");
    assert_int_equal(job_metrics(&args, all, 3), CLI_DONE); /* not wanted */
    assert_true(access(path, F_OK) != 0);
    args.job.metrics = path;
    all[0].facts.pause_ns = 1001000000;
    all[0].duration_ms = 2050;
    all[1].pid = 12;
    all[1].status = JOB_INCOMPLETE;
    all[1].facts = (struct job_facts){
        .taken = true, .objects = 1, .heap_bytes = 2, .pause_ns = 3, .lost_events = 4
    };
    all[1].duration_ms = 1000;
    all[2] = (struct job_dump){ .args = &args,
                                .pid = 13,
                                .name = "a\"b\\c\nd",
                                .status = JOB_SKIPPED,
                                .begun = 5,
                                .duration_ms = 1,
                                .rss_bytes = 6 };
    assert_int_equal(job_metrics(&args, all, 3), CLI_DONE);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644); /* node_exporter is another user */
    static const char first[] =
        "# HELP gcdumpc_run_timestamp_seconds When the dump started, or would have started.\n"
        "# TYPE gcdumpc_run_timestamp_seconds gauge\n"
        "gcdumpc_run_timestamp_seconds{name=\"Shop\",pid=\"4711\"} 1795279385\n"
        "gcdumpc_run_timestamp_seconds{name=\"Shop\",pid=\"12\"} 1795279385\n"
        "gcdumpc_run_timestamp_seconds{name=\"a\\\"b\\\\c\\nd\",pid=\"13\"} 5\n";
    assert_memory_equal(content("m.prom"), first, sizeof first - 1);
    static const char *const want[][4] = {
        /* one of the three; NULL: no dump */
        { "success", "1", "0", "1" },
        { "skipped", "0", "0", "1" },
        { "duration_seconds", "2.05", "1", "0.001" },
        { "resident_bytes", "300", "300", "6" },
        { "complete", "1", "0", NULL },
        { "objects", "5", "1", NULL },
        { "heap_bytes", "800", "2", NULL },
        { "pause_seconds", "1.001", "0.000000003", NULL },
        { "lost_events", "0", "4", NULL },
        { "file_bytes", "77", "77", NULL },
    };
    char line[200];
    size_t lines = 3 + 2; /* of the timestamp */
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        static const char *const labels[] = { "name=\"Shop\",pid=\"4711\"",
                                              "name=\"Shop\",pid=\"12\"",
                                              "name=\"a\\\"b\\\\c\\nd\",pid=\"13\"" };
        (void)snprintf(line, sizeof line, "\n# TYPE gcdumpc_run_%s gauge\n", want[i][0]);
        assert_non_null(strstr(held, line));
        lines += 2;
        for (unsigned k = 0; k < 3; k++) {
            (void)snprintf(line, sizeof line, "\ngcdumpc_run_%s{%s} %s\n", want[i][0], labels[k],
                           want[i][k + 1] != NULL ? want[i][k + 1] : "");
            assert_true((strstr(held, line) != NULL) == (want[i][k + 1] != NULL));
            lines += want[i][k + 1] != NULL;
        }
    }
    for (const char *s = held; (s = strchr(s, '\n')) != NULL; s++)
        lines--;
    assert_int_equal(lines, 0);
    /* no dump: no metric about one, not even its description */
    assert_int_equal(job_metrics(&args, all + 2, 1), CLI_DONE);
    assert_null(strstr(content("m.prom"), "gcdumpc_run_complete"));
    path_in(path, "none/m.prom");
    capture();
    assert_int_equal(job_metrics(&args, all, 1), CLI_FAILED);
    assert_non_null(strstr(captured(), "none/m.prom: "));
}

/* ---- programs ---- */

/* A command that runs TEXT in a shell, with $1 the folder of the test. */
static const char *script(const char *text)
{
    static char command[2 * PATH_MAX];
    char path[PATH_MAX];
    path_in(path, "hook");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    (void)snprintf(command, sizeof command, "sh  %s\t%s ", path, folder);
    return command;
}

static enum cli_exit run_hook(void)
{
    capture();
    enum cli_exit e = job_hook(&d);
    (void)captured();
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no zombie is left */
    return e;
}

static bool has_line(const char *line)
{
    size_t n = strlen(line);
    for (const char *s = held; (s = strstr(s, line)) != NULL; s += n)
        if ((s == held || s[-1] == '\n') && (s[n] == '\n' || s[n] == '\0'))
            return true;
    return false;
}

static unsigned lines_with(const char *start)
{
    unsigned n = 0;
    for (const char *s = held; s != NULL && *s != '\0';
         s = strchr(s, '\n'), s = s != NULL ? s + 1 : NULL)
        n += strncmp(s, start, strlen(start)) == 0;
    return n;
}

static void environment(void **state)
{
    (void)state;
    static const char *const complete[] = {
        "GCDUMPC_STATUS=done",       "GCDUMPC_EXIT=0",         "GCDUMPC_NAME=Shop",
        "GCDUMPC_PID=4711",          "GCDUMPC_RUNTIME=10.0.1", "GCDUMPC_FILE=/d/x.gclog",
        "GCDUMPC_SUMMARY=/d/x.json", "GCDUMPC_FILE_BYTES=77",  "GCDUMPC_COMPLETE=yes",
        "GCDUMPC_OBJECTS=5",         "GCDUMPC_HEAP_BYTES=800", "GCDUMPC_PAUSE_MS=1",
        "GCDUMPC_LOST_EVENTS=0",     "GCDUMPC_SECONDS=1.2",    "GCDUMPC_REASON=",
    };
    static const char *const failed[] = {
        "GCDUMPC_STATUS=failed", "GCDUMPC_EXIT=1",         "GCDUMPC_FILE=",
        "GCDUMPC_SUMMARY=",      "GCDUMPC_COMPLETE=no",    "GCDUMPC_PAUSE_MS=2",
        "GCDUMPC_LOST_EVENTS=3", "GCDUMPC_REASON=no room",
    };
    char *all, first[] = "GCDUMP_FIRST=1";
    args.job.on_success = script("tr '\\0' '\\n' </proc/self/environ >$1/env\n");
    (void)snprintf(d.paths[JOB_SUMMARY], sizeof d.paths[JOB_SUMMARY], "/d/x.json");
    /* variables of an outer run do not describe this dump; all others are passed on */
    assert_int_equal(setenv("GCDUMPC_REASON", "from outside", 1), 0);
    assert_int_equal(setenv("GCDUMPC_OTHER", "from outside", 1), 0);
    assert_int_equal(setenv("GCDUMP_OTHER", "passed on", 1), 0);
    all = environ[0];
    environ[0] = first;
    assert_int_equal(run_hook(), CLI_DONE);
    environ[0] = all;
    (void)content("env");
    assert_true(has_line(first));
    assert_true(has_line("GCDUMP_OTHER=passed on") && lines_with("PATH=") == 1);
    assert_int_equal(lines_with("GCDUMPC_"), sizeof complete / sizeof *complete);
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++)
        assert_true(has_line(complete[i]));
    d.status = JOB_FAILED;
    d.exit = CLI_FAILED;
    d.facts.complete = false;
    d.facts.pause_ns = 1500000;
    d.facts.lost_events = 3;
    (void)snprintf(d.reason, sizeof d.reason, "no room");
    args.job.on_failure = args.job.on_success;
    args.job.on_success = "false";
    assert_int_equal(run_hook(), CLI_DONE);
    (void)content("env");
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++)
        assert_true(has_line(failed[i]));
    d.status = JOB_INCOMPLETE; /* it has a file */
    assert_int_equal(run_hook(), CLI_DONE);
    (void)content("env");
    assert_true(has_line("GCDUMPC_STATUS=incomplete") && has_line("GCDUMPC_FILE=/d/x.gclog"));
    assert_int_equal(unsetenv("GCDUMPC_REASON"), 0);
    assert_int_equal(unsetenv("GCDUMPC_OTHER"), 0);
    assert_int_equal(unsetenv("GCDUMP_OTHER"), 0);
}

static void which_one_is_run(void **state)
{
    (void)state;
    static const struct {
        enum job_status status;
        enum cli_exit of_success,
            of_failure; /* CLI_FAILED proves that it ran, because it is "false" */
    } rows[] = { { JOB_DONE, CLI_FAILED, CLI_DONE },
                 { JOB_INCOMPLETE, CLI_DONE, CLI_FAILED },
                 { JOB_FAILED, CLI_DONE, CLI_FAILED },
                 { JOB_SKIPPED, CLI_DONE, CLI_DONE } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        d.status = rows[i].status;
        args.job.on_success = "false";
        args.job.on_failure = NULL;
        assert_int_equal(run_hook(), rows[i].of_success);
        args.job.on_success = NULL;
        args.job.on_failure = "false";
        assert_int_equal(run_hook(), rows[i].of_failure);
    }
}

/* Its descriptors, its signals, its group: see hook.c for why. */
static void what_it_inherits(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before[2];
    sigset_t hup, mask;
    path_in(path, "input");
    FILE *f = fopen(path, "w");
    assert_true(f != NULL && fputs("not for the hook\n", f) >= 0 && fclose(f) == 0);
    int input = open(path, O_RDONLY | O_CLOEXEC), saved_input = dup(STDIN_FILENO),
        saved_output = dup(STDOUT_FILENO);
    path_in(path, "stdout");
    int output = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(input >= 0 && output >= 0);
    (void)fflush(stdout);
    (void)dup2(input, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)sigaction(SIGPIPE, &ignore, &before[0]); /* as in the program */
    (void)sigaction(SIGXFSZ, &ignore, &before[1]);
    sigemptyset(&hup);
    sigaddset(&hup, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &hup, &mask);
    args.job.on_success = script("readlink /proc/$$/fd/0 >$1/in; grep -E 'SigIgn' /proc/$$/status "
                                 ">$1/signals; cut -d' ' -f1,5 "
                                 "/proc/$$/stat >$1/group\n"
                                 "ls /proc/$$/fd >$1/fds; echo to standard output; echo to "
                                 "standard error >&2; IFS= read -r x; echo \"<$x>\"\n");
    capture();
    enum cli_exit e = job_hook(&d);
    (void)fflush(stdout);
    (void)dup2(saved_input, STDIN_FILENO);
    (void)dup2(saved_output, STDOUT_FILENO);
    (void)close(saved_input);
    (void)close(saved_output);
    (void)sigaction(SIGPIPE, &before[0], NULL);
    (void)sigaction(SIGXFSZ, &before[1], NULL);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    assert_string_equal(captured(), "to standard output\nto standard error\n<>\n");
    assert_int_equal(e, CLI_DONE);
    assert_string_equal(content("stdout"), "");
    assert_string_equal(content("in"), "/dev/null\n");
    unsigned long long ignored = strtoull(content("signals") + strlen("SigIgn:"), NULL, 16);
    assert_int_equal(ignored & (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1)), 0);
    int pid = 0, group = 0;
    assert_int_equal(sscanf(content("group"), "%d %d", &pid, &group), 2);
    assert_true(pid == group && group != getpgrp());
    (void)close(input);
    (void)close(output);
}

static void how_it_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cli_exit exit;
        const char *message;
    } rows[] = {
        { "exit 0\n", CLI_DONE, "" },
        { "exit 1\n", CLI_FAILED, "gcdumpc: sh: failed with status 1\n" },
        { "exit 3\n", CLI_FAILED, "gcdumpc: sh: failed with status 3\n" },
        { "kill -9 $$\n", CLI_FAILED, "gcdumpc: sh: was ended by signal 9\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        args.job.on_success = script(rows[i].text);
        assert_int_equal(run_hook(), rows[i].exit);
        assert_string_equal(held, rows[i].message);
    }
    args.job.on_success = "/nonexistent/program";
    assert_int_equal(run_hook(), CLI_FAILED);
    assert_string_equal(
        held, "gcdumpc: /nonexistent/program: cannot be run: No such file or directory\n");
}

static void words(void **state)
{
    (void)state;
    char command[600] = "", want[8];
    for (unsigned n = 62; n <= 65; n++) { /* at most 63 words */
        (void)snprintf(command, sizeof command, "%s", script("echo $# >$1/count\n"));
        for (unsigned i = 3; i < n; i++)
            strcat(command, "x ");
        args.job.on_success = command;
        assert_int_equal(run_hook(), n <= 63 ? CLI_DONE : CLI_FAILED);
        assert_string_equal(
            held, n <= 63 ? "" : "gcdumpc: a command to run has no words, or more than 63\n");
        (void)snprintf(want, sizeof want, "%u\n", n <= 63 ? n - 2 : 61);
        assert_string_equal(content("count"), want);
    }
    args.job.on_success = " \t ";
    assert_int_equal(run_hook(), CLI_FAILED);
    assert_string_equal(held, "gcdumpc: a command to run has no words, or more than 63\n");
}

/* A hook started after a signal to us gets three seconds; a signal that arrives while it runs ends
 * it. */
static void when_we_are_stopped(void **state)
{
    (void)state;
    args.job.on_success = script("sleep 0.3; echo there >$1/there\n");
    atomic_store(&cli_canceled, true);
    enum cli_exit e = run_hook();
    atomic_store(&cli_canceled, false);
    assert_int_equal(e, CLI_DONE);
    assert_string_equal(content("there"), "there\n");
    args.job.on_success = script("trap 'echo ended >$1/ended; exit 0' TERM; (trap '' TERM; sleep "
                                 "300 & echo $! >$1/child; wait) & sleep 300 "
                                 "& wait\n");
    atomic_store(&cli_canceled, true);
    e = run_hook();
    assert_int_equal(e, CLI_INTERRUPTED);
    assert_string_equal(held, "gcdumpc: sh: was stopped because gcdumpc was interrupted\n");
    /* a different reason: not reported as an interruption */
    atomic_store(&cli_timed_out, true);
    atomic_store(&cli_canceled, false);
    atomic_store(&cli_timed_out, false);
    assert_string_equal(content("ended"), "ended\n");
    pid_t child = (pid_t)strtol(content("child"), NULL, 10);
    for (int i = 0; i < 200 && kill(child, 0) == 0; i++)
        (void)poll(NULL, 0, 50);
    assert_true(kill(child, 0) != 0 && errno == ESRCH);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(text_lines),  TEST(quoted_values), TEST(json_lines),          TEST(without_a_log),
        TEST(metrics),     TEST(environment),   TEST(which_one_is_run),    TEST(what_it_inherits),
        TEST(how_it_ends), TEST(words),         TEST(when_we_are_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
