// SPDX-License-Identifier: MIT
using System;
using System.Reflection;
using System.Runtime.Loader;

namespace HeapLab;

/// <summary>A type that is loaded twice.</summary>
public sealed class Guest
{
    public object? Friend;
}

/// <summary>
/// This program's file once more, in a context that can be unloaded: two types with one name, two modules with one
/// path.  Objects of unloadable types have one edge more, to the object that keeps their context loaded.
/// </summary>
static class Guests
{
    public static void Build(Lab lab, Ledger ledger)
    {
        for (int i = 0; i < 10; i++)
            lab.Keep(new Guest { Friend = lab });
        ledger.Own("HeapLab.Guest", 10, 10 * 24, 10);

        string file = typeof(Guests).Assembly.Location;
        if (file == "")
            return;                                     // published as a single file: there is none to load
        var context = lab.Keep(new AssemblyLoadContext("heaplab-guests", isCollectible: true));
        Assembly again = context.LoadFromAssemblyPath(file);
        Type type = again.GetType("HeapLab.Guest", throwOnError: true)!;
        for (int i = 0; i < 5; i++)
            lab.Keep(Activator.CreateInstance(type)!);
        ledger.Own("HeapLab.Guest", 5, 5 * 24, 5);
    }
}
