// SPDX-License-Identifier: MIT
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace HeapLab;

sealed class LeakedOrder
{
    public readonly byte[] Text = new byte[100];
    public LeakedOrder? Next;
}

sealed class Ticker
{
    public event Action? Ticked;

    public void Tick() => Ticked?.Invoke();
}

/// <summary>Subscribes and is forgotten.</summary>
sealed class Subscriber
{
    readonly byte[] _state = new byte[1000];

    public void OnTicked() => _state[0]++;
}

/// <summary>Waits for a finalizer that never returns.</summary>
sealed class Unfinished
{
    readonly byte[] _load = new byte[1000];

    ~Unfinished() => GC.KeepAlive(_load);
}

sealed class Customer
{
    public readonly List<Customer> Friends = new(4);
}

sealed class Session
{
    public readonly byte[] State = new byte[4000];
}

/// <summary>One step more than the timers have.</summary>
sealed class SessionStore
{
    public readonly List<Session> Sessions = new();
}

/// <summary>Tens of megabytes each, leaked as programs do it.</summary>
static class Leaks
{
    static readonly List<LeakedOrder> s_orders = new();
    static readonly ConcurrentDictionary<int, byte[]> s_cache = new();
    static readonly Ticker s_ticker = new();
    static readonly SessionStore s_store = new();
    static readonly List<Customer> s_customers = new();
    static readonly ConditionalWeakTable<object, byte[]> s_notes = new();
    static readonly object s_key = new();
    static LeakedOrder? s_first;

    static readonly Dictionary<string, Action> s_kinds = new()
    {
        ["list"] = List,
        ["chain"] = Chain,
        ["cache"] = Cache,
        ["events"] = Events,
        ["finalizers"] = Finalizers,
        ["timers"] = Timers,
        ["handles"] = Handles,
        ["pinned"] = Pinned,
        ["collections"] = SmallCollections,
        ["dependent"] = Dependent,
    };

    public static string Kinds => string.Join(", ", s_kinds.Keys);

    // Not inlined, like what it calls: no slot of a frame that stays may hold what is leaked.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static bool Start(string kind)
    {
        if (!s_kinds.TryGetValue(kind, out Action? leak))
            return false;
        leak();
        GC.Collect();
        GC.Collect();
        return true;
    }

    static void List()
    {
        for (int i = 0; i < 100_000; i++)
            s_orders.Add(new LeakedOrder());
    }

    static void Chain()
    {
        for (int i = 0; i < 100_000; i++)
            s_first = new LeakedOrder { Next = s_first };
    }

    static void Cache()
    {
        for (int i = 0; i < 20_000; i++)
            s_cache[i] = new byte[1000];
    }

    static void Events()
    {
        for (int i = 0; i < 20_000; i++)
            s_ticker.Ticked += new Subscriber().OnTicked;
    }

    static void Finalizers()
    {
        Finalizing.Block();
        for (int i = 0; i < 20_000; i++)
            _ = new Unfinished();
    }

    // Held by a list, and by timers that nobody keeps: the queue has these as long as no finalizer runs.
    static void Timers()
    {
        Finalizing.Block();
        for (int i = 0; i < 5_000; i++)
        {
            s_store.Sessions.Add(new Session());
            _ = new Timer(session => GC.KeepAlive(session), s_store.Sessions[i], Timeout.Infinite, Timeout.Infinite);
        }
    }

    static void Handles()
    {
        for (int i = 0; i < 100_000; i++)
            GCHandle.Alloc(new LeakedOrder());
    }

    // Every tenth stays; what lies between them is free afterwards.
    static void Pinned()
    {
        for (int i = 0; i < 100_000; i++)
        {
            var buffer = new byte[1000];
            if (i % 10 == 0)
                GCHandle.Alloc(buffer, GCHandleType.Pinned);
        }
    }

    static void SmallCollections()
    {
        var first = new Customer();
        for (int i = 0; i < 100_000; i++)
        {
            var customer = new Customer();
            customer.Friends.Add(first);
            s_customers.Add(customer);
        }
    }

    static void Dependent() => s_notes.Add(s_key, new byte[20_000_000]);
}
