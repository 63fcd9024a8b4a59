/*
 * A time limit for inputs whose work may never end.
 */
#ifndef FUZZ_BUDGET_H
#define FUZZ_BUDGET_H

#include <signal.h>
#include <sys/time.h>

#include <gcdumpc/cancel.h>

static gcd_cancel_flag *fuzz_stop;

static inline void fuzz_on_alarm(int sig)
{
    (void)sig;
    atomic_store(fuzz_stop, true);
}

/* Sets *STOP after US microseconds; 0 = never. */
static inline void fuzz_budget(gcd_cancel_flag *stop, long us)
{
    struct itimerval t = { .it_value.tv_usec = us };
    fuzz_stop = stop;
    atomic_store(stop, false);
    (void)signal(SIGALRM, fuzz_on_alarm);
    (void)setitimer(ITIMER_REAL, &t, NULL);
}

#endif
