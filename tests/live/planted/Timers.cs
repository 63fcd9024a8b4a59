// SPDX-License-Identifier: MIT
using System.Threading;

namespace Shop;

/// <summary>Timers that nobody disposes and nobody holds: the runtime does.</summary>
public sealed class PollJob
{
    readonly byte[] _answer = new byte[3000];
    readonly Timer _timer;

    public PollJob() => _timer = new Timer(Poll, null, 3_600_000, 3_600_000);

    void Poll(object? state) => _answer[0]++;
}

public sealed class HeavyMonitor
{
    readonly byte[] _samples = new byte[30_000];
    readonly Timer _timer;

    public HeavyMonitor() => _timer = new Timer(_ => _samples[0]++, null, 3_600_000, 3_600_000);
}

public sealed class HeartbeatService
{
    readonly System.Timers.Timer _timer = new(3_600_000);
    readonly byte[] _peers = new byte[3000];

    public HeartbeatService()
    {
        _timer.Elapsed += (_, _) => _peers[0]++;
        _timer.Start();
    }
}

public sealed class CleanupLoop
{
    readonly byte[] _files = new byte[3000];

    public async Task RunAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromHours(1));
        while (await timer.WaitForNextTickAsync())
            _files[0]++;
    }
}

public sealed class ReminderService
{
    readonly byte[] _texts = new byte[3000];

    public async Task RemindAsync(TimeSpan after)
    {
        await Task.Delay(after);
        _texts[0]++;
    }
}

/// <summary>The work is done, the time-out is not cancelled.</summary>
public sealed class PaymentRequest
{
    readonly byte[] _document = new byte[3000];

    public async Task<bool> SendAsync()
    {
        Task<bool> answer = AskAsync();
        await Task.WhenAny(answer, Expire());
        return await answer;
    }

    async Task<bool> AskAsync()
    {
        await Task.Yield();
        return _document[0] == 0;
    }

    async Task Expire()
    {
        await Task.Delay(TimeSpan.FromHours(1));
        _document[0]++;
    }
}

/// <summary>What a request captures flows into timers that outlive it.</summary>
public sealed class RequestContext
{
    public static readonly AsyncLocal<RequestContext?> Current = new();
    readonly byte[] _claims = new byte[3000];
}

public sealed class RetryPolicy
{
    readonly Timer _timer;
    int _tries;

    public RetryPolicy() => _timer = new Timer(_ => _tries++, null, 3_600_000, 3_600_000);
}

/// <summary>Kept by its room, and referred to by a timer that was dropped and waits for its finalizer.</summary>
public sealed class LiveChat
{
    readonly byte[] _messages = new byte[3000];

    public void Tick() => GC.KeepAlive(new Timer(_ => _messages[0]++, null, Timeout.Infinite, Timeout.Infinite));
}

public sealed class ChatRooms
{
    public static readonly ChatRooms Instance = new();
    readonly List<LiveChat> _chats = new();

    public void Add(LiveChat chat) => _chats.Add(chat);
    public void TickAll() => _chats.ForEach(c => c.Tick());
}

public sealed class CallbackServer
{
    readonly byte[] _state = new byte[3000];

    public CallbackServer(WaitHandle signal) => ThreadPool.RegisterWaitForSingleObject(signal, (_, _) => _state[0]++, null, -1, true);
}

static class Timers
{
    static readonly ManualResetEvent s_never = new(false);

    public static readonly (string, Program.Scenario)[] All =
    {
        ("timer", () => Stores.Fill(3_000, _ => new PollJob())),
        ("timers-of-two", TimersOfTwo),
        ("system-timers", () => Stores.Fill(3_000, _ => new HeartbeatService())),
        ("periodic-timer", () => Stores.Fill(3_000, _ => new CleanupLoop().RunAsync())),
        ("task-delay", () => Stores.Fill(3_000, _ => new ReminderService().RemindAsync(TimeSpan.FromDays(1)))),
        ("timeout-not-cancelled", Payments),
        ("async-local", () => Stores.Fill(3_000, _ => Flow())),
        ("static-and-timers", Chats),
        ("registered-wait", () => Stores.Fill(3_000, _ => new CallbackServer(s_never))),
    };

    static IHost? TimersOfTwo()
    {
        Stores.Fill(3_000, i => new ReminderService().RemindAsync(TimeSpan.FromHours(1 + i % 2)));
        Stores.Fill(2_500, _ => new HeavyMonitor());
        return null;
    }

    static IHost? Payments()
    {
        Task.WhenAll(Enumerable.Range(0, 3_000).Select(_ => new PaymentRequest().SendAsync())).GetAwaiter().GetResult();
        return null;
    }

    static void Flow()
    {
        RequestContext.Current.Value = new RequestContext();
        GC.KeepAlive(new RetryPolicy());
        RequestContext.Current.Value = null;
    }

    static IHost? Chats()
    {
        Stores.Fill(3_000, _ => ChatRooms.Instance.Add(new LiveChat()));
        Handles.BlockFinalizers();
        ChatRooms.Instance.TickAll();
        return null;
    }
}
