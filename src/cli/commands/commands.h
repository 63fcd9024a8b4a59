/*
 * The entry point of each command.
 */
#ifndef GCD_CLI_COMMANDS_COMMANDS_H
#define GCD_CLI_COMMANDS_COMMANDS_H

#include "args.h"
#include "exit.h"

enum cli_exit cmd_collect(const struct cli_args *args);
enum cli_exit cmd_convert(const struct cli_args *args);
enum cli_exit cmd_run(const struct cli_args *args);
enum cli_exit cmd_watch(const struct cli_args *args);
enum cli_exit cmd_mcp(const struct cli_args *args);
enum cli_exit cmd_ps(const struct cli_args *args);
enum cli_exit cmd_info(const struct cli_args *args);
enum cli_exit cmd_report(const struct cli_args *args);
enum cli_exit cmd_retained(const struct cli_args *args);
enum cli_exit cmd_paths(const struct cli_args *args);
enum cli_exit cmd_diff(const struct cli_args *args);
enum cli_exit cmd_trend(const struct cli_args *args);
enum cli_exit cmd_leaks(const struct cli_args *args);
enum cli_exit cmd_sites(const struct cli_args *args);
enum cli_exit cmd_async(const struct cli_args *args);
enum cli_exit cmd_strings(const struct cli_args *args);
enum cli_exit cmd_exceptions(const struct cli_args *args);
enum cli_exit cmd_browse(const struct cli_args *args);
enum cli_exit cmd_sql(const struct cli_args *args);
/* info --events */
enum cli_exit cmd_events(const struct cli_args *args);

/* cmd_report.c: the name of report format I; NULL after the last. */
const char *cli_report_format(size_t i);

#endif
