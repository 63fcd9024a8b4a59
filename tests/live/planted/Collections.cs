// SPDX-License-Identifier: MIT
using System.Collections;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Text;

namespace Shop;

/// <summary>Every version of the stock is kept; they share what is equal.</summary>
public sealed class StockVersions
{
    public static readonly StockVersions Instance = new();
    readonly List<ImmutableDictionary<int, StockItem>> _versions = new() { ImmutableDictionary<int, StockItem>.Empty };

    public void Set(int article) => _versions.Add(_versions[^1].SetItem(article, new StockItem()));

    public sealed class StockItem
    {
        readonly byte[] _places = new byte[600];
    }
}

public sealed class Timeline
{
    public static readonly Timeline Instance = new();
    ImmutableList<Post> _posts = ImmutableList<Post>.Empty;

    public void Add() => _posts = _posts.Add(new Post());

    public sealed class Post
    {
        readonly byte[] _text = new byte[600];
    }
}

public sealed class CountryTable(IEnumerable<Customer> customers)
{
    public static CountryTable? Current;
    readonly FrozenDictionary<int, Customer> _customers = customers.ToFrozenDictionary(c => c.Number);
}

public sealed class Gallery
{
    public static readonly Gallery Instance = new();
    readonly List<byte[]> _thumbnails = new();

    public void Add(int bytes) => _thumbnails.Add(new byte[bytes]);
}

/// <summary>One text that only grows.</summary>
public sealed class AuditLog
{
    public static readonly AuditLog Instance = new();
    readonly StringBuilder _text = new();

    public void Write(int i) => _text.Append("user ").Append(i).Append(" changed the order ").Append(i * 7L).AppendLine();
}

public sealed class SearchHistory
{
    public static readonly SearchHistory Instance = new();
    readonly List<string> _queries = new();

    public void Add(string query) => _queries.Add(query);
}

public sealed class SeatMap
{
    public static readonly SeatMap Instance = new();
    readonly Seat?[] _seats = new Seat?[2_000_000];

    public void Take(int i) => _seats[i] = new Seat();

    public sealed class Seat
    {
        readonly int _row;
    }
}

/// <summary>Each route has room for 100 stops and uses one.</summary>
public sealed class RoutePlanner
{
    public static readonly RoutePlanner Instance = new();
    readonly List<Route> _routes = new();

    public void Add() => _routes.Add(new Route());

    public sealed class Route
    {
        readonly List<Stop> _stops = new(100) { new Stop() };
    }

    public sealed class Stop
    {
        readonly int _place;
    }
}

/// <summary>A million slots reserved for the worst day, a few used.</summary>
public sealed class BookingCalendar
{
    public static readonly BookingCalendar Instance = new();
    readonly Dictionary<int, Order> _bookings = new(500_000);

    public void Add(int day) => _bookings.Add(day, new Order(day));
}

public sealed class Measurements
{
    public static readonly Measurements Instance = new();
    readonly ArrayList _values = new();

    public void Add(double value) => _values.Add(value);
}

public sealed class CellRow
{
    readonly object?[] _cells = new object?[12];

    public CellRow(int row)
    {
        for (int i = 0; i < _cells.Length; i++)
            _cells[i] = row * i;
    }
}

public sealed class Spreadsheet
{
    public static readonly Spreadsheet Instance = new();
    readonly List<CellRow> _rows = new();

    public void Add(int row) => _rows.Add(new CellRow(row));
}

/// <summary>A list that the program made itself.</summary>
public sealed class LedgerEntry(LedgerEntry? previous)
{
    public readonly LedgerEntry? Previous = previous;
    readonly byte[] _booking = new byte[300];
}

public sealed class Ledger
{
    public static readonly Ledger Instance = new();
    LedgerEntry? _last;

    public void Add() => _last = new LedgerEntry(_last);
}

public sealed class Category(int depth)
{
    readonly byte[] _description = new byte[500];
    readonly List<Category> _children = depth == 0 ? new() : Enumerable.Range(0, 5).Select(_ => new Category(depth - 1)).ToList();
}

public sealed class Catalog
{
    public static Catalog? Current;
    readonly Category _all = new(6);
}

public sealed class Board
{
    public static readonly Board Instance = new();
    public ObservableCollection<Customer> Customers { get; } = new();
}

public sealed class Terrain
{
    public static Terrain? Current;
    readonly double[][] _heights = Enumerable.Range(0, 1_000).Select(_ => new double[1_200]).ToArray();
}

/// <summary>Keys without Equals: every question is a new one.</summary>
public sealed class QueryCache
{
    public static readonly QueryCache Instance = new();
    readonly Dictionary<QueryKey, QueryResult> _results = new();

    public void Ask(string text)
    {
        var key = new QueryKey(text);
        if (!_results.ContainsKey(key))
            _results.Add(key, new QueryResult());
    }

    public sealed class QueryKey(string text)
    {
        readonly string _text = text;
    }

    public sealed class QueryResult
    {
        readonly byte[] _rows = new byte[1500];
    }
}

public sealed class ReportList
{
    public static readonly ReportList Instance = new();
    readonly List<Lazy<Report>> _reports = new();

    public void Add()
    {
        var report = new Lazy<Report>(() => new Report());
        GC.KeepAlive(report.Value);
        _reports.Add(report);
    }

    public sealed class Report
    {
        readonly byte[] _pages = new byte[2000];
    }
}

/// <summary>Collections of other kinds and shapes.</summary>
/// <summary>Four threads fill one bag, and wait.</summary>
public sealed class SortingRoom
{
    public static readonly SortingRoom Instance = new();
    readonly System.Collections.Concurrent.ConcurrentBag<Letter> _unsorted = new();

    public sealed record Letter(int Number, byte[] Scan);

    public static IHost? Open()
    {
        using var filled = new CountdownEvent(4);
        for (int i = 0; i < 4; i++)
            new Thread(() =>
            {
                Fill();
                filled.Signal();
                Thread.Sleep(Timeout.Infinite);
            }) { IsBackground = true }.Start();
        filled.Wait();
        return null;
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static void Fill()
    {
        for (int n = 0; n < 5_000; n++)
            Instance._unsorted.Add(new Letter(n, new byte[300]));
    }
}

static class Collections
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("immutable-dictionary", () => Stores.Fill(12_000, StockVersions.Instance.Set)),
        ("immutable-list", () => Stores.Fill(12_000, _ => Timeline.Instance.Add())),
        ("frozen-dictionary", () => Once(() => CountryTable.Current = new(Enumerable.Range(0, 10_000).Select(i => new Customer(i))))),
        ("byte-arrays", () => Stores.Fill(120, _ => Gallery.Instance.Add(100_000))),
        ("string-builder", () => Stores.Fill(150_000, AuditLog.Instance.Write)),
        ("strings", () => Stores.Fill(120_000, i => SearchHistory.Instance.Add("shoes in size " + i))),
        ("sparse-array", () => Stores.Fill(100, i => SeatMap.Instance.Take(i * 1_000))),
        ("over-capacity", () => Stores.Fill(15_000, _ => RoutePlanner.Instance.Add())),
        ("sparse-dictionary", () => Stores.Fill(200, BookingCalendar.Instance.Add)),
        ("boxed-values", () => Stores.Fill(400_000, i => Measurements.Instance.Add(i / 3.0))),
        ("boxed-cells", () => Stores.Fill(30_000, Spreadsheet.Instance.Add)),
        ("own-chain", () => Stores.Fill(30_000, _ => Ledger.Instance.Add())),
        ("own-tree", () => Once(() => Catalog.Current = new())),
        ("observable-collection", () => Stores.Fill(10_000, i => Board.Instance.Customers.Add(new Customer(i)))),
        ("jagged-array", () => Once(() => Terrain.Current = new())),
        ("keys-without-equals", () => Stores.Fill(6_000, _ => QueryCache.Instance.Ask("all"))),
        ("lazy", () => Stores.Fill(5_000, _ => ReportList.Instance.Add())),
        ("shared-bag", SortingRoom.Open),
    };

    static IHost? Once(Action action)
    {
        action();
        return null;
    }
}
