// SPDX-License-Identifier: MIT
// References of which some are null: each array of bytes has a length that says in which field, and at which index, it is.
namespace ValueLab;

struct Cell
{
    public byte[]? Key;
    public int Number;
    public byte[]? Value;
}

sealed class Holder
{
    public byte[]? First, Second, Third, Fourth;
    public readonly byte[]?[] Many;
    public readonly Cell[] Cells;

    public Holder(int id)
    {
        Many = new byte[]?[id % 23];
        Cells = new Cell[id % 7];
        for (var i = 0; i < Many.Length; i++)
            Many[i] = (id >> i % 5 & 1) != 0 ? new byte[8 * i + 4] : null;
        for (var i = 0; i < Cells.Length; i++)
            Cells[i] = new Cell { Key = (id + i) % 3 == 0 ? null : new byte[8 * i + 5], Value = (id + i) % 4 == 0 ? null : new byte[8 * i + 6] };
        Change(id);
    }

    // Each array stays in the field that is its own.
    public void Change(int id)
    {
        First = (id & 1) == 0 ? null : new byte[8];
        Second = (id & 2) == 0 ? null : new byte[9];
        Third = (id & 4) == 0 ? null : new byte[10];
        Fourth = (id & 8) == 0 ? null : new byte[11];
        if (Many.Length > 0)
            Many[id % Many.Length] = Many[id % Many.Length] == null ? new byte[8 * (id % Many.Length) + 4] : null;
    }
}
