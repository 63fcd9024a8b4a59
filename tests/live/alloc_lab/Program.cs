// SPDX-License-Identifier: MIT
// Allocates on all processors without a pause, beside objects that stay: KEPT nodes, each with an array.  Prints their number.
// "quiet": leaves 1,000 dead objects instead, and swallows 20 exceptions; 5 more of one type and message that two methods throw.
// "leak" RATE: keeps RATE MB more each second, once a line has come on its input, until its memory ends.
using System.Globalization;
using System.Runtime.CompilerServices;

namespace AllocLab;

sealed class Node
{
    public Node? Next;
    public byte[] Data = new byte[16];
    public long Number;
}

sealed class Scrap
{
    public Scrap? Other;
    public object? Any;
}

static class Program
{
    static Node? s_first;

    static void Main(string[] args)
    {
        int kept = int.Parse(args[0], CultureInfo.InvariantCulture);
        bool leaks = args.Length > 2 && args[1] == "leak", busy = args.Length < 2;
        for (int i = 0; i < kept; i++)
            s_first = new Node { Next = s_first, Number = i };
        for (int i = 0; busy && i < Environment.ProcessorCount; i++)
            new Thread(Allocate) { IsBackground = true, Name = "allocate" }.Start(i);
        if (!busy && !leaks)
        {
            Leave(1000);
            Swallow(10);
            for (int i = 0; i < 5; i++)
                SwallowEither(i < 3);
        }
        Console.WriteLine("{\"kept\": " + kept.ToString(CultureInfo.InvariantCulture) + ", \"runtime\": \"" + Environment.Version + "\"}");
        if (leaks && Console.In.ReadLine() != null)
            Leak(int.Parse(args[2], CultureInfo.InvariantCulture));
        Console.In.ReadToEnd();
        GC.KeepAlive(s_first);
    }

    /* In pieces of a hundredth of a second, so that it grows evenly.  What a busy machine takes from it is not made up for: that would be another rate. */
    static void Leak(int megabytesPerSecond)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();
        double late = 0;
        for (long kept = 0; ; kept += 16 * 1024)
        {
            var node = new Node { Next = s_first, Data = new byte[16 * 1024] };
            Array.Fill(node.Data, (byte)1); // so that its pages are there
            s_first = node;
            double ahead = kept / 1e6 / megabytesPerSecond + late - watch.Elapsed.TotalSeconds;
            if (ahead > 0.01)
                Thread.Sleep((int)(1000 * ahead));
            else if (ahead < -0.1)
                late -= ahead;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Leave(int count)
    {
        for (int i = 0; i < count; i++)
            GC.KeepAlive(new Scrap());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Swallow(int count)
    {
        for (int i = 0; i < count; i++)
        {
            try
            {
                Fail(i);
            }
            catch (InvalidOperationException)
            {
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fail(int i)
    {
        try
        {
            throw new TimeoutException("password=hunter2;Server=db" + i % 2);
        }
        catch (TimeoutException e)
        {
            throw new InvalidOperationException("attempt " + i % 2 + " failed", e);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SwallowEither(bool first)
    {
        try
        {
            if (first)
                First();
            else
                Second();
        }
        catch (FormatException)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void First() => throw new FormatException("no number");

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Second() => throw new FormatException("no number");

    static void Allocate(object? seed)
    {
        var random = new Random((int)seed!);
        for (;;)
            GC.KeepAlive(Make(random));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Make(Random random)
    {
        Scrap? first = null;
        for (int i = random.Next(100); i >= 0; i--)
            first = new Scrap { Other = first, Any = random.Next(8) == 0 ? new string('x', random.Next(60)) : first };
        object[] all = new object[random.Next(200)];
        for (int i = 0; i < all.Length; i++)
            all[i] = first!;
        return random.Next(1000) == 0 ? new byte[100_000 + random.Next(50_000)] : all; // of the large object heap
    }
}
