// SPDX-License-Identifier: MIT
using System.Runtime.CompilerServices;

namespace HeapLab;

struct Point
{
    public int X, Y;
}

enum Colour : byte
{
    Red,
    Green,
}

interface IMeasured
{
    int Length { get; }
}

readonly struct Rod : IMeasured
{
    public Rod(object material) => Material = material;

    public readonly object Material;
    public int Length => 7;
}

readonly record struct Key(int Id);

sealed record Person(string Name, int Age);

/// <summary>Four references in one struct field.</summary>
[InlineArray(4)]
struct Quartet
{
    object? _first;
}

sealed class Ensemble
{
    public Quartet Players;
    public int Year;
}

static class Values
{
    public static void Build(Lab lab, Ledger ledger)
    {
        var boxes = lab.Keep(new object[40]);
        for (int i = 0; i < 10; i++)
        {
            boxes[i] = new Point { X = i };
            boxes[i + 10] = i % 2 == 0 ? Colour.Red : Colour.Green;
            boxes[i + 20] = new Key(i);
            boxes[i + 30] = i;
        }
        ledger.Own("HeapLab.Point", 10, 10 * 24, 0);
        ledger.Own("HeapLab.Colour", 10, 10 * 24, 0);
        ledger.Own("HeapLab.Key", 10, 10 * 24, 0);
        ledger.AtLeast("System.Int32", 10);
        ledger.AtLeast("System.Object[]", 1);

        // Boxed by the conversion to its interface; the boxed struct holds a reference.
        lab.Keep<IMeasured>(new Rod(lab));
        ledger.Own("HeapLab.Rod", 1, 24, 1);

        var ensemble = lab.Keep(new Ensemble());
        for (int i = 0; i < 3; i++)
            ensemble.Players[i] = new Person("player " + i, 20 + i);
        ledger.Own("HeapLab.Ensemble", 1, 16 + 4 * 8 + 8, 3);
        ledger.Own("HeapLab.Person", 3, 3 * 32, 3);
    }
}
