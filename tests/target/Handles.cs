// SPDX-License-Identifier: MIT
using System;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace HeapLab;

/// <summary>Held by a handle and by nothing else.</summary>
sealed class Held
{
}

/// <summary>Held by a pinned handle and by nothing else: it must have no references.</summary>
[StructLayout(LayoutKind.Sequential)]
sealed class Pinnable
{
    public long A, B;
}

/// <summary>Key of dependent handles.</summary>
sealed class Owner
{
}

/// <summary>Value of dependent handles: alive only through its key.</summary>
sealed class Attachment
{
}

/// <summary>Dead when the dump is taken, whatever points at it weakly.</summary>
sealed class Ghost
{
}

/// <summary>
/// Handles of every kind.  None is ever freed and none is stored: a handle belongs to the process, not to a variable.
/// </summary>
static class Handles
{
    public static void Build(Lab lab, Ledger ledger)
    {
        for (int i = 0; i < 3; i++)
            GCHandle.Alloc(new Held(), GCHandleType.Normal);
        ledger.Own("HeapLab.Held", 3, 3 * 24, 0);
        ledger.Handle("normal", 3);

        for (int i = 0; i < 2; i++)
            GCHandle.Alloc(new Pinnable(), GCHandleType.Pinned);
        ledger.Own("HeapLab.Pinnable", 2, 2 * 32, 0);
        ledger.Handle("pinned", 2);

        var dead = new Ghost();
        Owner alive = lab.Keep(new Owner());
        ledger.Own("HeapLab.Owner", 1, 24, 0);
        GCHandle.Alloc(alive, GCHandleType.Weak);
        GCHandle.Alloc(dead, GCHandleType.Weak);
        ledger.Handle("weak", 2);
        GCHandle.Alloc(alive, GCHandleType.WeakTrackResurrection);
        GCHandle.Alloc(dead, GCHandleType.WeakTrackResurrection);
        ledger.Handle("weak_track", 2);

        // The same as objects: each has a weak handle.
        lab.Keep(new WeakReference<Owner>(alive));
        lab.Keep(new WeakReference<Ghost>(dead));
        lab.Keep(new WeakReference(alive, trackResurrection: true));
        ledger.Own("System.WeakReference`1[HeapLab.Owner]", 1, 24, 0);
        ledger.Own("System.WeakReference`1[HeapLab.Ghost]", 1, 24, 0);
        ledger.AtLeast("System.WeakReference", 1);
        ledger.Handle("weak", 2);
        ledger.Handle("weak_track", 1);

        // Only the living weak handles are certain to be reported.
        ledger.Root("handle", 3 + 2);
        ledger.Root("pinned", 2);
        ledger.Root("weak", 4);

        // Two values for one key, and a dead key.
        _ = new DependentHandle(alive, new Attachment());
        _ = new DependentHandle(alive, new Attachment());
        _ = new DependentHandle(dead, new Ghost());
        ledger.Own("HeapLab.Attachment", 2, 2 * 24, 0);
        ledger.Handle("dependent", 2);

        var table = lab.Keep(new ConditionalWeakTable<Owner, Attachment>());
        for (int i = 0; i < 5; i++)
            table.Add(lab.Keep(new Owner()), new Attachment());
        ledger.Own("HeapLab.Owner", 5, 5 * 24, 0);
        ledger.Own("HeapLab.Attachment", 5, 5 * 24, 0);
        ledger.Own("System.Runtime.CompilerServices.ConditionalWeakTable`2[HeapLab.Owner,HeapLab.Attachment]", 1);
        ledger.Own("Container[HeapLab.Owner,HeapLab.Attachment]", 1);
        ledger.Handle("dependent", 5);
    }
}
