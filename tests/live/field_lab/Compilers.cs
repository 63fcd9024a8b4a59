// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace FieldLab;

/// <summary>What the compiler makes fields of.</summary>
static class Compilers
{
    static readonly TaskCompletionSource<int> s_never = new();

    public static void Build(List<object> kept)
    {
        for (int i = 0; i < 10; i++)
        {
            kept.Add(new Person("name" + i, new Person("parent" + i, null)));
            kept.Add(new Captures("captured" + i, new Version(1, i)));
            kept.Add(new { Name = "anonymous" + i, Version = new Version(2, i) });
            kept.Add(Wait("waits" + i));
            IEnumerator<string> items = Items("prefix" + i).GetEnumerator();
            items.MoveNext();
            kept.Add(items);
            var source = new Source();
            source.Changed += (_, _) => { };
            source.Closed += () => kept.Count.ToString();
            kept.Add(source);
        }
    }

    static async Task<string> Wait(string text)
    {
        var list = new List<string> { text };
        string other = text + "-other";
        int n = await s_never.Task;
        return list[n] + other;
    }

    static IEnumerable<string> Items(string prefix)
    {
        string local = prefix + "-local";
        yield return local + 1;
        yield return local + 2;
    }
}

record Person(string Name, Person? Parent)
{
    public string Nick { get; set; } = Name + "-nick";
}

class Captures(string text, Version version)
{
    public override string ToString() => text + version;
}

class Source
{
    public event EventHandler? Changed;
    public event Action? Closed;

    public override string ToString() => (Changed, Closed).ToString();
}
