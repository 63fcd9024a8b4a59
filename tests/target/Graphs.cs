// SPDX-License-Identifier: MIT
namespace HeapLab;

/// <summary>Link of a list that is deep enough to end every recursive walk.</summary>
sealed class Node
{
    public Node? Next;
    public int Number;
}

sealed class Leaf
{
    public int Number;
}

/// <summary>Member of a cycle, linked both ways.</summary>
sealed class Ring
{
    public Ring? Next, Previous;
}

/// <summary>Refers to itself.</summary>
sealed class Narcissus
{
    public object? Self;
}

/// <summary>Two references to one object: two edges.</summary>
sealed class Twin
{
    public object? Left, Right, Nothing;
}

/// <summary>The mass of a bigger heap (--objects): each refers to the one before it.</summary>
sealed class Extra
{
    public Extra? Before;
    public int Number;
}

static class Graphs
{
    public const int Depth = 5_000;

    public static void Build(Lab lab, Ledger ledger, int extras)
    {
        Node? head = null;
        for (int i = 0; i < Depth; i++)
            head = new Node { Next = head, Number = i };
        lab.Keep(head!);
        ledger.Own("HeapLab.Node", Depth, 32L * Depth, Depth - 1);

        // 12,000 references in one object: an edge event holds 5,354, so they span three or four of them.
        const int leaves = 6_000;
        var wide = lab.Keep(new Leaf[2 * leaves]);
        for (int i = 0; i < leaves; i++)
            wide[i] = wide[2 * leaves - 1 - i] = new Leaf { Number = i };
        ledger.Own("HeapLab.Leaf", leaves, 24 * leaves, 0);
        ledger.Own("HeapLab.Leaf[]", 1, Ledger.ArrayBytes(2 * leaves, Ledger.Reference), 2 * leaves);

        const int members = 10;
        var first = new Ring();
        first.Next = first.Previous = first;
        for (int i = 1; i < members; i++)
        {
            var ring = new Ring { Next = first, Previous = first.Previous };
            first.Previous!.Next = ring;
            first.Previous = ring;
        }
        lab.Keep(first);
        ledger.Own("HeapLab.Ring", members, 32 * members, 2 * members);

        var narcissus = lab.Keep(new Narcissus());
        narcissus.Self = narcissus;
        ledger.Own("HeapLab.Narcissus", 1, 24, 1);

        lab.Keep(new Twin { Left = narcissus, Right = narcissus });
        ledger.Own("HeapLab.Twin", 1, 40, 2);

        var array = lab.Keep(new Extra[extras]);
        for (int i = 0; i < extras; i++)
            array[i] = new Extra { Before = i > 0 ? array[i - 1] : null, Number = i };
        ledger.Own("HeapLab.Extra", extras, 32L * extras, extras > 0 ? extras - 1 : 0);
        ledger.Own("HeapLab.Extra[]", 1, Ledger.ArrayBytes(extras, Ledger.Reference), extras);
    }
}
