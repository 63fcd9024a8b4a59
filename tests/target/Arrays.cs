// SPDX-License-Identifier: MIT
using System;

namespace HeapLab;

/// <summary>Element types of their own for each kind of array, so that every count is exact.</summary>
sealed class Item
{
    public long Number;
}

struct Sample
{
    public long Time;
    public double Value;
}

/// <summary>References between plain fields: the edges of an array of these are not contiguous.</summary>
struct Cell
{
    public object? Left;
    public long Weight;
    public object? Right;
}

static class Arrays
{
    static Item[] Items(int count)
    {
        var items = new Item[count];
        for (int i = 0; i < count; i++)
            items[i] = new Item { Number = i };
        return items;
    }

    public static unsafe void Build(Lab lab, Ledger ledger)
    {
        // References: full, half empty, empty.
        Item[] items = lab.Keep(Items(50));
        var half = lab.Keep(new Item?[50]);
        for (int i = 0; i < 25; i++)
            half[2 * i] = items[i];
        lab.Keep(new Item[0]);
        ledger.Own("HeapLab.Item", 50, 24 * 50, 0);
        ledger.Own("HeapLab.Item[]", 3, 2 * Ledger.ArrayBytes(50, 8) + Ledger.ArrayBytes(0, 8), 50 + 25);

        // Jagged: Item[][] refers to Item[] (three more, one shared) and to nothing.
        Item[] row = Items(4);
        lab.Keep(new Item[]?[] { row, row, Items(2), Items(3), null });
        ledger.Own("HeapLab.Item", 9, 24 * 9, 0);
        ledger.Own("HeapLab.Item[]", 3, 3 * 24 + 8 * 9, 9);
        ledger.Own("HeapLab.Item[][]", 1, Ledger.ArrayBytes(5, 8), 4);

        // Multi-dimensional, with and without references, and one without elements.
        var plane = lab.Keep(new Item?[3, 4]);
        for (int i = 0; i < 3; i++)
            plane[i, i] = items[i];
        ledger.Own("HeapLab.Item[,]", 1, Ledger.ArrayBytes(12, 8, 2), 3);
        lab.Keep(new Item?[2, 3, 4]);
        ledger.Own("HeapLab.Item[,,]", 1, Ledger.ArrayBytes(24, 8, 3), 0);
        lab.Keep(new Sample[5, 7]);
        lab.Keep(new Sample[0, 7]);
        ledger.Own("HeapLab.Sample[,]", 2, Ledger.ArrayBytes(35, 16, 2) + Ledger.ArrayBytes(0, 16, 2), 0);
        lab.Keep(new Item?[][,] { new Item?[1, 1], new Item?[1, 1] });
        ledger.Own("HeapLab.Item[,]", 2, 2 * Ledger.ArrayBytes(1, 8, 2), 0);
        ledger.Own("HeapLab.Item[,][]", 1, Ledger.ArrayBytes(2, 8), 2);
        lab.Keep(new int[3, 4]);
        ledger.AtLeast("System.Int32[,]", 1);

        // One dimension whose lower bound is not 0: a type of its own, with bounds.
        lab.Keep(Array.CreateInstance(typeof(Item), new[] { 6 }, new[] { 5 }));
        ledger.Own("HeapLab.Item[*]", 1, Ledger.ArrayBytes(6, 8, 1), 0);

        // Structs, without and with references.
        lab.Keep(new Sample[100]);
        ledger.Own("HeapLab.Sample[]", 1, Ledger.ArrayBytes(100, 16), 0);
        var cells = lab.Keep(new Cell[40]);
        for (int i = 0; i < cells.Length; i++)
            cells[i] = new Cell { Left = items[i], Weight = i, Right = i % 2 == 0 ? items[0] : null };
        ledger.Own("HeapLab.Cell[]", 1, Ledger.ArrayBytes(40, 24), 40 + 20);

        // Pointers are no references.
        lab.Keep(new Sample*[3]);
        ledger.Own("HeapLab.Sample*[]", 1, Ledger.ArrayBytes(3, 8), 0);

        // Primitives belong to the runtime as well.
        lab.Keep(new byte[1000]);
        lab.Keep(new byte[0]);
        lab.Keep(new byte[][] { new byte[7], new byte[0] });
        ledger.AtLeast("System.Byte[]", 4);
        ledger.AtLeast("System.Byte[][]", 1);
        lab.Keep(new long[33]);
        ledger.AtLeast("System.Int64[]", 1);
        lab.Keep(new decimal[3]);
        ledger.AtLeast("System.Decimal[]", 1);

        // Large object heap: from 85,000 bytes on.
        lab.Keep(new Sample[10_000]);
        ledger.Own("HeapLab.Sample[]", 1, Ledger.ArrayBytes(10_000, 16), 0);
        var large = lab.Keep(new Item[20_000]);
        large[0] = large[19_999] = items[0];
        ledger.Own("HeapLab.Item[]", 1, Ledger.ArrayBytes(20_000, 8), 2);
        lab.Keep(new byte[200_000]);
        ledger.AtLeast("System.Byte[]", 1);

        // Pinned object heap.
        lab.Keep(GC.AllocateArray<Sample>(64, pinned: true));
        ledger.Own("HeapLab.Sample[]", 1, Ledger.ArrayBytes(64, 16), 0);
        lab.Keep(GC.AllocateArray<byte>(4_096, pinned: true));
        ledger.AtLeast("System.Byte[]", 1);
    }
}
