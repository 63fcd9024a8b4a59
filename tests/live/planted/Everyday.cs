// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Net.NetworkInformation;
using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Shop;

/// <summary>Keeps what was used last, and never more than it may.</summary>
/// <summary>Connected devices: each waits for its timer and for the end of the program.</summary>
public sealed class Devices
{
    static readonly ConcurrentDictionary<string, Session> s_open = new();
    static readonly CancellationTokenSource s_stop = new();

    public sealed class Session
    {
        readonly double[] _readings = new double[400];
        readonly PeriodicTimer _beat = new(TimeSpan.FromMinutes(10));
        public Task? Running;

        public async Task Run(CancellationToken stop)
        {
            while (await _beat.WaitForNextTickAsync(stop))
                _readings[0]++;
        }
    }

    public static void Open(string device) => s_open.GetOrAdd(device, _ => Start(new Session()));

    static Session Start(Session s)
    {
        s.Running = s.Run(s_stop.Token);
        return s;
    }
}

/// <summary>A timer for each; it is disposed of when it has fired.</summary>
public sealed class Reminders
{
    static readonly Reminders s_instance = new();
    readonly ConcurrentDictionary<string, (Reminder, Timer)> _planned = new();

    public sealed record Reminder(string Of, byte[] Letter);

    public static void Plan(string of)
    {
        var r = new Reminder(of, new byte[3_000]);
        s_instance._planned[of] = (r, new Timer(s_instance.Fire, r, 3_600_000, Timeout.Infinite));
    }

    void Fire(object? state)
    {
        if (_planned.TryRemove(((Reminder)state!).Of, out var it))
            it.Item2.Dispose();
    }
}

/// <summary>Open documents, each with its layout.</summary>
public sealed class Documents
{
    static readonly Dictionary<string, Document> s_open = new();
    static readonly ConditionalWeakTable<Document, Layout> s_layouts = new();

    public sealed record Document(string Name, char[] Text);
    public sealed record Layout(float[] Lines);

    public static void Open(string name)
    {
        var d = s_open[name] = new Document(name, new char[500]);
        s_layouts.Add(d, new Layout(new float[500]));
    }
}

public sealed class RecentPages(int limit)
{
    public static readonly RecentPages Instance = new(2_000);
    readonly Dictionary<string, LinkedListNode<Page>> _byName = new();
    readonly LinkedList<Page> _byUse = new();

    public sealed record Page(string Name, byte[] Html);

    public Page Get(string name)
    {
        lock (_byUse)
        {
            if (_byName.TryGetValue(name, out LinkedListNode<Page>? node))
                _byUse.Remove(node);
            else
                _byName[name] = node = new LinkedListNode<Page>(new Page(name, new byte[1_000]));
            _byUse.AddFirst(node);
            while (_byUse.Count > limit)
            {
                _byName.Remove(_byUse.Last!.Value.Name);
                _byUse.RemoveLast();
            }
            return node.Value;
        }
    }

    public static readonly RecentPages Many = new(6_000);

    public static IHost? Serve()
    {
        for (int i = 0; i < 5_000; i++)
            Instance.Get("page " + i);
        for (int part = 0; part < 4; part++)
            Task.Run(async () =>
            {
                for (int i = 0; ; i++)
                {
                    Instance.Get("page " + Random.Shared.Next(5_000));
                    if (i % 200 == 0)
                        await Task.Delay(1);
                }
            });
        return null;
    }
}

/// <summary>Workers that take work from a bounded channel, as many at a time as a throttle lets them.</summary>
public static class Packing
{
    static readonly Channel<Parcel> s_parcels = Channel.CreateBounded<Parcel>(200);
    static readonly SemaphoreSlim s_tables = new(4);
    static long s_packed;

    sealed record Parcel(int Number, byte[] Label);

    public static IHost? Run()
    {
        Task.Run(async () =>
        {
            for (int i = 0; ; i++)
                await s_parcels.Writer.WriteAsync(new Parcel(i, new byte[2_000]));
        });
        for (int worker = 0; worker < 16; worker++)
            Task.Run(WorkAsync);
        SpinWait.SpinUntil(() => Volatile.Read(ref s_packed) > 2_000);
        return null;
    }

    static async Task WorkAsync()
    {
        await foreach (Parcel _ in s_parcels.Reader.ReadAllAsync())
        {
            await s_tables.WaitAsync();
            try
            {
                await Task.Delay(1);
                Interlocked.Increment(ref s_packed);
            }
            finally
            {
                s_tables.Release();
            }
        }
    }
}

/// <summary>A table that is made once and then only read.</summary>
public static class PostCodes
{
    public static readonly FrozenDictionary<int, Place> All = Enumerable.Range(10_000, 60_000).ToFrozenDictionary(i => i, i => new Place("place " + i, i / 1_000));

    public sealed record Place(string Name, int Region);
}

/// <summary>What the release of a semaphore is missing for, after an exception.</summary>
public sealed class Invoicing
{
    static readonly SemaphoreSlim s_oneAtATime = new(1, 1);
    readonly byte[] _lines = new byte[2_000];

    public static IHost? Run()
    {
        Task first = new Invoicing().PrintAsync(fails: true);
        GC.KeepAlive(first.Exception);
        return Stores.Fill(2_500, _ => new Invoicing().PrintAsync(fails: false));
    }

    async Task PrintAsync(bool fails)
    {
        await s_oneAtATime.WaitAsync();
        if (fails)
            throw new InvalidOperationException("no paper");
        _lines[0]++;
        s_oneAtATime.Release();
    }
}

/// <summary>Registers what to do at the end of the program for each job, and never unregisters.</summary>
public sealed class Backup
{
    static readonly CancellationTokenSource s_end = new();
    readonly byte[] _blocks = new byte[2_000];

    public Backup() => s_end.Token.UnsafeRegister(static backup => ((Backup)backup!).Stop(), this);

    void Stop() => _blocks[0] = 0;
}

/// <summary>Remembers each thing that was read, and its values then, to find what has changed.</summary>
public sealed class UnitOfChanges
{
    public static readonly UnitOfChanges Current = new();
    readonly Dictionary<object, Entry> _entries = new(ReferenceEqualityComparer.Instance);

    sealed class Entry(object entity, object[] original)
    {
        public readonly object Entity = entity;
        public readonly object[] Original = original;
    }

    public sealed class Supplier(int i)
    {
        public readonly string Name = "supplier " + i;
        public readonly int Rating = i % 5;
    }

    public void Read(int i)
    {
        var supplier = new Supplier(i);
        _entries[supplier] = new Entry(supplier, new object[] { supplier.Name, supplier.Rating });
    }
}

/// <summary>Listens to a static event of a library as long as the program runs.</summary>
public sealed class Uplink
{
    readonly byte[] _state = new byte[3_000];

    public Uplink() => NetworkChange.NetworkAddressChanged += Changed;

    void Changed(object? sender, EventArgs e) => _state[0]++;
}

/// <summary>A cache of its own for each tenant, made at first use; no tenant is ever forgotten.</summary>
public sealed class Tenants
{
    public static readonly Tenants Instance = new();
    readonly ConcurrentDictionary<string, Lazy<ReportCache>> _caches = new();

    public void Use(int i) => _caches.GetOrAdd("tenant " + i % 60, _ => new Lazy<ReportCache>(() => new ReportCache())).Value.Add(i);

    sealed class ReportCache
    {
        readonly ConcurrentDictionary<int, Report> _reports = new();

        public void Add(int i) => _reports[i] = new Report(new byte[500]);
    }

    public sealed record Report(byte[] Pdf);
}

/// <summary>Observers of observers: each subscription passes on what it gets.</summary>
public static class Prices
{
    public static readonly Subject Quotes = new();

    public sealed class Subject : IObservable<decimal>
    {
        Subscription[] _observers = Array.Empty<Subscription>();

        public IDisposable Subscribe(IObserver<decimal> observer)
        {
            var one = new Subscription(this, observer);
            lock (this)
                _observers = _observers.Append(one).ToArray();
            return one;
        }

        sealed class Subscription(Subject subject, IObserver<decimal> observer) : IDisposable
        {
            public readonly IObserver<decimal> Observer = observer;
            public void Dispose() => subject._observers = subject._observers.Where(o => o != this).ToArray();
        }
    }

    public sealed class Where(IObservable<decimal> source, Func<decimal, bool> test) : IObservable<decimal>
    {
        public IDisposable Subscribe(IObserver<decimal> observer) => source.Subscribe(new Sink(test, observer));

        sealed class Sink(Func<decimal, bool> test, IObserver<decimal> next) : IObserver<decimal>
        {
            public void OnCompleted() => next.OnCompleted();
            public void OnError(Exception error) => next.OnError(error);
            public void OnNext(decimal value)
            {
                if (test(value))
                    next.OnNext(value);
            }
        }
    }

    public sealed class Chart : IObserver<decimal>
    {
        readonly byte[] _points = new byte[2_000];

        public Chart(int i) => new Where(Quotes, price => price > i).Subscribe(this);

        public void OnCompleted() { }
        public void OnError(Exception error) { }
        public void OnNext(decimal value) => _points[0]++;
    }
}

/// <summary>Words by their letters.</summary>
public sealed class Dictation
{
    public static readonly Dictation Instance = new();
    readonly TrieNode _root = new();

    sealed class TrieNode
    {
        public readonly Dictionary<char, TrieNode> Next = new();
        public bool Ends;
    }

    public void Add(int i)
    {
        TrieNode at = _root;
        foreach (char c in (i * 7919L % 1_000_003).ToString("x") + "word")
            at = at.Next.TryGetValue(c, out TrieNode? next) ? next : at.Next[c] = new TrieNode();
        at.Ends = true;
    }
}

/// <summary>Hands out what came back.</summary>
public sealed class EnvelopePool
{
    readonly Stack<Envelope> _free = new();

    public sealed class Envelope
    {
        public readonly byte[] Content = new byte[2_000];
    }

    Envelope Rent() => _free.Count > 0 ? _free.Pop() : new Envelope();

    sealed class Desk
    {
        readonly EnvelopePool _pool = new();
        readonly List<Envelope> _used = new();

        public void Work(ManualResetEventSlim ready)
        {
            Send();
            ready.Set();
            Thread.Sleep(Timeout.Infinite);
            GC.KeepAlive(this);
        }

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        void Send()
        {
            for (int i = 0; i < 4_000; i++)
                _used.Add(_pool.Rent());
            foreach (Envelope sent in _used)
                _pool._free.Push(sent);
            _used.Clear();
        }
    }

    /// <summary>Only the stack of a thread holds the pool.</summary>
    public static void Peak(int _)
    {
        var ready = new ManualResetEventSlim();
        new Thread(() => new Desk().Work(ready)) { IsBackground = true }.Start();
        ready.Wait();
    }
}

/// <summary>A static event of a generic class.</summary>
public static class Saved<T>
{
    public static event Action<T>? Done;

    public static void Raise(T saved) => Done?.Invoke(saved);
}

public sealed class OrderRow
{
    readonly byte[] _cells = new byte[2_000];

    public OrderRow() => Saved<Order>.Done += Refresh;

    void Refresh(Order order) => _cells[0]++;
}

/// <summary>A timer for each user, in a lambda.</summary>
static class Sessions
{
    public static void Open(int user)
    {
        var state = new byte[3_000];
        Timer? timer = null;
        timer = new Timer(_ => { state[0]++; GC.KeepAlive(timer); }, null, 600_000 + user, 600_000);
    }
}

/// <summary>Programs of the kinds that most programs are made of.</summary>
static class Everyday
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("healthy-recent-pages", RecentPages.Serve),
        ("healthy-workers", Packing.Run),
        ("large-devices", () => Stores.Fill(1_500, i => Devices.Open("device " + i))),
        ("large-reminders", () => Stores.Fill(1_500, i => Reminders.Plan("visit " + i))),
        ("large-documents", () => Stores.Fill(2_500, i => Documents.Open("contract " + i))),
        ("healthy-many-pages", () => Stores.Fill(9_000, i => RecentPages.Many.Get("page " + i))),
        ("healthy-own-pool", () => Stores.Fill(1, EnvelopePool.Peak)),
        ("generic-event", () => Stores.Fill(3_000, _ => new OrderRow())),
        ("timer-lambda", () => Stores.Fill(2_500, Sessions.Open)),
        ("frozen-table", () => Stores.Fill(1, i => GC.KeepAlive(PostCodes.All[10_000 + i]))),
        ("semaphore-not-released", Invoicing.Run),
        ("cancellation-of-jobs", () => Stores.Fill(4_000, _ => new Backup())),
        ("change-tracker", () => Stores.Fill(30_000, UnitOfChanges.Current.Read)),
        ("library-event", () => Stores.Fill(3_000, _ => new Uplink())),
        ("tenant-caches", () => Stores.Fill(18_000, Tenants.Instance.Use)),
        ("observer-chain", () => Stores.Fill(3_000, i => new Prices.Chart(i))),
        ("trie", () => Stores.Fill(20_000, Dictation.Instance.Add)),
    };
}
