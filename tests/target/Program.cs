// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;

namespace HeapLab;

/// <summary>
/// A process whose heap contents are known.  It builds them, prints one line of JSON that says what a heap dump of it
/// must show, and waits until its standard input ends or brings a line "quit".  With --stall a line "stall" is answered
/// with how long the process has stood still.  With --leak it leaks in one of several ways instead, with --memory it takes memory of
/// one kind, with --service it builds the heap of a service, with --reload it loads and unloads types.
/// </summary>
static class Program
{
    const int DefaultExtras = 5_000;

    static int Main(string[] args)
    {
        if (args.Length == 2 && args[0] == "--crash")
        {
            Start(DefaultExtras);
            return Crashes.Crash(args[1]) ? 1 : 2;
        }
        if (args.Length == 2 && args[0] == "--leak" && Leaks.Start(args[1]))
        {
            Print(args[1]);
            WaitForEnd();
            Finalizing.Release();
            return 0;
        }
        if (args.Length == 3 && args[0] == "--memory" && Memory.Start(args[1], args[2]))
        {
            Print(args[1]);
            WaitForEnd();
            return 0;
        }
        if (args.Length == 2 && args[0] == "--service" && Service.Start(args[1]))
        {
            Print("service");
            WaitForEnd();
            return 0;
        }
        if (args.Length == 2 && args[0] == "--reload")
        {
            Reload.Run(args[1], Print);
            return 0;
        }
        if (!TryParse(args, out int extras, out bool stall))
        {
            Console.Error.WriteLine("usage: HeapLab [--objects N] [--stall]     N extra nodes, 0..100000000, default 5000");
            Console.Error.WriteLine("       HeapLab --crash exception|failfast|memory|stack");
            Console.Error.WriteLine("       HeapLab --leak KIND                 one of " + Leaks.Kinds);
            Console.Error.WriteLine("       HeapLab --memory KIND MIB           one of " + Memory.Kinds);
            Console.Error.WriteLine("       HeapLab --service N                 the heap of a service, about N objects");
            Console.Error.WriteLine("       HeapLab --reload FOLDER             an empty folder");
            return 2;
        }
        if (stall)
            Stall.Start();
        Start(extras);
        Frames.WaitHoldingObjects(WaitForEnd);
        Finalizing.Release();
        return 0;
    }

    static bool TryParse(string[] args, out int extras, out bool stall)
    {
        extras = DefaultExtras;
        stall = args.Length > 0 && args[^1] == "--stall";
        int rest = stall ? args.Length - 1 : args.Length;
        if (rest == 0)
            return true;
        return rest == 2 && args[0] == "--objects"
            && int.TryParse(args[1], NumberStyles.None, CultureInfo.InvariantCulture, out extras)
            && extras <= 100_000_000;
    }

    // A method of its own, never inlined: its frame is gone when the dump is taken, and so is everything that only the
    // building needed, the ledger included.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Start(int extras)
    {
        var ledger = new Ledger();
        Lab.Build(ledger, extras);
        Frames.Enter(ledger);
        ledger.Absent("HeapLab.Ledger");
        ledger.Absent("HeapLab.Ghost");

        // Twice: the first collection only queues the finalizable objects.
        GC.Collect();
        GC.Collect();

        Print(ledger.ToJson(extras));
    }

    static void Print(string line)
    {
        using Stream output = Console.OpenStandardOutput();
        output.Write(Encoding.ASCII.GetBytes(line + "\n"));
        output.Flush();
    }

    // Plain bytes: a reader object would decode ahead and stay on the heap with its buffers.
    static void WaitForEnd()
    {
        using Stream input = Console.OpenStandardInput();
        string line = "";
        for (int b; (b = input.ReadByte()) >= 0;)
        {
            if (b != '\n')
                line += (char)b;
            else
            {
                if (line.TrimEnd('\r') == "quit")
                    return;
                if (line == "stall")
                    Print(Stall.Take());
                line = "";
            }
        }
    }
}
