// SPDX-License-Identifier: MIT
using System.Collections.Generic;

namespace HeapLab;

/// <summary>Holds what has no other holder.  One object, itself held by a static field.</summary>
sealed class Lab
{
    static Lab? s_lab;

    readonly List<object> _kept = new();

    public static void Build(Ledger ledger, int extras)
    {
        var lab = new Lab();
        s_lab = lab;
        ledger.Own("HeapLab.Lab", 1, 24, 1);
        ledger.Static(nameof(s_lab));

        Graphs.Build(lab, ledger, extras);
        Arrays.Build(lab, ledger);
        Strings.Build(lab, ledger);
        Generics.Build(lab, ledger);
        Names.Build(lab, ledger);
        Values.Build(lab, ledger);
        Delegates.Build(lab, ledger);
        Collections.Build(lab, ledger);
        Machines.Build(lab, ledger);
        Statics.Build(ledger);
        Handles.Build(lab, ledger);
        Guests.Build(lab, ledger);
        // Last: from here on the finalizer thread is blocked.
        Finalizing.Build(lab, ledger);
    }

    public T Keep<T>(T thing) where T : class
    {
        _kept.Add(thing);
        return thing;
    }
}
