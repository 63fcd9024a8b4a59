// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;

namespace HeapLab;

/// <summary>
/// What a pause is to the process itself: a thread that wants to run every millisecond, and the longest time that it did not.
/// The counts of a process that has it hold as well: its objects belong to the runtime's types.
/// </summary>
static class Stall
{
    static long s_longestTicks;
    static TimeSpan s_pausesBefore;
    static int s_collectionsBefore;

    public static void Start()
    {
        var ticker = new Thread(Tick) { Name = "heaplab-stall", IsBackground = true };
        ticker.Start();
    }

    static void Tick()
    {
        for (long last = Stopwatch.GetTimestamp(); ;)
        {
            Thread.Sleep(1);
            long now = Stopwatch.GetTimestamp();
            if (now - last > Interlocked.Read(ref s_longestTicks))
                Interlocked.Exchange(ref s_longestTicks, now - last);
            last = now;
        }
    }

    /// <summary>Since the last call, one line of JSON: the longest stall, the pauses and number of collections.</summary>
    public static string Take()
    {
        TimeSpan pauses = GC.GetTotalPauseDuration();
        int collections = GC.CollectionCount(2);
        double longest = Interlocked.Exchange(ref s_longestTicks, 0) * 1000.0 / Stopwatch.Frequency;
        string line = string.Format(CultureInfo.InvariantCulture,
            "{{\"longest_stall_ms\":{0:F1},\"gc_pauses_ms\":{1:F1},\"full_collections\":{2}}}",
            longest, (pauses - s_pausesBefore).TotalMilliseconds, collections - s_collectionsBefore);
        s_pausesBefore = pauses;
        s_collectionsBefore = collections;
        return line;
    }
}
