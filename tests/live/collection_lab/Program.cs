// SPDX-License-Identifier: MIT
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Linq;
using System.Threading.Channels;

namespace CollectionLab;

sealed class Item
{
    public int Number;
}

interface IThing
{
}

sealed class Thing : IThing
{
}

struct Pair
{
    public string A;
    public object B;
    public int C;
}

struct Plain
{
    public long A, B, C;
}

enum Color
{
    Red
}

/// <summary>
/// Collections of all kinds, of elements of all kinds, in all states: empty, full, with null elements, after removals.  Prints "ready" and waits for
/// the end of its input.
/// </summary>
static class Program
{
    static readonly List<object> s_all = new();
    static readonly Random s_random = new(1);
    static readonly int[] s_sizes = { 0, 1, 2, 3, 5, 17, 33, 100, 600 };

    static void Main()
    {
        Elements(i => "text " + i, true);
        Elements(i => new Item { Number = i }, true);
        Elements(i => (IThing)new Thing(), true);
        Elements(i => i % 3 == 0 ? "s" + i : i % 3 == 1 ? new Item() : (object)i, true);
        Elements(i => (IComparable)("c" + i), true);
        Elements(i => new[] { i }, true);
        Elements(i => i, false);
        Elements(i => Guid.NewGuid(), false);
        Elements(i => (Color)i, false);
        Elements(i => new Pair { A = "a" + i, B = i % 2 == 0 ? null : "b" + i, C = i }, false);
        Elements(i => new Plain { A = i }, false);
        Elements(i => new KeyValuePair<string, Item>("k" + i, i % 4 == 0 ? null : new Item()), false);
        Elements(i => (i, "t" + i), false);
        Elements(i => (int?)i, false);
        GC.Collect();
        Console.WriteLine("ready");
        Console.ReadLine();
        GC.KeepAlive(s_all);
    }

    static T Keep<T>(T collection)
    {
        s_all.Add(collection!);
        return collection;
    }

    static void Elements<T>(Func<int, T> make, bool nulls)
    {
        foreach (int size in s_sizes)
        {
            foreach (bool some in nulls ? new[] { false, true } : new[] { false })
            {
                Func<int, T> one = i => some && i % 3 == 0 ? default! : make(i);
                Generic(Enumerable.Range(0, size).Select(one).ToList(), size);
                Concurrent(Enumerable.Range(0, size).Select(one).ToList(), size / 3);
                Other(Enumerable.Range(0, size).Select(one).ToList(), size / 3);
                Keys(i => i, one, size);
                Keys(i => "k" + i, one, size);
                Keys(i => Guid.NewGuid(), one, size);
                Keys(i => new Item(), one, size);
                Keys(i => i % 2 == 0 ? "o" + i : (object)new Item(), one, size);
            }
        }
    }

    static void Keys<K, V>(Func<int, K> key, Func<int, V> one, int size) where K : notnull
    {
        K[] keys = Enumerable.Range(0, size).Select(key).ToArray();
        var all = Keep(new Dictionary<K, V>());
        var concurrent = Keep(new ConcurrentDictionary<K, V>());
        for (int i = 0; i < size; i++)
            all[keys[i]] = concurrent[keys[i]] = one(i);
        var some = Keep(new Dictionary<K, V>(all));
        var someConcurrent = Keep(new ConcurrentDictionary<K, V>(all));
        foreach (K k in keys)
        {
            if (s_random.Next(2) == 0)
                some.Remove(k);
            if (s_random.Next(2) == 0)
                someConcurrent.TryRemove(k, out _);
        }
        Keep(new ReadOnlyDictionary<K, V>(all));
        if (keys is not (int[] or string[]))
            return;
        Keep(new SortedDictionary<K, V>(all));
        var sorted = Keep(new SortedList<K, V>(all));
        if (size > 4)
            sorted.RemoveAt(2);
        Keep(ImmutableDictionary.CreateRange(all).RemoveRange(keys.Take(size / 3)));
        Keep(ImmutableSortedDictionary.CreateRange(all));
        Keep(all.ToFrozenDictionary());
    }

    static void Generic<T>(List<T> items, int size)
    {
        Keep(items);
        Keep(items.ToArray());
        var list = Keep(new List<T>(items));
        list.RemoveRange(size / 3, size / 2);
        Keep(new List<T>(items)).Clear();
        var queue = Keep(new Queue<T>(items));
        for (int i = 0; i < size / 3; i++)
            queue.Enqueue(queue.Dequeue());
        if (size > 0)
            queue.Dequeue();
        var stack = Keep(new Stack<T>(items));
        var linked = Keep(new LinkedList<T>(items));
        var byNumber = Keep(new PriorityQueue<T, int>());
        var byText = Keep(new PriorityQueue<T, string?>());
        for (int i = 0; i < size; i++)
        {
            byNumber.Enqueue(items[i], i);
            byText.Enqueue(items[i], i % 2 == 0 ? null : "p" + i);
        }
        for (int i = 0; i < size / 3; i++)
        {
            stack.Pop();
            linked.RemoveFirst();
            byNumber.Dequeue();
            byText.Dequeue();
        }
        Keep(new HashSet<T>(items));
        Keep(new HashSet<T>(items)).RemoveWhere(i => s_random.Next(3) == 0);
    }

    static void Concurrent<T>(List<T> items, int less)
    {
        var queue = Keep(new ConcurrentQueue<T>(items));
        var seen = Keep(new ConcurrentQueue<T>(items));      // an enumeration makes it keep what is taken
        foreach (T item in seen)
            GC.KeepAlive(item);
        var stack = Keep(new ConcurrentStack<T>(items));
        var bag = Keep(new ConcurrentBag<T>(items));
        var channel = Keep(Channel.CreateUnbounded<T>());
        var bounded = Keep(Channel.CreateBounded<T>(items.Count + 5));
        foreach (T item in items)
        {
            channel.Writer.TryWrite(item);
            bounded.Writer.TryWrite(item);
        }
        for (int i = 0; i < less; i++)
        {
            queue.TryDequeue(out _);
            seen.TryDequeue(out _);
            stack.TryPop(out _);
            bag.TryTake(out _);
            channel.Reader.TryRead(out _);
            bounded.Reader.TryRead(out _);
        }
        Keep(new BlockingCollection<T>(new ConcurrentStack<T>(items)));
        Keep(new BlockingCollection<T>(new ConcurrentQueue<T>(items)));
    }

    static void Other<T>(List<T> items, int less)
    {
        Keep(ImmutableList.CreateRange(items));
        Keep(ImmutableList.CreateRange(items).RemoveRange(0, less));
        Keep(ImmutableHashSet.CreateRange(items));
        if (items.Count < 50)
        {
            Keep(ImmutableQueue.CreateRange(items));         // many stacks, each the rest of another
            Keep(ImmutableStack.CreateRange(items));
        }
        if (items is List<string> or List<int>)
        {
            Keep(new SortedSet<T>(items));
            Keep(ImmutableSortedSet.CreateRange(items));
        }
        Keep(items.ToFrozenSet());
        Keep(new Collection<T>(items));
        Keep(new ObservableCollection<T>(items));
        Keep(new ReadOnlyCollection<T>(items.ToArray()));
        var list = Keep(new ArrayList(items));
        var queue = Keep(new Queue(items));
        Keep(new Stack(items));
        var table = Keep(new Hashtable());
        for (int i = 0; i < items.Count; i++)
            table["h" + i] = items[i];
        for (int i = 0; i < less; i++)
        {
            table.Remove("h" + i);
            list.RemoveAt(0);
            queue.Dequeue();
        }
    }
}
