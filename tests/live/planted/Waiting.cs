// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Threading.Channels;

namespace Shop;

public sealed class Reply
{
    readonly byte[] _text = new byte[2000];
}

/// <summary>Questions by number; the answers never came.</summary>
public sealed class PendingReplies
{
    public static readonly PendingReplies Instance = new();
    readonly ConcurrentDictionary<int, TaskCompletionSource<Reply>> _pending = new();

    public Task<Reply> Wait(int number) => _pending.GetOrAdd(number, _ => new TaskCompletionSource<Reply>()).Task;
}

public sealed class RpcClient
{
    readonly byte[] _request = new byte[2000];

    public async Task<int> CallAsync(int number)
    {
        Reply reply = await PendingReplies.Instance.Wait(number);
        return _request.Length + reply.GetHashCode();
    }
}

public sealed class Checkout
{
    static readonly SemaphoreSlim s_door = new(0);
    readonly byte[] _basket = new byte[3000];

    public async Task PayAsync()
    {
        await s_door.WaitAsync();
        _basket[0]++;
    }
}

public static class Lifetime
{
    public static readonly CancellationTokenSource Stopping = new();
}

/// <summary>A registration each, never disposed.</summary>
public sealed class DownloadJob
{
    readonly byte[] _buffer = new byte[3000];

    public DownloadJob(CancellationToken stopping) => stopping.Register(() => _buffer[0]++);
}

/// <summary>A linked source each, never disposed; what it cancels holds the job.</summary>
public sealed class ReportJob
{
    readonly byte[] _rows = new byte[3000];
    readonly CancellationTokenSource _source;

    public ReportJob(CancellationToken stopping)
    {
        _source = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        _source.Token.Register(Cancel);
    }

    void Cancel() => _rows[0]++;
}

public sealed class ExportResult
{
    readonly byte[] _file = new byte[3000];
}

public sealed class ExportQueue
{
    public static readonly ExportQueue Instance = new();
    readonly List<Task<ExportResult>> _tasks = new();

    public void Start() => _tasks.Add(Task.FromResult(new ExportResult()));
}

public sealed class StartUp
{
    public static readonly TaskCompletionSource Loaded = new();
}

/// <summary>Continues when the start is over, and it never is.</summary>
public sealed class WarmUp
{
    readonly byte[] _plan = new byte[3000];

    public WarmUp() => StartUp.Loaded.Task.ContinueWith(_ => _plan[0]++, TaskScheduler.Default);
}

/// <summary>One after the other; the first one hangs.</summary>
public sealed class SaveChain
{
    public static readonly SaveChain Instance = new();
    Task _last = new TaskCompletionSource().Task;

    public void Save(Draft draft) => _last = SaveAfter(_last, draft);

    static async Task SaveAfter(Task before, Draft draft)
    {
        await before;
        draft.Touch();
    }
}

public sealed class Draft
{
    readonly byte[] _text = new byte[3000];

    public void Touch() => _text[0]++;
}

public sealed record Telemetry(string Name, double Value, DateTime At);

/// <summary>Nobody reads as fast as the others write.</summary>
public sealed class TelemetryPipe
{
    public static readonly TelemetryPipe Instance = new();
    readonly Channel<Telemetry> _channel = Channel.CreateUnbounded<Telemetry>();

    public void Write(int i) => _channel.Writer.TryWrite(new Telemetry("requests " + i, i, default));
}

/// <summary>A connection each, whose loop waits for messages.</summary>
public sealed class ClientConnection
{
    readonly Channel<Telemetry> _inbox = Channel.CreateUnbounded<Telemetry>();
    readonly byte[] _buffer = new byte[3000];

    public async Task ReadAsync()
    {
        await foreach (Telemetry t in _inbox.Reader.ReadAllAsync())
            _buffer[0] += (byte)t.Value;
    }
}

public sealed class ConnectionTable
{
    public static readonly ConnectionTable Instance = new();
    readonly ConcurrentDictionary<int, ClientConnection> _connections = new();

    public void Open(int number)
    {
        var connection = new ClientConnection();
        _connections[number] = connection;
        _ = connection.ReadAsync();
    }
}

public sealed class Aggregator
{
    readonly byte[] _sums = new byte[3000];

    public async Task CollectAsync(Task a, Task b)
    {
        await Task.WhenAll(a, b);
        _sums[0]++;
    }
}

/// <summary>Threads that hang with much in their hands.</summary>
public sealed class ReportThread
{
    static readonly object s_gate = new();

    public static void Start() => new Thread(Run, 256 * 1024) { IsBackground = true }.Start();

    static void Run()
    {
        var rows = new List<Customer>();
        for (int i = 0; i < 1_000; i++)
            rows.Add(new Customer(i));
        s_started.Signal();
        lock (s_gate)
            Monitor.Wait(s_gate);
        GC.KeepAlive(rows);
    }

    public static readonly CountdownEvent s_started = new(10);
}

static class Parser
{
    [ThreadStatic] static ParseBuffer? t_buffer;

    public static void Use() => t_buffer ??= new ParseBuffer();

    public sealed class ParseBuffer
    {
        readonly char[] _text = new char[400_000];
    }
}

public sealed class Formatter
{
    static readonly ThreadLocal<FormatState> s_state = new(() => new FormatState(), trackAllValues: true);

    public static void Use() => GC.KeepAlive(s_state.Value);

    public sealed class FormatState
    {
        readonly List<Customer> _seen = Enumerable.Range(0, 800).Select(i => new Customer(i)).ToList();
    }
}

static class Waiting
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("completion-sources", () => Stores.Fill(3_000, i => new RpcClient().CallAsync(i))),
        ("semaphore", () => Stores.Fill(3_000, _ => new Checkout().PayAsync())),
        ("cancellation-registrations", () => Stores.Fill(3_000, _ => new DownloadJob(Lifetime.Stopping.Token))),
        ("cancellation-links", () => Stores.Fill(5_000, _ => new ReportJob(Lifetime.Stopping.Token))),
        ("finished-tasks", () => Stores.Fill(3_000, _ => ExportQueue.Instance.Start())),
        ("continuations", () => Stores.Fill(3_000, _ => new WarmUp())),
        ("task-chain", () => Stores.Fill(3_000, _ => SaveChain.Instance.Save(new Draft()))),
        ("channel", () => Stores.Fill(100_000, TelemetryPipe.Instance.Write)),
        ("channel-readers", () => Stores.Fill(3_000, ConnectionTable.Instance.Open)),
        ("when-all", () => Stores.Fill(3_000, _ => new Aggregator().CollectAsync(StartUp.Loaded.Task, Task.Delay(-1)))),
        ("thread-stack", Reports),
        ("thread-static", () => Stores.Fill(12, _ => Keep(Parser.Use))),
        ("thread-local", () => Stores.Fill(12, _ => Keep(Formatter.Use))),
    };

    static IHost? Reports()
    {
        Stores.Fill(10, _ => ReportThread.Start());
        ReportThread.s_started.Wait();
        return null;
    }

    /// <summary>A thread that uses something once and then does nothing.</summary>
    static void Keep(Action use)
    {
        using var used = new ManualResetEventSlim();
        new Thread(() => Work(use, used), 256 * 1024) { IsBackground = true }.Start();
        used.Wait();
    }

    static void Work(Action use, ManualResetEventSlim used)
    {
        use();
        used.Set();
        Thread.Sleep(Timeout.Infinite);
    }
}
