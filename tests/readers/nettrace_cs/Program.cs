// SPDX-License-Identifier: MIT
// A recording as TraceEvent reads it: which events, how many lost, and what it says about those that gcdumpc adds.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text.Json;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers;

if (args.Length != 1)
{
    Console.Error.WriteLine("usage: NettraceRead FILE");
    return 2;
}
try
{
    using var source = new EventPipeEventSource(args[0]);
    var events = new SortedDictionary<string, long>(StringComparer.Ordinal);
    var names = new List<SortedDictionary<string, string>>();
    long objects = 0, references = 0;
    double last = double.MinValue;
    var backwards = 0;
    source.Clr.GCBulkNode += node => objects += node.Count;
    source.Clr.GCBulkEdge += edge => references += edge.Count;
    source.AllEvents += e =>
    {
        var key = $"{e.ProviderName}/{(int)e.ID}";
        events[key] = events.GetValueOrDefault(key) + 1;
        backwards += e.TimeStampRelativeMSec < last ? 1 : 0;
        last = e.TimeStampRelativeMSec;
    };
    source.Dynamic.All += e =>
    {
        if (e.ProviderName != "gcdumpc")
            return;
        var fields = new SortedDictionary<string, string>(StringComparer.Ordinal) { ["EventName"] = e.EventName };
        for (var i = 0; i < e.PayloadNames.Length; i++)
            fields[e.PayloadNames[i]] = Convert.ToString(e.PayloadValue(i), CultureInfo.InvariantCulture) ?? "";
        names.Add(fields);
    };
    var whole = source.Process();
    Console.WriteLine(JsonSerializer.Serialize(new
    {
        whole, lost = source.EventsLost, backwards, objects, references, events, names,
    }));
    return 0;
}
catch (Exception e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}
