// SPDX-License-Identifier: MIT
using System;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.Diagnostics.Runtime;

/// <summary>
/// The references of all objects of a living process or a core file, with the fields that they are in, from its memory.
///
///     FieldList PID|CORE DAC              DAC: libmscordaccore.so of the process's runtime
///
/// Prints a line per object, in no order that means anything: address, method table, then for each reference OFFSET:FIELD:TARGET, ascending.
/// All numbers are hexadecimal; FIELD is as in the metadata, "outer.inner" in a value, "" = ClrMD does not know it: elements of arrays.
/// </summary>
static class FieldList
{
    static int Main(string[] args)
    {
        if (args.Length != 2)
        {
            Console.Error.WriteLine("usage: FieldList PID|CORE DAC");
            return 2;
        }
        using DataTarget target = int.TryParse(args[0], out int pid) ? DataTarget.AttachToProcess(pid, suspend: true) : DataTarget.LoadDump(args[0]);
        using ClrRuntime runtime = target.ClrVersions.Single().CreateRuntime(args[1], ignoreMismatch: true);
        using var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 20) { NewLine = "\n" };
        foreach (ClrObject o in runtime.Heap.EnumerateObjects())
        {
            if (o.Type is null || o.IsFree || !o.Type.ContainsPointers && !o.Type.IsCollectible)
                continue;
            output.Write($"{o.Address:x} {o.Type.MethodTable:x}");
            foreach (ClrReference r in o.EnumerateReferencesWithFields(carefully: false, considerDependantHandles: false).OrderBy(r => r.Offset))
                output.Write($" {r.Offset:x}:{Name(r)}:{r.Object.Address:x}");
            output.WriteLine();
        }
        return 0;
    }

    static string Name(ClrReference reference)
    {
        var name = new StringBuilder();
        for (ClrReference? r = reference; r is not null; r = r.Value.InnerField)
        {
            if (r.Value.Field?.Name is not { } part)
                return "";
            name.Append(name.Length > 0 ? "." : "").Append(part);
        }
        return name.ToString().Replace(' ', '\u00a0').Replace(':', '\u00a1');
    }
}
