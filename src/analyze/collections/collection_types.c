/*
 * The collections of .NET 8, 9 and 10, and what they are made of; one line for all versions where the inside differs.
 */
#include "analyze/collections/collections.h"

#define GENERIC "System.Collections.Generic."
#define CONCURRENT "System.Collections.Concurrent."
#define IMMUTABLE "System.Collections.Immutable."
#define MODEL "System.Collections.ObjectModel."
#define CHANNELS "System.Threading.Channels."

/* name, dimensions, number of the argument, arguments, role */
#define ITEMS { "", 1, 0, ARGS_ANY, INNER_ITEMS }
#define ENTRIES(args) { "Entry", 1, 0, args, INNER_ENTRIES }
#define BUCKETS { "System.Int32", 1, 0, ARGS_ANY, INNER_BUCKETS }
#define OBJECTS(role) { "System.Object", 1, 0, ARGS_ANY, role }
#define NODE(name, args) { name, 0, 0, args, INNER_NODE }
#define HOLDER(name, args) { name, 0, 0, args, INNER_HOLDER }
#define NODES(name, args) { name, 1, 0, args, INNER_HOLDER }
/* of a ConcurrentDictionary; before .NET 8 the buckets refer to nodes directly */
#define TABLES(args) HOLDER("Tables", args), NODES("VolatileNode", args), NODE("Node", args)

const struct collection_type gcd_collection_types[] = {
    { GENERIC "List`1", GCD_COLLECTION_LIST, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Queue`1", GCD_COLLECTION_QUEUE, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Stack`1", GCD_COLLECTION_STACK, COUNT_ITEMS, false, { ITEMS } },
    { GENERIC "Dictionary`2", GCD_COLLECTION_DICTIONARY, COUNT_TABLE, false, { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "OrderedDictionary`2", GCD_COLLECTION_DICTIONARY, COUNT_TABLE, false, { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "HashSet`1", GCD_COLLECTION_SET, COUNT_SET, false, { ENTRIES(ARGS_SAME), BUCKETS } },
    { GENERIC "PriorityQueue`2", GCD_COLLECTION_PRIORITY_QUEUE, COUNT_TUPLES, false, { { "System.ValueTuple`2", 1, 0, ARGS_SAME, INNER_ENTRIES } } },
    { GENERIC "LinkedList`1", GCD_COLLECTION_LINKED_LIST, COUNT_NODES, true, { NODE(GENERIC "LinkedListNode`1", ARGS_SAME) } },
    { GENERIC "SortedSet`1", GCD_COLLECTION_SORTED_SET, COUNT_NODES, false, { NODE("Node", ARGS_SAME) } },
    { GENERIC "SortedDictionary`2", GCD_COLLECTION_SORTED_DICTIONARY, COUNT_NODES, false,
      { HOLDER(GENERIC "TreeSet`1", ARGS_PAIR), NODE("Node", ARGS_PAIR) } },
    { GENERIC "SortedList`2", GCD_COLLECTION_SORTED_LIST, COUNT_KEYS, false,
      { { "", 1, 0, ARGS_ANY, INNER_KEYS }, { "", 1, 1, ARGS_ANY, INNER_ITEMS } } },
    { CONCURRENT "ConcurrentDictionary`2", GCD_COLLECTION_CONCURRENT_DICTIONARY, COUNT_NODES, false,
      { TABLES(ARGS_SAME), NODES("Node", ARGS_SAME), BUCKETS, OBJECTS(INNER_OTHER) } },
    { CONCURRENT "ConcurrentQueue`1", GCD_COLLECTION_CONCURRENT_QUEUE, COUNT_SEGMENTS, false,
      { HOLDER(CONCURRENT "ConcurrentQueueSegment`1", ARGS_SAME), { "Slot", 1, 0, ARGS_SAME, INNER_ITEMS } } },
    { CONCURRENT "ConcurrentStack`1", GCD_COLLECTION_CONCURRENT_STACK, COUNT_NODES, false, { NODE("Node", ARGS_SAME) } },
    { CONCURRENT "ConcurrentBag`1", GCD_COLLECTION_CONCURRENT_BAG, COUNT_ITEMS, false, { HOLDER("WorkStealingQueue", ARGS_SAME), ITEMS } },
    { CONCURRENT "BlockingCollection`1", GCD_COLLECTION_BLOCKING, COUNT_WRAPPED, false, { { 0 } } },
    { CHANNELS "UnboundedChannel`1", GCD_COLLECTION_CHANNEL, COUNT_WRAPPED, false, { { 0 } } },
    { CHANNELS "UnboundedPrioritizedChannel`1", GCD_COLLECTION_CHANNEL, COUNT_WRAPPED, false, { { 0 } } },
    { CHANNELS "SingleConsumerUnboundedChannel`1", GCD_COLLECTION_CHANNEL, COUNT_ITEMS, false,
      { HOLDER(CONCURRENT "SingleProducerSingleConsumerQueue`1", ARGS_SAME), HOLDER("Segment", ARGS_SAME), ITEMS } },
    { CHANNELS "BoundedChannel`1", GCD_COLLECTION_CHANNEL, COUNT_ITEMS, false, { HOLDER(GENERIC "Deque`1", ARGS_SAME), ITEMS } },
    { IMMUTABLE "ImmutableList`1", GCD_COLLECTION_IMMUTABLE, COUNT_BRANCHES, false, { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableSortedSet`1", GCD_COLLECTION_IMMUTABLE, COUNT_BRANCHES, false, { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableSortedDictionary`2", GCD_COLLECTION_IMMUTABLE, COUNT_BRANCHES, false, { NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableDictionary`2", GCD_COLLECTION_IMMUTABLE, COUNT_BRANCHES, false,
      { NODE(IMMUTABLE "SortedInt32KeyNode`1", ARGS_ANY), NODE("Node", ARGS_PAIR) } },
    { IMMUTABLE "ImmutableHashSet`1", GCD_COLLECTION_IMMUTABLE, COUNT_BRANCHES, false,
      { NODE(IMMUTABLE "SortedInt32KeyNode`1", ARGS_ANY), NODE("Node", ARGS_SAME) } },
    { IMMUTABLE "ImmutableStack`1", GCD_COLLECTION_IMMUTABLE, COUNT_CHAINED, false, { NODE(IMMUTABLE "ImmutableStack`1", ARGS_SAME) } },
    { IMMUTABLE "ImmutableQueue`1", GCD_COLLECTION_IMMUTABLE, COUNT_CHAINED, false, { NODE(IMMUTABLE "ImmutableStack`1", ARGS_SAME) } },
    { "System.Collections.Frozen.*", GCD_COLLECTION_FROZEN, COUNT_LENGTH, false,
      { { "", 1, LAST_ARG, ARGS_ANY, INNER_ITEMS }, { "", 1, 0, ARGS_ANY, INNER_KEYS }, { "System.String", 1, 0, ARGS_ANY, INNER_KEYS },
        { "System.Collections.Frozen.FrozenHashTable", 0, 0, ARGS_ANY, INNER_HOLDER }, BUCKETS } },
    { MODEL "Collection`1", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ObservableCollection`1", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ReadOnlyCollection`1", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ReadOnlyObservableCollection`1", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { MODEL "ReadOnlyDictionary`2", GCD_COLLECTION_WRAPPER, COUNT_WRAPPED, false, { { 0 } } },
    { "System.Collections.ArrayList", GCD_COLLECTION_LIST, COUNT_ITEMS, false, { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Queue", GCD_COLLECTION_QUEUE, COUNT_ITEMS, false, { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Stack", GCD_COLLECTION_STACK, COUNT_ITEMS, false, { OBJECTS(INNER_ITEMS) } },
    { "System.Collections.Hashtable", GCD_COLLECTION_DICTIONARY, COUNT_OBJECT_PAIRS, false, { { "Bucket", 1, 0, ARGS_ANY, INNER_ENTRIES } } },
    { "Microsoft.Extensions.Caching.Memory.MemoryCache", GCD_COLLECTION_CACHE, COUNT_NODES, false,
      { HOLDER("CoherentState", ARGS_ANY), HOLDER(CONCURRENT "ConcurrentDictionary`2", ARGS_ANY), TABLES(ARGS_ANY),
        { "Microsoft.Extensions.Caching.Memory.CacheEntry", 0, 0, ARGS_ANY, INNER_OTHER } } },
    { "System.Runtime.CompilerServices.ConditionalWeakTable`2", GCD_COLLECTION_WEAK_TABLE, COUNT_CAPACITY, false,
      { HOLDER("Container", ARGS_SAME), ENTRIES(ARGS_SAME), BUCKETS } },
    { "System.Text.StringBuilder", GCD_COLLECTION_TEXT, COUNT_ITEMS, false,
      { HOLDER("System.Text.StringBuilder", ARGS_ANY), { "System.Char", 1, 0, ARGS_ANY, INNER_ITEMS } } },
};
const size_t gcd_collection_type_count = sizeof gcd_collection_types / sizeof *gcd_collection_types;
