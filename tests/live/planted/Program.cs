// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace Shop;

/// <summary>
/// A shop with one leak at a time, or in good health.
///
///     Shop SCENARIO [PLUGIN.dll]  prints "ready PID" when the heap is built, and ends when its standard input does;
///                                 each line of input makes the heap grow, which prints "grown"
///     Shop                        lists the scenarios
/// </summary>
public static class Program
{
    /// <summary>Builds the heap; what it returns runs in Main, as it does in most programs.</summary>
    public delegate IHost? Scenario();

    static readonly (string Name, Scenario Build)[][] s_all =
    {
        Stores.All, Collections.All, Events.All, Timers.All, Waiting.All, Caches.All, Handles.All, Hosting.All, Web.All, Answers.All, Everyday.All, Growing.All, Limits.All, Healthy.All,
    };

    /// <summary>What happens between two dumps.</summary>
    public static Action More { get; set; } = () => { };

    public static string Plugin { get; private set; } = "";

    public static int Main(string[] args)
    {
        var found = s_all.SelectMany(group => group).Where(s => args.Length > 0 && s.Name == args[0]).ToArray();
        if (found.Length != 1)
        {
            foreach (var (name, _) in s_all.SelectMany(group => group))
                Console.WriteLine(name);
            return 2;
        }
        Plugin = args.Length > 1 ? args[1] : "";
        IHost? host = found[0].Build();
        new Thread(() => Ready()) { IsBackground = true }.Start();
        if (host != null)
            host.WaitForShutdown();
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    static void Ready()
    {
        Settle();
        Console.WriteLine($"ready {Environment.ProcessId}");
        Console.Out.Flush();
        while (Console.In.ReadLine() != null)
        {
            More();
            Settle();
            Console.WriteLine("grown");
            Console.Out.Flush();
        }
        Environment.Exit(0);
    }

    /// <summary>What died while the heap was built goes.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Settle()
    {
        GC.Collect();
        if (!Handles.FinalizersBlocked)
            GC.WaitForPendingFinalizers();
        GC.Collect();
    }
}
