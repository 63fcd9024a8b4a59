// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;
using Microsoft.Diagnostics.Runtime.AbstractDac;

namespace FullNames;

/// <summary>
/// Names of types and static variables of a living process, from the process itself: ClrMD reads the metadata in its memory, so no file is asked.
///
///     FullNames PID DAC                  DAC: libmscordaccore.so of the process's runtime
///     FullNames PID DAC --threads        only the static variables of threads; crashes with .NET 8
///     FullNames PID DAC --heap           only the objects, handles and other roots
///     FullNames PID DAC --stacks         only the calls on the stacks of threads
///     FullNames PID DAC --values         only the values of fields: FieldValues.cs
///
/// PID can also be the path of a core file.
///
/// Prints JSON lines, in no order that means anything; all numbers are hexadecimal strings:
///
///     {"module": id, "path": …}
///     {"type": method table, "module": id, "token": …, "definition": "N.Outer`1+Inner", "name": as ClrMD spells it}
///     {"static": address of the variable, "field": …, "class": "N.Outer`1+Inner", "module": id, "token": of the field, "object": address}
///     {"thread_static": address, … as "static"}
///
/// Types: those of the objects on the heap; module, token and definition of an array are those of its elements.  Static variables: those that are not
/// null, of all loaded classes without type parameters.
///
/// With --heap other lines, of words: "object ADDRESS TABLE BYTES TARGET...", for free memory "free" (TARGET: all references that are not null);
/// "handle ADDRESS OBJECT KIND DEPENDENT"; "root OBJECT KIND" for all other roots.  With --stacks, from the inside out: "frame THREAD STACK-POINTER CODE
/// TOKEN MODULE NAME", separated by tabs; TOKEN of the method, MODULE is a path, NAME that of the method with its class.
/// </summary>
static class Program
{
    static int Main(string[] args)
    {
        if (args.Length < 2 || (args.Length > 2 && args[2] is not ("--threads" or "--heap" or "--stacks" or "--values")))
        {
            Console.Error.WriteLine("usage: FullNames PID|CORE DAC [--threads|--heap|--stacks|--values]");
            return 2;
        }
        bool living = int.TryParse(args[0], out int pid);
        using DataTarget attached = living ? DataTarget.AttachToProcess(pid, suspend: true) : DataTarget.LoadDump(args[0]);
        using var target = living ? new DataTarget(new Process(attached.DataReader), new DataTargetOptions()) : attached;
        ClrInfo clr = target.ClrVersions.Single();
        using ClrRuntime runtime = clr.CreateRuntime(args[1], ignoreMismatch: true);
        var metadata = new Metadata(DataTarget.CreateDacServices(clr, args[1], true));
        using var output = new StreamWriter(Console.OpenStandardOutput());
        var lines = new Lines(output);
        if (args.Length > 2 && args[2] == "--heap")
        {
            HeapLines(runtime, output);
            return 0;
        }
        if (args.Length > 2 && args[2] == "--stacks")
        {
            StackLines(runtime, output);
            return 0;
        }
        if (args.Length > 2 && args[2] == "--values")
        {
            new FieldValues(target.DataReader, output).Print(runtime.Heap);
            return 0;
        }
        if (args.Length > 2)
        {
            Statics(runtime, metadata, lines, true);
            return 0;
        }
        foreach (ClrModule module in runtime.EnumerateModules())
            lines.Add(("module", Hex(module.Address)), ("path", module.Name ?? ""));
        Types(runtime, metadata, lines);
        Statics(runtime, metadata, lines, false);
        return 0;
    }

    static string Hex(ulong n) => n.ToString("x");

    static void HeapLines(ClrRuntime runtime, TextWriter output)
    {
        foreach (ClrObject o in runtime.Heap.EnumerateObjects())
        {
            output.Write($"{(o.IsFree ? "free" : "object")} {Hex(o.Address)} {Hex(o.Type?.MethodTable ?? 0)} {Hex(o.Size)}");
            if (!o.IsFree)
                foreach (ulong target in o.EnumerateReferenceAddresses(carefully: false, considerDependantHandles: false))
                    output.Write(" " + Hex(target));
            output.WriteLine();
        }
        foreach (ClrHandle h in runtime.EnumerateHandles())
            output.WriteLine($"handle {Hex(h.Address)} {Hex(h.Object.Address)} {h.HandleKind} {Hex(h.Dependent.Address)}");
        foreach (ClrRoot root in runtime.Heap.EnumerateRoots())
            if (root is not ClrHandle)
                output.WriteLine($"root {Hex(root.Object.Address)} {root.RootKind}");
    }

    static void StackLines(ClrRuntime runtime, TextWriter output)
    {
        foreach (ClrThread thread in runtime.Threads)
            foreach (ClrStackFrame frame in thread.EnumerateStackTrace())
                if (frame.Method is ClrMethod method)
                    output.WriteLine(string.Join('\t', "frame", Hex(thread.OSThreadId), Hex(frame.StackPointer), Hex(frame.InstructionPointer),
                                                 Hex((uint)method.MetadataToken), method.Type.Module?.Name ?? "", $"{method.Type.Name}.{method.Name}"));
    }

    static void Types(ClrRuntime runtime, Metadata metadata, Lines lines)
    {
        var seen = new HashSet<ulong>();
        foreach (ClrObject o in runtime.Heap.EnumerateObjects())
        {
            if (o.Type == null || o.IsFree || !seen.Add(o.Type.MethodTable))
                continue;
            ClrType definition = o.Type;
            while (definition.IsArray && definition.ComponentType != null)
                definition = definition.ComponentType;
            lines.Add(("type", Hex(o.Type.MethodTable)), ("module", Hex(definition.Module?.Address ?? 0)),
                      ("token", Hex((uint)definition.MetadataToken)), ("definition", definition.IsArray ? "" : metadata.FullName(definition)),
                      ("name", o.Type.Name ?? ""));
        }
    }

    static void Statics(ClrRuntime runtime, Metadata metadata, Lines lines, bool ofThreads)
    {
        ClrAppDomain domain = runtime.AppDomains.Single();
        foreach (ClrModule module in runtime.EnumerateModules())
            foreach ((ulong table, int _) in module.EnumerateTypeDefToMethodTableMap())
            {
                ClrType? type = runtime.GetTypeByMethodTable(table);
                if (type == null)
                    continue;
                if (!ofThreads)
                    foreach (ClrStaticField field in type.StaticFields)
                        Variable("static", metadata, lines, runtime, field, field.GetAddress(domain));
                else
                    foreach (ClrThreadStaticField field in type.ThreadStaticFields)
                        foreach (ClrThread thread in runtime.Threads)
                            Variable("thread_static", metadata, lines, runtime, field, field.GetAddress(thread));
            }
    }

    static void Variable(string what, Metadata metadata, Lines lines, ClrRuntime runtime, ClrField field, ulong address)
    {
        if (field.IsPrimitive || field.ElementType is ClrElementType.Pointer or ClrElementType.FunctionPointer || address == 0)
            return;
        ulong value = runtime.DataTarget.DataReader.ReadPointer(address);
        if (value != 0)
            lines.Add((what, Hex(address)), ("field", field.Name ?? ""), ("class", metadata.FullName(field.ContainingType)),
                      ("module", Hex(field.ContainingType.Module?.Address ?? 0)), ("token", Hex((uint)field.Token)), ("object", Hex(value)));
    }
}

/// <summary>
/// A process whose modules begin where their file does.  ClrMD takes the lowest address at which a file is mapped, but the assemblies in a
/// single-file program are mapped from the file of the program, and can lie below it.  And it does not know a runtime whose file was deleted.
/// </summary>
sealed class Process(IDataReader inner) : IDataReader
{
    public IEnumerable<ModuleInfo> EnumerateModules()
    {
        var begins = new Dictionary<string, ulong>();
        foreach (string[] words in File.ReadLines($"/proc/{ProcessId}/maps").Select(l => l.Split(' ', 6, StringSplitOptions.RemoveEmptyEntries)))
            if (words.Length == 6 && words[2].All(c => c == '0'))
                begins.TryAdd(words[5], Convert.ToUInt64(words[0].Split('-')[0], 16));
        foreach (ModuleInfo module in inner.EnumerateModules())
        {
            string name = module.FileName.Replace(" (deleted)", "");
            if (!begins.TryGetValue(module.FileName, out ulong begin))
                begin = module.ImageBase;
            yield return begin != module.ImageBase || name != module.FileName ? ModuleInfo.TryCreate(inner, begin, name) ?? module : module;
        }
    }

    public string DisplayName => inner.DisplayName;
    public bool IsThreadSafe => inner.IsThreadSafe;
    public OSPlatform TargetPlatform => inner.TargetPlatform;
    public Architecture Architecture => inner.Architecture;
    public int ProcessId => inner.ProcessId;
    public int PointerSize => inner.PointerSize;
    public void FlushCachedData() => inner.FlushCachedData();
    public bool GetThreadContext(uint thread, uint flags, Span<byte> context) => inner.GetThreadContext(thread, flags, context);
    public int Read(ulong address, Span<byte> buffer) => inner.Read(address, buffer);
    public bool Read<T>(ulong address, out T value) where T : unmanaged => inner.Read(address, out value);
    public T Read<T>(ulong address) where T : unmanaged => inner.Read<T>(address);
    public bool ReadPointer(ulong address, out ulong value) => inner.ReadPointer(address, out value);
    public ulong ReadPointer(ulong address) => inner.ReadPointer(address);
}

/// <summary>Full names of definitions, from the metadata that the runtime holds.</summary>
sealed class Metadata(IServiceProvider services)
{
    readonly IAbstractModuleHelpers _modules = (IAbstractModuleHelpers)services.GetService(typeof(IAbstractModuleHelpers))!;
    readonly Dictionary<ulong, IAbstractMetadataReader?> _readers = new();

    /// <summary>"N.Outer`1+Inner"; "" when the runtime does not give the metadata.</summary>
    public string FullName(ClrType type)
    {
        if (type.Module == null)
            return "";
        if (!_readers.TryGetValue(type.Module.Address, out IAbstractMetadataReader? reader))
            _readers.Add(type.Module.Address, reader = _modules.GetMetadataReader(type.Module.Address));
        int token = type.MetadataToken;
        string name = "";
        while (reader != null && reader.GetTypeDefInfo(token, out TypeDefInfo info))
        {
            name = info.Name + (name == "" ? "" : "+" + name);
            if (!reader.GetNestedClassToken(token, out token) || token == 0)
                return name;
        }
        return "";
    }
}

sealed class Lines(TextWriter output)
{
    public void Add(params (string Key, string Value)[] members) =>
        output.WriteLine(JsonSerializer.Serialize(members.ToDictionary(m => m.Key, m => m.Value)));
}
