// SPDX-License-Identifier: MIT
using System.Collections.Generic;

namespace FieldLab.Base;

public struct Pair<TFirst, TSecond>
{
    public int Number;
    public TFirst First;
    public TSecond Second;
}

public struct Deep
{
    public long Before;
    public Pair<string, Pair<int, object?>> Inner;
    public string? After;
}

public class Root
{
    int _number = 1;
    readonly object _lock = new();
    string? _name;
    protected Deep Position;

    public Root(string name)
    {
        _name = name;
        Position.Inner.First = name + "-first";
        Position.Inner.Second.Second = new List<string> { name };
    }

    public override string ToString() => _name + _number + _lock;
}

public class Generic<T> : Root
{
    T _item;
    T[] _items;
    protected Pair<T, string> Twin;

    public Generic(string name, T item) : base(name)
    {
        _item = item;
        _items = new[] { item, item };
        Twin = new Pair<T, string> { First = item, Second = name + "-second" };
    }

    public override string ToString() => $"{_item}{_items.Length}{Twin.Number}";
}
