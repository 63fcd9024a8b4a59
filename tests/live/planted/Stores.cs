// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;

namespace Shop;

public sealed class UserSession(int user)
{
    public readonly int User = user;
    public readonly byte[] Cart = new byte[1800];
}

public sealed class Customer(int number)
{
    public readonly int Number = number;
    public readonly string Name = "Customer " + number;
    public readonly byte[] Picture = new byte[900];
}

public sealed class Order(int number)
{
    public readonly int Number = number;
    public readonly decimal[] Lines = new decimal[20];
}

public sealed record Price(string Article, decimal Amount, DateTime From);

/// <summary>Sessions by their identifier; nobody removes one.</summary>
public sealed class SessionStore
{
    public static readonly SessionStore Instance = new();
    readonly ConcurrentDictionary<Guid, UserSession> _sessions = new();

    public void Open(int user) => _sessions[Guid.NewGuid()] = new UserSession(user);
}

public static class OrderArchive
{
    static readonly List<Order> s_orders = new();

    public static void Keep(Order order) => s_orders.Add(order);
}

public sealed class CustomerIndex
{
    public static readonly CustomerIndex Instance = new();
    readonly Dictionary<int, Customer> _byNumber = new();

    public void Add(Customer customer) => _byNumber.Add(customer.Number, customer);
}

/// <summary>Prices by market and article.</summary>
public sealed class PriceBook
{
    public static readonly PriceBook Instance = new();
    readonly Dictionary<string, Dictionary<string, Price>> _markets = new();

    public void Add(string market, Price price)
    {
        if (!_markets.TryGetValue(market, out var prices))
            _markets.Add(market, prices = new());
        prices.Add(price.Article, price);
    }
}

public sealed class DeliveryPlan
{
    public static readonly DeliveryPlan Instance = new();
    readonly SortedDictionary<DateTime, Order> _byTime = new();

    public void Add(DateTime time, Order order) => _byTime.Add(time, order);
}

public sealed class Ranking
{
    public static readonly Ranking Instance = new();
    readonly SortedSet<Score> _scores = new();

    public void Add(Score score) => _scores.Add(score);

    public sealed class Score(int value) : IComparable<Score>
    {
        readonly byte[] _details = new byte[400];
        public int CompareTo(Score? other) => value.CompareTo(other?.Value());
        public int Value() => value + _details[0];
    }
}

public sealed class PriceHistory
{
    public static readonly PriceHistory Instance = new();
    readonly SortedList<long, Price> _byTime = new();

    public void Add(long time, Price price) => _byTime.Add(time, price);
}

public sealed class VisitorLog
{
    public static readonly VisitorLog Instance = new();
    readonly HashSet<Visitor> _visitors = new();

    public void Add(Visitor visitor) => _visitors.Add(visitor);

    public sealed class Visitor
    {
        readonly byte[] _agent = new byte[600];
    }
}

public sealed class RecentlySeen
{
    public static readonly RecentlySeen Instance = new();
    readonly LinkedList<Customer> _customers = new();

    public void Add(Customer customer) => _customers.AddLast(customer);
}

public sealed class PrintQueue
{
    public static readonly PrintQueue Instance = new();
    readonly Queue<Order> _waiting = new();

    public void Add(Order order) => _waiting.Enqueue(order);
}

public sealed class UndoHistory
{
    public static readonly UndoHistory Instance = new();
    readonly Stack<Edit> _edits = new();

    public void Add(Edit edit) => _edits.Push(edit);

    public sealed class Edit
    {
        readonly byte[] _before = new byte[500];
    }
}

public sealed class Dispatcher
{
    public static readonly Dispatcher Instance = new();
    readonly PriorityQueue<Order, int> _orders = new();

    public void Add(Order order, int priority) => _orders.Enqueue(order, priority);
}

public sealed class OutgoingMail
{
    public static readonly OutgoingMail Instance = new();
    readonly ConcurrentQueue<Mail> _mails = new();

    public void Add(Mail mail) => _mails.Enqueue(mail);

    public sealed class Mail
    {
        readonly byte[] _body = new byte[1500];
    }
}

public sealed class ParseResults
{
    public static readonly ParseResults Instance = new();
    readonly ConcurrentBag<Invoice> _invoices = new();

    public void Add(Invoice invoice) => _invoices.Add(invoice);

    public sealed class Invoice
    {
        readonly byte[] _text = new byte[1000];
    }
}

public sealed class Calls
{
    public static readonly Calls Instance = new();
    readonly ConcurrentStack<Order> _calls = new();

    public void Add(Order order) => _calls.Push(order);
}

public sealed class UploadQueue
{
    public static readonly UploadQueue Instance = new();
    readonly BlockingCollection<Upload> _uploads = new();

    public void Add(Upload upload) => _uploads.Add(upload);

    public sealed class Upload
    {
        readonly byte[] _content = new byte[4000];
    }
}

/// <summary>One leak in a collection each.</summary>
static class Stores
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("concurrent-dictionary", () => Fill(5_041, i => SessionStore.Instance.Open(i))),
        ("static-list", () => Fill(30_000, i => OrderArchive.Keep(new Order(i)))),
        ("dictionary", () => Fill(10_000, i => CustomerIndex.Instance.Add(new Customer(i)))),
        ("nested-dictionary", () => Fill(80_000, i => PriceBook.Instance.Add("market " + i % 400, new Price("article " + i, i, default)))),
        ("sorted-dictionary", () => Fill(20_000, i => DeliveryPlan.Instance.Add(new DateTime(i), new Order(i)))),
        ("sorted-set", () => Fill(20_000, i => Ranking.Instance.Add(new Ranking.Score(i)))),
        ("sorted-list", () => Fill(80_000, i => PriceHistory.Instance.Add(i, new Price("article " + i, i, default)))),
        ("hash-set", () => Fill(15_000, _ => VisitorLog.Instance.Add(new VisitorLog.Visitor()))),
        ("linked-list", () => Fill(10_000, i => RecentlySeen.Instance.Add(new Customer(i)))),
        ("queue", () => Fill(25_000, i => PrintQueue.Instance.Add(new Order(i)))),
        ("stack", () => Fill(15_000, _ => UndoHistory.Instance.Add(new UndoHistory.Edit()))),
        ("priority-queue", () => Fill(25_000, i => Dispatcher.Instance.Add(new Order(i), i % 5))),
        ("concurrent-queue", () => Fill(6_000, _ => OutgoingMail.Instance.Add(new OutgoingMail.Mail()))),
        ("concurrent-bag", () => Fill(9_000, _ => ParseResults.Instance.Add(new ParseResults.Invoice()))),
        ("concurrent-stack", () => Fill(25_000, i => Calls.Instance.Add(new Order(i)))),
        ("blocking-collection", () => Fill(3_000, _ => UploadQueue.Instance.Add(new UploadQueue.Upload()))),
    };

    public static IHost? Fill(int count, Action<int> add)
    {
        for (int i = 0; i < count; i++)
            add(i);
        return null;
    }
}
