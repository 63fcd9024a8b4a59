// SPDX-License-Identifier: MIT
// Five leaks in a churn of short-lived objects, for test_sites.  A comment "SITE name" marks each line that leaks; every 200 ms
// the program tells the time, how many bytes each has leaked, the requests served, the longest hiccup since and the pauses (for bench_sites).
//
//     SiteLab MB-PER-SECOND      churn; ends when its standard input does
//     SiteLab ring MB-PER-SECOND  also a ring of objects that die old and have the type and size of a leak
//     SiteLab storm MB-PER-SECOND  also two threads with rings of their own, small and large, and a full collection every 300 ms
//     SiteLab large MB-PER-SECOND  also six million more objects; "storm large" is both
using System.Runtime.CompilerServices;

namespace SiteLab;

sealed class Session(int number)
{
    public int Number { get; } = number;
    public byte[]? Buffer;
}

sealed class SessionStore
{
    readonly Dictionary<int, Session> _sessions = new(1 << 20);
    public long Leaked;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Open(int number)
    {
        var session = new Session(number);
        session.Buffer = new byte[2000];                            // SITE store
        _sessions.Add(number, session);
        Leaked += 24 + 2000;
    }
}

sealed class Listener
{
    readonly EventHub _hub;
    readonly byte[] _state;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public Listener(EventHub hub)
    {
        _hub = hub;
        _state = new byte[1000];                                    // SITE listener
    }

    public void Attach() => _hub.Changed += OnChanged;
    void OnChanged(object? sender, EventArgs e) => GC.KeepAlive(_state);
}

sealed class EventHub
{
    readonly List<EventHandler> _handlers = new(1 << 20);
    public long Leaked;
    public event EventHandler Changed { add => _handlers.Add(value); remove => _handlers.Remove(value); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Subscribe()
    {
        new Listener(this).Attach();
        Leaked += 24 + 1000;
    }
}

sealed class Journal
{
    readonly List<int[]> _pages = new(1 << 20);
    public long Leaked;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Append()
    {
        _pages.Add(new int[1000]);                                  // SITE journal
        Leaked += 24 + 4000;
    }
}

sealed class Archive
{
    readonly List<byte[]> _scans = new(1 << 16);
    public long Leaked;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Keep()
    {
        var scan = new byte[120_000];                               // SITE archive
        _scans.Add(scan);
        Leaked += 24 + 120_000;
    }
}

sealed class PinnedPool
{
    readonly List<byte[]> _rented = new(1 << 16);
    public long Leaked;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Rent()
    {
        _rented.Add(GC.AllocateUninitializedArray<byte>(16_000, pinned: true)); // SITE pinned
        Leaked += 24 + 16_000;
    }
}

static class Program
{
    static readonly SessionStore Store = new();
    static readonly EventHub Hub = new();
    static readonly Journal Log = new();
    static readonly Archive Scans = new();
    static readonly PinnedPool Pinned = new();
    static readonly Queue<byte[]> MidLife = new();
    static readonly byte[]?[] Ring = new byte[]?[1024];
    static object[] _others = [];
    static object? _sink;
    static long _hiccup;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Churn(int i)
    {
        var size = 16 + i % 7 * 300;
        _sink = new byte[size];
        _sink = new List<string> { "user-" + i };
        MidLife.Enqueue(new byte[100]);
        if (MidLife.Count > 20_000)
            MidLife.Dequeue();
        return size + 24 + 170 + 124;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Turn(int i) => Ring[i % Ring.Length] = new byte[2000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TurnLarge(byte[]?[] ring, int i) => ring[i % ring.Length] = new byte[120_000];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TurnOld(byte[]?[] ring, int i) => ring[i % ring.Length] = new byte[2000];

    // Objects that live for about 0.5 and 2 s: they die after they have become old.
    static void Storm()
    {
        byte[]?[] large = new byte[]?[25], old = new byte[]?[4000];
        for (int i = 0, k = 0; ; i++)
        {
            TurnLarge(large, i);
            for (var n = 0; n < 40; n++)
                TurnOld(old, k++);
            Thread.Sleep(20);
        }
    }

    static void CollectAgain()
    {
        for (; ; Thread.Sleep(300))
            GC.Collect(2, GCCollectionMode.Forced, blocking: false);
    }

    // The longest time that a thread which only sleeps did not run, in microseconds.
    static void MeasureHiccups()
    {
        for (long last = System.Diagnostics.Stopwatch.GetTimestamp(), now; ; last = now)
        {
            Thread.Sleep(1);
            now = System.Diagnostics.Stopwatch.GetTimestamp();
            var us = (now - last) / (System.Diagnostics.Stopwatch.Frequency / 1_000_000);
            if (us > Interlocked.Read(ref _hiccup))
                Interlocked.Exchange(ref _hiccup, us);
        }
    }

    static void Main(string[] args)
    {
        var ring = args.Contains("ring");
        var rate = long.Parse(args[^1]) * 1_000_000;
        var stop = false;
        new Thread(() => { while (Console.In.ReadLine() != null) { } stop = true; }) { IsBackground = true }.Start();
        if (args.Contains("large"))
        {
            _others = new object[6_000_000];
            for (var i = 0; i < _others.Length; i++)
                _others[i] = new Session(i);
        }
        if (args.Contains("storm"))
            foreach (ThreadStart work in new ThreadStart[] { Storm, Storm, CollectAgain })
                new Thread(work) { IsBackground = true }.Start();
        new Thread(MeasureHiccups) { IsBackground = true }.Start();
        var clock = System.Diagnostics.Stopwatch.StartNew();
        long churned = 0, told = 0;
        Console.WriteLine("ready");
        for (int round = 0, i = 0, turn = 0; !stop; round++)
        {
            for (var n = 0; n < 6; n++)
            {
                Store.Open(round * 6 + n);
                Hub.Subscribe();
                Hub.Subscribe();
                Log.Append();
                if (ring)
                    for (var k = 0; k < 4; k++)
                        Turn(turn++);
            }
            if (round % 5 == 0)
                Scans.Keep();
            Pinned.Rent();
            var until = (long)(rate * clock.Elapsed.TotalSeconds);
            for (var n = 0; churned < until && n < 100_000; n++)
                churned += Churn(i++);
            if (clock.ElapsedMilliseconds - told >= 200)
            {
                told = clock.ElapsedMilliseconds;
                Console.WriteLine($"{DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()} store={Store.Leaked} listener={Hub.Leaked} " +
                                  $"journal={Log.Leaked} archive={Scans.Leaked} pinned={Pinned.Leaked} churn={churned} requests={i} " +
                                  $"hiccup_us={Interlocked.Exchange(ref _hiccup, 0)} paused_us={(long)GC.GetTotalPauseDuration().TotalMicroseconds}");
            }
            Thread.Sleep(10);
        }
    }
}
