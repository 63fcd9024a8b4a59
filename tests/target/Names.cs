// SPDX-License-Identifier: MIT
using System;
using System.Reflection;
using System.Reflection.Emit;

/// <summary>Without any namespace.</summary>
sealed class Homeless
{
}

namespace HeapLab.Deep.Er.Est
{
    sealed class Diver
    {
    }
}

namespace HeapLab.Größen
{
    sealed class Länge
    {
    }

    sealed class 数据
    {
    }
}

namespace Лаборатория
{
    sealed class Коробка<T>
    {
        public T? Значение;
    }
}

namespace HeapLab
{
    static class Names
    {
        public static void Build(Lab lab, Ledger ledger)
        {
            lab.Keep(new Homeless());
            ledger.Own("Homeless", 1, 24, 0);
            lab.Keep(new Deep.Er.Est.Diver());
            ledger.Own("HeapLab.Deep.Er.Est.Diver", 1, 24, 0);
            lab.Keep(new Größen.Länge());
            ledger.Own("HeapLab.Größen.Länge", 1, 24, 0);
            lab.Keep(new Größen.数据[] { new(), new() });
            ledger.Own("HeapLab.Größen.数据", 2, 2 * 24, 0);
            ledger.Own("HeapLab.Größen.数据[]", 1, Ledger.ArrayBytes(2, 8), 2);
            lab.Keep(new Лаборатория.Коробка<Größen.Länge>());
            ledger.Own("Лаборатория.Коробка`1[HeapLab.Größen.Länge]", 1, 24, 0);

            // Names that C# cannot spell: markup for an output that forgets to escape, and a pair of surrogates.  Their
            // module is made in memory and has no file.
            ModuleBuilder module = AssemblyBuilder
                .DefineDynamicAssembly(new AssemblyName("HeapLabDynamic"), AssemblyBuilderAccess.Run)
                .DefineDynamicModule("HeapLabDynamic");
            foreach (string name in new[] { "HeapLab.<b>\"&'</b>", "HeapLab.\ud83d\ude00" })
            {
                lab.Keep(Activator.CreateInstance(module.DefineType(name, TypeAttributes.Public).CreateType())!);
                ledger.Own(name, 1, 24, 0);
            }
        }
    }
}
