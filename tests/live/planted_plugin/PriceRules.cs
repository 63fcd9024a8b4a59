// SPDX-License-Identifier: MIT
namespace Shop.Pricing;

public sealed class PriceRule(int number)
{
    readonly byte[] _table = new byte[800];
    public int Number => number + _table[0];
}

/// <summary>What Shop loads for every tenant.</summary>
public sealed class PriceRules
{
    static readonly List<PriceRules> s_all = new();
    readonly List<PriceRule> _rules = Enumerable.Range(0, 500).Select(i => new PriceRule(i)).ToList();

    public PriceRules() => s_all.Add(this);
}
