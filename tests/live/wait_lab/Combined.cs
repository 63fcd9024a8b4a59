// SPDX-License-Identifier: MIT
namespace WaitLab;

/// <summary>Tasks made of other tasks.</summary>
static class Combined
{
    public static void Plant(List<object> kept)
    {
        for (int i = 0; i < 10; i++)
            kept.Add(AllAsync(kept));
        for (int i = 0; i < 6; i++)
            kept.Add(AllOfResults(kept));
        for (int i = 0; i < 9; i++)
            kept.Add(AnyAsync(kept));
        for (int i = 0; i < 4; i++)
            kept.Add(AnyOfThree(kept));
        for (int i = 0; i < 16; i++)
            kept.Add(RunAsync(kept));
        for (int i = 0; i < 3; i++)
            kept.Add(UnwrapAsync(kept));
        for (int i = 0; i < 17; i++)
            kept.Add(ContinueAsync(kept));
        for (int i = 0; i < 18; i++)
            kept.Add(Calls.Never(kept).ContinueWith(t => GC.KeepAlive(t)));
        for (int i = 0; i < 5; i++)
            kept.Add(CancelledContinuation(kept));
        for (int i = 0; i < 4; i++)
        {
            kept.Add(OfOthers(Task.WhenAll(Part(kept), Part(kept))));
            kept.Add(OfOthers(Task.WhenAny(Part(kept), Part(kept))));
            kept.Add(OfOthers(Part(kept).WaitAsync(TimeSpan.FromHours(5))));
            kept.Add(OfOthers(Part(kept).ContinueWith(t => GC.KeepAlive(t), TaskScheduler.Default)));
        }
        Several(kept);
        for (int i = 0; i < 3; i++)
            kept.Add(Task.Run(() => Thread.Sleep(Timeout.Infinite)));
        kept.Add(BusyAsync());
        kept.Add(EachAsync(kept));
        kept.Add(Parallel.ForEachAsync(Enumerable.Range(0, 4), new ParallelOptions { MaxDegreeOfParallelism = 4 }, async (_, _) => await Calls.Never(kept)));
        kept.Add(Task.Factory.StartNew(async () => await Calls.Never(kept)));
    }

    static async Task Part(List<object> kept) => await Calls.Never(kept);

    static async Task<int> Result(List<object> kept)
    {
        await Calls.Never(kept);
        return 1;
    }

    static async Task AllAsync(List<object> kept) => await Task.WhenAll(Part(kept), Task.CompletedTask, Part(kept), Task.Delay(TimeSpan.FromHours(5)));
    // a parameter that it awaits stands where others have their continuation
    static async Task OfOthers(Task others) => await others;
    static async Task<int> AllOfResults(List<object> kept) => (await Task.WhenAll(Result(kept), Result(kept))).Sum();
    static async Task AnyAsync(List<object> kept) => await await Task.WhenAny(Part(kept), Task.Delay(TimeSpan.FromHours(5)));
    static async Task AnyOfThree(List<object> kept) => await Task.WhenAny(Part(kept), Calls.Never(kept), Task.Delay(TimeSpan.FromHours(5)));
    static async Task RunAsync(List<object> kept) => await Task.Run(() => Part(kept));
    static async Task UnwrapAsync(List<object> kept) => await Task.Factory.StartNew(() => Result(kept)).Unwrap();
    static async Task ContinueAsync(List<object> kept) => await Part(kept).ContinueWith(t => GC.KeepAlive(t), TaskScheduler.Default);

    static async Task CancelledContinuation(List<object> kept)
    {
        var source = new CancellationTokenSource();
        kept.Add(source);
        await Part(kept).ContinueWith(t => GC.KeepAlive(t), source.Token);
    }

    /// <summary>One task that many wait for, each in another way.</summary>
    static void Several(List<object> kept)
    {
        Task shared = Part(kept);
        for (int i = 0; i < 25; i++)
            kept.Add(SharedAsync(shared));
        kept.Add(shared.ContinueWith(_ => { }));
        kept.Add(Task.WhenAll(shared, Calls.Never(kept)));
        shared.GetAwaiter().OnCompleted(() => GC.KeepAlive(kept));
        for (int i = 0; i < 2; i++)
            new Thread(() => shared.Wait()) { IsBackground = true }.Start();
    }

    static async Task SharedAsync(Task shared) => await shared;

    /// <summary>Runs, and so waits for nothing.</summary>
    static async Task BusyAsync()
    {
        await Task.Yield();
        Thread.Sleep(Timeout.Infinite);
    }

    static async Task EachAsync(List<object> kept)
    {
        var tasks = new List<Task> { Part(kept), Part(kept) };
        while (tasks.Count > 0)
            tasks.Remove(await Task.WhenAny(tasks));
    }
}
