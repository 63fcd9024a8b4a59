// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;

namespace HeapLab;

sealed class Refused : InvalidOperationException
{
}

/// <summary>Ends of the process that leave a core file.</summary>
static class Crashes
{
    static readonly List<byte[]> s_all = new();

    public static bool Crash(string kind)
    {
        switch (kind)
        {
            case "exception":
                throw new Refused();
            case "failfast":
                Environment.FailFast("on purpose");
                return true;
            case "memory":
                while (true)
                    s_all.Add(new byte[100_000]);
            case "stack":
                return Crash(kind) && Crash("none");
            default:
                return false;
        }
    }
}
