// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime;
using System.Text;

namespace HeapLab;

/// <summary>
/// What a dump must show.  Every builder enters its objects here beside the line that makes them.  Type names are
/// written by hand, as the runtime's BulkType event gives them (nested types bare, generics with backtick and
/// brackets): names computed by reflection follow other rules.  The ledger is dead when the dump is taken.
/// </summary>
sealed class Ledger
{
    sealed class Row
    {
        public long Count, Bytes, Edges;
        public bool Exact, HasBytes, HasEdges;
    }

    readonly SortedDictionary<string, Row> _types = new(StringComparer.Ordinal);
    readonly SortedDictionary<string, int> _statics = new(StringComparer.Ordinal);
    readonly SortedDictionary<string, int> _handles = new(StringComparer.Ordinal);
    readonly SortedDictionary<string, int> _roots = new(StringComparer.Ordinal);

    /// <summary>Exactly these objects.  Bytes and edges are totals, -1 = not known; entries of a type add up.</summary>
    public void Own(string name, long count, long bytes = -1, long edges = -1)
    {
        bool first = !_types.TryGetValue(name, out Row? row);
        if (first)
            _types[name] = row = new Row { Exact = true, HasBytes = true, HasEdges = true };
        row!.Count += count;
        row.HasBytes &= bytes >= 0;
        row.HasEdges &= edges >= 0;
        row.Bytes += bytes;
        row.Edges += edges;
    }

    /// <summary>At least these objects: types that the runtime makes objects of, too.</summary>
    public void AtLeast(string name, long count)
    {
        if (!_types.TryGetValue(name, out Row? row))
            _types[name] = row = new Row();
        row.Count += count;
    }

    /// <summary>Objects of this type existed and are dead: a dump that shows one counts garbage as alive.</summary>
    public void Absent(string name) => Own(name, 0, 0, 0);

    public void Static(string field, int min = 1) => Add(_statics, field, min);
    public void Handle(string kind, int count) => Add(_handles, kind, count);
    public void Root(string kind, int min) => Add(_roots, kind, min);

    static void Add(SortedDictionary<string, int> to, string key, int n) => to[key] = to.GetValueOrDefault(key) + n;

    // Sizes as the event gives them on 64-bit: header, method table and length, not rounded up at the end.
    public static long ArrayBytes(long length, int elementBytes) => 24 + length * elementBytes;
    public static long ArrayBytes(long length, int elementBytes, int rank) => 24 + 8 * rank + length * elementBytes;
    public const int Reference = 8;

    // By hand: a serializer would leave its caches on the heap.  ASCII only, so that no console encoding matters.
    public string ToJson(int extras)
    {
        var s = new StringBuilder();
        s.Append("{\"schema\":1,\"program\":\"HeapLab\",\"pid\":").Append(Environment.ProcessId);
        s.Append(",\"runtime\":").Append(Quote(Environment.Version.ToString()));
        s.Append(",\"gc\":").Append(GCSettings.IsServerGC ? "\"server\"" : "\"workstation\"");
        s.Append(",\"pointer_bytes\":").Append(IntPtr.Size);
        s.Append(",\"extra_objects\":").Append(extras.ToString(CultureInfo.InvariantCulture));

        long objects = 0, edges = 0;
        s.Append(",\"types\":[");
        string comma = "";
        foreach ((string name, Row row) in _types)
        {
            objects += row.Count;
            s.Append(comma).Append("{\"name\":").Append(Quote(name));
            s.Append(row.Exact ? ",\"count\":" : ",\"min_count\":").Append(row.Count);
            if (row.Exact && row.HasBytes && IntPtr.Size == 8)
                s.Append(",\"bytes\":").Append(row.Bytes);
            if (row.Exact && row.HasEdges)
            {
                s.Append(",\"edges\":").Append(row.Edges);
                edges += row.Edges;
            }
            s.Append('}');
            comma = ",";
        }
        s.Append("],\"objects\":{\"min\":").Append(objects);
        s.Append("},\"edges\":{\"min\":").Append(edges).Append('}');

        s.Append(",\"statics\":[");
        comma = "";
        foreach ((string field, int min) in _statics)
        {
            s.Append(comma).Append("{\"name\":").Append(Quote(field)).Append(",\"min\":").Append(min).Append('}');
            comma = ",";
        }
        s.Append("],\"handles\":").Append(Object(_handles));
        s.Append(",\"roots\":").Append(Object(_roots));
        return s.Append('}').ToString();
    }

    static string Object(SortedDictionary<string, int> map)
    {
        var s = new StringBuilder("{");
        string comma = "";
        foreach ((string kind, int min) in map)
        {
            s.Append(comma).Append(Quote(kind)).Append(":{\"min\":").Append(min).Append('}');
            comma = ",";
        }
        return s.Append('}').ToString();
    }

    static string Quote(string text)
    {
        var s = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c is '"' or '\\')
                s.Append('\\').Append(c);
            else if (c is >= ' ' and <= '~')
                s.Append(c);
            else
                s.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
        }
        return s.Append('"').ToString();
    }
}
