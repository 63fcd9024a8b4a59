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

/// <summary>A search index, which was built once.</summary>
public sealed class SearchIndex
{
    sealed record Posting(int Document, float Weight);

    static readonly SearchIndex s_index = new();
    readonly Dictionary<string, List<Posting>> _terms = new();

    public static void Read(int document)
    {
        for (int i = 0; i < 12; i++)
        {
            string term = "term " + (document * 37 + i * 1_001) % 20_000;
            if (!s_index._terms.TryGetValue(term, out List<Posting>? list))
                s_index._terms[term] = list = new();
            list.Add(new Posting(document, i));
        }
    }
}

/// <summary>A game: the parts of all entities in arrays.</summary>
public sealed class World
{
    record struct Place(float X, float Y, float Z);

    sealed record Sprite(string Picture, int Frame);

    static readonly World s_world = new();
    readonly Place[] _places = new Place[500_000];
    readonly Sprite[] _sprites = new Sprite[400_000];

    public static void Fill(int entity)
    {
        s_world._places[entity] = new Place(entity, 0, 0);
        s_world._sprites[entity] = new Sprite("hero", entity % 8);
    }
}

/// <summary>Actors, each with its own below it, which wait for messages.</summary>
public sealed class Actor
{
    static readonly Actor s_root = new("root");
    readonly Channel<object> _mailbox = Channel.CreateUnbounded<object>();
    readonly List<Actor> _below = new();
    readonly string _name;
    int _seen;

    Actor(string name)
    {
        _name = name;
        _ = Run();
    }

    async Task Run()
    {
        await foreach (object message in _mailbox.Reader.ReadAllAsync())
            _seen += message.GetHashCode() + _name.Length;
    }

    public static void Spawn(int shard)
    {
        var top = new Actor("shard " + shard);
        s_root._below.Add(top);
        for (int i = 0; i < 200; i++)
        {
            var one = new Actor("entity " + i);
            top._below.Add(one);
            one._mailbox.Writer.TryWrite(i);
        }
    }
}

/// <summary>Pictures in a cache that has all there are.</summary>
public static class Thumbnails
{
    static readonly MemoryCache s_cache = new(new MemoryCacheOptions());

    public static void Show(int i) => s_cache.Set("picture " + i, new byte[3_000]);
}

/// <summary>Programs without a leak: no suspect, no finding; what is large is said to be large.</summary>
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
        ("large-index", () => Stores.Fill(40_000, SearchIndex.Read)),
        ("large-world", () => Stores.Fill(300_000, World.Fill)),
        ("large-actors", () => Stores.Fill(20, Actor.Spawn)),
        ("large-cache", () => Stores.Fill(4_000, Thumbnails.Show)),
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
