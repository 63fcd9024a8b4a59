// SPDX-License-Identifier: MIT
// A service for tools/ci/heap-gate.sh, with its requests on standard input: a line N serves N requests and is answered with "done".
//
//     GateLab steady|leaky [crash]      keeps the last 1,000 answers, or all of them; with "crash" it ends after its first load, with status 7
namespace GateLab;

sealed class Answer(int number)
{
    public int Number { get; } = number;
    public byte[] Body { get; } = new byte[500];
}

static class Program
{
    static readonly LinkedList<Answer> Cache = new();

    static int Main(string[] args)
    {
        var most = args[0] == "leaky" ? int.MaxValue : 1000;
        var served = 0;
        Console.WriteLine("open");
        for (var line = Console.ReadLine(); int.TryParse(line, out var requests); line = Console.ReadLine())
        {
            for (var i = 0; i < requests; i++)
            {
                Cache.AddLast(new Answer(served++));
                if (Cache.Count > most)
                    Cache.RemoveFirst();
            }
            Console.WriteLine("done");
            if (args.Length > 1 && args[1] == "crash")
                return 7;
        }
        return 0;
    }
}
