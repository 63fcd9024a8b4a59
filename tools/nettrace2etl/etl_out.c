#include "etl_out.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MODE_SEQUENTIAL 0x01u
#define FILE_MODE_COMPRESSED 0x04000000u
#define FLAG_HAS_PROCESSOR   0x20u
#define FLAG_COMPRESSED      0x40u
#define TYPE_HEADER          4u

/* File offsets of the counts in the header. */
#define PAYLOAD       (OUT_HEADER + 0x20u)
#define PAYLOAD_BYTES 0x118u

static void *need(void *p)
{
    if (p == NULL) {
        fputs("nettrace2etl: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void buffer_header(uint8_t *p, size_t disk, size_t end, uint32_t sequence, size_t cpu,
                          unsigned flags, unsigned type)
{
    memset(p, 0, OUT_HEADER);
    put32(p, (uint32_t)disk);
    put32(p + 0x04, (uint32_t)end);
    put64(p + 0x18, sequence);
    put16(p + 0x28, (uint32_t)cpu);
    put32(p + 0x2c, 3);
    put32(p + 0x30, (uint32_t)end);
    put16(p + 0x34, flags);
    put16(p + 0x36, type);
}

static void write_bytes(struct out *o, const uint8_t *p, size_t n)
{
    o->failed = o->failed || fwrite(p, 1, n, o->file) != n;
}

/* The first buffer, with the record that describes the file.  The number of buffers is filled in at
 * the end. */
static void write_header(struct out *o)
{
    static const char names[] = "g\0c\0d\0u\0m\0p\0c\0\0\0f\0i\0l\0e\0\0";
    uint8_t *b = o->packed;
    size_t record = 0x20 + PAYLOAD_BYTES + sizeof names + 1, end = OUT_HEADER + record;
    size_t disk = o->options.cut_tail || end > o->options.buffer_bytes ? (end + 7) / 8 * 8
                                                                       : o->options.buffer_bytes;
    memset(b, 0xff, disk);
    buffer_header(b, disk, end, o->sequence++, 0, 1, TYPE_HEADER);
    uint8_t *r = b + OUT_HEADER, *p = b + PAYLOAD;
    memset(r, 0, record);
    put32(r, 0xc0020002);
    put16(r + 4, (uint32_t)record);
    put64(r + 0x10, OUT_FIRST_TICKS);
    put32(p, (uint32_t)o->options.buffer_bytes);
    put32(p + 0x04, 0x0501000a);
    put32(p + 0x08, 19045);
    put32(p + 0x0c, 8);
    put32(p + 0x20, FILE_MODE_SEQUENTIAL | (o->options.compress ? FILE_MODE_COMPRESSED : 0));
    put32(p + 0x28, 1);
    put32(p + 0x2c, 8);
    put32(p + 0x30, o->options.lost_events);
    put64(p + 0x100, 1000000000);
    put64(p + 0x108, o->options.start_filetime);
    put32(p + 0x110, 1);
    put32(p + 0x114, o->options.lost_buffers);
    memcpy(p + PAYLOAD_BYTES, names, sizeof names);
    write_bytes(o, b, disk);
}

void out_begin(struct out *o, FILE *file, const struct out_options *options)
{
    *o = (struct out){ .file = file, .options = *options, .random = 1 };
    o->packed = need(malloc(2 * options->buffer_bytes + 1024));
    write_header(o);
}

static uint64_t random_number(struct out *o)
{
    o->random = o->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return o->random >> 33;
}

static void write_from_pool(struct out *o)
{
    size_t i = (size_t)(random_number(o) % o->pool_count);
    write_bytes(o, o->pool[i], o->pool_bytes[i]);
    free(o->pool[i]);
    o->pool[i] = o->pool[--o->pool_count];
    o->pool_bytes[i] = o->pool_bytes[o->pool_count];
}

static void place(struct out *o, const uint8_t *p, size_t n)
{
    if (!o->options.shuffle) {
        write_bytes(o, p, n);
        return;
    }
    if (o->pool_count == OUT_POOL)
        write_from_pool(o);
    o->pool[o->pool_count] = memcpy(need(malloc(n)), p, n);
    o->pool_bytes[o->pool_count++] = n;
}

static void flush_cpu(struct out *o, size_t cpu)
{
    struct out_buffer *b = &o->cpus[cpu];
    if (b->used <= OUT_HEADER)
        return;
    size_t packed = o->options.compress ? out_xpress(b->bytes + OUT_HEADER, b->used - OUT_HEADER,
                                                     o->packed + OUT_HEADER)
                                        : SIZE_MAX;
    if (packed < b->used - OUT_HEADER) {
        buffer_header(o->packed, OUT_HEADER + packed, b->used, o->sequence++, cpu,
                      FLAG_HAS_PROCESSOR | FLAG_COMPRESSED, 0);
        place(o, o->packed, OUT_HEADER + packed);
    } else {
        size_t disk =
            o->options.cut_tail || o->options.compress ? b->used : o->options.buffer_bytes;
        memset(b->bytes + b->used, 0xff, o->options.buffer_bytes - b->used);
        buffer_header(b->bytes, disk, b->used, o->sequence++, cpu, FLAG_HAS_PROCESSOR, 0);
        place(o, b->bytes, disk);
    }
    b->used = OUT_HEADER;
}

void out_record(struct out *o, size_t cpu, const uint8_t *record, size_t n)
{
    if (cpu >= o->cpu_count) {
        o->cpus = need(realloc(o->cpus, (cpu + 1) * sizeof *o->cpus));
        for (; o->cpu_count <= cpu; o->cpu_count++)
            o->cpus[o->cpu_count] =
                (struct out_buffer){ .bytes = need(malloc(o->options.buffer_bytes)),
                                     .used = OUT_HEADER };
    }
    struct out_buffer *b = &o->cpus[cpu];
    size_t padded = (n + 7) / 8 * 8;
    if (padded > o->options.buffer_bytes - b->used)
        flush_cpu(o, cpu);
    memcpy(b->bytes + b->used, record, n);
    memset(b->bytes + b->used + n, 0, padded - n);
    b->used += padded;
}

bool out_end(struct out *o)
{
    uint8_t count[4];
    for (size_t i = 0; i < o->cpu_count; i++) {
        flush_cpu(o, i);
        free(o->cpus[i].bytes);
    }
    while (o->pool_count > 0)
        write_from_pool(o);
    put32(count, o->sequence);
    o->failed = o->failed || fseek(o->file, PAYLOAD + 0x24, SEEK_SET) != 0;
    write_bytes(o, count, sizeof count);
    o->failed = fflush(o->file) != 0 || o->failed;
    free(o->cpus);
    free(o->packed);
    return !o->failed;
}
