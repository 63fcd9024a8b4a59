/* What the collector publishes for debuggers: fields of GcDacVars (gc/gcinterface.dacvars.def),
 * dac_heap_segment and dac_generation.  Offsets in bytes, the same in .NET 8 to 11. */
#ifndef GCD_IMAGE_CLR_DAC_H
#define GCD_IMAGE_CLR_DAC_H

enum {
    GC_GENERATION_BYTES = 8 * 1, /* of an element of: */
    GC_GENERATION_TABLE = 8 * 6,
    GC_CURRENT_STATE = 8 * 9, /* of a background collection: */
    GC_STATE_FREE = 2,
    GC_EPHEMERAL_SEGMENT = 8 * 10,
    GC_ALLOCATED = 8 * 15, /* end of the objects in the ephemeral segment */
    GC_FINALIZE_QUEUE = 8 * 18,
    GC_HEAP_COUNT = 8 * 22, /* 0 or NULL: workstation */
    GC_HEAPS = 8 * 23,
    GC_STRUCTURES_INVALID = 8 * 24, /* not 0: a collection is under way */
    GC_HANDLE_TABLES = 8 * 29,
    GC_HEAP_FIELDS = 8 * 30, /* offsets in a heap of the server collector, int32 each: */
    GC_HEAP_ALLOCATED = 0,
    GC_HEAP_EPHEMERAL = 1,
    GC_HEAP_FINALIZE_QUEUE = 2,
    GC_HEAP_GENERATION_TABLE = 18,
    GC_GENERATIONS = 5,
    GENERATION_START_SEGMENT = 56,
    SEGMENT_ALLOCATED = 0,
    SEGMENT_RESERVED = 16,
    SEGMENT_MEMORY = 32,
    SEGMENT_FLAGS = 40, /* bit 0: frozen */
    SEGMENT_NEXT = 48,
    FINALIZE_FILL_POINTERS = 0, /* 7 of them */
    FINALIZE_ARRAY = 56
};

#endif
