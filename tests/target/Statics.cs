// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace HeapLab;

sealed class Registry
{
}

sealed class PerThread
{
}

static class Statics
{
    static Registry? s_registry;
    static Registry? s_nothing;                     // null: no record
    static Registry[]? s_registries;
    static Point s_origin;                          // a struct: the runtime keeps it boxed on the heap
    static string? s_label;
    static int s_number;                            // a primitive: no object, no record

    [ThreadStatic]
    static PerThread? t_slot;

    static class OfType<T>
    {
        public static Registry? s_perType;
    }

    public static void Build(Ledger ledger)
    {
        s_registry = new Registry();
        s_registries = new[] { s_registry, new Registry(), new Registry() };
        s_origin = new Point { X = 3, Y = 4 };
        s_label = "label " + Environment.ProcessId;
        s_number = s_nothing is null ? 1 : 2;
        OfType<int>.s_perType = new Registry();
        OfType<string>.s_perType = new Registry();
        ledger.Own("HeapLab.Registry", 5, 5 * 24, 0);
        ledger.Own("HeapLab.Registry[]", 1, Ledger.ArrayBytes(3, 8), 3);
        ledger.Own("HeapLab.Point", 1, 24, 0);
        ledger.Static(nameof(s_registry));
        ledger.Static(nameof(s_registries));
        ledger.Static(nameof(s_origin));
        ledger.Static(nameof(s_label));
        ledger.AtLeast("System.String", 1);

        // One per thread: this one and a second, which stays.
        t_slot = new PerThread();
        using var ready = new ManualResetEventSlim();
        var worker = new Thread(() => Work(ready)) { Name = "heaplab-worker", IsBackground = true };
        worker.Start();
        ready.Wait();
        ledger.Own("HeapLab.PerThread", 2, 2 * 24, 0);
        Frames.EnterWorker(ledger);
    }

    static void Work(ManualResetEventSlim ready)
    {
        t_slot = new PerThread();
        ready.Set();
        Frames.SleepHoldingObject();
    }
}
