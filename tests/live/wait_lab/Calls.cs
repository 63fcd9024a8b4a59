// SPDX-License-Identifier: MIT
namespace WaitLab;

public sealed class RpcReply { public string Text = ""; }

/// <summary>Calls of calls, down to a TaskCompletionSource.</summary>
public sealed class RpcClient
{
    readonly Dictionary<int, TaskCompletionSource<RpcReply>> _pending = new();
    int _next;

    public async Task<string> CallAsync(string method)
    {
        byte[] request = new byte[100];
        RpcReply reply = await SendAsync(method, request);
        return reply.Text + request.Length;
    }

    async Task<RpcReply> SendAsync(string method, byte[] request)
    {
        var source = new TaskCompletionSource<RpcReply>(TaskCreationOptions.RunContinuationsAsynchronously);
        _pending.Add(_next++, source);
        RpcReply reply = await source.Task.ConfigureAwait(false);
        reply.Text += method + request.Length;
        return reply;
    }
}

static class Calls
{
    public static void Plant(List<object> kept)
    {
        var client = new RpcClient();
        kept.Add(client);
        for (int i = 0; i < 800; i++)
            kept.Add(client.CallAsync("m" + i));
        for (int i = 0; i < 30; i++)
            client.CallAsync("forgotten" + i);
        kept.Add(Deep(50));
        var generic = new Generic<string>();
        for (int i = 0; i < 12; i++)
            kept.Add(generic.Get<Guid>("a"));
        for (int i = 0; i < 7; i++)
            kept.Add(Local(i));
        Func<Task> lambda = async () => { await Never(kept); };
        for (int i = 0; i < 9; i++)
            kept.Add(lambda());
        for (int i = 0; i < 6; i++)
            Void(kept);
        for (int i = 0; i < 5; i++)
            kept.Add(new ValueCalls().OuterAsync(kept).AsTask());
    }

    public static void Many(List<object> kept, int calls)
    {
        var client = new RpcClient();
        kept.Add(client);
        for (int i = 0; i < calls; i++)
            kept.Add(client.CallAsync("many"));
    }

    public static Task Never(List<object> kept)
    {
        var source = new TaskCompletionSource();
        kept.Add(source);
        return source.Task;
    }

    static async Task Deep(int n)
    {
        if (n == 0)
            await Task.Delay(Timeout.Infinite, new CancellationTokenSource().Token);
        else
            await Deep(n - 1);
    }

    static Task Local(int n)
    {
        return Inner(n);
        static async Task Inner(int m)
        {
            await Task.Delay(TimeSpan.FromDays(1));
            GC.KeepAlive(m);
        }
    }

    static async void Void(List<object> kept) => await Never(kept);
}

public sealed class Generic<T>
{
    public async Task<TOther?> Get<TOther>(T value)
    {
        await Task.Delay(TimeSpan.FromDays(2));
        GC.KeepAlive(value);
        return default;
    }
}

sealed class ValueCalls
{
    public async ValueTask<int> OuterAsync(List<object> kept) => await InnerAsync(kept) + 1;

    [System.Runtime.CompilerServices.AsyncMethodBuilder(typeof(System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>))]
    async ValueTask<int> InnerAsync(List<object> kept)
    {
        await Calls.Never(kept);
        return 1;
    }
}
