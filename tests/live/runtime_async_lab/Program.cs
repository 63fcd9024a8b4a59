// SPDX-License-Identifier: MIT
// Methods without state machines that wait: a number of calls for each way to wait, so that the numbers tell which stack is which.
using System.Threading.Channels;
using RuntimeAsyncLab;

var calls = new List<Task>();
void Start(int times, Func<Task> call)
{
    for (int i = 0; i < times; i++)
        calls.Add(call());
}
Start(300, () => Calls.Place(new Order()));
Start(20, () => Calls.Rest(new Cart()));
Start(15, () => Calls.Enter(new Order()));
Start(12, () => Calls.Again(new Cart()));
Start(3, () => Calls.Each(new Order()));
Start(8, () => Calls.Together());
Start(7, () => Calls.Read(new Order()));
Start(6, () => Task.Run(() => Calls.Place(new Order())));
Start(5, () => Calls.Give(new Cart()));
Start(4, () => Calls.Deep(9, new Order()));
Thread.Sleep(500);
GC.Collect();
Console.WriteLine("ready");
Console.ReadLine();
GC.KeepAlive(calls);

namespace RuntimeAsyncLab
{
    public sealed class Order { public long Number = 1; }
    public sealed class Cart { public long Number = 2; }

    public static class Calls
    {
        static readonly TaskCompletionSource never = new();
        static readonly SemaphoreSlim gate = new(0);
        static readonly Channel<Cart> carts = Channel.CreateBounded<Cart>(1);
        static readonly Channel<Order> orders = Channel.CreateUnbounded<Order>();

        // three deep, each keeps an object
        public static async Task Place(Order order)
        {
            await Charge(order, new Cart());
            GC.KeepAlive(order);
        }

        static async Task<int> Charge(Order order, Cart cart)
        {
            int n = await Send(order);
            GC.KeepAlive(cart);
            return n;
        }

        static async Task<int> Send(Order order)
        {
            await never.Task;
            GC.KeepAlive(order);
            return 1;
        }

        public static async Task Rest(Cart cart)
        {
            await Task.Delay(TimeSpan.FromHours(1));
            GC.KeepAlive(cart);
        }

        public static async Task Enter(Order order)
        {
            await gate.WaitAsync();
            GC.KeepAlive(order);
        }

        public static async Task Again(Cart cart)
        {
            await Place(new Order());
            GC.KeepAlive(cart);
        }

        // waits for a method with a state machine, which waits for one without
        public static async Task Each(Order order)
        {
            await foreach (Cart cart in Items())
                GC.KeepAlive(cart);
            GC.KeepAlive(order);
        }

        static async IAsyncEnumerable<Cart> Items()
        {
            await Rest(new Cart());
            yield return new Cart();
        }

        public static async Task Together()
        {
            await Task.WhenAll(Rest(new Cart()), Place(new Order()));
        }

        // a ValueTask of a source
        public static async Task Read(Order order)
        {
            await orders.Reader.ReadAsync();
            GC.KeepAlive(order);
        }

        public static async ValueTask Put(Cart cart)
        {
            await carts.Writer.WriteAsync(cart);
            await carts.Writer.WriteAsync(cart);
            GC.KeepAlive(cart);
        }

        public static async Task Give(Cart cart)
        {
            await Put(cart);
            GC.KeepAlive(cart);
        }

        public static async Task Deep(int levels, Order order)
        {
            if (levels > 0)
                await Deep(levels - 1, order);
            else
                await never.Task;
            GC.KeepAlive(order);
        }
    }
}
