// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Net;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;

namespace Shop;

/// <summary>Statistics by path, and the path has a number in it.</summary>
public sealed class RequestStatistics(RequestDelegate next)
{
    readonly ConcurrentDictionary<string, PathStatistics> _byPath = new();

    public Task Invoke(HttpContext http)
    {
        _byPath.GetOrAdd(http.Request.Path.Value!, _ => new PathStatistics());
        return next(http);
    }

    public sealed class PathStatistics
    {
        readonly long[] _latencies = new long[500];
    }
}

/// <summary>Keeps the services of requests that are over.</summary>
public sealed class RequestJournal
{
    readonly List<IServiceProvider> _services = new();

    public void Add(HttpContext http)
    {
        lock (_services)
            _services.Add(http.RequestServices);
    }
}

/// <summary>Requests that wait for something that does not come.</summary>
public sealed class LongPolling
{
    static readonly TaskCompletionSource s_news = new();
    readonly byte[] _page = new byte[150_000];

    public async Task<int> WaitAsync()
    {
        await s_news.Task;
        return _page.Length;
    }
}

static class Web
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("web-sessions", () => Serve(s => s.AddSingleton<BasketStore>(), Sessions, Get("/open/", 2_500))),
        ("web-middleware", () => Serve(_ => { }, a => Plain(a).UseMiddleware<RequestStatistics>(), Get("/order/", 2_500))),
        ("web-request-services", () => Serve(s => s.AddScoped<UnitOfWork>().AddSingleton<RequestJournal>(), Journal, Get("/order/", 2_000))),
        ("web-long-polling", () => Serve(_ => { }, Poll, (http, n) => Hang(http, n, 60))),
        ("web-distributed-cache", () => Serve(s => s.AddDistributedMemoryCache().AddSession(), Visits, Get("/visit/", 2_500))),
    };

    /// <summary>A small site, after some requests to itself.</summary>
    public static IHost Serve(Action<IServiceCollection> add, Action<WebApplication> map, Action<HttpClient, string> load)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(k => k.Listen(IPAddress.Loopback, 0));
        add(builder.Services);
        WebApplication app = builder.Build();
        map(app);
        app.Start();
        string address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        Load(load, address);
        return app;
    }

    static void Load(Action<HttpClient, string> load, string address)
    {
        using var handler = new SocketsHttpHandler { UseCookies = false, MaxConnectionsPerServer = 100 };
        using var http = new HttpClient(handler, disposeHandler: false);     // the connections stay
        load(http, address);
    }

    public static Action<HttpClient, string> Get(string path, int count) => (http, address) => Get(http, address, count, i => path + i);

    /// <summary>COUNT requests, four at a time.</summary>
    public static void Get(HttpClient http, string address, int count, Func<int, string> path) =>
        Task.WhenAll(Enumerable.Range(0, 4).Select(async part =>
        {
            for (int i = part; i < count; i += 4)
                await http.GetStringAsync(address + path(i));
        })).GetAwaiter().GetResult();

    static int s_hanging;

    static void Hang(HttpClient http, string address, int count)
    {
        for (int i = 0; i < count; i++)
            _ = http.GetStringAsync(address + "/poll");
        SpinWait.SpinUntil(() => Volatile.Read(ref s_hanging) == count);
    }

    static void Sessions(WebApplication app) => app.MapGet("/open/{user:int}", (int user, BasketStore store) =>
    {
        store.Add(user);
        return "opened";
    });

    public static WebApplication Plain(WebApplication app)
    {
        app.MapGet("/order/{number:int}", (int number) => new Order(number));
        return app;
    }

    static void Journal(WebApplication app) => app.MapGet("/order/{number:int}", (HttpContext http, UnitOfWork work, RequestJournal journal) =>
    {
        journal.Add(http);
        return work.GetType().Name;
    });

    static void Poll(WebApplication app) => app.MapGet("/poll", () =>
    {
        Task<int> waiting = new LongPolling().WaitAsync();
        Interlocked.Increment(ref s_hanging);
        return waiting;
    });

    static void Visits(WebApplication app)
    {
        app.UseSession();
        app.MapGet("/visit/{number:int}", (int number, HttpContext http) =>
        {
            http.Session.Set("basket", new byte[2000]);
            return "welcome";
        });
    }
}
