// SPDX-License-Identifier: MIT
namespace HeapLab;

static class Strings
{
    public static void Build(Lab lab, Ledger ledger)
    {
        var texts = lab.Keep(new object[6]);
        texts[0] = "";                                      // one object for the whole process
        texts[1] = "a literal of HeapLab";                  // on .NET 8 and later in the frozen heap
        texts[2] = new string('x', 10_000);
        texts[3] = new string('\u6587', 60_000);            // 120,022 bytes: large object heap
        texts[4] = string.Concat("Gr\u00f6\u00dfe ", "\u6570\u636e ", "\ud83d\ude00", lab.GetHashCode().ToString());
        texts[5] = new string('\0', 3);
        ledger.AtLeast("System.String", 6);
        ledger.AtLeast("System.Object[]", 1);
    }
}
