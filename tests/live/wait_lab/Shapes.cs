// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;

namespace WaitLab;

/// <summary>State machines of many shapes, contexts, and operations that are over.</summary>
static class Shapes
{
    struct Inner { public object? A; public int N; public string? B; }
    struct Outer { public long L; public Inner In; public object? C; }

    public static void Plant(List<object> kept)
    {
        for (int i = 0; i < 20; i++)
            kept.Add(WithStructs(kept, new Outer { C = kept, In = new Inner { A = kept, B = "b" } }, i));
        for (int i = 0; i < 5; i++)
            kept.Add(HoldsTasks(kept, Calls.Never(kept), new TaskCompletionSource<int>()));
        for (int i = 0; i < 4; i++)
            kept.Add(TwoKinds(kept, i % 2 == 0));
        for (int i = 0; i < 3; i++)
            kept.Add(Tuples(kept, (Calls.Never(kept), "x", 3)));
        for (int i = 0; i < 100; i++)
            kept.Add(DoneAsync());
        for (int i = 0; i < 4; i++)
            kept.Add(FailedAsync());
        OnContext(kept);
        for (int i = 0; i < 3; i++)
            kept.Add(new Person<string>(kept).WorkAsync());
        for (int i = 0; i < 2; i++)
            kept.Add(Dynamic(kept));
        var local = new AsyncLocal<string> { Value = "flows" };
        kept.Add(local);
        for (int i = 0; i < 3; i++)
            kept.Add(Flows(kept));
        local.Value = null!;
        var loop = new Cycle();
        kept.Add(loop.Start());
    }

    static async Task<Outer> WithStructs(List<object> kept, Outer outer, int n)
    {
        Inner inner = outer.In;
        string text = n.ToString();
        await Task.Yield();
        await Calls.Never(kept);
        outer.In = inner;
        outer.C = text;
        return outer;
    }

    /// <summary>Tasks as parameters and locals, which it does not wait for now.</summary>
    static async Task HoldsTasks(List<object> kept, Task later, TaskCompletionSource<int> source)
    {
        Task<int> other = Second(kept);
        await Calls.Never(kept);
        await later;
        source.SetResult(await other);
    }

    static async Task<int> Second(List<object> kept)
    {
        await Calls.Never(kept);
        return 2;
    }

    static async Task TwoKinds(List<object> kept, bool first)
    {
        if (first)
            GC.KeepAlive(await Second(kept));
        else
            await new Signal().WaitAsync();
        await Task.Delay(1);
    }

    static async Task Tuples(List<object> kept, (Task, string, int) t)
    {
        await Second(kept);
        await t.Item1;
    }

    static async Task<string> DoneAsync()
    {
        await Task.Delay(1);
        return "done";
    }

    static async Task FailedAsync()
    {
        await Task.Yield();
        throw new InvalidOperationException("as planned");
    }

    static void OnContext(List<object> kept)
    {
        var context = new OneThread();
        kept.Add(context);
        SynchronizationContext? before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(context);
        for (int i = 0; i < 8; i++)
            kept.Add(CapturedAsync(kept));
        for (int i = 0; i < 6; i++)
            kept.Add(FreeAsync(kept));
        SynchronizationContext.SetSynchronizationContext(before);
        var scheduler = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        for (int i = 0; i < 5; i++)
            kept.Add(Task.Factory.StartNew(() => CapturedAsync(kept), CancellationToken.None, TaskCreationOptions.None, scheduler).Unwrap());
    }

    static async Task CapturedAsync(List<object> kept) => await Second(kept);
    static async Task FreeAsync(List<object> kept) => await Second(kept).ConfigureAwait(false);

    static async Task Dynamic(dynamic kept)
    {
        await Calls.Never(kept);
    }

    static async Task Flows(List<object> kept) => await Second(kept);
}

sealed class OneThread : SynchronizationContext
{
    public readonly ConcurrentQueue<(SendOrPostCallback, object?)> Posted = new();
    public override void Post(SendOrPostCallback d, object? state) => Posted.Enqueue((d, state));
}

class Person<T>(List<object> kept)
{
    public T? Value;

    public async Task<T?> WorkAsync()
    {
        await Task.Run(async () =>
        {
            await Calls.Never(kept);
            return Value;
        });
        return Value;
    }
}

/// <summary>Waits for itself.</summary>
sealed class Cycle
{
    Task? _task;

    public Task Start() => _task = RunAsync();

    async Task RunAsync()
    {
        await Task.Delay(100);
        await _task!;
    }
}
