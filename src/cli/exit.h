/*
 * The exit statuses of the program.
 */
#ifndef GCD_CLI_EXIT_H
#define GCD_CLI_EXIT_H

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INCOMPLETE = 3, /* done, but the data is incomplete */
    CLI_EXCEEDED = 4,   /* done, and a threshold of --fail-if is exceeded */
    CLI_INTERRUPTED = 130
};

#endif
