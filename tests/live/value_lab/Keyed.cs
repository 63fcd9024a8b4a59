// SPDX-License-Identifier: MIT
// Dictionaries whose keys are no strings.  Each value says in which field, and under which key, it is.
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Globalization;
using System.Net;

namespace ValueLab;

enum Wide : ulong { One = 1, Most = ulong.MaxValue }

enum Narrow : short { Least = short.MinValue, Three = 3 }

record struct Spot(int X, int Y);

readonly record struct Tenant(string Name, int Region);

record Customer(int Id, string Name);

struct Inner
{
    public short A;
    public DateTime B;
}

struct Outer
{
    public Inner I;
    public Guid G;
    public string S;
}

struct Twice<T> where T : struct
{
    public T One;
    public T? Two;
}

sealed class Leaf(string of)
{
    public readonly string Of = of;
    public readonly byte[] Data = new byte[300];
}

sealed class Keyed
{
    public readonly Dictionary<int, Leaf> ByInt = [];
    public readonly Dictionary<long, Leaf> ByLong = [];
    public readonly Dictionary<Guid, Leaf> ByGuid = [];
    public readonly Dictionary<State, Leaf> ByState = [];
    public readonly Dictionary<Wide, Leaf> ByWide = [];
    public readonly Dictionary<Narrow, Leaf> ByNarrow = [];
    public readonly Dictionary<Rights, Leaf> ByRights = [];
    public readonly Dictionary<DateTime, Leaf> ByTime = [];
    public readonly Dictionary<DateOnly, Leaf> ByDate = [];
    public readonly Dictionary<TimeSpan, Leaf> BySpan = [];
    public readonly Dictionary<decimal, Leaf> ByDecimal = [];
    public readonly Dictionary<double, Leaf> ByDouble = [];
    public readonly Dictionary<char, Leaf> ByChar = [];
    public readonly Dictionary<Int128, Leaf> ByHuge = [];
    public readonly Dictionary<Spot, Leaf> BySpot = [];
    public readonly Dictionary<Tenant, Leaf> ByTenant = [];
    public readonly Dictionary<(string, int), Leaf> ByTuple = [];
    public readonly Dictionary<(int, (byte, long)), Leaf> ByNested = [];
    public readonly Dictionary<Outer, Leaf> ByOuter = [];
    public readonly Dictionary<Twice<int>, Leaf> ByTwice = [];
    public readonly Dictionary<Customer, Leaf> ByCustomer = [];
    public readonly Dictionary<object, Leaf> ByObject = [];
    public readonly Dictionary<Uri, Leaf> ByUri = [];
    public readonly Dictionary<Version, Leaf> ByVersion = [];
    public readonly Dictionary<Type, Leaf> ByType = [];                     // a type that is in the heap
    public readonly Dictionary<object, Leaf> ByBoxedTuple = [];
    public readonly Dictionary<IPAddress, Leaf> ByAddress = [];
    public readonly Dictionary<string, (Leaf, int)> InPair = [];
    public readonly ConcurrentDictionary<int, Leaf> Concurrent = [];
    public readonly ConcurrentDictionary<(Guid, string), Leaf> ConcurrentPair = [];
    public readonly SortedDictionary<DateTime, Leaf> Sorted = [];
    public readonly Hashtable Hashed = [];
    public readonly ImmutableDictionary<Guid, Leaf> Immutable = ImmutableDictionary<Guid, Leaf>.Empty;
    public readonly ImmutableSortedDictionary<int, Leaf> ImmutableSorted = ImmutableSortedDictionary<int, Leaf>.Empty;
    public readonly SortedList<long, Leaf> Listed = [];                     // the last five have an array of keys
    public readonly FrozenDictionary<int, Leaf> Frozen = FrozenDictionary<int, Leaf>.Empty;
    public readonly FrozenDictionary<State, Leaf> FrozenState = FrozenDictionary<State, Leaf>.Empty;
    public readonly FrozenDictionary<Guid, Leaf> FrozenKey = FrozenDictionary<Guid, Leaf>.Empty;
    public readonly FrozenDictionary<(string, int), Leaf> FrozenTuple = FrozenDictionary<(string, int), Leaf>.Empty;

    static Leaf In(string field, FormattableString key) => new($"{field}[{key.ToString(CultureInfo.InvariantCulture)}]");

    static Guid Key(int i) => new(i, 2, 3, 4, 5, 6, 7, 8, 9, 10, (byte)i);

    public Keyed(int n)
    {
        for (var i = 0; i < n; i++)
            ByLong[(long)i << 33] = In(nameof(ByLong), $"{(long)i << 33}");
        if (n > 1000)                       // more than is read at once
            return;
        for (var i = 0; i < n; i++)
        {
            var time = new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddHours(i);
            ByInt[4700 + i] = In(nameof(ByInt), $"{4700 + i}");
            ByGuid[Key(i)] = In(nameof(ByGuid), $"{Key(i)}");
            ByTime[time] = In(nameof(ByTime), $"{time:yyyy-MM-dd HH:mm:ss}Z");
            ByDate[DateOnly.FromDateTime(time).AddDays(i)] = In(nameof(ByDate), $"{DateOnly.FromDateTime(time).AddDays(i):yyyy-MM-dd}");
            BySpan[TimeSpan.FromSeconds(i)] = In(nameof(BySpan), $"{TimeSpan.FromSeconds(i)}");
            ByDecimal[i / 4m] = In(nameof(ByDecimal), $"{i / 4m}");
            ByDouble[i / 4.0] = In(nameof(ByDouble), $"{i / 4.0}");
            ByChar[(char)('A' + i)] = In(nameof(ByChar), $"'{(char)('A' + i)}'");
            ByHuge[(Int128)i << 100] = In(nameof(ByHuge), $"{(Int128)i << 100}");
            BySpot[new(i, -i)] = In(nameof(BySpot), $"(X = {i}, Y = {-i})");
            ByTenant[new($"tenant-{i}", i)] = In(nameof(ByTenant), $"(Name = \"tenant-{i}\", Region = {i})");
            ByTuple[($"t{i}", i)] = In(nameof(ByTuple), $"(\"t{i}\", {i})");
            ByNested[(i, ((byte)i, -i))] = In(nameof(ByNested), $"({i}, {(byte)i}, {-i})");
            ByOuter[new() { I = new() { A = (short)i, B = time }, G = Key(i), S = $"s{i}" }] = In(nameof(ByOuter), $"(I.A = {i}, I.B = {time:yyyy-MM-dd HH:mm:ss}Z, G = {Key(i)}, S = \"s{i}\")");
            ByTwice[new() { One = i, Two = i % 2 == 0 ? null : -i }] = In(nameof(ByTwice), $"(One = {i}, Two = {(i % 2 == 0 ? "null" : -i)})");
            ByCustomer[new(i, $"c{i}")] = In(nameof(ByCustomer), $"ValueLab.Customer {{ Id = {i}, Name = \"c{i}\" }}");
            ByObject[i % 3 == 0 ? i : i % 3 == 1 ? $"o{i}" : Key(i)] = In(nameof(ByObject), i % 3 == 0 ? $"{i}" : i % 3 == 1 ? $"\"o{i}\"" : (FormattableString)$"{Key(i)}");
            ByUri[new($"http://shop/{i}")] = In(nameof(ByUri), $"\"http://shop/{i}\"");
            ByVersion[new(1, i)] = In(nameof(ByVersion), $"System.Version {{ _Major = 1, _Minor = {i}, _Build = -1, _Revision = -1 }}");
            ByBoxedTuple[(i, $"b{i}")] = In(nameof(ByBoxedTuple), $"({i}, \"b{i}\")");
            ByAddress[new(new byte[] { 10, 0, (byte)i, 255 })] = In(nameof(ByAddress), $"10.0.{i}.255");
            InPair[$"p{i}"] = (In(nameof(InPair), $"\"p{i}\""), i);
            Concurrent[i] = In(nameof(Concurrent), $"{i}");
            ConcurrentPair[(Key(i), $"s{i}")] = In(nameof(ConcurrentPair), $"({Key(i)}, \"s{i}\")");
            Sorted[time] = In(nameof(Sorted), $"{time:yyyy-MM-dd HH:mm:ss}Z");
            Hashed[i] = In(nameof(Hashed), $"{i}");
            Immutable = Immutable.Add(Key(i), In(nameof(Immutable), $"{Key(i)}"));
            ImmutableSorted = ImmutableSorted.Add(i, In(nameof(ImmutableSorted), $"{i}"));
            Listed[-i] = In(nameof(Listed), $"{-i}");
        }
        foreach (var type in new[] { typeof(Keyed), typeof(Leaf), typeof(byte[]) })
            ByType[type] = In(nameof(ByType), $"{type}");
        foreach (var state in Enum.GetValues<State>())
            ByState[state] = In(nameof(ByState), $"{state}");
        foreach (var wide in Enum.GetValues<Wide>())
            ByWide[wide] = In(nameof(ByWide), $"{wide}");
        foreach (var narrow in Enum.GetValues<Narrow>())
            ByNarrow[narrow] = In(nameof(ByNarrow), $"{narrow}");
        foreach (var (rights, text) in new[] { (Rights.None, "None"), (Rights.Read | Rights.Delete, "Read | Delete") })
            ByRights[rights] = In(nameof(ByRights), $"{text}");
        Frozen = Enumerable.Range(0, n).ToFrozenDictionary(i => 1000 * i, i => In(nameof(Frozen), $"{1000 * i}"));
        FrozenState = Enum.GetValues<State>().ToFrozenDictionary(s => s, s => In(nameof(FrozenState), $"{s}"));
        FrozenTuple = Enumerable.Range(0, n).ToFrozenDictionary(i => ($"f{i}", i), i => In(nameof(FrozenTuple), $"(\"f{i}\", {i})"));
        FrozenKey = Enumerable.Range(0, n).ToFrozenDictionary(Key, i => In(nameof(FrozenKey), $"{Key(i)}"));
    }
}
