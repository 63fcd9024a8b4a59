// SPDX-License-Identifier: MIT
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace WebLab;

// The same field name in several classes, with types that tell them apart, and with types that do not.
static class CacheA
{
    public static List<string> s_items = new() { "a" };
    public static object s_lock = new();
    static Func<int, int> s_rule = x => x + 1;
    public static Func<int, int> Rule => s_rule;
}

static class CacheB
{
    public static List<string> s_items = new() { "b" };
    public static object s_lock = new();
    static Func<int, int> s_rule = x => x + 2;
    public static Func<int, int> Rule => s_rule;
}

static class CacheC
{
    public static Dictionary<string, int> s_items = new() { ["c"] = 1 };
    public static object s_lock = new();
}

static class CacheD
{
    public static object s_items = new CacheE.Item();
    public static IDisposable s_thing = new MemoryStream();
}

static class CacheE
{
    public static Item s_items = new();
    public static Stream s_thing = new MemoryStream();

    public sealed class Item
    {
        public static Item s_items = new();
        public static Item? s_nothing;
    }
}

// Declared, never used: its variables have no values.
static class CacheF { public static List<string> s_items = new() { "never" }; }

class Holder<T>
{
    public static List<T> s_items = new();
    public static readonly object s_key = new();
    [ThreadStatic] public static object? t_value;
    public class Inside { public static T[] s_values = new T[1]; }
}

interface ICounted { static readonly List<int> s_counted = new() { 1 }; }

struct Money
{
    public decimal Amount;
    public string? Currency;
    public static readonly Money s_zero = new() { Currency = "EUR" };
}

// A field of the type itself would do, but .NET 8 and 9 cannot load a struct with a nullable static of its own type.
static class Till { public static Money? s_last = new Money { Currency = "USD" }; }

class Base
{
    public static object s_shared = new Base();
    protected static readonly object s_hidden = new();
}

class Derived : Base
{
    public static new object s_shared = new Derived();
    static readonly int[] s_table = { 1, 2, 3, 4, 5, 6, 7, 8 };
    public static int[] Table => s_table;
}

static class Locals
{
    [ThreadStatic] static List<string>? t_items;
    [ThreadStatic] static object? s_items;
    static readonly ThreadLocal<Outer.Node> s_local = new(() => new Outer.Node());
    static readonly AsyncLocal<Outer.Node> s_async = new();
    static int s_number = 3;
    static DayOfWeek s_day = DayOfWeek.Friday;
    static readonly ConcurrentDictionary<Type, object> s_types = new();
    static readonly ConditionalWeakTable<object, object> s_weak = new();
    public static string[][] s_rows = { new[] { "a" }, new[] { "b" } };
    public static unsafe void*[] s_pointers = new void*[3];
    public static (int, string) s_tuple = (1, "x");
    public static Outer.Kind? s_kind = Outer.Kind.Two;

    public static void Use(List<object> kept)
    {
        t_items = new() { "t" };
        s_items = new Outer.Node();
        s_async.Value = s_local.Value!;
        s_types[typeof(Locals)] = new object();
        s_weak.Add(s_items, new object());
        kept.Add((s_number, s_day, t_items));
    }
}

static class Variables
{
    public static void Build(List<object> kept)
    {
        // Each class is used once, so that it has its values.
        foreach (object o in new object[]
                 {
                     CacheA.s_items, CacheB.s_items, CacheC.s_items, CacheD.s_items, CacheE.s_items, CacheE.Item.s_items, CacheA.Rule, CacheB.Rule,
                     CacheC.s_lock, CacheD.s_thing, CacheE.s_thing, Holder<int>.s_items, Holder<string>.s_items, Holder<object>.s_key,
                     Holder<int>.Inside.s_values, ICounted.s_counted, Money.s_zero, Till.s_last!, Base.s_shared, Derived.s_shared, Derived.Table,
                     Bare.Nested.s_bare!, Locals.s_rows
                 })
            kept.Add(o);
        Holder<string>.t_value = new Outer.Node();
        Locals.Use(kept);
        using var ready = new ManualResetEventSlim();
        new Thread(() =>
        {
            Holder<string>.t_value = new Outer.Node();
            Locals.Use(new());
            ready.Set();
            Thread.Sleep(Timeout.Infinite);
        }) { IsBackground = true }.Start();
        ready.Wait();
    }
}
