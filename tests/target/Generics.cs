// SPDX-License-Identifier: MIT
using System.Collections.Generic;

namespace HeapLab;

class Box<T>
{
    public T? Value;
}

class Pair<TKey, TValue>
{
    public TKey? Key;
    public TValue? Value;
}

/// <summary>Nested types: the event gives their bare names.</summary>
class Cabinet
{
    public class Drawer
    {
        public object? Content;

        public class Compartment
        {
        }
    }
}

/// <summary>The same bare name again: two types, two ids, one name.</summary>
class Desk
{
    public class Drawer
    {
        public long Width, Depth;
    }
}

/// <summary>Nested in a generic type: the arguments are those of all levels.</summary>
class Crate<T>
{
    public class Slot
    {
        public T? Value;
    }

    public class Sack<TOther>
    {
        public T? Value;
        public TOther? Other;
    }
}

static class Generics
{
    public static void Build(Lab lab, Ledger ledger)
    {
        lab.Keep(new Box<int> { Value = 1 });
        lab.Keep(new Box<int> { Value = 2 });
        ledger.Own("HeapLab.Box`1[System.Int32]", 2, 2 * 24, 0);
        var text = new Box<string> { Value = "boxed text" };
        lab.Keep(new Box<Box<string>> { Value = text });
        ledger.Own("HeapLab.Box`1[System.String]", 1, 24, 1);
        ledger.Own("HeapLab.Box`1[HeapLab.Box`1[System.String]]", 1, 24, 1);
        lab.Keep(new Box<int[]>());
        ledger.Own("HeapLab.Box`1[System.Int32[]]", 1, 24, 0);
        lab.Keep(new Box<int[,]>());
        ledger.Own("HeapLab.Box`1[System.Int32[,]]", 1, 24, 0);
        lab.Keep(new Box<Sample?>());
        ledger.Own("HeapLab.Box`1[System.Nullable`1[HeapLab.Sample]]", 1, 40, 0);
        lab.Keep(new Box<Cell> { Value = new Cell { Left = lab, Right = lab } });
        ledger.Own("HeapLab.Box`1[HeapLab.Cell]", 1, 40, 2);
        lab.Keep(new Box<int>[] { new(), new() });
        ledger.Own("HeapLab.Box`1[System.Int32]", 2, 2 * 24, 0);
        ledger.Own("HeapLab.Box`1[System.Int32][]", 1, Ledger.ArrayBytes(2, 8), 2);
        lab.Keep(new Pair<string, List<Node>>());
        ledger.Own("HeapLab.Pair`2[System.String,System.Collections.Generic.List`1[HeapLab.Node]]", 1, 32, 0);
        lab.Keep(new Pair<Dictionary<string, List<Node>>, Dictionary<Sample, Box<Node[,]>>>());
        ledger.Own("HeapLab.Pair`2[System.Collections.Generic.Dictionary`2[System.String,"
            + "System.Collections.Generic.List`1[HeapLab.Node]],System.Collections.Generic.Dictionary`2[HeapLab.Sample,"
            + "HeapLab.Box`1[HeapLab.Node[,]]]]", 1, 32, 0);

        lab.Keep(new Cabinet.Drawer { Content = new Cabinet.Drawer.Compartment() });
        lab.Keep(new Desk.Drawer());
        lab.Keep(new Desk.Drawer());
        ledger.Own("Drawer", 3, 24 + 2 * 32, 1);
        ledger.Own("Compartment", 1, 24, 0);
        lab.Keep(new Desk.Drawer[1]);
        ledger.Own("Drawer[]", 1, Ledger.ArrayBytes(1, 8), 0);

        // As a type argument the same nested types are qualified.
        lab.Keep(new Box<Cabinet.Drawer>());
        ledger.Own("HeapLab.Box`1[HeapLab.Cabinet+Drawer]", 1, 24, 0);
        lab.Keep(new Box<Cabinet.Drawer.Compartment[]>());
        ledger.Own("HeapLab.Box`1[HeapLab.Cabinet+Drawer+Compartment[]]", 1, 24, 0);

        lab.Keep(new Crate<string>.Slot { Value = "slot" });
        lab.Keep(new Crate<Node>.Slot());
        lab.Keep(new Crate<int>.Slot());
        ledger.Own("Slot[System.String]", 1, 24, 1);
        ledger.Own("Slot[HeapLab.Node]", 1, 24, 0);
        ledger.Own("Slot[System.Int32]", 1, 24, 0);
        lab.Keep(new Crate<string>.Sack<int>());
        lab.Keep(new Crate<Desk.Drawer>.Sack<Crate<int>.Slot>());
        ledger.Own("Sack`1[System.String,System.Int32]", 1, 32, 0);
        ledger.Own("Sack`1[HeapLab.Desk+Drawer,HeapLab.Crate`1+Slot[System.Int32]]", 1, 32, 0);
    }
}
