// SPDX-License-Identifier: MIT
using System.Globalization;
using System.Reflection;

namespace WaitLab;

/// <summary>
/// Operations that wait, each kind a known number of times, until standard input ends.
///
///     WaitLab              a few of each kind
///     WaitLab web N        also an ASP.NET Core server of which 3 * N requests wait
///     WaitLab calls N      also N calls of one kind, for measurements
///
/// Prints "ready" once all of them wait.
/// </summary>
static class Program
{
    static readonly List<object> s_kept = new();

    static async Task Main(string[] args)
    {
        ThreadPool.SetMinThreads(32, 32);                /* some block a thread, and no other may wait for one, however few processors there are */
        Calls.Plant(s_kept);
        Waits.Plant(s_kept);
        Combined.Plant(s_kept);
        Sources.Plant(s_kept);
        Shapes.Plant(s_kept);
        if (args.Contains("web"))
            await Web.StartAsync(int.Parse(args[^1], CultureInfo.InvariantCulture));
        if (args.Contains("calls"))
            Calls.Many(s_kept, int.Parse(args[^1], CultureInfo.InvariantCulture));
        await Task.Delay(1500);
        GC.Collect();
        GC.Collect();
        var lines = new TaskCompletionSource();
        new Thread(() => Serve(lines)) { IsBackground = true }.Start();
        await lines.Task;
        GC.KeepAlive(s_kept);
    }

    /* On a busy machine Main could still run when "ready" is read: only a task that continues something is awaited. */
    static void Serve(TaskCompletionSource lines)
    {
        FieldInfo continuation = typeof(Task).GetField("m_continuationObject", BindingFlags.Instance | BindingFlags.NonPublic)!;
        while (continuation.GetValue(lines.Task) == null)
            Thread.Sleep(1);
        Console.WriteLine("ready");
        while (Console.ReadLine() != null)
        {
        }
        lines.SetResult();
    }
}
