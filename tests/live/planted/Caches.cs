// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Text.RegularExpressions;
using System.Xml.Serialization;
using Microsoft.Extensions.Caching.Memory;

namespace Shop;

public sealed class ProductPage
{
    readonly byte[] _html = new byte[2000];
}

/// <summary>No limit, no expiration.</summary>
public sealed class ProductCache
{
    public static readonly ProductCache Instance = new();
    readonly MemoryCache _cache = new(new MemoryCacheOptions());

    public void Add(int number) => _cache.Set("product " + number, new ProductPage());
}

public sealed class ImageCache
{
    public static readonly ImageCache Instance = new();
    readonly ConditionalWeakTable<Order, Thumbnail> _images = new();

    public void Add(Order order) => _images.Add(order, new Thumbnail());

    public sealed class Thumbnail
    {
        readonly byte[] _pixels = new byte[3000];
    }
}

/// <summary>The handler lives as long as the program, and captures what it needed once.</summary>
public static class Discounts
{
    static Func<int, decimal>? s_rule;

    public static void Load()
    {
        Customer[] customers = Enumerable.Range(0, 10_000).Select(i => new Customer(i)).ToArray();
        decimal average = 5;
        s_rule = i => i < customers.Length ? average : 0;
    }
}

public sealed class RuleEngine
{
    public static readonly RuleEngine Instance = new();
    readonly Dictionary<string, Func<int, int>> _rules = new();

    public void Add(int i)
    {
        ParameterExpression x = Expression.Parameter(typeof(int));
        _rules.Add("rule " + i, Expression.Lambda<Func<int, int>>(Expression.Add(x, Expression.Constant(i)), x).Compile());
    }
}

public static class Patterns
{
    static readonly ConcurrentDictionary<string, Regex> s_patterns = new();

    public static bool Matches(string pattern, string text) => s_patterns.GetOrAdd(pattern, p => new Regex(p, RegexOptions.Compiled)).IsMatch(text);
}

public sealed class InvoiceDocument
{
    public string? Text { get; set; }
}

public sealed class InvoiceWriter
{
    static readonly List<XmlSerializer> s_serializers = new();

    public static void Write(int i)
    {
        var serializer = new XmlSerializer(typeof(InvoiceDocument), new XmlRootAttribute("invoice" + i));
        serializer.Serialize(Stream.Null, new InvoiceDocument { Text = "text" });
        s_serializers.Add(serializer);
    }
}

/// <summary>An assembly in memory for each script.</summary>
public static class ScriptHost
{
    static readonly List<object> s_scripts = new();

    public static void Run(int i)
    {
        var name = new AssemblyName("Script" + i);
        ModuleBuilder module = AssemblyBuilder.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule(name.Name!);
        TypeBuilder script = module.DefineType("ScriptState", TypeAttributes.Public);
        script.DefineField("Values", typeof(object), FieldAttributes.Public);
        Type made = script.CreateType();
        object state = Activator.CreateInstance(made)!;
        made.GetField("Values")!.SetValue(state, new byte[50_000]);
        s_scripts.Add(state);
    }
}

/// <summary>Loads the plugin again for every tenant, and unloads none.</summary>
public sealed class TenantHost
{
    public static readonly TenantHost Instance = new();
    readonly List<object> _rules = new();

    public void Load(int tenant)
    {
        var context = new AssemblyLoadContext("tenant " + tenant, isCollectible: true);
        Type rules = context.LoadFromAssemblyPath(Program.Plugin).GetType("Shop.Pricing.PriceRules", throwOnError: true)!;
        _rules.Add(Activator.CreateInstance(rules)!);
    }
}

/// <summary>A client for each request, all kept.</summary>
public sealed class ApiClient
{
    static readonly List<ApiClient> s_clients = new();
    readonly HttpClient _client = new(new SocketsHttpHandler { PooledConnectionLifetime = TimeSpan.FromMinutes(1) });

    public static void Open(int i)
    {
        var client = new ApiClient();
        client._client.DefaultRequestHeaders.Add("X-Request", "request " + i);
        s_clients.Add(client);
    }
}

public sealed class Glossary
{
    static readonly List<WeakReference<Customer>> s_seen = new();

    public static void Add(int i) => s_seen.Add(new WeakReference<Customer>(new Customer(i)));
}

/// <summary>Weak references, and beside them a list that holds the same tickets.</summary>
public sealed class TicketCache
{
    public static readonly TicketCache Instance = new();
    readonly Dictionary<int, WeakReference<Ticket>> _weak = new();
    readonly List<Ticket> _recent = new();

    public void Add(int number)
    {
        var ticket = new Ticket();
        _weak.Add(number, new WeakReference<Ticket>(ticket));
        _recent.Add(ticket);
    }

    public sealed class Ticket
    {
        readonly byte[] _text = new byte[2000];
    }
}

public sealed class TagNames
{
    /// <summary>Interned user input stays forever.</summary>
    public static void Add(int i) => string.Intern("a tag that a user has typed into the field, number " + i);
}

static class Caches
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("memory-cache", () => Stores.Fill(5_000, ProductCache.Instance.Add)),
        ("weak-table", () => Stores.Fill(4_000, Attach)),
        ("static-closure", () => Stores.Fill(1, _ => Discounts.Load())),
        ("compiled-expressions", () => Stores.Fill(5_000, RuleEngine.Instance.Add)),
        ("compiled-regexes", () => Stores.Fill(800, i => Patterns.Matches("^order " + i + "[a-f]+x$", "order"))),
        ("xml-serializers", () => Stores.Fill(120, InvoiceWriter.Write)),
        ("scripts", () => Stores.Fill(200, ScriptHost.Run)),
        ("plugin-copies", () => Stores.Fill(20, TenantHost.Instance.Load)),
        ("http-clients", () => Stores.Fill(8_000, ApiClient.Open)),
        ("dead-weak-references", () => Stores.Fill(250_000, Glossary.Add)),
        ("weak-and-strong", () => Stores.Fill(4_000, TicketCache.Instance.Add)),
        ("interned-strings", () => Stores.Fill(80_000, TagNames.Add)),
    };

    static void Attach(int i)
    {
        var order = new Order(i);
        OrderArchive.Keep(order);
        ImageCache.Instance.Add(order);
    }
}
