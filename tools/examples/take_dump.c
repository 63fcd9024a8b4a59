/*
 * Dumps a running process and prints how many objects it has:
 *
 *     cmake: find_package(gcdumpc REQUIRED COMPONENTS ipc), target_link_libraries(... gcdumpc::ipc)
 *     ./take_dump 1234
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>

static gcd_status take(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    return gcd_dump_feed(ctx, bytes, n, err);
}

int main(int argc, char **argv)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump *dump = NULL;
    char path[GCD_IPC_PATH_MAX];
    struct gcd_ipc_collect_options options = { .socket_path = path,
                                               .timeout_ms = 600000,
                                               .on_data = take };
    struct gcd_ipc_collect_result result;
    uint32_t pid = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    gcd_status st = gcd_dump_new(NULL, &dump, &err);
    options.ctx = dump;
    if (st == GCD_OK)
        st = gcd_ipc_find_socket(pid, getenv("TMPDIR"), path, &err);
    if (st == GCD_OK)
        st = gcd_ipc_collect(&options, &result, &err);
    if (st == GCD_OK)
        st = gcd_dump_close(dump, NULL, &err);
    if (st == GCD_OK) {
        const struct gcd_summary *s = gcd_dump_summary(dump);
        printf("%" PRIu64 " objects, %" PRIu64 " bytes, %s\n", s->objects, s->bytes,
               s->verdict.complete ? "complete" : "incomplete");
    } else {
        fprintf(stderr, "%s\n", err.msg);
    }
    gcd_dump_free(dump);
    return st == GCD_OK ? 0 : 1;
}
