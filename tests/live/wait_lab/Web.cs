// SPDX-License-Identifier: MIT
namespace WaitLab;

/// <summary>A server whose requests wait: for each other, for a slow service, for the client.</summary>
static class Web
{
    public static async Task StartAsync(int requests)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddSingleton<Shop>();
        WebApplication app = builder.Build();
        app.Use(async (context, next) => await next(context));
        app.MapGet("/slow", async (Shop shop) => await shop.SlowAsync());
        app.MapGet("/locked", (Shop shop) => shop.LockedAsync());
        app.MapPost("/upload", async (HttpRequest request, Shop shop) => await shop.UploadAsync(request.Body));
        await app.StartAsync();
        string url = app.Urls.First();
        var client = new HttpClient { Timeout = TimeSpan.FromDays(1) };
        var sent = new List<Task>();
        for (int i = 0; i < requests; i++)
        {
            sent.Add(client.GetStringAsync(url + "/slow"));
            sent.Add(client.GetStringAsync(url + "/locked"));
            sent.Add(client.PostAsync(url + "/upload", new StreamContent(new Silent())));
        }
        Shop shop = app.Services.GetRequiredService<Shop>();
        while (shop.Arrived < 3 * requests)
            await Task.Delay(50);
        GC.KeepAlive(sent);
        s_app = app;
        s_sent = sent;
    }

    static WebApplication? s_app;
    static List<Task>? s_sent;
}

sealed class Shop
{
    readonly SemaphoreSlim _gate = new(0);
    int _arrived;

    public int Arrived => Volatile.Read(ref _arrived);

    public async Task<string> SlowAsync()
    {
        Interlocked.Increment(ref _arrived);
        await Task.Delay(TimeSpan.FromHours(1));
        return "slow";
    }

    public async Task<string> LockedAsync()
    {
        Interlocked.Increment(ref _arrived);
        await _gate.WaitAsync();
        return "locked";
    }

    public async Task<string> UploadAsync(Stream body)
    {
        Interlocked.Increment(ref _arrived);
        byte[] buffer = new byte[1000];
        int n = 0, got;
        while ((got = await body.ReadAsync(buffer)) > 0)
            n += got;
        return n.ToString();
    }
}

/// <summary>Sends a little and then nothing more.</summary>
sealed class Silent : Stream
{
    bool _sent;

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken token = default)
    {
        if (_sent)
            await Task.Delay(Timeout.Infinite, token);
        _sent = true;
        buffer.Span[..10].Fill(65);
        return 10;
    }

    public override async Task CopyToAsync(Stream to, int size, CancellationToken token)
    {
        byte[] buffer = new byte[100];
        for (;;)
        {
            int n = await ReadAsync(buffer, token);
            await to.WriteAsync(buffer.AsMemory(0, n), token);
            await to.FlushAsync(token);
        }
    }

    public override bool CanRead => true;
    public override bool CanSeek => false;
    public override bool CanWrite => false;
    public override long Length => throw new NotSupportedException();
    public override long Position { get => 0; set => throw new NotSupportedException(); }
    public override void Flush() { }
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
    public override void SetLength(long value) => throw new NotSupportedException();
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
