// SPDX-License-Identifier: MIT
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace HeapLab;

/// <summary>Referred to by a local variable and by nothing else.</summary>
sealed class StackOnly
{
}

/// <summary>Element of an array that only an interior pointer on the stack holds.</summary>
struct Pixel
{
    public int Colour;
}

/// <summary>Element of an array that only a pinned pointer on the stack holds.</summary>
struct Voxel
{
    public short Density;
}

/// <summary>Objects held by the frames of waiting threads.</summary>
static class Frames
{
    /// <summary>What <see cref="WaitHoldingObjects"/> will make: the counts are printed before it runs.</summary>
    public static void Enter(Ledger ledger)
    {
        ledger.Own("HeapLab.StackOnly", 1, 24, 0);
        ledger.Own("HeapLab.Pixel[]", 1, Ledger.ArrayBytes(10, 4), 0);
        ledger.Own("HeapLab.Voxel[]", 1, Ledger.ArrayBytes(11, 2), 0);
        ledger.Root("stack", 3);
        ledger.Root("pinned", 1);
    }

    public static void EnterWorker(Ledger ledger)
    {
        ledger.Own("HeapLab.StackOnly", 1, 24, 0);
        ledger.Root("stack", 1);
    }

    // The objects come from calls that are not inlined: the compiler may put an object that it sees being made and
    // never leaving the method into the frame itself (.NET 10), and then it is not on the heap.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static unsafe void WaitHoldingObjects(Action wait)
    {
        StackOnly local = MakeLocal();
        ref Pixel interior = ref MakePixels()[3];
        fixed (Voxel* pinned = &MakeVoxels()[2])
        {
            wait();
            pinned->Density++;
        }
        interior.Colour++;
        GC.KeepAlive(local);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void SleepHoldingObject()
    {
        StackOnly local = MakeLocal();
        Thread.Sleep(Timeout.Infinite);
        GC.KeepAlive(local);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static StackOnly MakeLocal() => new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Pixel[] MakePixels() => new Pixel[10];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Voxel[] MakeVoxels() => new Voxel[11];
}
