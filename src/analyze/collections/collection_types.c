/*
 * The collections of .NET 8, 9 and 10, and their internals; a line lists the internals of all
 * versions.  Names lack the number of arguments, which files in C# spelling do not have.
 */
#include "analyze/collections/collections.h"

#define GENERIC    "System.Collections.Generic."
#define CONCURRENT "System.Collections.Concurrent."
#define IMMUTABLE  "System.Collections.Immutable."
#define MODEL      "System.Collections.ObjectModel."
#define CHANNELS   "System.Threading.Channels."

/* name, dimensions, number of the argument, arguments, role */
#define ITEMS                           \
    {                                   \
        "", 1, 0, ARGS_ANY, INNER_ITEMS \
    }
#define ENTRIES(args)                      \
    {                                      \
        "Entry", 1, 0, args, INNER_ENTRIES \
    }
#define BUCKETS                                       \
    {                                                 \
        "System.Int32", 1, 0, ARGS_ANY, INNER_BUCKETS \
    }
#define OBJECTS(role)                         \
    {                                         \
        "System.Object", 1, 0, ARGS_ANY, role \
    }
#define NODE(name, args)             \
    {                                \
        name, 0, 0, args, INNER_NODE \
    }
#define HOLDER(name, args)             \
    {                                  \
        name, 0, 0, args, INNER_HOLDER \
    }
#define NODES(name, args)              \
    {                                  \
        name, 1, 0, args, INNER_HOLDER \
    }
/* of a ConcurrentDictionary; before .NET 8 the buckets refer to nodes directly */
#define TABLES(args) HOLDER("Tables", args), NODES("VolatileNode", args), NODE("Node", args)

const struct collection_type gcd_collection_types[] = {
    { GENERIC "List", GCD_COLLECTION_LIST, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Queue", GCD_COLLECTION_QUEUE, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Stack", GCD_COLLECTION_STACK, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Dictionary",
      GCD_COLLECTION_DICTIONARY,
      COUNT_TABLE,
      false,
      { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "OrderedDictionary",
      GCD_COLLECTION_DICTIONARY,
      COUNT_TABLE,
      false,
      { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "HashSet", GCD_COLLECTION_SET, COUNT_SET, false, { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "PriorityQueue",
      GCD_COLLECTION_PRIORITY_QUEUE,
      COUNT_TUPLES,
      false,
      { { "System.ValueTuple", 1, 0, ARGS_SAME, INNER_ENTRIES } } },
    { GENERIC "LinkedList",
      GCD_COLLECTION_LINKED_LIST,
      COUNT_NODES,
      true,
      { NODE(GENERIC "LinkedListNode", ARGS_SAME) } },
    { GENERIC "SortedSet",
      GCD_COLLECTION_SORTED_SET,
      COUNT_NODES,
      false,
      { NODE("Node", ARGS_SAME) } },
    { GENERIC "SortedDictionary",
      GCD_COLLECTION_SORTED_DICTIONARY,
      COUNT_NODES,
      false,
      { HOLDER(GENERIC "TreeSet", ARGS_PAIR), NODE("Node", ARGS_PAIR) } },
    { GENERIC "SortedList",
      GCD_COLLECTION_SORTED_LIST,
      COUNT_KEYS,
      false,
      { { "", 1, 0, ARGS_ANY, INNER_KEYS }, { "", 1, 1, ARGS_ANY, INNER_ITEMS } } },
    { CONCURRENT "ConcurrentDictionary",
      GCD_COLLECTION_CONCURRENT_DICTIONARY,
      COUNT_NODES,
      false,
      { TABLES(ARGS_SAME), NODES("Node", ARGS_SAME), BUCKETS, OBJECTS(INNER_OTHER) } },
    { CONCURRENT "ConcurrentQueue",
      GCD_COLLECTION_CONCURRENT_QUEUE,
      COUNT_SEGMENTS,
      false,
      { HOLDER(CONCURRENT "ConcurrentQueueSegment", ARGS_SAME),
        { "Slot", 1, 0, ARGS_SAME, INNER_ITEMS } } },
    { CONCURRENT "ConcurrentStack",
      GCD_COLLECTION_CONCURRENT_STACK,
      COUNT_NODES,
      false,
      { NODE("Node", ARGS_SAME) } },
    { CONCURRENT "ConcurrentBag",
      GCD_COLLECTION_CONCURRENT_BAG,
      COUNT_ITEMS,
      false,
      { HOLDER("WorkStealingQueue", ARGS_SAME), ITEMS } },
    { CONCURRENT "BlockingCollection", GCD_COLLECTION_BLOCKING, COUNT_WRAPPED, false, { { 0 } } },
    { CHANNELS "UnboundedChannel", GCD_COLLECTION_CHANNEL, COUNT_WRAPPED, false, { { 0 } } },
    { CHANNELS "UnboundedPrioritizedChannel",
      GCD_COLLECTION_CHANNEL,
      COUNT_WRAPPED,
      false,
      { { 0 } } },
    { CHANNELS "SingleConsumerUnboundedChannel",
      GCD_COLLECTION_CHANNEL,
      COUNT_ITEMS,
      false,
      { HOLDER(CONCURRENT "SingleProducerSingleConsumerQueue", ARGS_SAME),
        HOLDER("Segment", ARGS_SAME), ITEMS } },
    { CHANNELS "BoundedChannel",
      GCD_COLLECTION_CHANNEL,
      COUNT_ITEMS,
      false,
      { HOLDER(GENERIC "Deque", ARGS_SAME), ITEMS } },
    { IMMUTABLE "ImmutableList",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_BRANCHES,
      false,
      { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableSortedSet",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_BRANCHES,
      false,
      { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableSortedDictionary",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_BRANCHES,
      false,
      { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableDictionary",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_BRANCHES,
      false,
      { NODE(IMMUTABLE "SortedInt32KeyNode", ARGS_ANY), NODE("Node", ARGS_PAIR) } },
    { IMMUTABLE "ImmutableHashSet",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_BRANCHES,
      false,
      { NODE(IMMUTABLE "SortedInt32KeyNode", ARGS_ANY), NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableStack",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_CHAINED,
      false,
      { NODE(IMMUTABLE "ImmutableStack", ARGS_SAME) } },
    { IMMUTABLE "ImmutableQueue",
      GCD_COLLECTION_IMMUTABLE,
      COUNT_CHAINED,
      false,
      { NODE(IMMUTABLE "ImmutableStack", ARGS_SAME) } },
    { "System.Collections.Frozen.*",
      GCD_COLLECTION_FROZEN,
      COUNT_LENGTH,
      false,
      { { "", 1, LAST_ARG, ARGS_ANY, INNER_ITEMS },
        { "", 1, 0, ARGS_ANY, INNER_KEYS },
        { "System.String", 1, 0, ARGS_ANY, INNER_KEYS },
        HOLDER("System.Collections.Frozen.FrozenHashTable", ARGS_ANY),
        { "System.Collections.Frozen.FrozenHashTable+Bucket", 1, 0, ARGS_ANY, INNER_BUCKETS },
        BUCKETS } },
    { MODEL "Collection", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ObservableCollection", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ReadOnlyCollection", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ReadOnlyObservableCollection",
      GCD_COLLECTION_WRAPPER,
      COUNT_WRAPPED,
      false,
      { { 0 } } },
    { MODEL "ReadOnlyDictionary", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { "System.Collections.ArrayList",
      GCD_COLLECTION_LIST,
      COUNT_ITEMS,
      false,
      { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Queue",
      GCD_COLLECTION_QUEUE,
      COUNT_ITEMS,
      false,
      { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Stack",
      GCD_COLLECTION_STACK,
      COUNT_ITEMS,
      false,
      { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Hashtable",
      GCD_COLLECTION_DICTIONARY,
      COUNT_OBJECT_PAIRS,
      false,
      { { "Bucket", 1, 0, ARGS_ANY, INNER_ENTRIES } } },
    { "Microsoft.Extensions.Caching.Memory.MemoryCache",
      GCD_COLLECTION_CACHE,
      COUNT_NODES,
      false,
      { HOLDER("CoherentState", ARGS_ANY),
        HOLDER(CONCURRENT "ConcurrentDictionary", ARGS_ANY),
        TABLES(ARGS_ANY),
        { "Microsoft.Extensions.Caching.Memory.CacheEntry", 0, 0, ARGS_ANY, INNER_OTHER } } },
    { "System.Data.DataTable",
      GCD_COLLECTION_LIST,
      COUNT_ITEMS,
      false,
      { HOLDER("System.Data.RecordManager", ARGS_ANY),
        { "System.Data.DataRow", 1, 0, ARGS_ANY, INNER_ITEMS } } },
    { "System.Runtime.CompilerServices.ConditionalWeakTable",
      GCD_COLLECTION_WEAK_TABLE,
      COUNT_CAPACITY,
      false,
      { HOLDER("Container", ARGS_SAME), ENTRIES(ARGS_SAME), BUCKETS } },
    { "System.Text.StringBuilder",
      GCD_COLLECTION_TEXT,
      COUNT_ITEMS,
      false,
      { HOLDER("System.Text.StringBuilder", ARGS_ANY),
        { "System.Char", 1, 0, ARGS_ANY, INNER_ITEMS } } },
};
const size_t gcd_collection_type_count = sizeof gcd_collection_types / sizeof *gcd_collection_types;
