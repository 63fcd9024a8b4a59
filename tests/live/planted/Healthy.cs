// SPDX-License-Identifier: MIT
using System.Buffers;
using System.Collections.Concurrent;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading.Channels;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Configuration;

namespace Shop;

public sealed class Cleaner : BackgroundService
{
    int _rounds;

    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(50));
        while (await timer.WaitForNextTickAsync(stopping))
            _rounds++;
    }
}

/// <summary>Stages that hand on what they get, while somebody looks at the heap.</summary>
public sealed class OrderPipeline
{
    readonly Channel<Order> _in = Channel.CreateBounded<Order>(100), _out = Channel.CreateBounded<Order>(100);
    long _done;

    public void Start()
    {
        Task.Run(Feed);
        Task.Run(Check);
        Task.Run(Send);
        SpinWait.SpinUntil(() => Volatile.Read(ref _done) > 10_000);
    }

    async Task Feed()
    {
        for (int i = 0; ; i++)
        {
            await _in.Writer.WriteAsync(new Order(i));
            if (i % 100 == 0)
                await Task.Delay(1);
        }
    }

    async Task Check()
    {
        await foreach (Order order in _in.Reader.ReadAllAsync())
            await _out.Writer.WriteAsync(order);
    }

    async Task Send()
    {
        await foreach (Order _ in _out.Reader.ReadAllAsync())
            Interlocked.Increment(ref _done);
    }
}

/// <summary>What a compiler makes of a file: a large tree, and a small result.</summary>
public sealed class Compiler
{
    static readonly Dictionary<string, int> s_symbols = new();

    sealed class Syntax(int kind, Syntax[] children)
    {
        public int Count() => kind % 2 + children.Sum(c => c.Count());
    }

    static Syntax Parse(int depth) => new(depth, depth == 0 ? Array.Empty<Syntax>() : Enumerable.Range(0, 6).Select(_ => Parse(depth - 1)).ToArray());

    public static void Compile(int file) => s_symbols["file " + file] = Parse(6).Count();
}

/// <summary>Programs without a leak: no suspect, no finding.</summary>
static class Healthy
{
    static readonly List<object> s_kept = new();

    public static readonly (string, Program.Scenario)[] All =
    {
        ("healthy-console", () => null),
        ("healthy-worker", () => Hosting.Serve(s => s.AddHostedService<Cleaner>(), _ => Thread.Sleep(300))),
        ("healthy-web", () => Web.Serve(_ => { }, a => Web.Plain(a), (_, _) => { })),
        ("healthy-web-load", () => Web.Serve(_ => { }, a => Web.Plain(a), Web.Get("/order/", 3_000))),
        ("healthy-web-busy", () => Web.Serve(_ => { }, a => Web.Plain(a), Busy)),
        ("healthy-web-ef", () => Web.Serve(s => s.AddDbContext<ShopContext>(Hosting.Database), Articles, Read)),
        ("healthy-cache", Cache),
        ("healthy-configuration", Configure),
        ("healthy-compiler", () => Stores.Fill(10, Compiler.Compile)),
        ("healthy-timers", () => Stores.Fill(60, i => s_kept.Add(new Timer(_ => { }, null, 100 + i, 100 + i)))),
        ("healthy-pipeline", () => Stores.Fill(1, _ => new OrderPipeline().Start())),
        ("healthy-tables", Tables),
        ("healthy-json", () => Stores.Fill(50, Serialize)),
        ("healthy-pool", () => Stores.Fill(1, _ => Rent())),
        ("healthy-parallel", () => Stores.Fill(1, _ => Parallel.For(0, 20_000, i => GC.KeepAlive(new Order(i))))),
        ("healthy-events", () => Stores.Fill(300, _ => new PriceListener())),
        ("healthy-regexes", () => Stores.Fill(30, i => Patterns.Matches("^order " + i + "[a-f]+x$", "order"))),
    };

    static void Busy(HttpClient http, string address)
    {
        Web.Get(http, address, 500, i => "/order/" + i);
        var own = new HttpClient();
        for (int part = 0; part < 4; part++)
            Task.Run(async () =>
            {
                for (int i = 0; ; i++)
                    await own.GetStringAsync(address + "/order/" + i);
            });
        Thread.Sleep(300);
    }

    static void Articles(WebApplication app)
    {
        using (IServiceScope scope = app.Services.CreateScope())
        {
            var context = scope.ServiceProvider.GetRequiredService<ShopContext>();
            context.Database.EnsureCreated();
            for (int i = 0; i < 200; i++)
                context.Add(new Article { Name = "article " + i });
            context.SaveChanges();
        }
        app.MapGet("/articles/{page:int}", (int page, ShopContext shop) => shop.Articles.OrderBy(a => a.Name).Skip(page * 10).Take(10).ToListAsync());
    }

    static void Read(HttpClient http, string address)
    {
        for (int i = 0; i < 100; i++)
            http.GetStringAsync(address + "/articles/" + i % 20).GetAwaiter().GetResult();
    }

    static IHost? Cache()
    {
        var cache = new MemoryCache(new MemoryCacheOptions { SizeLimit = 1_000 });
        s_kept.Add(cache);
        return Stores.Fill(5_000, i => cache.Set("product " + i, new ProductPage(), new MemoryCacheEntryOptions { Size = 1 }));
    }

    static IHost? Configure()
    {
        var values = Enumerable.Range(0, 8_000).ToDictionary(i => $"section{i % 100}:key{i}", i => (string?)("value " + i));
        IConfiguration configuration = new ConfigurationBuilder().AddInMemoryCollection(values).Build();
        s_kept.Add(configuration);
        GC.KeepAlive(configuration.GetSection("section5").GetChildren().Count());
        return null;
    }

    /// <summary>Tables that a program needs: full, of different kinds.</summary>
    static IHost? Tables()
    {
        s_kept.Add(Enumerable.Range(0, 5_000).ToDictionary(i => i, i => "country " + i));
        s_kept.Add(Enumerable.Range(0, 5_000).Select(i => "word " + i).ToHashSet());
        s_kept.Add(new List<string>(Enumerable.Range(0, 5_000).Select(i => "line " + i)));
        s_kept.Add(new ConcurrentDictionary<int, string>(Enumerable.Range(0, 5_000).ToDictionary(i => i, i => "zone " + i)));
        s_kept.Add(new int[200_000]);
        return null;
    }

    static void Serialize(int i)
    {
        string text = JsonSerializer.Serialize(Enumerable.Range(0, 500).Select(n => new Price("article " + n, n, default)));
        GC.KeepAlive(JsonSerializer.Deserialize<Price[]>(text)![i]);
    }

    static void Rent()
    {
        Parallel.For(0, 500, i =>
        {
            byte[] buffer = ArrayPool<byte>.Shared.Rent(4_000);
            buffer[0]++;
            ArrayPool<byte>.Shared.Return(buffer);
        });
    }
}
