#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

static char last_said[2048], last_error[sizeof last_said], last_subject[4096];
static bool held;
static const char *place;
static struct {
    /* NULL: lines are printed */
    void (*take)(void *ctx, const char *subject, const char *text);
    void *ctx;
} listener;

void cli_at(const char *where)
{
    place = where;
}

const char *cli_last_said(void)
{
    return last_said;
}

void cli_hold(bool hold)
{
    held = hold;
    if (hold)
        last_said[0] = '\0';
}

void cli_say_to(void (*take)(void *ctx, const char *subject, const char *text), void *ctx)
{
    listener.take = take;
    listener.ctx = ctx;
}

GCD_PRINTF(2, 0)
static void say(const char *subject, const char *fmt, va_list ap)
{
    (void)vsnprintf(last_said, sizeof last_said, fmt, ap);
    if (held)
        return;
    cli_progress_end();
    subject = subject != NULL ? subject : place;
    if (listener.take != NULL) {
        listener.take(listener.ctx, subject, last_said);
        return;
    }
    /* fits the longest path; memory may be exhausted */
    static char line[sizeof last_said + 4096 + 16];
    const char *shown = subject == NULL ? "" : subject[0] != '\0' ? subject : "\"\"";
    (void)snprintf(line, sizeof line, "gcdumpc: %s%s%s", shown, subject != NULL ? ": " : "",
                   last_said);
    cli_print_wrapped(stderr, line, 0, 9);
}

void cli_say(const char *subject, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(subject, fmt, ap);
    va_end(ap);
}

enum cli_exit cli_error(enum cli_exit status, const char *subject, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(subject, fmt, ap);
    va_end(ap);
    memcpy(last_error, last_said, sizeof last_error);
    (void)snprintf(last_subject, sizeof last_subject, "%s", subject != NULL ? subject : "");
    return status;
}

const char *cli_error_subject(void)
{
    return last_subject;
}

const char *cli_error_text(void)
{
    return last_error;
}

void cli_error_clear(void)
{
    last_error[0] = last_subject[0] = '\0';
}

void cli_say_more(const char *fmt, ...)
{
    char *line = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (!held && vasprintf(&line, fmt, ap) >= 0) {
        if (listener.take != NULL) {
            listener.take(listener.ctx, NULL, line);
        } else {
            cli_print_sanitized(stderr, line);
            putc('\n', stderr);
        }
        free(line);
    }
    va_end(ap);
}
