// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace HeapLab;

/// <summary>Has a finalizer and is alive.</summary>
sealed class Resource
{
    int _open = 1;

    ~Resource() => _open = 0;
}

/// <summary>Its finalizer waits until the program ends, and so does every finalizer behind it.</summary>
sealed class Plug
{
    public static readonly ManualResetEvent s_running = new(false), s_released = new(false);

    ~Plug()
    {
        s_running.Set();
        s_released.WaitOne();
        GC.KeepAlive(this);
    }
}

/// <summary>Unreachable, waiting for its finalizer: the queue holds it, and it holds what it refers to.</summary>
sealed class Pending
{
    public Pending(object load) => Load = load;

    public readonly object Load;

    ~Pending() => GC.KeepAlive(Load);
}

sealed class PendingLoad
{
}

static class Finalizing
{
    public static void Build(Lab lab, Ledger ledger)
    {
        for (int i = 0; i < 7; i++)
            lab.Keep(new Resource());
        ledger.Own("HeapLab.Resource", 7, 7 * 24, 0);

        Block();
        ledger.Own("HeapLab.Plug", 1, 24, 0);
        ledger.Static(nameof(Plug.s_running));
        ledger.Static(nameof(Plug.s_released));

        const int pending = 20;
        DropPending(pending);
        ledger.Own("HeapLab.Pending", pending, 24 * pending, pending);
        ledger.Own("HeapLab.PendingLoad", pending, 24 * pending, 0);
        ledger.Root("finalizer", pending);
        // The handle that tracks resurrection still sees its object.
        ledger.Handle("weak_track", 1);
        ledger.Root("weak", 1);
    }

    /// <summary>From now on every finalizer waits.</summary>
    public static void Block()
    {
        DropPlug();
        GC.Collect();
        Plug.s_running.WaitOne();
    }

    // Not inlined: no slot of the caller's frame may hold the objects.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropPlug() => _ = new Plug();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropPending(int count)
    {
        for (int i = 0; i < count; i++)
        {
            var pending = new Pending(new PendingLoad());
            if (i == 0)
                GCHandle.Alloc(pending, GCHandleType.WeakTrackResurrection);
        }
    }

    /// <summary>Without this the runtime would wait for its finalizer thread at exit forever.</summary>
    public static void Release() => Plug.s_released.Set();
}
