// SPDX-License-Identifier: MIT
// Compiled ahead of time: keeps a known number of objects of types with all kinds of names, and prints a line.
using System.Collections.Concurrent;
using Shop;
using Shop.My_Space;

var keep = new List<object>();
void Add<T>(int n, Func<T> make) where T : class { for (int i = 0; i < n; i++) keep.Add(make()); }
Add(100, () => new Order());
Add(101, () => new Order.Line());
Add(102, () => new Crate<int>());
Add(103, () => new Crate<Order>.Slot());
Add(104, () => new Pair<string, Order>());
Add(105, () => new Under_Score());
Add(106, () => new Order[2, 2]);
Add(107, () => new Order[1][]);
Add(108, () => new Dictionary<string, List<Order>>());
Add(109, () => new ConcurrentDictionary<int, Order>());
Add<object>(110, () => new Point { X = 1 });
Add(111, () => new Queue<long?>());
Add(112, () => new Pair<Dictionary<string, Crate<int>>, Order[]>());
Add(113, () => Work.RunAsync(keep));
Console.WriteLine("ready");
Console.In.Read();
GC.KeepAlive(keep);

namespace Shop
{
    class Order { public int Number = 1; public class Line { public int Number = 1; } }
    class Crate<T> { public T? Value = default; public class Slot { public T? Value = default; } }
    class Pair<A, B> { public A? Left = default; public B? Right = default; }
    struct Point { public int X; }

    static class Work
    {
        static readonly TaskCompletionSource s_never = new();
        public static async Task RunAsync(List<object> kept) { await s_never.Task; GC.KeepAlive(kept); }
    }
}

namespace Shop.My_Space
{
    class Under_Score { public int Number = 1; }
}
