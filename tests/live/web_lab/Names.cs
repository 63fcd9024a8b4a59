// SPDX-License-Identifier: MIT
namespace WebLab
{
    public class Outer
    {
        public class Node { public object? Next; }
        public struct Cell { public object? Value; }
        public enum Kind : byte { One, Two }
        public delegate Node Maker(Cell cell);

        public class Inner
        {
            public class Node { public object? Next; }
            public class Deep<T> { public class Node { public T? Value; } public T[]? Values; }
        }
    }

    public class Pair<TKey, TValue>
    {
        public class Node { public TKey? Key; public TValue? Value; }
        public enum Kind { One }

        public class Tagged<TTag>
        {
            public TTag? Tag;
            public class Leaf { public TKey? Key; }
            public struct Slot { public TTag? Tag; public TValue? Value; }
        }
    }

    namespace Deep.Down
    {
        // Names that also exist elsewhere.
        public class Node { public object? Next; }
        public class Outer { public class Node { public object? Next; } }
        public class Pair<T> { public class Node { public T? Key; } }
    }

    file sealed class Hidden { public sealed class Nested { } }

    static unsafe class Names
    {
        sealed record Person(string Name, int Age);

        public static void Build(List<object> kept)
        {
            kept.Add(new Outer.Node());
            kept.Add(new Outer.Inner.Node());
            kept.Add(new Deep.Down.Node());
            kept.Add(new Deep.Down.Outer.Node());
            kept.Add(new Deep.Down.Pair<Outer.Node>.Node());
            kept.Add(new Outer.Inner.Deep<Outer.Cell>.Node());
            kept.Add(new Outer.Inner.Deep<Outer.Kind> { Values = new Outer.Kind[3] });
            kept.Add(new Pair<string, Outer.Node>.Node());
            kept.Add(new Pair<int, Outer.Inner.Node[]>.Tagged<Guid>());
            kept.Add(new Pair<int, Outer.Inner.Node[,]>.Tagged<Pair<int, long>.Node>.Leaf());
            kept.Add(new Pair<Deep.Down.Node, Outer.Node>.Tagged<Outer.Kind?>.Slot[4]);
            kept.Add(new Pair<Deep.Down.Node, Outer.Node>.Kind[4]);
            kept.Add(new Pair<Deep.Down.Pair<Outer.Node>.Node, List<Outer.Node[]>>.Node[2][]);
            kept.Add(new Outer.Cell[2, 3]);
            kept.Add(new Outer.Cell[2][,,]);
            kept.Add(new Outer.Kind?[5]);
            kept.Add(Array.CreateInstance(typeof(Outer.Node), new[] { 3 }, new[] { 5 }));
            kept.Add(new int*[3]);
            kept.Add(new Outer.Kind**[3]);
            kept.Add(new delegate*<int, void>[3]);
            kept.Add((object)Outer.Kind.Two);
            kept.Add((object)new Outer.Cell());
            kept.Add(new Outer.Maker(c => new Outer.Node { Next = c }));
            kept.Add(new Dictionary<Outer.Kind, Outer.Cell> { [Outer.Kind.One] = default });
            kept.Add(new Dictionary<string, Dictionary<(int, Outer.Kind), Outer.Node>> { ["a"] = new() { [(1, Outer.Kind.One)] = new() } });
            kept.Add(new SortedDictionary<int, Outer.Node> { [1] = new() });
            kept.Add(new System.Collections.Concurrent.ConcurrentDictionary<Outer.Cell, Person> { [default] = new("a", 1) });
            kept.Add(new Person[] { new("b", 2) });
            kept.Add(new Hidden.Nested());
            kept.Add(new { Name = "x", Cell = new Outer.Cell() });
            kept.Add(new Orders.Desk().Numbers(3).GetEnumerator());
            kept.Add(new Orders.Desk().Slow().GetAsyncEnumerator().MoveNextAsync().AsTask());
            kept.Add(Local<string>());
            kept.Add(Local<Outer.Cell>());
            kept.Add(new Lazy<Outer.Node>(() => new Outer.Node()));
            kept.Add(new[] { 3, 1, 2 }.Where(x => x > kept.Count).Select(x => new { x }).OrderBy(x => x.x));
            kept.Add(new Größe.Ünder<Größe>());
            kept.Add(new @class.@struct());

            static object Local<T>()
            {
                var list = new List<T>();
                return (Func<T?, int>)(x => { list.Add(x!); return list.Count; });
            }
        }
    }

    class Größe { public class Ünder<T> { public T? Wert; } }
    class @class { public class @struct { } }
}

// No namespace.
class Bare { public class Nested { public static object? s_bare = new Nested(); } }
