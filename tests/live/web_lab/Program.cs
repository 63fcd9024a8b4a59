// SPDX-License-Identifier: MIT
using System.Net;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.EntityFrameworkCore;

namespace WebLab;

/// <summary>
/// A shop on ASP.NET Core and EF Core whose heap has types and static variables with difficult names.
///
///     WebLab [PLUGIN.dll]         prints "ready PID" when the heap is built, and ends when its standard input does
/// </summary>
public static class Program
{
    static readonly List<object> s_kept = new();
    static readonly HttpClient s_items = new();

    public static async Task Main(string[] args)
    {
        var builder = WebApplication.CreateBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(k => k.Listen(IPAddress.Loopback, 0));
        builder.Services.AddDistributedMemoryCache();
        builder.Services.AddSession();
        builder.Services.AddDbContext<Shop>(o => o.UseInMemoryDatabase("shop"));
        builder.Services.AddSingleton<Orders.Desk>();
        var app = builder.Build();
        app.UseSession();
        app.MapGet("/", (HttpContext http, Shop shop, Orders.Desk desk) => Visit(http, shop, desk));
        await app.StartAsync();

        string address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        for (int i = 0; i < 20; i++)
            await s_items.GetStringAsync(address + "/");
        Names.Build(s_kept);
        Variables.Build(s_kept);
        Contexts.Build(s_kept, args.Length > 0 ? args[0] : null);
        GC.Collect();
        Console.WriteLine($"ready {Environment.ProcessId}");
        Console.Out.Flush();
        while (Console.In.Read() >= 0)
            ;
        Environment.Exit(0);
    }

    static async Task<string> Visit(HttpContext http, Shop shop, Orders.Desk desk)
    {
        http.Session.SetInt32("visits", 1 + (http.Session.GetInt32("visits") ?? 0));
        var customer = new Customer { Name = "Customer " + shop.Customers.Count() };
        customer.Orders.Add(new Order { Text = "one", Lines = { new Order.Line { Count = 2 } } });
        shop.Add(customer);
        await shop.SaveChangesAsync();
        s_kept.Add(desk.Wait(customer.Id));
        var counts = await shop.Customers.Where(c => c.Orders.Count > 0).GroupBy(c => c.Name).Select(g => new { g.Key, Count = g.Count() })
            .ToListAsync();
        s_kept.Add(counts);
        return counts.Count.ToString();
    }
}

public sealed class Shop(DbContextOptions<Shop> options) : DbContext(options)
{
    public DbSet<Customer> Customers => Set<Customer>();
    public DbSet<Order> Orders => Set<Order>();
}

public sealed class Customer
{
    public int Id { get; set; }
    public string Name { get; set; } = "";
    public List<Order> Orders { get; set; } = new();
}

public sealed class Order
{
    public int Id { get; set; }
    public string Text { get; set; } = "";
    public List<Line> Lines { get; set; } = new();

    public sealed class Line
    {
        public int Id { get; set; }
        public int Count { get; set; }
    }
}
