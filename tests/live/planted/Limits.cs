// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Microsoft.Extensions.Caching.Memory;

namespace Shop;

/// <summary>Keeps at most so many; the first dump comes before it is full.</summary>
static class Filled
{
    public static IHost? Up(int before, int behind, Action<int> add)
    {
        Stores.Fill(before, add);
        Program.More = () => Stores.Fill(behind, i => add(before + i));
        return null;
    }
}

/// <summary>Keeps what was used last.</summary>
public sealed class LabelCache(int maxEntries, bool forgets)
{
    public static readonly LabelCache Instance = new(4_000, true), Lossy = new(4_000, false);
    readonly int _maxEntries = maxEntries;
    readonly Dictionary<int, LinkedListNode<Label>> _byNumber = new();
    readonly LinkedList<Label> _byUse = new();
    LinkedListNode<Label>? _oldest;

    public sealed record Label(int Number, byte[] Png);

    public void Add(int i)
    {
        _byNumber[i] = _byUse.AddFirst(new Label(i, new byte[1_500]));
        while (_byNumber.Count > _maxEntries)
        {
            _oldest = forgets || _oldest == null ? _byUse.Last! : _oldest.Previous!;
            _byNumber.Remove(_oldest.Value.Number);
            if (forgets)
                _byUse.RemoveLast();
        }
    }
}

/// <summary>The last samples of each metric, which have come half way to their limit.</summary>
public sealed class Metrics
{
    public static readonly Metrics Instance = new();
    readonly Metric[] _all = Enumerable.Range(0, 200).Select(_ => new Metric(60)).ToArray();

    public sealed record Sample(int Number, byte[] Values);

    public sealed class Metric(int maxSamples)
    {
        readonly int _maxSamples = maxSamples;
        readonly Queue<Sample> _samples = new();

        public void Add(int i)
        {
            _samples.Enqueue(new Sample(i, new byte[700]));
            if (_samples.Count > _maxSamples)
                _samples.Dequeue();
        }
    }

    public void Add(int i)
    {
        foreach (var metric in _all)
            metric.Add(i);
    }
}

/// <summary>The last measurements, in a ring.</summary>
public sealed class Scale
{
    public static readonly Scale Instance = new();
    readonly Weight[] _ring = new Weight[8_000];
    int _next;

    public sealed record Weight(int Grams, byte[] Curve);

    public void Add(int i) => _ring[_next++ % _ring.Length] = new Weight(i, new byte[700]);
}

/// <summary>A container that grows: its capacity is no limit.</summary>
public sealed class Journal
{
    public static readonly Journal Instance = new();
    Line[] _lines = new Line[16];
    int _count, _capacity = 16;

    public sealed record Line(int Number, string Text);

    public void Add(int i)
    {
        if (_count == _capacity)
            Array.Resize(ref _lines, _capacity *= 2);
        _lines[_count++] = new Line(i, "line number " + i);
    }
}

public sealed class PriceTags
{
    public static readonly PriceTags Instance = new();
    readonly MemoryCache _tags = new(new MemoryCacheOptions { SizeLimit = 6_000 });

    public sealed record Tag(int Number, byte[] Png);

    public void Add(int i) => _tags.Set(i, new Tag(i, new byte[800]), new MemoryCacheEntryOptions { Size = 1 });
}

/// <summary>Work that waits is never more than so much.</summary>
public static class Inboxes
{
    public static readonly Channel<Letter> Letters = Channel.CreateBounded<Letter>(new BoundedChannelOptions(6_000) { FullMode = BoundedChannelFullMode.DropOldest });
    public static readonly BlockingCollection<Letter> Parcels = new(6_000);

    public sealed record Letter(int Number, byte[] Scan);
}

/// <summary>The last lines, cut back by the program.</summary>
public sealed class ReceiptPrinter
{
    public static readonly ReceiptPrinter Instance = new();
    readonly ConcurrentQueue<Line> _lines = new();
    readonly int _maxLines = 6_000;

    public sealed record Line(int Number, byte[] Text);

    public void Add(int i)
    {
        _lines.Enqueue(new Line(i, new byte[800]));
        while (_lines.Count > _maxLines)
            _lines.TryDequeue(out _);
    }
}

/// <summary>Sends messages to who has subscribed.</summary>
public sealed class MessageBus
{
    public static readonly MessageBus Instance = new();
    readonly Dictionary<Type, List<Delegate>> _handlers = new();
    readonly List<Subscription> _subscriptions = new();

    public sealed record PriceChanged(decimal Price);

    public sealed class Subscription(Action<PriceChanged> handler)
    {
        public readonly Action<PriceChanged> Handler = handler;
        public readonly DateTime Since = DateTime.UnixEpoch;
    }

    public void Subscribe<T>(Action<T> handler)
    {
        if (!_handlers.TryGetValue(typeof(T), out List<Delegate>? all))
            _handlers[typeof(T)] = all = new();
        all.Add(handler);
    }

    public void Register(Action<PriceChanged> handler) => _subscriptions.Add(new Subscription(handler));
}

public sealed class OrderTicket
{
    readonly byte[] _chart = new byte[1_500];

    public void Subscribe() => MessageBus.Instance.Subscribe<MessageBus.PriceChanged>(Show);
    public void Register() => MessageBus.Instance.Register(Show);
    void Show(MessageBus.PriceChanged price) => _chart[0]++;
}

/// <summary>Jobs as lambdas, which nobody runs.</summary>
public sealed class ShutdownJobs
{
    public static readonly ShutdownJobs Instance = new();
    readonly List<Action> _jobs = new();

    public void Add(int i)
    {
        var output = new byte[1_000];
        _jobs.Add(() => output[0] = (byte)i);
    }
}

/// <summary>Few lists that grow, or many short ones.</summary>
public sealed class AuditTrail
{
    public static readonly AuditTrail Instance = new();
    readonly Dictionary<int, List<Entry>> _byUser = new();

    public sealed record Entry(int Number, string What);

    public void Add(int user, int i)
    {
        if (!_byUser.TryGetValue(user, out List<Entry>? entries))
            _byUser[user] = entries = new();
        entries.Add(new Entry(i, "did " + i));
    }
}

/// <summary>Slow clients, each with a channel that has no limit.</summary>
public sealed class TickCall
{
    static readonly List<TickCall> s_calls = new();
    readonly Channel<Tick> _pending = Channel.CreateUnbounded<Tick>();

    public sealed record Tick(int Number, string Symbol);

    public static void Publish(int i)
    {
        if (i < 40)
            s_calls.Add(new TickCall());
        s_calls[i % s_calls.Count]._pending.Writer.TryWrite(new Tick(i, "symbol " + i));
    }
}

/// <summary>Several containers in local variables, of which one grows.</summary>
public static class Yard
{
    public sealed record Pallet(int Number, byte[] Label);
    public sealed record Truck(int Number);

    public static IHost? Open()
    {
        var ready = new ManualResetEventSlim();
        new Thread(() => Work(ready)) { IsBackground = true }.Start();
        ready.Wait();
        return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work(ManualResetEventSlim ready)
    {
        var pallets = new List<Pallet>();
        var trucks = new Dictionary<int, Truck>();
        for (int i = 0; i < 12_000; i++)
            pallets.Add(new Pallet(i, new byte[500]));
        for (int i = 0; i < 400; i++)
            trucks[i] = new Truck(i);
        ready.Set();
        Thread.Sleep(Timeout.Infinite);
        GC.KeepAlive(pallets);
        GC.KeepAlive(trucks);
    }

    static readonly TaskCompletionSource s_closed = new();

    public static IHost? OpenAsync()
    {
        Task call = LoadAsync();
        GC.KeepAlive(call);
        return null;
    }

    static async Task LoadAsync()
    {
        var pallets = new List<Pallet>();
        for (int i = 0; i < 12_000; i++)
            pallets.Add(new Pallet(i, new byte[500]));
        await s_closed.Task;
        GC.KeepAlive(pallets);
    }
}

/// <summary>Entries with values as they were, boxed; none is ever removed.</summary>
public sealed class Snapshots
{
    public static readonly Snapshots Instance = new();
    readonly Dictionary<int, Snapshot> _byNumber = new();

    public sealed class Snapshot(int i)
    {
        public readonly byte[] Row = new byte[400];
        public readonly object[] Original = [i];
    }

    public void Add(int i) => _byNumber[i] = new Snapshot(i);
}

static class Limits
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("limit-metrics", () => Filled.Up(40, 50, Metrics.Instance.Add)),
        ("limit-recent", () => Filled.Up(3_000, 5_000, LabelCache.Instance.Add)),
        ("limit-ring", () => Filled.Up(6_000, 9_000, Scale.Instance.Add)),
        ("limit-memory-cache", () => Filled.Up(5_000, 900, PriceTags.Instance.Add)),
        ("limit-channel", () => Filled.Up(4_000, 5_000, i => Inboxes.Letters.Writer.TryWrite(new Inboxes.Letter(i, new byte[800])))),
        ("limit-blocking", () => Filled.Up(4_000, 5_000, i => Inboxes.Parcels.TryAdd(new Inboxes.Letter(i, new byte[800])))),
        ("limit-queue", () => Filled.Up(5_000, 7_000, ReceiptPrinter.Instance.Add)),
        ("growth-capacity", () => Filled.Up(60_000, 70_000, Journal.Instance.Add)),
        ("growth-snapshots", () => Filled.Up(8_000, 12_000, Snapshots.Instance.Add)),
        ("growth-cache", () => Filled.Up(3_000, 6_000, ProductCache.Instance.Add)),
        ("recent-lost", () => Stores.Fill(9_000, LabelCache.Lossy.Add)),
        ("bus", () => Stores.Fill(3_500, _ => new OrderTicket().Subscribe())),
        ("bus-subscriptions", () => Stores.Fill(3_500, _ => new OrderTicket().Register())),
        ("lambda-jobs", () => Stores.Fill(6_000, ShutdownJobs.Instance.Add)),
        ("few-long-lists", () => Stores.Fill(60_000, i => AuditTrail.Instance.Add(i % 12, i))),
        ("many-short-lists", () => Stores.Fill(60_000, i => AuditTrail.Instance.Add(i / 3, i))),
        ("slow-clients", () => Stores.Fill(60_000, TickCall.Publish)),
        ("local-list", Yard.Open),
        ("async-local-list", Yard.OpenAsync),
    };
}
