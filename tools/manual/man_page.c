/*
 * gcdumpc_manual [TOPIC]: prints the manual page about TOPIC (a command, a topic, "formats",
 * "conf"; none: the program), for the build.  Text that no table or help text contains (examples,
 * files, what formats can hold) is in tools/man and replaces the line PROSE when the pages are
 * built.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "manual/topics.h"
#include "opts.h"
#include "output/output.h"
#include "tools/manual/man_text.h"

#define PROSE   ".\\\" PROSE"
#define SUMMARY ".NET heap dumps outside a debugger"

static void head(const char *name, int section)
{
    char upper[64];
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    upper[i] = '\0';
    printf(".TH \"%s\" \"%d\" \"%s\" \"gcdumpc %s\" \"gcdumpc\"\n", upper, section, GCDUMPC_DATE,
           GCDUMPC_VERSION);
}

static void name_section(const char *name, const char *summary)
{
    man_line(".SH NAME");
    fputs(name, stdout);
    puts(" \\-");
    man_text(summary);
}

/* Prints "One of a, b, c." */
static void put_words(const struct cli_command *c, const struct cli_option *o)
{
    if (o->takes != CLI_TAKES_WORD)
        return;
    char text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "One of ");
    const char *word;
    for (size_t i = 0; (word = cli_option_word(c, o, i)) != NULL && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i == 0 ? "" : ", ", word);
    if (n + 2 > sizeof text)
        return; /* skip this line: --help and the format table have it */
    (void)snprintf(text + n, sizeof text - n, ".");
    man_text(text);
}

/* Prints TEXT with a capital letter and a full stop. */
static void put_sentence(const char *text)
{
    char sentence[512];
    char first = (char)(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
    (void)snprintf(sentence, sizeof sentence, "%c%s.", first, text + 1);
    man_text(sentence);
}

static void options(const struct cli_command *c)
{
    struct cli_option o;
    const char *group = "";
    for (size_t i = 0; cli_option_at(c, i, &o); i++) {
        if (strcmp(group, o.group) != 0)
            man_words("R", ".SS ", "R", o.group);
        group = o.group;
        char letter[] = { '-', o.letter, '\0' }, name[64];
        (void)snprintf(name, sizeof name, "--%s", o.name);
        const char *argument = o.argument != NULL ? o.argument : "",
                   *gap = o.argument != NULL ? " " : "";
        man_line(".TP");
        if (o.letter != 0)
            man_words("B", letter, "R", ", ", "B", name, "R", gap, "I", argument);
        else
            man_words("B", name, "R", gap, "I", argument);
        put_sentence(o.help);
        put_words(c, &o);
    }
}

/* The topics that have no page of their own. */
static void topic_sections(void)
{
    const struct cli_topic *t;
    for (size_t i = 0; (t = cli_topic_at(i)) != NULL; i++)
        if (t->section == 0) {
            printf(".SH %s\n", t->title);
            man_text(t->text);
        }
}

static void exit_section(const struct cli_command *c)
{
    man_line(".SH EXIT STATUS");
    man_text(cli_about_exit(c));
}

static void see_also(const struct cli_command *c)
{
    man_line(".SH SEE ALSO");
    if (c != NULL)
        man_line(".BR gcdumpc (1),");
    const struct cli_command *other;
    for (size_t i = 0; c == NULL && (other = cli_command_at(i)) != NULL; i++)
        printf(".BR gcdumpc\\-%s (1),\n", other->name);
    if (c != NULL && c->bit == CLI_RUN)
        man_line(".BR gcdumpc\\-collect (1),");
    if (c == NULL || (c->bit & (CLI_RUN | CLI_COLLECT)) != 0)
        man_line(".BR gcdumpc.conf (5),");
    man_line(
        ".BR gcdumpc\\-formats (5),\n.BR gcdumpc\\-patterns (7),\n.BR gcdumpc\\-thresholds (7)");
}

static void command_page(const struct cli_command *c)
{
    char name[64];
    (void)snprintf(name, sizeof name, "gcdumpc-%s", c->name);
    head(name, 1);
    (void)snprintf(name, sizeof name, "gcdumpc\\-%s", c->name);
    name_section(name, c->summary);
    man_line(".SH SYNOPSIS");
    man_words("B", "gcdumpc ", "B", c->name, "R", c->arguments[0] != '\0' ? " " : "", "R",
              c->arguments, "R", " [", "I", "OPTION", "R", "...]");
    man_line(".SH DESCRIPTION");
    put_sentence(c->summary);
    if (cli_about_files(c)[0] != '\0')
        man_line(".PP");
    man_text(cli_about_files(c));
    man_line(".SH OPTIONS");
    options(c);
    if (c->details[0] != '\0')
        man_line(".SH DETAILS"); /* "see below" in an option's help means this section */
    man_text(c->details);
    man_line(PROSE);
    exit_section(c);
    see_also(c);
}

static void program_page(void)
{
    const struct cli_command *c;
    head("gcdumpc", 1);
    name_section("gcdumpc", SUMMARY);
    man_line(".SH SYNOPSIS");
    man_words("B", "gcdumpc", "R", " ", "I", "COMMAND", "R", " [", "I", "OPTION", "R", "...]");
    man_line(".br");
    man_words("B", "gcdumpc help", "R", " [", "I", "COMMAND", "R", "]");
    man_line(".br");
    man_words("B", "gcdumpc completion", "R", " ", "B", "bash", "R", "|", "B", "zsh", "R", "|", "B",
              "fish");
    man_line(".br");
    man_words("B", "gcdumpc --version");
    man_line(".SH COMMANDS");
    man_text("Each has a page of its own.");
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++) {
        man_line(".TP");
        man_words("B", c->name);
        put_sentence(c->summary);
    }
    man_line(PROSE);
    topic_sections();
    see_also(NULL);
}

static void formats_page(void)
{
    head("gcdumpc-formats", 5);
    name_section("gcdumpc\\-formats", "files that gcdumpc reads and writes");
    man_line(".SH DESCRIPTION");
    man_text("Written are, by the name that --format takes or by the suffix of the output:");
    for (size_t i = 0; gcd_format_at(i) != NULL; i++) {
        const struct gcd_format *f = gcd_format_at(i);
        man_line(".TP");
        man_words("B", gcd_format_name(f), "R", " (", "R", gcd_format_suffix(f), "R", ")");
        put_sentence(gcd_format_about(f));
    }
    man_line(".TP");
    man_words("B", CLI_RAW_FORMAT, "R", " (", "R", "." CLI_RAW_FORMAT, "R", ")");
    put_sentence(CLI_RAW_ABOUT);
    man_line(PROSE);
    man_line(".SH SEE ALSO");
    man_line(".BR gcdumpc\\-collect (1),\n.BR gcdumpc\\-convert (1)");
}

static void topic_page(const struct cli_topic *t)
{
    char name[64];
    (void)snprintf(name, sizeof name, "gcdumpc-%s", t->name);
    head(name, t->section);
    (void)snprintf(name, sizeof name, "gcdumpc\\-%s", t->name);
    name_section(name, t->summary);
    man_line(".SH DESCRIPTION");
    man_text(t->text);
    man_line(PROSE);
    man_line(".SH SEE ALSO\n.BR gcdumpc (1)");
}

/* Prints the long options of collect, without dashes. */
static void conf_page(void)
{
    struct cli_option o;
    head("gcdumpc.conf", 5);
    name_section("gcdumpc.conf", "jobs of gcdumpc run");
    man_line(PROSE);
    man_line(".SH KEYS");
    for (size_t i = 0; cli_option_at(cli_collect(), i, &o); i++) {
        if (strcmp(o.name, "help") == 0)
            continue;
        man_line(".TP");
        man_words("B", o.name, "R", " = ", "I", o.argument != NULL ? o.argument : "true|false");
        put_sentence(o.help);
        put_words(cli_collect(), &o);
    }
    man_line(".SH SEE ALSO");
    man_line(".BR gcdumpc\\-run (1),\n.BR gcdumpc\\-collect (1)");
}

static bool print_page(const char *topic)
{
    const struct cli_command *c;
    if (topic == NULL) {
        program_page();
        return true;
    }
    if (strcmp(topic, "formats") == 0) {
        formats_page();
        return true;
    }
    if (strcmp(topic, "conf") == 0) {
        conf_page();
        return true;
    }
    const struct cli_topic *t = cli_topic(topic);
    if (t != NULL && t->section != 0) {
        topic_page(t);
        return true;
    }
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        if (strcmp(c->name, topic) == 0) {
            command_page(c);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    const char *topic = argc > 1 ? argv[1] : NULL;
    if (print_page(topic))
        return (int)cli_flush_stdout();
    fprintf(stderr, "gcdumpc_manual: there is no page about \"%s\"\n", topic);
    return CLI_USAGE;
}
