// SPDX-License-Identifier: MIT
// Strings whose texts say whose they are, so that a reader that takes one for another is found out.
//
//     ValueLab churn N [collect]   pairs {text "pair-K-…", numbers, K bytes}, of which a tenth is replaced again and again; with "collect" it forces
//                                  compacting collections.  The size of the bytes is in a dump, so it tells which values are right
//     ValueLab holes N [still|collect]   objects and arrays in which some references are null; they are replaced and changed as pairs are, unless "still"
//     ValueLab keys N              collections with N keys "user:tenant-T/KIND-I", T = 42 for three of five
//     ValueLab keyed N             dictionaries with N keys that are no strings; each value says which key is its own
//     ValueLab lost N              dictionaries with keys that are equal to none
//     ValueLab orders N             N orders with fields of all kinds in one array, and some exceptions; prints a line with the values of each order
//     ValueLab still N             N different texts that stay; prints the sum of the first eight bytes of their SHA-256
//
// It prints "open" when everything is there, and ends with its standard input.
using System.Buffers.Binary;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Security.Cryptography;
using System.Text;

namespace ValueLab;

sealed class Pair(int id)
{
    public readonly string Text = $"pair-{id % 997}-" + new string((char)('a' + id % 26), id % 40);
    public readonly int Id = id;
    public readonly long Twice = 2L * id + 1;
    public readonly Guid Key = new(id, 1, 2, 3, 4, 5, 6, 7, (byte)id, (byte)(id >> 8), (byte)(id >> 16));
    public readonly decimal? Price = id % 2 == 0 ? null : id / 100m;
    public readonly (int, string) Both = (-id, $"pair-{id % 997}-" + new string((char)('a' + id % 26), id % 40));
    public readonly byte[] Mark = new byte[id % 997];        // the last, so that a pair with one is whole
}

sealed class Session
{
    public readonly byte[] Data = new byte[200];
}

// Each in a field of its own.
sealed class Shelves
{
    public readonly Dictionary<string, Session> Plain;
    public readonly ConcurrentDictionary<string, Session> Concurrent;
    public readonly SortedDictionary<string, Session> Sorted;
    public readonly SortedList<string, Session> Listed;
    public readonly ImmutableDictionary<string, Session> Immutable;
    public readonly ImmutableSortedDictionary<string, Session> ImmutableSorted;
    public readonly FrozenDictionary<string, Session> Frozen;
    public readonly Dictionary<string, object> Mixed;
    public readonly HashSet<string> Seen;
    public readonly Hashtable Hashed = [];

    public Shelves(int n)
    {
        Plain = new(Pairs("plain", n));
        foreach (var key in Plain.Keys.Where((_, i) => i % 10 == 3).ToArray())     // leaves holes
            Plain.Remove(key);
        Concurrent = new(Pairs("concurrent", n));
        Sorted = new(new Dictionary<string, Session>(Pairs("sorted", n)));
        Listed = new(new Dictionary<string, Session>(Pairs("listed", n)));
        Immutable = Pairs("immutable", n).ToImmutableDictionary();
        ImmutableSorted = Pairs("sortedimmutable", n).ToImmutableSortedDictionary();
        Frozen = Pairs("frozen", n).ToFrozenDictionary();
        Mixed = Pairs("mixed", n).Select((p, i) => KeyValuePair.Create(p.Key, i % 2 == 0 ? p.Value : (object)$"text {i}")).ToDictionary();
        foreach (var (key, value) in Pairs("hashed", n))
            Hashed[key] = value;
        Seen = Pairs("seen", n).Select(p => p.Key).ToHashSet();
    }

    static IEnumerable<KeyValuePair<string, Session>> Pairs(string kind, int n) => Enumerable.Range(0, n).Select(i => KeyValuePair.Create($"user:tenant-{(i % 5 < 3 ? 42 : i % 5)}/{kind}-{i}", new Session()));
}

static class Program
{
    static Shelves? s_shelves;
    static Keyed? s_keyed;
    static Lost? s_lost;
    static Holder?[]? s_holders;
    static Pair[] s_pairs = [];
    static Order[] s_orders = [];
    static Exception[] s_failures = [];
    static string[] s_texts = [];
    static byte[]?[] s_garbage = [];

    // Each fourth was never thrown, each third has an inner exception, each fifth keeps something else where texts could be.
    static Exception Fail(int i)
    {
        Exception e = (i % 3) switch
        {
            0 => new InvalidOperationException($"failure {i % 2}", new TimeoutException("too late")),
            1 => new InvalidOperationException($"failure {i % 2}"),
            _ => new ArgumentException("no such thing", "name"),
        };
        if (i % 5 == 0)
            (e.HelpLink, e.Source, e.HResult) = ($"help {i}", "lab", unchecked((int)0x80131600));
        try
        {
            return i % 4 == 0 ? e : throw e;
        }
        catch (Exception thrown)
        {
            return thrown;
        }
    }

    static void Holes(int n, Thread quit, string how)
    {
        s_holders = new Holder?[n + n / 2];              // it has holes of its own
        for (var i = 0; i < n; i++)
            s_holders[i + i / 2] = new Holder(i);
        Console.WriteLine("open");
        quit.Start();
        var random = new Random(1);
        for (var round = 0; how != "still"; round++)
        {
            for (var i = 0; i < n / 10; i++)
            {
                var k = random.Next(n);
                if (i % 2 == 0)
                    s_holders[k + k / 2] = new Holder(random.Next(1_000_000));
                else
                    s_holders[k + k / 2]!.Change(random.Next(1_000_000));
            }
            if (how == "collect" && round % 100 < 60 && round % 5 == 4)
                GC.Collect(round % 3, GCCollectionMode.Forced, true, true);
            Thread.Sleep(1);
        }
        Thread.Sleep(Timeout.Infinite);
    }

    static void Main(string[] args)
    {
        var n = int.Parse(args[1]);
        var quit = new Thread(() => { Console.In.ReadToEnd(); Environment.Exit(0); }) { IsBackground = true };
        if (args[0] == "keys")
        {
            s_shelves = new Shelves(n);
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_shelves);
            return;
        }
        if (args[0] == "lost")
        {
            s_lost = new Lost(n);
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_lost);
            return;
        }
        if (args[0] == "keyed")
        {
            s_keyed = new Keyed(n);
            GC.Collect();
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_keyed);
            return;
        }
        if (args[0] == "orders")
        {
            var r = new Random(41);
            s_orders = [.. Enumerable.Range(1, n).Select(i => Order.Make(i, r))];
            s_failures = [.. Enumerable.Range(0, 40).Select(Fail)];
            foreach (var (number, order) in s_orders.Select((o, i) => (i, o)))
                order.Print(Console.Out, number);
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_orders);
            GC.KeepAlive(s_failures);
            return;
        }
        if (args[0] == "still")
        {
            s_texts = new string[n];
            ulong sum = 0;
            for (var i = 0; i < n; i++)
            {
                s_texts[i] = $"text {i} " + new string((char)('A' + i % 26), i % 60);
                sum += BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes(s_texts[i])));
            }
            Console.WriteLine(sum);
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_texts);
            return;
        }
        if (args[0] == "holes")
        {
            Holes(n, quit, args.Length > 2 ? args[2] : "");
            return;
        }
        var next = n;
        s_pairs = new Pair[n];
        s_garbage = new byte[256][];
        for (var i = 0; i < n; i++)
            s_pairs[i] = new Pair(i);
        Console.WriteLine("open");
        quit.Start();
        var collect = args.Length > 2 && args[2] == "collect";
        var random = new Random(1);
        for (var round = 0; ; round++)
        {
            for (var i = 0; i < n / 10; i++)
                s_pairs[random.Next(n)] = new Pair(next++ & int.MaxValue);
            s_garbage[round % 256] = new byte[random.Next(100_000)];
            if (collect && round % 100 < 60 && round % 5 == 4)     // and pauses, so that some texts can be read at all
                GC.Collect(round % 3, GCCollectionMode.Forced, true, true);
            Thread.Sleep(1);
        }
    }
}
