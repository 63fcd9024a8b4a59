// SPDX-License-Identifier: MIT
using System;

namespace HeapLab;

delegate void Signal(int value);

sealed class Button
{
    public event Signal? Pressed;

    public void Press() => Pressed?.Invoke(1);
}

sealed class Listener
{
    int _sum;

    public void OnPressed(int value) => _sum += value;

    public static void OnAny(int value)
    {
    }
}

static class Delegates
{
    public static void Build(Lab lab, Ledger ledger)
    {
        // Since .NET 11 one word less.
        int bytes = Environment.Version.Major >= 11 ? 56 : 64;

        // Three handlers: one delegate each, and the combined one with its list.
        var button = lab.Keep(new Button());
        for (int i = 0; i < 3; i++)
            button.Pressed += new Listener().OnPressed;
        ledger.Own("HeapLab.Button", 1, 24, 1);
        ledger.Own("HeapLab.Listener", 3, 3 * 24, 0);
        ledger.Own("HeapLab.Signal", 3, 3 * bytes, 3);
        // Target (itself) and list.
        ledger.Own("HeapLab.Signal", 1, bytes, 2);
        ledger.AtLeast("System.Object[]", 1);

        // A static method's delegate has itself as target.
        lab.Keep<Signal>(Listener.OnAny);
        ledger.Own("HeapLab.Signal", 1, bytes, 1);

        // A closure: its class is the compiler's, its name is not unique.
        int seen = 0;
        lab.Keep<Func<int>>(() => ++seen);
        ledger.AtLeast("System.Func`1[System.Int32]", 1);
        ledger.AtLeast("<>c__DisplayClass0_0", 1);
    }
}
