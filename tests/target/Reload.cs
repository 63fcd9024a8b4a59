// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace HeapLab;

// One of them lives at a time.
public sealed class Red { public object? Next; }
public sealed class Green { public object? Next; }
public sealed class Blue { public object? Next; }

/// <summary>
/// Loads a copy of this program's file into a context that can be unloaded, unloads it, loads the next copy, and so on: until a type has the id
/// (the address of its method table) that another one had before.  The runtime takes new addresses as long as there are some (2 GiB, some
/// 16,000 contexts), so a limit on the address space (RLIMIT_AS) makes this much shorter.
/// </summary>
static class Reload
{
    const int Most = 40_000;

    static readonly string[] s_names = { "Red", "Green", "Blue" };
    static readonly object?[] s_kept = new object?[3];
    static int s_round = -1;

    /// <summary>Prints "NAME ID FILE" of the type that is loaded, and of the next one for each line "next"; "none" when no id comes again.</summary>
    public static void Run(string folder, Action<string> print)
    {
        foreach (string name in s_names)
            File.Copy(typeof(Reload).Assembly.Location, Path.Combine(folder, name + ".dll"));
        var context = Load(folder);
        for (long last = 0; last != Id(); context = Next(context, folder))
        {
            if (s_round == Most)
            {
                print("none");
                return;
            }
            last = Id();
        }
        print(Line());
        for (string? line; (line = Console.ReadLine()) != null && line != "quit";)
        {
            context = Next(context, folder);
            print(Line());
        }
    }

    static long Id() => s_kept[0]!.GetType().TypeHandle.Value;

    static string Line()
    {
        Type type = s_kept[0]!.GetType();
        return $"{type.FullName} {type.TypeHandle.Value:x} {type.Assembly.Location}";
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Load(string folder)
    {
        string name = s_names[++s_round % s_names.Length];
        var context = new AssemblyLoadContext(name, isCollectible: true);
        Assembly copy = context.LoadFromAssemblyPath(Path.Combine(folder, name + ".dll"));
        Type type = copy.GetType("HeapLab." + name, throwOnError: true)!;
        s_kept[0] = Activator.CreateInstance(type);
        s_kept[1] = Array.CreateInstance(type, 5);
        s_kept[2] = Activator.CreateInstance(typeof(List<>).MakeGenericType(type));
        return new WeakReference(context);
    }

    static WeakReference Next(WeakReference context, string folder)
    {
        Array.Clear(s_kept);
        // the context first, then what the runtime keeps for it
        for (int more = 3; more > 0 || context.IsAlive; more--)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        return Load(folder);
    }
}
