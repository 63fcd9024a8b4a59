// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace HeapLab;

/// <summary>Memory of one kind, touched so that it is resident: outside of the GC, in objects that live, or in objects that nobody needs any more.</summary>
static class Memory
{
    public const string Kinds = "native, managed, garbage";

    const int Piece = 1 << 16;

    static readonly List<object> s_kept = [];

    public static bool Start(string kind, string mebibytes)
    {
        if (!int.TryParse(mebibytes, NumberStyles.None, CultureInfo.InvariantCulture, out int pieces) || pieces > 65_536)
            return false;
        pieces *= (1 << 20) / Piece;
        switch (kind)
        {
            case "native":
                for (int i = 0; i < pieces; i++)
                    Fill(Marshal.AllocHGlobal(Piece));
                return true;
            case "managed":
                Keep(pieces);
                return true;
            case "garbage":
                Keep(pieces);
                s_kept.Clear();
                return true;
            default:
                return false;
        }
    }

    static unsafe void Fill(nint at) => new Span<byte>((void*)at, Piece).Fill(1);

    // Never inlined: no array stays in a register or on the stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keep(int pieces)
    {
        for (int i = 0; i < pieces; i++)
        {
            var bytes = new byte[Piece];
            Array.Fill(bytes, (byte)1);
            s_kept.Add(bytes);
        }
    }
}
