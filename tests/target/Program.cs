// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;

namespace HeapLab;

/// <summary>
/// A process whose heap contents are known.  It builds them, prints one line of JSON that says what a heap dump of it
/// must show, and waits until its standard input ends or brings a line "quit".
/// </summary>
static class Program
{
    const int DefaultExtras = 5_000;

    static int Main(string[] args)
    {
        if (!TryParse(args, out int extras))
        {
            Console.Error.WriteLine("usage: HeapLab [--objects N]     N extra nodes, 0..100000000, default 5000");
            return 2;
        }
        Start(extras);
        Frames.WaitHoldingObjects(WaitForEnd);
        Finalizing.Release();
        return 0;
    }

    static bool TryParse(string[] args, out int extras)
    {
        extras = DefaultExtras;
        if (args.Length == 0)
            return true;
        return args.Length == 2 && args[0] == "--objects"
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

        using Stream output = Console.OpenStandardOutput();
        output.Write(Encoding.ASCII.GetBytes(ledger.ToJson(extras) + "\n"));
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
            else if (line.TrimEnd('\r') == "quit")
                return;
            else
                line = "";
        }
    }
}
