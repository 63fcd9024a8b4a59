// SPDX-License-Identifier: MIT
using System.Buffers;
using System.Collections;
using System.Runtime.CompilerServices;
using System.Xml.Serialization;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.ObjectPool;

namespace Shop;

public abstract class Table
{
    readonly Dictionary<int, string> _rows = Enumerable.Range(0, 16_000).ToDictionary(i => i, i => "row " + i);
}

public sealed class Streets : Table;
public sealed class Towns : Table;
public sealed class Carriers : Table;
public sealed class Currencies : Table;

/// <summary>A list that grows, and beside it a few boxed numbers in a table of the framework.</summary>
public static class Invoices
{
    static readonly List<Invoice> s_all = new();
    static readonly Hashtable s_numbers = new();

    public static void Add(Invoice invoice) => s_all.Add(invoice);
    public static void Count(int number) => s_numbers.Add(number, number);

    public sealed class Invoice
    {
        readonly byte[] _page = new byte[9000];
    }
}

/// <summary>A loop that never ends, started while a visitor was served.</summary>
public sealed class StockRefresh
{
    int _rounds;

    public static void Start()
    {
        Visit.Current.Value = new Visit();
        _ = new StockRefresh().LoopAsync();
        Visit.Current.Value = null;
    }

    async Task LoopAsync()
    {
        for (; ; _rounds++)
            await Task.Delay(TimeSpan.FromHours(1));
    }
}

public sealed class Visit
{
    public static readonly AsyncLocal<Visit?> Current = new();
    readonly byte[] _answers = new byte[50_000];
}

/// <summary>A few documents, each with a long chain of its changes.</summary>
public sealed class Workspace
{
    public static Workspace Current { get; } = new();
    public List<Sketch> Sketches { get; } = new();
}

public sealed class Sketch
{
    Change? _last;

    public static IHost? Write()
    {
        for (int i = 0; i < 5; i++)
        {
            var sketch = new Sketch();
            Workspace.Current.Sketches.Add(sketch);
            for (int k = 0; k < 20_000; k++)
                sketch._last = new Change(sketch._last);
        }
        return null;
    }
}

public sealed class Change(Change? before)
{
    readonly Change? _before = before;
    readonly byte[] _text = new byte[60];
}

public sealed class Receipt
{
    public string? Text { get; set; }
}

/// <summary>A serializer for each receipt: its assembly stays, it does not.</summary>
public static class ReceiptWriter
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Write(int _) => new XmlSerializer(typeof(Receipt), new XmlRootAttribute("receipt")).Serialize(Stream.Null, new Receipt());
}

public static class Shutdown
{
    public static readonly CancellationTokenSource Source = new();
}

/// <summary>A linked source and a callback each, and disposes neither.</summary>
public sealed class Download
{
    readonly byte[] _part = new byte[4000];
    readonly CancellationTokenSource _linked;

    public Download(CancellationToken stopping)
    {
        _linked = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        stopping.Register(Abort);
    }

    void Abort() => _part[0]++;
}

/// <summary>Room for 10,000 parcels in every truck.</summary>
public sealed class Fleet
{
    static readonly Dictionary<string, Truck> s_trucks = new();

    public static void Add(int i)
    {
        var truck = new Truck();
        for (int k = 0; k < 30; k++)
            truck.Load(new Parcel());
        s_trucks.Add("truck " + i, truck);
    }

    public sealed class Truck
    {
        readonly List<Parcel> _load = new(10_000);
        public void Load(Parcel parcel) => _load.Add(parcel);
    }

    public sealed class Parcel
    {
        readonly long _weight;
    }
}

/// <summary>What is attached to each guest grows.</summary>
public static class Reception
{
    static readonly List<Guest> s_guests = new();
    static readonly ConditionalWeakTable<Guest, Remarks> s_remarks = new();

    public static IHost? Receive()
    {
        Stores.Fill(400, _ => s_guests.Add(new Guest()));
        foreach (Guest guest in s_guests)
            Stores.Fill(250, i => s_remarks.GetOrCreateValue(guest).Add("remark " + i));
        return null;
    }

    public sealed class Guest;

    public sealed class Remarks
    {
        readonly List<string> _all = new();
        public void Add(string text) => _all.Add(text);
    }
}

/// <summary>A pool of its own, full of what was returned.</summary>
public static class Scans
{
    static readonly ArrayPool<byte> s_pool = ArrayPool<byte>.Create(1 << 20, 40);

    public static IHost? Read()
    {
        byte[][] pages = Enumerable.Range(0, 24).Select(_ => s_pool.Rent(900_000)).ToArray();
        foreach (byte[] page in pages)
            s_pool.Return(page);
        return null;
    }
}

/// <summary>A pool of objects, all of them returned.</summary>
public static class Parsers
{
    static readonly ObjectPool<Parser> s_pool = new DefaultObjectPool<Parser>(new DefaultPooledObjectPolicy<Parser>(), 40);

    public static IHost? Use()
    {
        foreach (Parser parser in Enumerable.Range(0, 40).Select(_ => s_pool.Get()).ToArray())
            s_pool.Return(parser);
        return null;
    }

    public sealed class Parser
    {
        readonly byte[] _text = new byte[200_000];
    }
}

/// <summary>Threads that the program makes itself, with a buffer each.</summary>
public static class Printers
{
    [ThreadStatic] static Ribbon? t_ribbon;

    public static IHost? Start()
    {
        using var ready = new CountdownEvent(24);
        for (int i = 0; i < 24; i++)
            new Thread(() =>
            {
                Load();
                ready.Signal();
                Thread.Sleep(Timeout.Infinite);
            }) { IsBackground = true }.Start();
        ready.Wait();
        return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Load() => t_ribbon ??= new Ribbon();

    public sealed class Ribbon
    {
        readonly byte[] _dots = new byte[600_000];
    }
}

/// <summary>The cache of the service provider; the application itself is in a static variable.</summary>
public sealed class ArticlePages(IMemoryCache cache)
{
    public static IHost? Site { get; private set; }

    public static IHost? Serve()
    {
        Site = Web.Serve(s => s.AddMemoryCache().AddSingleton<ArticlePages>(), _ => { }, (_, _) => { });
        var pages = Site.Services.GetRequiredService<ArticlePages>();
        return Stores.Fill(4_000, i => pages.Get(i));
    }

    Page? Get(int number) => cache.GetOrCreate("article " + number, _ => new Page());

    sealed class Page
    {
        readonly byte[] _html = new byte[3000];
    }
}

/// <summary>Fifty bidders at each of a hundred auctions, and nobody leaves.</summary>
public sealed class Auction
{
    static readonly List<Auction> s_all = new();
    public event EventHandler? Ended;

    public void End() => Ended?.Invoke(this, EventArgs.Empty);

    public static void Open(int _)
    {
        var auction = new Auction();
        s_all.Add(auction);
        Stores.Fill(50, _ => new Bidder(auction));
    }
}

public sealed class Bidder
{
    readonly byte[] _bids = new byte[2000];

    public Bidder(Auction auction) => auction.Ended += OnEnded;

    void OnEnded(object? sender, EventArgs e) => _bids[0]++;
}

/// <summary>What Visual Basic makes of an event: the field is called ClosedEvent.</summary>
public sealed class Counter
{
    static readonly Counter s_main = new();
    EventHandler? ClosedEvent;

    public event EventHandler Closed
    {
        add => ClosedEvent += value;
        remove => ClosedEvent -= value;
    }

    public void Close() => ClosedEvent?.Invoke(this, EventArgs.Empty);
    public static void Add(int _) => new Display(s_main);
}

public sealed class Display
{
    readonly byte[] _lines = new byte[3000];

    public Display(Counter counter) => counter.Closed += OnClosed;

    void OnClosed(object? sender, EventArgs e) => _lines[0]++;
}

/// <summary>Lambdas, iterators and a property that is written in one line.</summary>
public sealed class Schedule
{
    static Schedule Main { get; } = new();
    readonly List<Action> _steps = new();
    readonly List<IEnumerator<int>> _days = new();

    public static void Add(int day) => Main.Plan(day);

    void Plan(int day)
    {
        var plan = new byte[4000];
        _steps.Add(() => plan[0]++);
        IEnumerator<int> days = Days(day).GetEnumerator();
        days.MoveNext();
        _days.Add(days);
    }

    IEnumerable<int> Days(int from)
    {
        var notes = new byte[3000];
        for (int day = from; ; day++)
        {
            notes[0]++;
            yield return day;
        }
    }
}

/// <summary>Small checks are kept; a large picture that another lambda used is in the same object as their limit.</summary>
public sealed class Scales
{
    static readonly Scales s_one = new();
    readonly List<Func<int, bool>> _checks = new();

    public static void Add(int limit) => s_one.Weigh(limit);

    void Weigh(int limit)
    {
        var picture = new byte[3000];
        Func<int> darkness = () => picture.Sum(b => b);
        _checks.Add(weight => weight <= limit);
        darkness();
    }
}

/// <summary>Forty requests wait for a door that nobody opens.</summary>
public sealed class Turnstile
{
    readonly SemaphoreSlim _door = new(0);
    int _waiting;

    public async Task<int> PassAsync()
    {
        Interlocked.Increment(ref _waiting);
        await _door.WaitAsync();
        return _waiting;
    }

    public void WaitUntil(int count) => SpinWait.SpinUntil(() => Volatile.Read(ref _waiting) == count);
}

/// <summary>Kinds of leaks and of health, each of which was once answered wrongly.</summary>
static class Answers
{
    static WebApplication? s_site;

    public static readonly (string, Program.Scenario)[] All =
    {
        ("healthy-singletons", () => Web.Serve(Singletons, Resolve, (_, _) => { })),
        ("few-boxed-values", Box),
        ("async-local-loops", () => Stores.Fill(300, _ => StockRefresh.Start())),
        ("few-long-chains", Sketch.Write),
        ("generated-assemblies", () => Stores.Fill(150, ReceiptWriter.Write)),
        ("linked-sources", () => Stores.Fill(4_000, _ => new Download(Shutdown.Source.Token))),
        ("sparse-lists", () => Stores.Fill(120, Fleet.Add)),
        ("attached-values", Reception.Receive),
        ("own-pool", () => Apart(Scans.Read)),
        ("own-threads", Printers.Start),
        ("static-application", ArticlePages.Serve),
        ("healthy-burst", Burst),
        ("healthy-object-pool", Parsers.Use),
        ("healthy-uploads", () => Web.Serve(_ => { }, Receive, (http, address) => Upload(http, address + "/upload"))),
        ("many-publishers", () => Stores.Fill(100, Auction.Open)),
        ("stuck-requests", () => Web.Serve(s => s.AddSingleton<Turnstile>(), Turn, (http, address) => Enter(http, address + "/enter"))),
        ("basic-event", () => Stores.Fill(3_000, Counter.Add)),
        ("captured-variable", () => Stores.Fill(2_000, Scales.Add)),
        ("compiled-names", () => Stores.Fill(2_000, Schedule.Add)),
    };

    static void Singletons(IServiceCollection services) =>
        services.AddSingleton<Streets>().AddSingleton<Towns>().AddSingleton<Carriers>().AddSingleton<Currencies>();

    static void Resolve(WebApplication app)
    {
        foreach (Type type in new[] { typeof(Streets), typeof(Towns), typeof(Carriers), typeof(Currencies) })
            GC.KeepAlive(app.Services.GetRequiredService(type));
    }

    static IHost? Box()
    {
        Stores.Fill(2_000, _ => Invoices.Add(new Invoices.Invoice()));
        return Stores.Fill(12_000, Invoices.Count);
    }

    /// <summary>On a thread that ends, so that nothing is left on a stack.</summary>
    static IHost? Apart(Func<IHost?> build)
    {
        var thread = new Thread(() => build());
        thread.Start();
        thread.Join();
        return null;
    }

    /// <summary>Threads that rented much at once, and returned it.</summary>
    static IHost? Burst()
    {
        using var done = new CountdownEvent(30);
        for (int i = 0; i < 30; i++)
            new Thread(() =>
            {
                Rent();
                Clear(20);
                done.Signal();
                Thread.Sleep(Timeout.Infinite);
            }) { IsBackground = true }.Start();
        done.Wait();
        return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Rent()
    {
        byte[][] rented = Enumerable.Range(0, 4).Select(i => ArrayPool<byte>.Shared.Rent(300_000 << i % 2)).ToArray();
        foreach (byte[] bytes in rented)
            ArrayPool<byte>.Shared.Return(bytes);
    }

    /// <summary>Overwrites what dead frames left on the stack.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Clear(int depth)
    {
        Span<long> frame = stackalloc long[200];
        frame.Clear();
        return depth == 0 ? frame[5] : Clear(depth - 1);
    }

    static void Receive(WebApplication app) => app.MapPost("/upload", async (HttpRequest request) =>
    {
        await Task.Delay(30);
        await request.Body.CopyToAsync(Stream.Null);
        return "received";
    });

    static void Upload(HttpClient http, string address) =>
        Parallel.ForEachAsync(Enumerable.Range(0, 100), new ParallelOptions { MaxDegreeOfParallelism = 50 }, async (_, stopping) =>
        {
            using var content = new ByteArrayContent(new byte[900_000]);
            using HttpResponseMessage answer = await http.PostAsync(address, content, stopping);
        }).GetAwaiter().GetResult();

    static void Turn(WebApplication app)
    {
        s_site = app;
        app.MapGet("/enter", (Turnstile turnstile) => turnstile.PassAsync());
    }

    static void Enter(HttpClient _, string address)
    {
        var http = new HttpClient();        // its requests are not given up
        for (int i = 0; i < 40; i++)
            http.GetStringAsync(address);
        s_site!.Services.GetRequiredService<Turnstile>().WaitUntil(40);
    }
}
