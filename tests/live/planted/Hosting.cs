// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Channels;
using Microsoft.Data.Sqlite;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.Options;

namespace Shop;

/// <summary>A singleton of the service provider.</summary>
public sealed class BasketStore
{
    readonly ConcurrentDictionary<Guid, UserSession> _baskets = new();

    public void Add(int user) => _baskets[Guid.NewGuid()] = new UserSession(user);
}

/// <summary>Transient and disposable: who resolves it from the root keeps it until the end.</summary>
public sealed class ReportExporter : IDisposable
{
    readonly byte[] _buffer = new byte[2000];

    public void Dispose() => _buffer[0]++;
}

public sealed class UnitOfWork : IDisposable
{
    readonly byte[] _changes = new byte[3000];

    public void Dispose() => _changes[0]++;
}

/// <summary>A scope for each message, never disposed.</summary>
public sealed class MessageHandler(IServiceScopeFactory scopes)
{
    readonly List<IServiceScope> _scopes = new();

    public void Handle()
    {
        IServiceScope scope = scopes.CreateScope();
        GC.KeepAlive(scope.ServiceProvider.GetRequiredService<UnitOfWork>());
        _scopes.Add(scope);
    }
}

/// <summary>A source each, linked to the end of the program and with a time-out, never disposed: no single object holds them.</summary>
public sealed class ExportJob
{
    readonly byte[] _rows = new byte[3000];

    public ExportJob(IHostApplicationLifetime lifetime)
    {
        var source = CancellationTokenSource.CreateLinkedTokenSource(lifetime.ApplicationStopping);
        source.Token.Register(() => _rows[0]++);
        source.CancelAfter(TimeSpan.FromHours(1));
    }
}

public sealed class PriceOptions
{
    public int Digits { get; set; }
}

public sealed class PriceFormat
{
    readonly byte[] _pattern = new byte[3000];

    public PriceFormat(IOptionsMonitor<PriceOptions> options) => options.OnChange((_, _) => _pattern[0]++);
}

public sealed record WorkItem(int Number, byte[] Content);

/// <summary>Takes work, and its loop hangs in the first item.</summary>
public sealed class MailSender : BackgroundService
{
    readonly Channel<WorkItem> _work = Channel.CreateUnbounded<WorkItem>();

    public void Add(int number) => _work.Writer.TryWrite(new WorkItem(number, new byte[1000]));

    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        await foreach (WorkItem item in _work.Reader.ReadAllAsync(stopping))
            await Task.Delay(TimeSpan.FromHours(item.Number + 1), stopping);
    }
}

/// <summary>A scope of the log for each round, never disposed.</summary>
public sealed class ImportLoop(ILogger<ImportLoop> log) : BackgroundService
{
    public readonly TaskCompletionSource Filled = new();

    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        for (int i = 0; i < 20_000; i++)
            log.BeginScope(new ImportRound(i));
        Filled.SetResult();
        await Task.Delay(-1, stopping);
    }
}

public sealed class ImportRound(int number)
{
    readonly byte[] _file = new byte[400];
    public override string ToString() => "round " + number + _file.Length;
}

/// <summary>A provider that shows the last lines in the program, and forgets none.</summary>
public sealed class LogWindow : ILoggerProvider, ILogger, ISupportExternalScope
{
    readonly ConcurrentQueue<LogLine> _lines = new();

    public ILogger CreateLogger(string category) => this;
    public IDisposable? BeginScope<T>(T state) where T : notnull => null;
    public bool IsEnabled(LogLevel level) => true;
    public void Dispose() { }
    public void SetScopeProvider(IExternalScopeProvider scopes) { }

    public void Log<T>(LogLevel level, EventId id, T state, Exception? error, Func<T, Exception?, string> format) =>
        _lines.Enqueue(new LogLine(level, format(state, error)));
}

public sealed record LogLine(LogLevel Level, string Text);

public sealed class Article
{
    public int Id { get; set; }
    public string Name { get; set; } = "";
    public string Description { get; set; } = "";
}

public sealed class ShopContext(DbContextOptions<ShopContext> options) : DbContext(options)
{
    public DbSet<Article> Articles => Set<Article>();
}

/// <summary>A singleton with a context: it tracks every article that was ever read.</summary>
public sealed class ArticleReader(IDbContextFactory<ShopContext> factory)
{
    readonly ShopContext _context = factory.CreateDbContext();

    public int ReadAll() => _context.Articles.ToList().Count;
}

/// <summary>Activities whose parent is the one before.</summary>
public sealed class TraceLoop
{
    public static void Run()
    {
        for (int i = 0; i < 15_000; i++)
            new Activity("step " + i).SetTag("row", new byte[300]).Start();
    }
}

static class Hosting
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("service-provider", () => Serve(s => s.AddSingleton<BasketStore>(), p => Fill<BasketStore>(p, 5_041, (s, i) => s.Add(i)))),
        ("captured-transients", () => Serve(s => s.AddTransient<ReportExporter>(), p => Stores.Fill(5_000, _ => p.GetService<ReportExporter>()))),
        ("scopes", () => Serve(s => s.AddScoped<UnitOfWork>().AddSingleton<MessageHandler>(), Receive)),
        ("cancellation-timeouts", () => Serve(s => s.AddTransient<ExportJob>(), p => Stores.Fill(5_000, _ => p.GetService<ExportJob>()))),
        ("options-monitor", () => Serve(s => s.AddTransient<PriceFormat>(), p => Stores.Fill(3_000, _ => p.GetService<PriceFormat>()))),
        ("hosted-service", () => Serve(s => s.AddSingleton<MailSender>().AddHostedService(p => p.GetRequiredService<MailSender>()),
                                       p => Fill<MailSender>(p, 10_000, (s, i) => s.Add(i)))),
        ("log-scopes", () => Serve(Import, p => p.GetRequiredService<ImportLoop>().Filled.Task.Wait())),
        ("log-lines", () => Serve(s => s.AddSingleton<ILoggerProvider, LogWindow>(), Write)),
        ("ef-tracker", () => Serve(s => s.AddDbContextFactory<ShopContext>(Database).AddSingleton<ArticleReader>(), Track)),
        ("activities", () => Serve(_ => { }, _ => TraceLoop.Run())),
    };

    /// <summary>A program on the generic host, after some work.</summary>
    public static IHost Serve(Action<IServiceCollection> add, Action<IServiceProvider> work)
    {
        var builder = Host.CreateApplicationBuilder(new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        builder.Logging.ClearProviders();
        add(builder.Services);
        IHost host = builder.Build();
        host.Start();
        work(host.Services);
        return host;
    }

    static void Fill<T>(IServiceProvider services, int count, Action<T, int> add) where T : notnull
    {
        T store = services.GetRequiredService<T>();
        for (int i = 0; i < count; i++)
            add(store, i);
    }

    static void Receive(IServiceProvider services) => Fill<MessageHandler>(services, 3_000, (handler, _) => handler.Handle());

    static void Import(IServiceCollection services) =>
        services.AddSingleton<ILoggerProvider, LogWindow>().AddSingleton<ImportLoop>().AddHostedService(p => p.GetRequiredService<ImportLoop>());

    static void Write(IServiceProvider services)
    {
        var log = services.GetRequiredService<ILogger<LogWindow>>();
        for (int i = 0; i < 50_000; i++)
            log.LogInformation("The order {Number} of a customer was accepted and sent to the warehouse", i);
    }

    static readonly SqliteConnection s_database = new("Data Source=:memory:");

    public static void Database(DbContextOptionsBuilder options)
    {
        lock (s_database)
            if (s_database.State != System.Data.ConnectionState.Open)
                s_database.Open();
        options.UseSqlite(s_database);
    }

    static void Track(IServiceProvider services)
    {
        using (ShopContext context = services.GetRequiredService<IDbContextFactory<ShopContext>>().CreateDbContext())
        {
            context.Database.EnsureCreated();
            context.Database.ExecuteSqlRaw("""
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                INSERT INTO Articles (Name, Description) SELECT 'article ' || i, hex(zeroblob(100)) FROM n
                """);
        }
        services.GetRequiredService<ArticleReader>().ReadAll();
    }
}
