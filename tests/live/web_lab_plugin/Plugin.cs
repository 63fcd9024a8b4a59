// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;

namespace Plugin;

/// <summary>What WebLab loads several times.</summary>
public static class Entry
{
    static readonly List<object> s_items = new();
    static Func<Part, bool>? s_rule;

    public sealed class Part { public object? Next; public static readonly Part s_first = new(); }
    public sealed class Box<T> { public T? Value; public sealed class Lid { public T? Value; } }

    static class Other { public static readonly List<object> s_items = new() { new Part() }; }

    public static object Make()
    {
        s_items.Add(new Part { Next = Part.s_first });
        s_items.Add(new Box<Part>.Lid[3]);
        s_items.Add(new Box<int>.Lid());
        s_items.Add(Other.s_items);
        s_rule = p => p.Next == s_items;
        return s_items.ToArray();
    }
}
