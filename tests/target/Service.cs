// SPDX-License-Identifier: MIT
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;

namespace HeapLab;

/// <summary>
/// The heap of a service that has run for a while: customers with orders in dictionaries, sessions, a cache of documents with an order of
/// use, event handlers, and requests that wait.  A third of the customers was replaced later, in another order, so the order of the heap
/// is not the order in which the structures are walked.  The same for each run, but for what the runtime adds.
/// </summary>
static class Service
{
    // Measured: one customer with all that belongs to it.
    const int ObjectsPerCustomer = 51;

    static readonly Dictionary<string, Customer> s_customers = [];
    static readonly ConcurrentDictionary<Guid, Session> s_sessions = new();
    static readonly Cache s_cache = new();
    static readonly TaskCompletionSource s_stop = new(TaskCreationOptions.RunContinuationsAsynchronously);
    static readonly List<Task> s_requests = [];
    static event Action<Order>? Placed;

    public static bool Start(string objects)
    {
        if (!int.TryParse(objects, NumberStyles.None, CultureInfo.InvariantCulture, out int wanted) || wanted > 200_000_000)
            return false;
        var random = new Random(1);
        int customers = Math.Max(1, wanted / ObjectsPerCustomer);
        for (int i = 0; i < customers; i++)
            Add(i, random);
        for (int i = 0; i < customers / 3; i++)
            Add(random.Next(customers), random);
        GC.Collect();
        GC.Collect();
        return true;
    }

    static void Add(int number, Random random)
    {
        var customer = new Customer(number, random);
        s_customers[customer.Key] = customer;
        if (number % 2 == 0)
        {
            var session = new Session(customer, random);
            s_sessions[session.Id] = session;
        }
        s_cache.Put("/customers/" + customer.Key, Document(customer, random));
        if (number % 8 == 0)
            s_requests.Add(Answer(customer, random.Next()));
        if (number % 64 == 0)
            Placed += order => customer.Orders.Add(order);
    }

    // A request that waits: a state machine, what it has captured, and a continuation.
    static async Task<int> Answer(Customer customer, int amount)
    {
        var body = new byte[64 + amount % 512];
        int lines = await Load(customer, body);
        return lines + customer.Orders.Count;
    }

    static async Task<int> Load(Customer customer, byte[] body)
    {
        await s_stop.Task;
        return body.Length + customer.Tags.Length;
    }

    // As a JSON reader makes it: dictionaries, lists, strings and boxed numbers.
    static Dictionary<string, object> Document(Customer customer, Random random)
    {
        var rows = new List<object>();
        for (int i = random.Next(4); i > 0; i--)
            rows.Add(new Dictionary<string, object> { ["sku"] = "SKU-" + random.Next(1000), ["price"] = random.NextDouble() });
        return new Dictionary<string, object> { ["id"] = customer.Number, ["name"] = customer.Name, ["rows"] = rows };
    }

    sealed class Customer
    {
        public readonly string Key, Name;
        public readonly int Number;
        public readonly List<Order> Orders = [];
        public readonly string[] Tags;
        public Address Home;
        public Address? Work;
        readonly Lazy<decimal> _total;

        public Customer(int number, Random random)
        {
            Number = number;
            Key = "C" + number.ToString("D8", CultureInfo.InvariantCulture);
            Name = "Customer " + random.Next();
            Tags = random.Next(2) == 0 ? [] : ["tag" + random.Next(100), "constant"];
            Home = new Address("Street " + random.Next(10_000));
            Work = random.Next(3) == 0 ? new Address("Road " + random.Next(10_000)) : null;
            for (int i = random.Next(5); i > 0; i--)
                Orders.Add(new Order(this, random));
            _total = new Lazy<decimal>(() => Orders.Count * 2.5m);
        }
    }

    sealed record Address(string Street);

    sealed class Order
    {
        public readonly Customer Owner;
        public readonly List<Line> Lines = [];
        public readonly string Reference;
        public readonly DateTime? At;
        public object? State;

        public Order(Customer owner, Random random)
        {
            Owner = owner;
            Reference = Guid.NewGuid().ToString("N");
            At = DateTime.UnixEpoch;
            State = random.Next(4) == 0 ? random.Next() : null;
            for (int i = 1 + random.Next(3); i > 0; i--)
                Lines.Add(new Line(s_products[random.Next(s_products.Length)], random.Next(10)));
        }
    }

    sealed record Line(Product Product, int Count);
    sealed record Product(string Name, decimal Price);

    static readonly Product[] s_products = MakeProducts();

    static Product[] MakeProducts()
    {
        var products = new Product[20_000];
        for (int i = 0; i < products.Length; i++)
            products[i] = new Product("Product " + i, i);
        return products;
    }

    sealed class Session(Customer customer, Random random)
    {
        public readonly Guid Id = Guid.NewGuid();
        public readonly Customer Customer = customer;
        public readonly ConcurrentQueue<string>? Visited = random.Next(50) == 0 ? new(["/", "/orders"]) : null;
        public readonly Dictionary<string, string> Claims = new() { ["sub"] = customer.Key, ["ip"] = random.Next().ToString(CultureInfo.InvariantCulture) };
        public readonly CancellationTokenSource? Ends = random.Next(10) == 0 ? new() : null;
    }

    // The last used entry first.
    sealed class Cache
    {
        readonly Dictionary<string, LinkedListNode<Entry>> _byKey = [];
        readonly LinkedList<Entry> _used = new();

        public void Put(string key, object value)
        {
            if (_byKey.TryGetValue(key, out LinkedListNode<Entry>? old))
                _used.Remove(old);
            _byKey[key] = _used.AddFirst(new Entry(key, value));
        }
    }

    sealed record Entry(string Key, object Value);
}
