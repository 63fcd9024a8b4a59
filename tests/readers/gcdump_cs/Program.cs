// SPDX-License-Identifier: MIT
// A .gcdump read by Microsoft.Diagnostics.FastSerialization: GcDumpRead FILE [--graph] prints one JSON object;
// GcDumpRead --write-sample plain|full|old FILE makes a small file with the library's own writer.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace GcDumpRead;

internal static class Program
{
    private static int Main(string[] args)
    {
        try
        {
            switch (args)
            {
                case ["--write-sample", "plain" or "full" or "old", string target]:
                    Sample.Make(args[1]).Write(target);
                    return 0;
                case [string path]:
                    Print(GCHeapDump.Read(path), false);
                    return 0;
                case [string path, "--graph"]:
                    Print(GCHeapDump.Read(path), true);
                    return 0;
                default:
                    Console.Error.WriteLine("usage: GcDumpRead FILE [--graph] | --write-sample plain|full|old FILE");
                    return 2;
            }
        }
        catch (Exception e)     // whatever the library throws at a bad file
        {
            Console.Error.WriteLine($"GcDumpRead: {args[^1]}: {e.GetType().Name}: {e.Message}");
            return 1;
        }
    }

    private static void Print(GCHeapDump dump, bool withGraph)
    {
        var graph = dump.Graph;
        var types = new Dictionary<string, long[]>();
        var modules = new Dictionary<string, long[]>();
        var nodes = new List<object[]>();
        long edges = 0, bytes = 0, undefined = 0;
        if (graph.Addresses.Length != graph.Offsets.Length)
            throw new FormatException($"{graph.Addresses.Length} addresses for {graph.Offsets.Length} nodes");
        if (dump.MultipliersByType.Length != 0 && dump.MultipliersByType.Length != graph.Types.Count)
            throw new FormatException($"{dump.MultipliersByType.Length} multipliers for {graph.Types.Count} types");
        for (int i = 0; i < graph.Offsets.Length; i++)
        {
            var node = graph.Decode(i);
            var type = graph.Types[node.Type];
            edges += node.Children.Length;
            bytes += node.Size;
            undefined += graph.Offsets[i] == 0 ? 1 : 0;
            Add(types, type.Shown, node.Size);
            Add(modules, type.ModuleName ?? "", node.Size);
            if (withGraph)
                nodes.Add([type.Shown, node.Size, graph.Addresses[i], node.Children]);
        }
        var result = new Dictionary<string, object?>
        {
            ["format"] = "gcdump", ["nodes"] = graph.Offsets.Length, ["edges"] = edges, ["bytes"] = bytes, ["types"] = types,
            ["roots"] = Roots(graph), ["facts"] = Facts(dump, undefined, modules),
        };
        if (withGraph)
            result["graph"] = nodes;
        var plain = new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
        using var output = Console.OpenStandardOutput();
        JsonSerializer.Serialize(output, result, plain);
    }

    private static void Add(Dictionary<string, long[]> sums, string name, int size)
    {
        if (!sums.TryGetValue(name, out var row))
            sums[name] = row = new long[2];
        row[0]++;
        row[1] += size;
    }

    // The made-up nodes below the root, by path: "[other roots]/[strong Handles]", each with the number of its children.
    private static List<object> Roots(Graphs.MemoryGraph graph)
    {
        var found = new List<object>();
        var seen = new HashSet<int> { graph.RootIndex };
        var left = new Queue<(int Node, string Path)>();
        left.Enqueue((graph.RootIndex, ""));
        while (left.Count > 0)
        {
            var (index, path) = left.Dequeue();
            foreach (int child in graph.Decode(index).Children)
            {
                var node = graph.Decode(child);
                string name = graph.Types[node.Type].Shown;
                if (graph.Addresses[child] != 0 || node.Size != 0 || !name.StartsWith('[') || !seen.Add(child))
                    continue;
                found.Add(new { name = path + name, edges = node.Children.Length });
                left.Enqueue((child, path + name + "/"));
            }
        }
        return found;
    }

    private static Dictionary<string, object?> Facts(GCHeapDump dump, long undefined, Dictionary<string, long[]> modules)
    {
        var graph = dump.Graph;
        return new Dictionary<string, object?>
        {
            ["version"] = dump.FileVersion, ["minimum_reader"] = dump.FileMinimumReader, ["total_size"] = graph.TotalSize,
            ["root_index"] = graph.RootIndex, ["root_name"] = graph.Types[graph.Decode(graph.RootIndex).Type].Shown,
            ["is_64bit"] = graph.Is64Bit, ["undefined_nodes"] = undefined, ["type_table"] = graph.Types.Count,
            ["unused_types"] = graph.Types.Count(t => t.Size == -1), ["deferred_types"] = graph.HasDeferredTypes,
            ["count_multiplier"] = dump.CountMultiplier, ["size_multiplier"] = dump.SizeMultiplier,
            ["multipliers_by_type"] = dump.MultipliersByType, ["javascript"] = dump.JavaScript != null,
            ["segments"] = dump.Heap?.Segments.Select(s => s.Ends), ["size_of_segments"] = dump.Heap?.SizeOfAllSegments,
            ["log"] = dump.Log, ["time_ticks"] = dump.TimeTicks, ["machine"] = dump.MachineName, ["process"] = dump.ProcessName,
            ["pid"] = dump.ProcessId, ["commit"] = dump.Commit, ["working_set"] = dump.WorkingSet,
            ["interop"] = dump.Interop == null ? null
                : new[] { dump.Interop.Rcws, dump.Interop.Ccws, dump.Interop.Interfaces, dump.Interop.Modules },
            ["creation_tool"] = dump.CreationTool, ["modules"] = modules,
        };
    }
}
