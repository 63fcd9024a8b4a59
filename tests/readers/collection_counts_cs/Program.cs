// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.Diagnostics.Runtime;

namespace CollectionCounts;

/// <summary>
/// How many elements the collections of a living process have, read from their fields.
///
///     CollectionCounts PID DAC           DAC: libmscordaccore.so of the process's runtime
///
/// Prints a line for each collection whose fields it knows, arrays left out: ADDRESS COUNT TYPE, the address as hexadecimal number.
/// </summary>
static class Program
{
    static int Main(string[] args)
    {
        if (args.Length != 2)
        {
            Console.Error.WriteLine("usage: CollectionCounts PID DAC");
            return 2;
        }
        using DataTarget target = DataTarget.AttachToProcess(int.Parse(args[0]), suspend: true);
        using ClrRuntime runtime = target.ClrVersions.Single().CreateRuntime(args[1], ignoreMismatch: true);
        foreach (ClrObject o in runtime.Heap.EnumerateObjects())
        {
            if (o.Type is { IsArray: false } && Counts.Of(o) is long count)
                Console.WriteLine($"{o.Address:x} {count} {o.Type.Name}");
        }
        return 0;
    }
}

static class Counts
{
    const string Generic = "System.Collections.Generic.", Concurrent = "System.Collections.Concurrent.", Immutable = "System.Collections.Immutable.";

    /// <summary>By the name of the type without its parameters; what derives from one of them is found by its base.</summary>
    static readonly Dictionary<string, Func<ClrObject, long?>> s_known = new()
    {
        [Generic + "List"] = o => o.ReadField<int>("_size"),
        [Generic + "Queue"] = o => o.ReadField<int>("_size"),
        [Generic + "Stack"] = o => o.ReadField<int>("_size"),
        [Generic + "PriorityQueue"] = o => o.ReadField<int>("_size"),
        [Generic + "Dictionary"] = o => o.ReadField<int>("_count") - o.ReadField<int>("_freeCount"),
        [Generic + "HashSet"] = o => o.ReadField<int>("_count") - o.ReadField<int>("_freeCount"),
        [Generic + "LinkedList"] = o => o.ReadField<int>("count"),
        [Generic + "SortedSet"] = o => o.ReadField<int>("count"),
        [Generic + "SortedDictionary"] = o => o.ReadObjectField("_set").ReadField<int>("count"),
        [Generic + "SortedList"] = o => o.ReadField<int>("_size"),
        ["System.Collections.ArrayList"] = o => o.ReadField<int>("_size"),
        ["System.Collections.Queue"] = o => o.ReadField<int>("_size"),
        ["System.Collections.Stack"] = o => o.ReadField<int>("_size"),
        ["System.Collections.Hashtable"] = o => o.ReadField<int>("_count"),
        [Concurrent + "ConcurrentDictionary"] = o => Sum(o.ReadObjectField("_tables").ReadObjectField("_countPerLock")),
        [Concurrent + "ConcurrentQueue"] = Queue,
        [Concurrent + "ConcurrentStack"] = o => Chain(o.ReadObjectField("_head"), "_next").Count(),
        [Concurrent + "ConcurrentBag"] = o => Chain(o.ReadObjectField("_workStealingQueues"), "_nextQueue")
            .Sum(q => (long)(q.ReadField<int>("_addTakeCount") - q.ReadField<int>("_stealCount"))),
        [Concurrent + "BlockingCollection"] = o => Known(o.ReadObjectField("_collection")),
        [Immutable + "ImmutableDictionary"] = o => o.ReadField<int>("_count"),
        [Immutable + "ImmutableHashSet"] = o => o.ReadField<int>("_count"),
        [Immutable + "ImmutableSortedDictionary"] = o => o.ReadField<int>("_count"),
        [Immutable + "ImmutableList"] = o => o.ReadObjectField("_root").ReadField<int>("_count"),
        [Immutable + "ImmutableSortedSet"] = o => o.ReadObjectField("_root").ReadField<int>("_count"),
        [Immutable + "ImmutableQueue"] = o => Stack(o.ReadObjectField("_forwards")) + Stack(o.ReadObjectField("_backwards")),
        [Immutable + "ImmutableStack"] = Stack,
        ["System.Collections.ObjectModel.Collection"] = o => Known(o.ReadObjectField("items")),
        ["System.Collections.ObjectModel.ReadOnlyCollection"] = o => Known(o.ReadObjectField("list")),
        ["System.Threading.Channels.UnboundedChannel"] = o => Known(o.ReadObjectField("_items")),
        ["System.Threading.Channels.BoundedChannel"] = o => o.ReadObjectField("_items").ReadField<int>("_size"),
        ["System.Text.StringBuilder"] = o => o.ReadField<int>("m_ChunkOffset") + o.ReadField<int>("m_ChunkLength"),
        ["Microsoft.Extensions.Caching.Memory.MemoryCache"] = Cache,
        ["System.Runtime.CompilerServices.ConditionalWeakTable"] = WeakTable,
        ["System.MulticastDelegate"] = Handlers,
    };
    static readonly Dictionary<string, Func<ClrObject, long?>?> s_byType = new();

    /// <summary>Null unless it is a known collection.</summary>
    public static long? Of(ClrObject o) => Find(o.Type!) is { } count ? count(o) : null;

    static long? Known(ClrObject o) => o.Type!.IsArray ? o.AsArray().Length : Of(o);

    static Func<ClrObject, long?>? Find(ClrType type)
    {
        if (s_byType.TryGetValue(type.Name!, out var count))
            return count;
        for (ClrType? t = type; t != null && count == null; t = t.BaseType)
            s_known.TryGetValue(WithoutArguments(t.Name!), out count);
        return s_byType[type.Name!] = count;
    }

    static string WithoutArguments(string name)
    {
        for (string shorter = name; ; name = shorter)
            if ((shorter = Regex.Replace(name, "<[^<>]*>", "")) == name)
                return name;
    }

    static IEnumerable<ClrObject> Chain(ClrObject first, string next)
    {
        for (ClrObject o = first; !o.IsNull; o = o.ReadObjectField(next))
            yield return o;
    }

    static long Sum(ClrObject array) => array.AsArray().ReadValues<int>(0, array.AsArray().Length)!.Sum();

    /// <summary>The last one is the empty stack, which has itself no tail.</summary>
    static long? Stack(ClrObject o) => Chain(o, "_tail").Count() - 1;

    /// <summary>Null with one handler: there is no list, or it is something else.</summary>
    static long? Handlers(ClrObject o)
    {
        if (o.Type!.GetFieldByName("_invocationList") != null)           // before .NET 11
            return o.ReadObjectField("_invocationList") is { IsNull: false, Type.Name: "System.Object[]" } ? (long)o.ReadField<nint>("_invocationCount") : null;
        ClrObject list = o.ReadObjectField("_helperObject");
        return list is { IsNull: false, IsArray: true }
            ? Enumerable.Range(0, list.AsArray().Length).Count(i => !list.AsArray().GetStructValue(i).ReadObjectField("Value").IsNull) : null;
    }

    static long? Queue(ClrObject o)
    {
        long count = 0;
        foreach (ClrObject segment in Chain(o.ReadObjectField("_head"), "_nextSegment"))
        {
            ClrValueType ends = segment.ReadValueTypeField("_headAndTail");
            int head = ends.ReadField<int>("Head"), tail = ends.ReadField<int>("Tail");
            if (segment.ReadField<bool>("_frozenForEnqueues"))
                tail -= 2 * segment.ReadObjectField("_slots").AsArray().Length;      // moved there so that nobody adds
            count += tail - head;
        }
        return count;
    }

    static long? Cache(ClrObject o)
    {
        ClrObject state = o.ReadObjectField("_coherentState");
        return state.Type!.Fields.Where(f => f.Name is "_entries" or "_stringEntries" or "_nonStringEntries").Sum(f => Known(state.ReadObjectField(f.Name!)));
    }

    /// <summary>Entries in use whose keys live.</summary>
    static long? WeakTable(ClrObject o)
    {
        ClrArray entries = o.ReadObjectField("_container").ReadObjectField("_entries").AsArray();
        int used = o.ReadObjectField("_container").ReadField<int>("_firstFreeEntry"), count = 0;
        for (int i = 0; i < used; i++)
        {
            ClrValueType entry = entries.GetStructValue(i);
            ulong handle = (ulong)entry.ReadValueTypeField("depHnd").ReadField<nint>("_handle");
            if (entry.ReadField<int>("HashCode") != -1 && handle != 0 && o.Type!.Heap.Runtime.DataTarget.DataReader.ReadPointer(handle) != 0)
                count++;
        }
        return count;
    }
}
