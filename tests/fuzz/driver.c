/*
 * Runs a fuzz target without a fuzzer.
 *
 *     fuzz_X [--seconds N] [--seed N] [--keep DIR] [FILE or DIR ...]
 *
 * Replays the files, then changes them at random until the time is up (default: 0 s, replay only).
 * A seed always gives the same sequence of inputs.  If the target crashes, or takes longer than 20
 * s, the driver writes the input to DIR/NAME.crash (default: the working directory) and names it
 * on standard error.  Exit status: 0 nothing found, 1 a file is missing, 2 wrong arguments.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_BYTES ((size_t)64 * 1024)
#define SEEDS       4096u
#define RUN_SECONDS 20u

struct input {
    uint8_t *p;
    size_t n;
};

static struct input seeds[SEEDS];
static size_t seed_count;

/* ---- crashes ---- */

static char crash_path[PATH_MAX];
static const uint8_t *current;
static size_t current_n;

static void say(const char *s)
{
    ssize_t ignored = write(STDERR_FILENO, s, strlen(s));
    (void)ignored;
}

/* Only async-signal-safe calls. */
static void keep_input(void)
{
    if (current == NULL)
        return;
    int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return;
    for (size_t at = 0; at < current_n;) {
        ssize_t put = write(fd, current + at, current_n - at);
        if (put <= 0)
            break;
        at += (size_t)put;
    }
    (void)close(fd);
    current = NULL;
    say("\nthe input is kept in ");
    say(crash_path);
    say("\n");
}

static void on_signal(int sig)
{
    if (sig == SIGALRM)
        say("\ntoo slow");
    keep_input();
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

/* Sanitizers end the program themselves, with better reports than our handler would allow. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    struct sigaction action = { .sa_handler = on_signal };
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGABRT, &action, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(keep_input);
        return;
    }
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        (void)sigaction(fatal[i], &action, NULL);
}

/* Copies P to a block of exactly its size, so that reading one byte too many is detected. */
static void run_one(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n == 0 ? 1 : n);
    if (copy == NULL)
        abort();
    memcpy(copy, p, n);
    current = copy;
    current_n = n;
    (void)alarm(RUN_SECONDS);
    (void)LLVMFuzzerTestOneInput(copy, n);
    (void)alarm(0);
    current = NULL;
    free(copy);
}

/* ---- seeds ---- */

static bool add_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    struct input in = { malloc(INPUT_BYTES), 0 };
    if (in.p == NULL)
        abort();
    in.n = fread(in.p, 1, INPUT_BYTES, f);
    (void)fclose(f);
    if (seed_count < SEEDS)
        seeds[seed_count++] = in;
    else
        free(in.p);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of a folder sorted by name: the same order on every system. */
static bool add_folder(const char *path)
{
    DIR *d = opendir(path);
    char *names[SEEDS];
    size_t count = 0;
    bool ok = d != NULL;
    for (struct dirent *e; ok && count < SEEDS && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            names[count] = strdup(e->d_name);
            if (names[count++] == NULL)
                abort();
        }
    if (d != NULL)
        (void)closedir(d);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char file[PATH_MAX];
        (void)snprintf(file, sizeof file, "%s/%s", path, names[i]);
        ok = add_file(file) && ok;
        free(names[i]);
    }
    return ok;
}

static bool add(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? add_folder(path) : add_file(path);
}

/* ---- mutation ---- */

static uint64_t state;

static size_t below(size_t n)
{
    return n == 0 ? 0 : (size_t)(run_random(&state) % n);
}

/* Boundary values, in 1, 2, 4 or 8 bytes. */
static void put_edge(uint8_t *p, size_t room)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      4,
                                      7,
                                      8,
                                      16,
                                      20,
                                      32,
                                      64,
                                      127,
                                      128,
                                      255,
                                      256,
                                      1000,
                                      4096,
                                      32767,
                                      32768,
                                      65535,
                                      65536,
                                      16777215,
                                      16777216,
                                      0x7fffffff,
                                      0x80000000,
                                      0xfffffffe,
                                      0xffffffff,
                                      0x100000000,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xfffffffffffffffe,
                                      0xffffffffffffffff };
    size_t width = (size_t)1 << below(4);
    uint64_t v = edges[below(sizeof edges / sizeof *edges)];
    for (size_t i = 0; i < width && i < room; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Moves the tail at AT to make room for N bytes before it; returns how many fit. */
static size_t open_gap(struct input *in, size_t at, size_t n)
{
    if (n > INPUT_BYTES - in->n)
        n = INPUT_BYTES - in->n;
    memmove(in->p + at + n, in->p + at, in->n - at);
    in->n += n;
    return n;
}

static void mutate(struct input *in)
{
    size_t at = below(in->n), left = in->n - at;
    size_t n = 1 + below(below(4) == 0 ? 4096 : 32);
    const struct input *other = &seeds[below(seed_count)];
    switch (below(10)) {
    case 0:
        if (left > 0)
            in->p[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (left > 0)
            in->p[at] = (uint8_t)run_random(&state);
        break;
    case 2:
        if (left > 0)
            in->p[at] = (uint8_t)(in->p[at] + (below(2) == 0 ? 1 : 255));
        break;
    case 3:
    case 4:
        put_edge(in->p + at, left);
        break;
    case 5: /* cut the end */
        if (below(4) == 0)
            in->n = at;
        break;
    case 6: /* cut a piece out */
        n = n < left ? n : left;
        memmove(in->p + at, in->p + at + n, left - n);
        in->n -= n;
        break;
    case 7: { /* duplicate a piece, after itself or elsewhere */
        size_t from = below(in->n), to = below(2) == 0 ? from : below(in->n);
        uint8_t piece[4128];
        n = n < in->n - from ? n : in->n - from;
        memcpy(piece, in->p + from, n);
        n = open_gap(in, to, n);
        memcpy(in->p + to, piece, n);
        break;
    }
    case 8: { /* a piece of another seed over this one */
        size_t from = below(other->n);
        n = n < other->n - from ? n : other->n - from;
        memcpy(in->p + at, other->p + from, n < left ? n : left);
        break;
    }
    case 9: { /* the same, put in between */
        size_t from = below(other->n);
        n = n < other->n - from ? n : other->n - from;
        n = open_gap(in, at, n);
        memcpy(in->p + at, other->p + from, n);
        break;
    }
    }
}

static uint64_t mutate_for(unsigned long seconds)
{
    struct input in = { malloc(INPUT_BYTES), 0 };
    struct timespec start, now;
    uint64_t runs = 0;
    if (in.p == NULL)
        abort();
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        const struct input *from = &seeds[below(seed_count)];
        memcpy(in.p, from->p, from->n);
        in.n = from->n;
        for (size_t k = 1 + below(below(8) == 0 ? 40 : 6); k > 0; k--)
            mutate(&in);
        run_one(in.p, in.n);
        runs++;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < (time_t)seconds);
    free(in.p);
    return runs;
}

static bool number(const char *s, unsigned long *ret)
{
    char *end;
    errno = 0;
    *ret = s == NULL ? 0 : strtoul(s, &end, 10);
    return s != NULL && *s >= '0' && *s <= '9' && *end == '\0' && errno == 0;
}

int main(int argc, char **argv)
{
    unsigned long seconds = 0, seed = 1;
    const char *keep = ".", *name = strrchr(argv[0], '/');
    bool ok = true;
    for (int i = 1; i < argc && ok; i++) {
        if (strcmp(argv[i], "--seconds") == 0)
            ok = number(argv[++i], &seconds);
        else if (strcmp(argv[i], "--seed") == 0)
            ok = number(argv[++i], &seed);
        else if (strcmp(argv[i], "--keep") == 0)
            ok = (keep = argv[++i]) != NULL;
        else if (!add(argv[i]))
            return 1;
    }
    if (!ok) {
        (void)fprintf(stderr, "usage: %s [--seconds N] [--seed N] [--keep DIR] [FILE or DIR ...]\n",
                      argv[0]);
        return 2;
    }
    name = name != NULL ? name + 1 : argv[0];
    (void)snprintf(crash_path, sizeof crash_path, "%s/%s.crash", keep, name);
    watch();
    for (size_t i = 0; i < seed_count; i++)
        run_one(seeds[i].p, seeds[i].n);
    size_t replayed = seed_count;
    /* the empty input counts, too, and is the only one without files */
    if (seed_count < SEEDS) {
        seeds[seed_count] = (struct input){ malloc(INPUT_BYTES), 0 };
        if (seeds[seed_count++].p == NULL)
            abort();
        run_one(seeds[seed_count - 1].p, 0);
    }
    state = seed;
    uint64_t runs = seconds > 0 ? mutate_for(seconds) : 0;
    (void)printf("%s: %zu files replayed, %" PRIu64 " changed inputs run\n", name, replayed, runs);
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].p);
    return 0;
}
