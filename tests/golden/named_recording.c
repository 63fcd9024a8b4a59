/*
 * named_recording IN OUT OUTER WALK [MIB]: adds made-up names for a walk to a recording
 * (support/invent_names.h), without files of modules, and a made-up memory of its process: 900 MiB
 * with a GC heap of 120, and MIB more outside of it.  Prints what another reader should find in it,
 * one line for each event with tab-separated fields.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/recording.h>

#include "support/invent_names.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define MIB (UINT64_C(1) << 20)

static struct gcd_process_memory memory = {
    .unix_ms = 1795415132296,
    .resident_bytes = 900 * MIB,
    .anonymous_bytes = 800 * MIB,
    .file_bytes = 90 * MIB,
    .shared_bytes = 10 * MIB,
    .swapped_bytes = 5 * MIB,
    .gc_known = true,
    .gc_bytes = 120 * MIB,
    .cgroup_limit_bytes = 1024 * MIB,
    .cgroup_used_bytes = 950 * MIB,
};

static void print(const struct gcd_summary *s, const char *outer)
{
    printf("ProcessMemory\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", memory.unix_ms,
           memory.resident_bytes, memory.gc_bytes, memory.cgroup_used_bytes);
    for (size_t i = 0; i < s->module_count; i++)
        if (s->modules[i].id != 0)
            printf("Module\t%" PRIu64 "\t%s\t%s\n", s->modules[i].id, s->modules[i].assembly,
                   s->modules[i].path);
    for (uint32_t i = 0; i < s->type_count; i++)
        if (invent_outer(&s->types[i]))
            printf("NestedType\t%" PRIu64 "\t%s\n", s->types[i].id, outer);
    for (size_t i = 0; i < s->root_count; i++)
        if (s->roots[i].kind == GCD_ROOT_STATIC && i % 2 == 0)
            printf("StaticVariable\t%" PRIu64 "\t%s\t%s\t%s\n", s->roots[i].id, s->roots[i].name,
                   s->roots[i].class_name, s->roots[i].label);
}

static gcd_status run(struct gcd_input *in, char **words)
{
    struct gcd_dump *d = NULL;
    struct gcd_sink *to = NULL;
    struct gcd_dump_options options = { .walk_number = (unsigned)strtoul(words[4], NULL, 10) };
    gcd_status st = gcd_dump_open(in, &options, &d, &err);
    if (st == GCD_OK) {
        invent_names(d, words[3]);
        st = gcd_dump_set_process_memory(d, &memory, &err);
    }
    if (st == GCD_OK)
        st = gcd_sink_open(words[2], NULL, &to, &err);
    if (st == GCD_OK)
        st = gcd_recording_write(d, in, to, NULL, NULL, &err);
    if (st == GCD_OK)
        st = gcd_sink_commit(to, &err);
    if (st == GCD_OK)
        print(gcd_dump_summary(d), words[3]);
    gcd_sink_free(to);
    gcd_dump_free(d);
    return st;
}

int main(int count, char **words)
{
    struct gcd_input *in = NULL;
    if (count != 5 && count != 6) {
        fputs("usage: named_recording IN OUT OUTER WALK [MIB]\n", stderr);
        return 2;
    }
    const uint64_t more = count == 6 ? strtoul(words[5], NULL, 10) * MIB : 0;
    memory.resident_bytes += more;
    memory.anonymous_bytes += more;
    gcd_status st = gcd_input_open(words[1], NULL, &in, &err);
    if (st == GCD_OK)
        st = run(in, words);
    gcd_input_free(in);
    if (st != GCD_OK)
        fprintf(stderr, "%s: %s\n", words[1], err.msg);
    return st == GCD_OK ? 0 : 1;
}
