/* Event ids of the runtime's manifest (dotnet/runtime, src/coreclr/vm/ClrEtwAll.man), with their
 * names there. */
#ifndef GCD_CLR_IDS_H
#define GCD_CLR_IDS_H

/* Microsoft-Windows-DotNETRuntime */
enum gcd_clr_event {
    GCD_EV_GC_START = 1,              /* GCStart */
    GCD_EV_GC_END = 2,                /* GCEnd */
    GCD_EV_RESTART_EE_END = 3,        /* GCRestartEEEnd */
    GCD_EV_HEAP_STATS = 4,            /* GCHeapStats */
    GCD_EV_SUSPEND_EE_BEGIN = 9,      /* GCSuspendEEBegin */
    GCD_EV_ALLOCATION_TICK = 10,      /* GCAllocationTick */
    GCD_EV_BULK_TYPE = 15,            /* BulkType */
    GCD_EV_BULK_ROOT_EDGE = 16,       /* GCBulkRootEdge */
    GCD_EV_BULK_DEPENDENT = 17,       /* GCBulkRootConditionalWeakTableElementEdge */
    GCD_EV_BULK_NODE = 18,            /* GCBulkNode */
    GCD_EV_BULK_EDGE = 19,            /* GCBulkEdge */
    GCD_EV_SURVIVING_RANGES = 21,     /* GCBulkSurvivingObjectRanges */
    GCD_EV_MOVED_RANGES = 22,         /* GCBulkMovedObjectRanges */
    GCD_EV_GENERATION_RANGE = 23,     /* GCGenerationRange */
    GCD_EV_BULK_ROOT_CCW = 36,        /* GCBulkRootCCW */
    GCD_EV_BULK_RCW = 37,             /* GCBulkRCW */
    GCD_EV_BULK_ROOT_STATIC_VAR = 38, /* GCBulkRootStaticVar */
    GCD_EV_MODULE_LOAD = 152,         /* ModuleLoad */
    GCD_EV_MODULE_UNLOAD = 153,       /* ModuleUnload */
    GCD_EV_ASSEMBLY_LOAD = 154,       /* AssemblyLoad */
    GCD_EV_ASSEMBLY_UNLOAD = 155,     /* AssemblyUnload */
    GCD_EV_RUNTIME_INFO = 187,        /* RuntimeInformationStart */
    GCD_EV_GLOBAL_HEAP_HISTORY = 205, /* GCGlobalHeapHistory */
    GCD_EV_ALLOCATION_SAMPLED = 303   /* AllocationSampled, from .NET 10 on */
};

/* Microsoft-Windows-DotNETRuntimeRundown; the ids clash with those of the runtime provider. */
enum gcd_clr_rundown_event {
    GCD_RD_METHOD_END = 144,          /* MethodDCEndVerbose */
    GCD_RD_START_COMPLETE = 145,      /* DCStartComplete */
    GCD_RD_END_COMPLETE = 146,        /* DCEndComplete */
    GCD_RD_START_BEGIN = 147,         /* DCStartInit */
    GCD_RD_END_BEGIN = 148,           /* DCEndInit */
    GCD_RD_IL_MAP_END = 150,          /* MethodDCEndILToNativeMap */
    GCD_RD_DOMAIN_MODULE_START = 151, /* DomainModuleDCStart */
    GCD_RD_DOMAIN_MODULE_END = 152,   /* DomainModuleDCEnd */
    GCD_RD_MODULE_START = 153,        /* ModuleDCStart */
    GCD_RD_MODULE_END = 154,          /* ModuleDCEnd */
    GCD_RD_ASSEMBLY_START = 155,      /* AssemblyDCStart */
    GCD_RD_ASSEMBLY_END = 156,        /* AssemblyDCEnd */
    GCD_RD_DOMAIN_END = 158,          /* AppDomainDCEnd */
    GCD_RD_RUNTIME_INFO = 187         /* RuntimeInformationDCStart */
};

/* Microsoft-DotNETCore-EventPipe */
enum gcd_clr_eventpipe_event {
    GCD_EP_PROCESS_INFO = 1 /* ProcessInfo */
};

/* The Windows kernel; group and number (evntrace.h, class Process of the MSNT_SystemTrace provider)
 */
enum gcd_windows_event {
    GCD_WIN_PROCESS_START = 0x0301,    /* Process/Start */
    GCD_WIN_PROCESS_END = 0x0302,      /* Process/End */
    GCD_WIN_PROCESS_DC_START = 0x0303, /* Process/DCStart: it was running before the recording */
    /* Process/DCEnd: it was still running after the recording */
    GCD_WIN_PROCESS_DC_END = 0x0304
};

enum gcd_gc_type { GCD_GC_BLOCKING = 0, GCD_GC_BACKGROUND = 1 };

#endif
