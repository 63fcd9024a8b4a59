// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.Linq;
using Graphs;

namespace GcDumpRead;

/// <summary>Small dumps for the tests of the readers, whose container bytes come from the library's own writer.</summary>
internal static class Sample
{
    /// <summary>
    /// plain: the layout of dotnet-gcdump.  full: everything else the format knows, too.  old: the same with segments of version 0.
    /// </summary>
    public static GCHeapDump Make(string kind)
    {
        bool full = kind != "plain";
        var graph = new MemoryGraph { Is64Bit = true, HasDeferredTypes = full };
        graph.Types =
        [
            new() { Name = "UNDEFINED", Size = 0 },
            new() { Name = "Demo.Node[]", Size = 32, ModuleName = "/app/Demo.dll" },
            new() { Name = "Demo.\U0001F600\u00e9\u4e2d", Size = 24, ModuleName = "/app/Demo.dll" },
            new() { Name = "Demo.Never", ModuleName = "/app/Demo.dll" },
            new() { Name = "[.NET Roots]", Size = 0 },
            new() { Name = "[local vars]", Size = 0 },
            new() { Name = "[other roots]", Size = 0 },
            new() { Name = "[strong Handles]", Size = 0 },
        ];
        // node 8 is named but never described
        (int Type, int Size, int[] Children)[] nodes =
        [
            (4, 0, [1, 2]), (5, 0, [4, 5]), (6, 0, [3]), (7, 0, [6]), (1, 32, [5, 4, 7, 8]), (1, 300, [4]), (2, 24, []), (1, int.MaxValue, [0]),
        ];
        if (full)
        {
            var module = new Module
            {
                Path = "/app/Native.so", ImageBase = 0xffff800000000000, Size = 4096, BuildTicks = 630822816000000000, PdbName = "Native.pdb",
                PdbGuid = new System.Guid("00112233-4455-6677-8899-aabbccddeeff"), PdbAge = 1,
            };
            foreach (int i in new[] { 2, 3 })
            {
                graph.Types[i].Name = null;
                graph.Types[i].ModuleName = null;
                graph.Types[i].TypeId = 0x1230 + i;
                graph.Types[i].Deferred = module;
                graph.Types[i].Suffix = i == 3 ? " (Bytes > 1K)" : null;
            }
        }
        var blob = new List<byte> { 0, 0 };
        graph.Offsets = new uint[nodes.Length + 1];
        for (int i = nodes.Length - 1; i >= 0; i--)
        {
            var (type, size, children) = nodes[i];
            bool own = size != graph.Types[type].Size;
            graph.Offsets[i] = (uint)blob.Count;
            Put(blob, type << 1 | (own ? 1 : 0));
            if (own)
                Put(blob, size);
            Put(blob, children.Length);
            foreach (int child in children)
                Put(blob, child - i);
        }
        graph.Blob = [.. blob];
        graph.Addresses = [0, 0, 0, 0, 0x7f0000001000, 0x7f0000001020, 0xfffffffffffffff8, 0x7f0000002000, 0x7f0000003000];
        graph.TotalSize = nodes.Sum(n => (long)n.Size);
        return full ? Full(graph, kind == "old" ? 0 : 1) : new GCHeapDump { Graph = graph, CreationTool = "dotnet-gcdump" };
    }

    private static GCHeapDump Full(MemoryGraph graph, int segmentVersion)
    {
        var dump = new GCHeapDump
        {
            Graph = graph, CountMultiplier = 2, SizeMultiplier = 1.5f, JavaScript = new JSHeapInfo(),
            Heap = new DotNetHeapInfo { SizeOfAllSegments = 1 << 20 }, Log = "a log\n\0 of two lines", TimeTicks = 638000000000000000,
            MachineName = "machine", ProcessName = "demo", ProcessId = 4711,
            Commit = 1L << 33, WorkingSet = 1L << 32, MultipliersByType = [1, 2, 3, 4, 5, 6, 7, 8],
            Interop = new InteropInfo { Wrappers = 3, Rcws = 1, Ccws = 2, Interfaces = 1, Modules = 1, ModuleNames = ["ole32.dll"] },
        };
        for (ulong i = 0; i < 3; i++)
        {
            var segment = new GCHeapDumpSegment { FileVersion = segmentVersion };
            for (uint k = 0; k < 6 + segmentVersion; k++)
                segment.Ends[k] = 0x7f0000000000 + (i << 20) + (k << 8);
            dump.Heap.Segments.Add(segment);
        }
        return dump;
    }

    // shortest form: the top bit of the first group is the sign
    private static void Put(List<byte> blob, int value)
    {
        int groups = 1;
        while (groups < 5 && (value < -(1 << (7 * groups - 1)) || value >= 1 << (7 * groups - 1)))
            groups++;
        for (int i = groups - 1; i >= 0; i--)
            blob.Add((byte)(value >> (7 * i) & 0x7f | (i > 0 ? 0x80 : 0)));
    }
}
