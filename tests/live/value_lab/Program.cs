// SPDX-License-Identifier: MIT
// Strings whose texts say whose they are, so that a reader that takes one for another is found out.
//
//     ValueLab churn N [collect]   pairs {text "pair-K-…", K bytes}, of which a tenth is replaced again and again; with "collect" it forces compacting
//                                  collections.  The size of the bytes is in a dump, so it tells which text is right
//     ValueLab still N             N different texts that stay; prints the sum of the first eight bytes of their SHA-256
//
// It prints "open" when everything is there, and ends with its standard input.
using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace ValueLab;

sealed class Pair(int id)
{
    public readonly string Text = $"pair-{id % 997}-" + new string((char)('a' + id % 26), id % 40);
    public readonly byte[] Mark = new byte[id % 997];
}

static class Program
{
    static Pair[] s_pairs = [];
    static string[] s_texts = [];
    static byte[]?[] s_garbage = [];

    static void Main(string[] args)
    {
        var n = int.Parse(args[1]);
        var quit = new Thread(() => { Console.In.ReadToEnd(); Environment.Exit(0); }) { IsBackground = true };
        if (args[0] == "still")
        {
            s_texts = new string[n];
            ulong sum = 0;
            for (var i = 0; i < n; i++)
            {
                s_texts[i] = $"text {i} " + new string((char)('A' + i % 26), i % 60);
                sum += BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes(s_texts[i])));
            }
            Console.WriteLine(sum);
            Console.WriteLine("open");
            Console.In.ReadToEnd();
            GC.KeepAlive(s_texts);
            return;
        }
        var next = n;
        s_pairs = new Pair[n];
        s_garbage = new byte[256][];
        for (var i = 0; i < n; i++)
            s_pairs[i] = new Pair(i);
        Console.WriteLine("open");
        quit.Start();
        var collect = args.Length > 2 && args[2] == "collect";
        var random = new Random(1);
        for (var round = 0; ; round++)
        {
            for (var i = 0; i < n / 10; i++)
                s_pairs[random.Next(n)] = new Pair(next++ & int.MaxValue);
            s_garbage[round % 256] = new byte[random.Next(100_000)];
            if (collect && round % 100 < 60 && round % 5 == 4)     // and pauses, so that some texts can be read at all
                GC.Collect(round % 3, GCCollectionMode.Forced, true, true);
            Thread.Sleep(1);
        }
    }
}
