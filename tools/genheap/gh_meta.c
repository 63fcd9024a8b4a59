/* Table of the event types.  Ids and versions as seen on .NET 8 to 10, keywords as in
 * ClrEtwAll.man. */
#include "gh_container.h"

#define RT  "Microsoft-Windows-DotNETRuntime"
#define RD  "Microsoft-Windows-DotNETRuntimeRundown"
#define APP "Acme-Orders-Events"

static const struct gh_field process_info[] = {
    { 18, 0, "CommandLine" },
    { 18, 0, "OSInformation" },
    { 18, 0, "ArchInformation" },
};
static const struct gh_field order_start[] = { { 9, 0, "orderId" } };
static const struct gh_field order_placed[] = {
    { 18, 0, "customer" }, { 9, 0, "orderId" }, { 14, 0, "amount" },
    { 3, 0, "express" },   { 17, 0, "key" },
};
static const struct gh_field order_items[] = { { 9, 0, "orderId" }, { 19, 9, "items" } };
static const struct gh_field order_text[] = { { 18, 0, "text" } };

#define FIELDS(f) .n_fields = sizeof f / sizeof f[0], .fields = f
#define ROW(provider_, id_, version_, keywords_)                                       \
    {                                                                                  \
        .provider = provider_, .name = "", .id = id_, .version = version_, .level = 4, \
        .keywords = keywords_                                                          \
    }

const struct gh_meta_row gh_meta_rows[GH_M_COUNT] = {
    [GH_M_GCSTART] = ROW(RT, 1, 2, 0x1),
    [GH_M_GCEND] = ROW(RT, 2, 1, 0x1),
    [GH_M_RESTART_END] = ROW(RT, 3, 1, 0x1),
    [GH_M_HEAPSTATS] = ROW(RT, 4, 2, 0x1),
    [GH_M_RESTART_BEGIN] = ROW(RT, 7, 1, 0x1),
    [GH_M_SUSPEND_END] = ROW(RT, 8, 1, 0x1),
    [GH_M_SUSPEND_BEGIN] = ROW(RT, 9, 1, 0x1),
    [GH_M_TRIGGERED] = ROW(RT, 35, 0, 0x1),
    [GH_M_RANGE] = ROW(RT, 23, 0, 0x400000),
    [GH_M_TYPE] = ROW(RT, 15, 0, 0x80000),
    [GH_M_ROOT] = ROW(RT, 16, 0, 0x100000),
    [GH_M_HANDLE] = ROW(RT, 17, 0, 0x100000),
    [GH_M_NODE] = ROW(RT, 18, 0, 0x100000),
    [GH_M_EDGE] = ROW(RT, 19, 0, 0x100000),
    [GH_M_STATIC] = ROW(RT, 38, 0, 0x100000),
    [GH_M_MARK] = ROW(RT, 202, 0, 0x1),
    [GH_M_GLOBAL] = ROW(RT, 205, 4, 0x1),
    [GH_M_DYNAMIC] = ROW(RT, 39, 0, 0x1),
    [GH_M_TICK] = ROW(RT, 10, 4, 0x1),
    [GH_M_SURVIVORS] = ROW(RT, 21, 0, 0x400000),
    [GH_M_RUNTIME_INFO] = ROW(RD, 187, 0, 0x0),
    [GH_M_DCEND_INIT] = ROW(RD, 148, 1, 0x78),
    [GH_M_DCEND_COMPLETE] = ROW(RD, 146, 1, 0x78),
    [GH_M_DOMAIN_MODULE] = ROW(RD, 152, 1, 0x8),
    [GH_M_MODULE] = ROW(RD, 154, 2, 0x20000008),
    [GH_M_ASSEMBLY] = ROW(RD, 156, 1, 0x8),
    [GH_M_APPDOMAIN] = ROW(RD, 158, 1, 0x8),
    [GH_M_PROCESS_INFO] = { .provider = "Microsoft-DotNETCore-EventPipe",
                            .name = "ProcessInfo",
                            .id = 1,
                            .version = 1,
                            FIELDS(process_info) },
    [GH_M_SAMPLE] = ROW("Microsoft-DotNETCore-SampleProfiler", 0, 0, 0x0),
    /* ids of GCStart, GCEnd, GCBulkNode and BulkType, but of another provider */
    [GH_M_ORDER_START] = { .provider = APP,
                           .name = "OrderStart",
                           .id = 1,
                           .version = 2,
                           .level = 4,
                           .opcode = 1,
                           FIELDS(order_start) },
    [GH_M_ORDER_STOP] = { .provider = APP,
                          .name = "OrderStop",
                          .id = 2,
                          .version = 1,
                          .level = 4,
                          .opcode = 2,
                          FIELDS(order_start) },
    [GH_M_ORDER_PLACED] = { .provider = APP,
                            .name = "OrderPlaced",
                            .id = 18,
                            .level = 4,
                            .keywords = 0x10,
                            FIELDS(order_placed) },
    [GH_M_ORDER_ITEMS] = { .provider = APP,
                           .name = "OrderItems",
                           .id = 15,
                           .level = 5,
                           .keywords = 0x20,
                           FIELDS(order_items) },
    [GH_M_ORDER_TEXT] = { .provider = APP,
                          .name = "OrderText",
                          .id = 19,
                          .level = 5,
                          .keywords = 0x20,
                          FIELDS(order_text) },
};
