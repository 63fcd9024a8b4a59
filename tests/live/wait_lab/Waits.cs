// SPDX-License-Identifier: MIT
using System.IO.Pipelines;
using System.IO.Pipes;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;

namespace WaitLab;

/// <summary>What operations usually wait for.</summary>
static class Waits
{
    public static void Plant(List<object> kept)
    {
        for (int i = 0; i < 40; i++)
            kept.Add(DelayAsync());
        var source = new CancellationTokenSource();
        kept.Add(source);
        for (int i = 0; i < 21; i++)
            kept.Add(DelayWithToken(source.Token));
        var gate = new SemaphoreSlim(0);
        kept.Add(gate);
        for (int i = 0; i < 50; i++)
            kept.Add(LockedAsync(gate));
        for (int i = 0; i < 22; i++)
            kept.Add(LockedWithToken(gate, source.Token));
        for (int i = 0; i < 23; i++)
            kept.Add(LockedWithTime(gate));
        for (int i = 0; i < 11; i++)
            kept.Add(ReadChannel(Channel.CreateUnbounded<string>()));
        for (int i = 0; i < 8; i++)
            kept.Add(WaitChannel(Channel.CreateBounded<string>(5)));
        for (int i = 0; i < 4; i++)
            kept.Add(WriteChannel(Channel.CreateBounded<string>(1)));
        for (int i = 0; i < 3; i++)
            kept.Add(AllOfChannel(Channel.CreateUnbounded<int>()));
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        kept.Add(listener);
        for (int i = 0; i < 13; i++)
        {
            var client = new TcpClient();
            client.Connect((IPEndPoint)listener.LocalEndpoint);
            kept.Add(ServeAsync(listener.AcceptTcpClient()));
            kept.Add(ReceiveAsync(client.Client));
        }
        kept.Add(AcceptAsync(listener));
        for (int i = 0; i < 6; i++)
            kept.Add(ReadPipe(new Pipe()));
        for (int i = 0; i < 2; i++)
            kept.Add(ReadPipeStream(new AnonymousPipeServerStream(PipeDirection.In)));
        for (int i = 0; i < 5; i++)
            kept.Add(TickAsync(new PeriodicTimer(TimeSpan.FromDays(1))));
        for (int i = 0; i < 14; i++)
            kept.Add(WithTimeout(Calls.Never(kept)));
        for (int i = 0; i < 15; i++)
            kept.Add(WithToken(Calls.Never(kept), source.Token));
        for (int i = 0; i < 2; i++)
            kept.Add(HandleAsync(new ManualResetEvent(false), kept));
    }

    static async Task DelayAsync() => await Task.Delay(TimeSpan.FromHours(20));
    static async Task DelayWithToken(CancellationToken token) => await Task.Delay(TimeSpan.FromHours(20), token);
    static async Task LockedAsync(SemaphoreSlim gate) => await gate.WaitAsync();
    static async Task LockedWithToken(SemaphoreSlim gate, CancellationToken token) => await gate.WaitAsync(token);
    static async Task LockedWithTime(SemaphoreSlim gate) => await gate.WaitAsync(TimeSpan.FromHours(20));
    static async Task<string> ReadChannel(Channel<string> channel) => await channel.Reader.ReadAsync();
    static async Task<bool> WaitChannel(Channel<string> channel) => await channel.Reader.WaitToReadAsync();

    static async Task WriteChannel(Channel<string> channel)
    {
        await channel.Writer.WriteAsync("a");
        await channel.Writer.WriteAsync("b");
    }

    static async Task AllOfChannel(Channel<int> channel)
    {
        await foreach (int i in channel.Reader.ReadAllAsync())
            GC.KeepAlive(i);
    }

    static async Task ServeAsync(TcpClient client)
    {
        byte[] buffer = new byte[10];
        while (await client.GetStream().ReadAsync(buffer) > 0) { }
    }

    static async Task<int> ReceiveAsync(Socket socket) => await socket.ReceiveAsync(new byte[20], SocketFlags.None);
    static async Task AcceptAsync(TcpListener listener) => (await listener.AcceptTcpClientAsync()).Dispose();
    static async Task ReadPipe(Pipe pipe) => GC.KeepAlive(await pipe.Reader.ReadAsync());
    static async Task ReadPipeStream(Stream stream) => await stream.ReadAsync(new byte[5]);
    static async Task TickAsync(PeriodicTimer timer) => await timer.WaitForNextTickAsync();
    static async Task WithTimeout(Task task) => await task.WaitAsync(TimeSpan.FromHours(3));
    static async Task WithToken(Task task, CancellationToken token) => await task.WaitAsync(token);

    static async Task HandleAsync(WaitHandle handle, List<object> kept)
    {
        var source = new TaskCompletionSource();
        kept.Add(ThreadPool.RegisterWaitForSingleObject(handle, (_, _) => source.SetResult(), null, -1, true));
        await source.Task;
    }
}
