// SPDX-License-Identifier: MIT
using System.Collections.Generic;
using System.Threading.Tasks;

namespace HeapLab;

/// <summary>Objects that the compiler's state machines become.</summary>
static class Machines
{
    public static void Build(Lab lab, Ledger ledger)
    {
        IEnumerator<int> steps = lab.Keep(StepThrough().GetEnumerator());
        steps.MoveNext();
        ledger.Own("<StepThrough>d__1", 1);

        var never = lab.Keep(new TaskCompletionSource<Point>());
        lab.Keep(WaitFor(never.Task));
        ledger.Own("System.Threading.Tasks.TaskCompletionSource`1[HeapLab.Point]", 1, 24, 1);
        ledger.Own("System.Threading.Tasks.Task`1[HeapLab.Point]", 1);
        ledger.Own("AsyncStateMachineBox`1[System.Int32,HeapLab.Machines+<WaitFor>d__2]", 1);
    }

    static IEnumerable<int> StepThrough()
    {
        yield return 1;
        yield return 2;
    }

    static async Task<int> WaitFor(Task<Point> never) => (await never).X;
}
