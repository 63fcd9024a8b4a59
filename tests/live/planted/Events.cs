// SPDX-License-Identifier: MIT
using System.ComponentModel;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Primitives;

namespace Shop;

public sealed class PriceFeed
{
    public static readonly PriceFeed Instance = new();
    public event EventHandler<decimal>? Changed;

    public void Set(decimal price) => Changed?.Invoke(this, price);
}

public sealed class PriceListener
{
    readonly byte[] _chart = new byte[1800];

    public PriceListener() => PriceFeed.Instance.Changed += OnChanged;

    void OnChanged(object? sender, decimal price) => _chart[0]++;
}

/// <summary>A static event.</summary>
public static class Bus
{
    public static event Action<Order>? OrderPlaced;

    public static void Place(Order order) => OrderPlaced?.Invoke(order);
}

public sealed class OrderView
{
    readonly byte[] _pixels = new byte[3000];

    public OrderView() => Bus.OrderPlaced += Show;

    void Show(Order order) => _pixels[0]++;
}

/// <summary>Subscribes to an event of the framework that lives as long as the program.</summary>
public sealed class TempFolder
{
    readonly byte[] _index = new byte[3000];

    public TempFolder() => AppDomain.CurrentDomain.ProcessExit += Remove;

    void Remove(object? sender, EventArgs e) => _index[0]++;
}

public sealed class FailureMonitor
{
    readonly byte[] _recent = new byte[3000];

    public FailureMonitor() => TaskScheduler.UnobservedTaskException += OnFailure;

    void OnFailure(object? sender, UnobservedTaskExceptionEventArgs e) => _recent[0]++;
}

/// <summary>The model lives, its views come and go.</summary>
public sealed class BasketModel : INotifyPropertyChanged
{
    public static readonly BasketModel Instance = new();
    public event PropertyChangedEventHandler? PropertyChanged;

    public void Change() => PropertyChanged?.Invoke(this, new PropertyChangedEventArgs("Total"));
}

public sealed class BasketView
{
    readonly byte[] _pixels = new byte[3000];

    public BasketView(BasketModel model) => model.PropertyChanged += (_, _) => _pixels[0]++;
}

/// <summary>The handler is a lambda that captures a local variable.</summary>
public sealed class ImportWizard
{
    readonly byte[] _pages = new byte[3000];

    public void Open(PriceFeed feed, int number)
    {
        string title = "import " + number;
        feed.Changed += (_, price) => Log(title, price);
    }

    void Log(string title, decimal price) => _pages[0] += (byte)(title.Length + price);
}

public sealed class StockTicker : IObservable<decimal>
{
    public static readonly StockTicker Instance = new();
    readonly List<IObserver<decimal>> _observers = new();

    public IDisposable Subscribe(IObserver<decimal> observer)
    {
        _observers.Add(observer);
        return new Subscription(this, observer);
    }

    sealed class Subscription(StockTicker ticker, IObserver<decimal> observer) : IDisposable
    {
        public void Dispose() => ticker._observers.Remove(observer);
    }
}

public sealed class PriceAlarm : IObserver<decimal>
{
    readonly byte[] _values = new byte[3000];

    public void OnCompleted() { }
    public void OnError(Exception error) { }
    public void OnNext(decimal value) => _values[0]++;
}

public sealed class FeatureFlags
{
    readonly byte[] _values = new byte[3000];

    public FeatureFlags(IConfiguration configuration) => ChangeToken.OnChange(configuration.GetReloadToken, Reload);

    void Reload() => _values[0]++;
}

/// <summary>One watcher for each import, none disposed.</summary>
public sealed class ImportFolder
{
    static readonly List<FileSystemWatcher> s_watchers = new();
    readonly byte[] _lines = new byte[150_000];

    public ImportFolder()
    {
        var watcher = new FileSystemWatcher(AppContext.BaseDirectory);
        watcher.Created += OnCreated;
        watcher.EnableRaisingEvents = true;
        s_watchers.Add(watcher);
    }

    void OnCreated(object sender, FileSystemEventArgs e) => _lines[0]++;
}

/// <summary>Asks for weak references, and gets lambdas that hold the view all the same.</summary>
public sealed class WeakBus
{
    public static readonly WeakBus Instance = new();
    readonly List<(WeakReference Target, Action Handler)> _handlers = new();

    public void Add(object target, Action handler) => _handlers.Add((new WeakReference(target), handler));
}

public sealed class ProductView
{
    readonly byte[] _pixels = new byte[3000];

    public ProductView() => WeakBus.Instance.Add(this, () => _pixels[0]++);
}

static class Events
{
    static readonly List<object> s_kept = new();

    public static readonly (string, Program.Scenario)[] All =
    {
        ("event", () => Stores.Fill(5_040, _ => new PriceListener())),
        ("static-event", () => Stores.Fill(3_000, _ => new OrderView())),
        ("framework-event", () => Stores.Fill(3_000, _ => new TempFolder())),
        ("framework-event-tasks", () => Stores.Fill(3_000, _ => new FailureMonitor())),
        ("property-changed", () => Stores.Fill(3_000, _ => new BasketView(BasketModel.Instance))),
        ("closure-event", () => Stores.Fill(3_000, i => new ImportWizard().Open(PriceFeed.Instance, i))),
        ("observable", () => Stores.Fill(3_000, _ => StockTicker.Instance.Subscribe(new PriceAlarm()))),
        ("change-token", ChangeTokens),
        ("file-watcher", () => Stores.Fill(60, _ => new ImportFolder())),
        ("weak-bus", () => Stores.Fill(3_000, _ => new ProductView())),
    };

    static IHost? ChangeTokens()
    {
        IConfiguration configuration = new ConfigurationBuilder().AddInMemoryCollection().Build();
        s_kept.Add(configuration);
        return Stores.Fill(3_000, _ => new FeatureFlags(configuration));
    }
}
