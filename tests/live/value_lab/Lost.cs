// SPDX-License-Identifier: MIT
// Dictionaries that are asked for N keys with ten different contents.  Only Found has ten entries: the keys of the others are equal to none.
using System.Collections.Concurrent;

namespace ValueLab;

sealed record ByArray(string Name, string[] Tags);

sealed class Unequal { public string Name = ""; public int Id; }

sealed record Equal(string Name, int Id);

sealed class SameTags : IEqualityComparer<ByArray>
{
    public bool Equals(ByArray? a, ByArray? b) => ReferenceEquals(a, b);
    public int GetHashCode(ByArray key) => key.Name.Length;
}

sealed class Lost
{
    public readonly ConcurrentDictionary<ByArray, byte[]> Arrays = new();
    public readonly Dictionary<Unequal, byte[]> Classes = new();
    public readonly ConcurrentDictionary<ByArray, byte[]> Compared = new(new SameTags());
    public readonly Dictionary<Unequal, byte[]> Identities = new();
    public readonly List<Unequal> Owned = new();
    public readonly Dictionary<Equal, byte[]> Found = new();

    public Lost(int n)
    {
        for (var i = 0; i < n; i++)
        {
            var name = $"name{i % 10}";
            Arrays[new ByArray(name, [name, "all"])] = new byte[1000];
            Classes[new Unequal { Name = name }] = new byte[1000];
            Compared[new ByArray(name, [name])] = new byte[1000];
            Owned.Add(new Unequal { Name = name, Id = i });
            Identities[Owned[i]] = new byte[1000];
            Found[new Equal(name, 7)] = new byte[1000];
        }
    }
}
