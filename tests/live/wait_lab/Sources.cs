// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;

namespace WaitLab;

/// <summary>ValueTask and what else can be awaited.</summary>
static class Sources
{
    public static void Plant(List<object> kept)
    {
        for (int i = 0; i < 19; i++)
            kept.Add(AwaitSource(new Signal()));
        for (int i = 0; i < 4; i++)
            kept.Add(SourceAsTask(new Signal()));
        for (int i = 0; i < 6; i++)
            kept.Add(EnumerateAsync(kept));
        for (int i = 0; i < 3; i++)
            kept.Add(EnumerateGeneric(kept));
        for (int i = 0; i < 7; i++)
            kept.Add(CustomAsync(new Doorbell(), kept));
        for (int i = 0; i < 2; i++)
            kept.Add(BoxedAwaiter(new Doorbell(), kept));
        for (int i = 0; i < 5; i++)
            kept.Add(DisposeAsync(kept));
    }

    static async Task<int> AwaitSource(Signal signal) => await signal.WaitAsync();
    static async Task<int> SourceAsTask(Signal signal) => await signal.WaitAsync().AsTask();

    static async Task EnumerateAsync(List<object> kept)
    {
        await foreach (int i in Numbers(kept))
            GC.KeepAlive(i);
    }

    static async IAsyncEnumerable<int> Numbers(List<object> kept, [EnumeratorCancellation] CancellationToken token = default)
    {
        yield return 1;
        await Calls.Never(kept);
        yield return 2;
    }

    static async Task EnumerateGeneric(List<object> kept)
    {
        await foreach (string s in Select(Numbers(kept), i => i.ToString()).ConfigureAwait(false))
            GC.KeepAlive(s);
    }

    static async IAsyncEnumerable<TOut> Select<TIn, TOut>(IAsyncEnumerable<TIn> items, Func<TIn, TOut> f)
    {
        await foreach (TIn i in items)
            yield return f(i);
    }

    static async Task CustomAsync(Doorbell bell, List<object> kept)
    {
        kept.Add(bell);
        await bell;
    }

    static async Task BoxedAwaiter(Doorbell bell, List<object> kept)
    {
        kept.Add(bell);
        await new Plain(bell);
    }

    static async Task DisposeAsync(List<object> kept)
    {
        await using var slow = new Slow(kept);
    }
}

sealed class Signal : IValueTaskSource<int>
{
    ManualResetValueTaskSourceCore<int> _core;

    public ValueTask<int> WaitAsync() => new(this, _core.Version);
    int IValueTaskSource<int>.GetResult(short token) => _core.GetResult(token);
    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _core.GetStatus(token);
    void IValueTaskSource<int>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}

/// <summary>An awaiter of its own: it gets an Action.</summary>
sealed class Doorbell : ICriticalNotifyCompletion
{
    Action? _then;

    public Doorbell GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action then) => _then = then;
    public void UnsafeOnCompleted(Action then) => _then += then;
}

/// <summary>Without UnsafeOnCompleted, as a structure.</summary>
readonly struct Plain(Doorbell bell) : INotifyCompletion
{
    public Plain GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action then) => bell.OnCompleted(then);
}

sealed class Slow(List<object> kept) : IAsyncDisposable
{
    public async ValueTask DisposeAsync() => await Calls.Never(kept);
}
