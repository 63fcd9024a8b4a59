// SPDX-License-Identifier: MIT
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Loader;

namespace WebLab;

/// <summary>One assembly in several contexts, with and without a file, unloaded contexts, and assemblies made in memory.</summary>
static class Contexts
{
    public static void Build(List<object> kept, string? plugin)
    {
        if (plugin != null)
        {
            for (int i = 0; i < 3; i++)
                Use(kept, Load(kept, $"plugin-{i}", plugin, i == 2));
            AssemblyLoadContext gone = Load(new(), "gone", plugin, true);      // makes room in the runtime's list of assemblies
            Use(new(), gone);
            gone.Unload();
            var stream = new AssemblyLoadContext("stream", isCollectible: true);
            stream.LoadFromStream(new MemoryStream(File.ReadAllBytes(plugin)));
            kept.Add(stream);
            Use(kept, stream);
        }
        for (int i = 0; i < 6; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        if (plugin != null)
            Use(kept, Load(kept, "late", plugin, true));
        if (System.Runtime.CompilerServices.RuntimeFeature.IsDynamicCodeSupported)
        {
            Make(kept, "Made.Here", AssemblyBuilderAccess.Run);
            Make(kept, "Made.Collectible", AssemblyBuilderAccess.RunAndCollect);
        }
    }

    static AssemblyLoadContext Load(List<object> kept, string name, string file, bool collectible)
    {
        var context = new AssemblyLoadContext(name, collectible);
        context.LoadFromAssemblyPath(file);
        kept.Add(context);
        return context;
    }

    static void Use(List<object> kept, AssemblyLoadContext context)
    {
        Type entry = context.Assemblies.First().GetType("Plugin.Entry", throwOnError: true)!;
        kept.Add(entry.GetMethod("Make")!.Invoke(null, null)!);
    }

    static void Make(List<object> kept, string name, AssemblyBuilderAccess access)
    {
        ModuleBuilder module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), access).DefineDynamicModule(name);
        TypeBuilder outer = module.DefineType(name + ".Outer", TypeAttributes.Public);
        outer.DefineField("s_items", typeof(List<string>), FieldAttributes.Public | FieldAttributes.Static);
        TypeBuilder inner = outer.DefineNestedType("Inner", TypeAttributes.NestedPublic);
        inner.DefineField("s_items", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        TypeBuilder odd = outer.DefineNestedType("Odd,Name[x]", TypeAttributes.NestedPublic);
        Type made = outer.CreateType(), madeInner = inner.CreateType(), madeOdd = odd.CreateType();
        made.GetField("s_items")!.SetValue(null, new List<string> { "made" });
        madeInner.GetField("s_items")!.SetValue(null, Activator.CreateInstance(madeInner));
        kept.Add(Activator.CreateInstance(made)!);
        kept.Add(Array.CreateInstance(madeInner, 3));
        kept.Add(Activator.CreateInstance(typeof(List<>).MakeGenericType(madeInner))!);
        kept.Add(Activator.CreateInstance(madeOdd)!);
    }
}
