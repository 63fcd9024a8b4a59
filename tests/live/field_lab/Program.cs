// SPDX-License-Identifier: MIT
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading.Tasks;
using FieldLab.Base;

namespace FieldLab;

/// <summary>
/// Objects whose fields have difficult layouts.
///
///     FieldLab        prints "ready PID" when the heap is built, and ends when its standard input does
///
/// Before, it prints "offset TYPE FIELD BYTES" for fields that ClrMD gives a wrong name.
/// </summary>
public static class Program
{
    static readonly List<object> s_kept = new();

    public static void Main()
    {
        Inheritance();
        Values();
        Layouts();
        Compilers.Build(s_kept);
        Delegates();
        Arrays();
        Collectible(Path.Combine(AppContext.BaseDirectory, "FieldLab.Base.dll"));
        GC.Collect();
        Offsets.Print();
        Console.WriteLine($"ready {Environment.ProcessId}");
        Console.Out.Flush();
        while (Console.In.Read() >= 0)
            ;
        GC.KeepAlive(s_kept);
        Environment.Exit(0);
    }

    static void Inheritance()
    {
        for (int i = 0; i < 20; i++)
        {
            s_kept.Add(new Root("root" + i));
            s_kept.Add(new Generic<int>("int" + i, i));
            s_kept.Add(new Generic<string>("string" + i, "item" + i));
            s_kept.Add(new Generic<Deep>("deep" + i, new Deep { After = "after" + i }));
            s_kept.Add(new Generic<Pair<string, Deep>>("pair" + i, new Pair<string, Deep> { First = "first" + i }));
            s_kept.Add(new Derived("derived" + i));
            s_kept.Add(new Closed("closed" + i));
        }
    }

    static void Values()
    {
        for (int i = 0; i < 20; i++)
        {
            s_kept.Add(new Mixed(i));
            s_kept.Add((1, "tuple" + i, new object(), (2.5, new List<int> { i })));
            s_kept.Add(new KeyValuePair<Deep, string>(new Deep { After = "key" + i }, "value" + i));
            s_kept.Add(new Maybe { Sure = new Pair<string, int> { First = "sure" + i }, Not = null });
        }
    }

    static void Layouts()
    {
        for (int i = 0; i < 20; i++)
        {
            s_kept.Add(new Sequential { Text = "text" + i, Other = new Version(i, 1), Last = new object() });
            s_kept.Add(new Explicit { Late = "late" + i, Early = new Version(1, i) });
            s_kept.Add(new Overlap { Text = "overlap" + i });
            s_kept.Add(new HoldsExplicit { Before = "before" + i, Value = { Late = "late" + i, Early = new Version(2, i) } });
            s_kept.Add(new HoldsInline(i));
        }
    }

    static void Delegates()
    {
        var holder = new Derived("target");
        for (int i = 0; i < 10; i++)
        {
            int captured = i;
            string text = "captured" + i;
            s_kept.Add(new Func<string>(() => text + captured));
            s_kept.Add(new Func<string>(holder.ToString));
            s_kept.Add(new Action<object>(Static));
            s_kept.Add(Delegate.Combine(new Action(holder.Run), new Action(holder.Run))!);
            s_kept.Add((Func<object>)holder.Text);
        }
        MethodInfo run = typeof(Derived).GetMethod(nameof(Derived.Run))!;
        s_kept.Add(run.CreateDelegate<Action<Derived>>());
        var made = new DynamicMethod("made", typeof(int), new[] { typeof(int) });
        ILGenerator il = made.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
        var call = made.CreateDelegate<Func<int, int>>();
        call(1);
        s_kept.Add(call);
        run.Invoke(holder, null);
    }

    static void Static(object _)
    {
    }

    static void Arrays()
    {
        s_kept.Add(new[] { "a", "b", "c" });
        s_kept.Add(new[] { "a", null, "c" });
        s_kept.Add(new object?[] { new int[3], null, "x", 5 });
        s_kept.Add(new string[2, 2] { { "1", "2" }, { "3", "4" } });
        s_kept.Add(new[] { new Pair<string, Version> { First = "f", Second = new Version(1, 2) }, new Pair<string, Version> { First = "g" } });
        s_kept.Add(new[] { new[] { new Deep { After = "jagged" } }, null });
        s_kept.Add(new Covariant { Objects = new[] { "string[]" }, List = new string[] { "list" }, Numbers = (int[])(object)new uint[2] });
        var map = new Dictionary<string, Version>();
        var sets = new Dictionary<Pair<int, string>, List<Deep>>();
        var users = new ConcurrentDictionary<string, Root>();
        for (int i = 0; i < 50; i++)
        {
            map["key" + i] = new Version(i, i);
            sets[new Pair<int, string> { Second = "set" + i }] = new List<Deep> { new() { After = "set" + i } };
            users["user" + i] = new Root("user" + i);
        }
        s_kept.Add(map);
        s_kept.Add(sets);
        s_kept.Add(users);
    }

    /// <summary>Also the assembly at PATH once more, in a context that can be unloaded.</summary>
    static void Collectible(string path)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("FieldLab.Emitted"), AssemblyBuilderAccess.RunAndCollect);
        TypeBuilder type = assembly.DefineDynamicModule("FieldLab.Emitted").DefineType("Emitted", TypeAttributes.Public);
        type.DefineField("Text", typeof(string), FieldAttributes.Public);
        type.DefineField("Any", typeof(object), FieldAttributes.Public);
        object emitted = Activator.CreateInstance(type.CreateType())!;
        emitted.GetType().GetField("Text")!.SetValue(emitted, "emitted");
        s_kept.Add(emitted);
        var context = new AssemblyLoadContext("field-lab", isCollectible: true);
        Assembly loaded = context.LoadFromAssemblyPath(path);
        for (int i = 0; i < 10; i++)
        {
            object root = Activator.CreateInstance(loaded.GetType("FieldLab.Base.Root")!, "collectible" + i)!;
            s_kept.Add(root);
            Array array = Array.CreateInstance(root.GetType(), i % 3 + 1);
            array.SetValue(root, 0);
            s_kept.Add(array);
            var list = (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(root.GetType()))!;
            list.Add(root);
            s_kept.Add(list);
        }
    }
}

class Derived : Generic<string>
{
    string? _name;                      // as in a base class
    public readonly Derived? Self;
    Deep _own;
    Version _version = new(1, 2);

    public Derived(string name) : base(name, name + "-item")
    {
        _name = "own-" + name;
        Self = this;
        _own.After = "own-after";
    }

    public void Run()
    {
    }

    public string Text() => _name + _own.Before + _version;
}

sealed class Closed : Generic<Pair<string, Root>>
{
    public object? Nothing;
    public IEnumerable<string> Names = new List<string> { "closed" };
    public IComparable Comparable = "text";

    public void PrintOffsets()
    {
        Offsets.Print(this, ref Twin.First.First, "Twin.First.First");
        Offsets.Print(this, ref Twin.First.Second, "Twin.First.Second");
        Offsets.Print(this, ref Twin.Second, "Twin.Second");
    }

    public Closed(string name) : base(name, new Pair<string, Root> { First = name, Second = new Root(name) })
    {
    }
}

class Raw
{
    public byte Data;
}

static class Offsets
{
    public static void Print()
    {
        new Closed("offsets").PrintOffsets();
        var inline = new HoldsInline(0);
        for (int i = 0; i < 4; i++)
            Print(inline, ref inline.Texts[i], $"Texts[{i}]");
        for (int i = 0; i < 3; i++)
        {
            Print(inline, ref inline.Pairs[i].First, $"Pairs[{i}].First");
            Print(inline, ref inline.Pairs[i].Second, $"Pairs[{i}].Second");
        }
    }

    public static void Print<T>(object o, ref T field, string name)
    {
        nint offset = Unsafe.ByteOffset(ref Unsafe.As<Raw>(o).Data, ref Unsafe.As<T, byte>(ref field));
        Console.WriteLine($"offset {o.GetType()} {name} {offset}");
    }
}

class Mixed
{
    byte _one = 1;
    object? _first;
    Pair<string, object> _pair;
    DayOfWeek _day = DayOfWeek.Friday;
    Pair<int, long> _none;
    string? _second;
    Guid _guid = Guid.NewGuid();
    Deep? _maybe;
    int? _number = 5;
    unsafe int* _pointer = null;
    unsafe delegate*<int, void> _function = null;
    IntPtr _handle = 7;

    public Mixed(int i)
    {
        _first = i % 2 == 0 ? new Version(i, 0) : null;
        _pair = new Pair<string, object> { First = "first" + i, Second = _one };
        _second = "second" + i;
        _maybe = i % 3 == 0 ? null : new Deep { After = "maybe" + i };
        _none.Number = _guid.GetHashCode() + (int)_day + _number.Value + (int)_handle;
    }
}

class Maybe
{
    public Pair<string, int>? Sure;
    public Pair<string, int>? Not;
}

[StructLayout(LayoutKind.Sequential, Pack = 1)]
class Sequential
{
    public byte A;
    public string? Text;
    public int B;
    public Version? Other;
    public byte C;
    public object? Last;
}

[StructLayout(LayoutKind.Explicit)]
class Explicit
{
    [FieldOffset(16)] public string? Late;
    [FieldOffset(0)] public Version? Early;
    [FieldOffset(8)] public int Number;
}

[StructLayout(LayoutKind.Explicit)]
class Overlap
{
    [FieldOffset(0)] public string? Text;
    [FieldOffset(0)] public object? Same;
    [FieldOffset(8)] public int Number;
}

[StructLayout(LayoutKind.Explicit)]
struct ExplicitValue
{
    [FieldOffset(8)] public string? Late;
    [FieldOffset(0)] public Version? Early;
    [FieldOffset(16)] public int Number;
}

class HoldsExplicit
{
    public ExplicitValue Value;
    public string? Before;
}

[InlineArray(4)]
struct FourTexts
{
    string? _element;
}

[InlineArray(3)]
struct ThreePairs
{
    Pair<string, Version> _element;
}

[InlineArray(64)]
struct Numbers
{
    long _element;
}

class HoldsInline
{
    public FourTexts Texts;
    public Numbers None;
    public ThreePairs Pairs;
    public object? Object;

    public HoldsInline(int n)
    {
        for (int i = 0; i < 4; i++)
            if ((n >> i & 1) == 0)
                Texts[i] = "text" + i;
        for (int i = 0; i < 3; i++)
            Pairs[i] = new Pair<string, Version> { First = "pair" + i, Second = new Version(i, n) };
        Object = None[0];
    }
}

class Covariant
{
    public object[]? Objects;
    public IList<string>? List;
    public int[]? Numbers;
    public string[]? Strings = { "strings" };
}
