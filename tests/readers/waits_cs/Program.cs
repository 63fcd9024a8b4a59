// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;
using Microsoft.Diagnostics.Runtime.Interfaces;

namespace Waits;

/// <summary>
/// What the tasks and async methods of a living process wait for, from the fields of its objects.
///
///     Waits PID DAC                  DAC: libmscordaccore.so of the process's runtime
///
/// Prints JSON lines; all numbers are hexadecimal strings:
///
///     {"task": address, "type": name, "over": …, "runs": has a delegate, "resumes": [address …], "source": of a ValueTask as a task}
///     {"box": address, "machine": its address, "" = within the box, "type": name, "over": …, "awaits": [address …]}
///     {"other": address, "type": name, "box": if it is the state machine of an async iterator}
///
/// A box of Task's kind is in a line "task", too.  "resumes": boxes and tasks, in lists and behind Actions and what wraps them.  "awaits": what the
/// awaiters in the state machine that are not null lead to; "other": what is neither task nor box.
/// </summary>
static class Program
{
    static int Main(string[] args)
    {
        if (args.Length != 2)
        {
            Console.Error.WriteLine("usage: Waits PID DAC");
            return 2;
        }
        using DataTarget target = DataTarget.AttachToProcess(int.Parse(args[0]), suspend: true);
        using ClrRuntime runtime = target.ClrVersions.Single().CreateRuntime(args[1], ignoreMismatch: true);
        using var output = new StreamWriter(Console.OpenStandardOutput());
        var reader = new Reader(runtime.Heap, new Lines(output));
        foreach (ClrObject o in runtime.Heap.EnumerateObjects())
            if (o.Type != null && !o.IsFree)
                reader.Read(o);
        reader.Others();
        return 0;
    }
}

sealed class Reader(ClrHeap heap, Lines lines)
{
    readonly HashSet<ulong> _known = new(), _awaited = new();

    public void Read(ClrObject o)
    {
        string name = o.Type!.Name ?? "";
        bool task = IsTask(o.Type);
        if (task)
            Task(o, name);
        if (o.Type.GetFieldByName("StateMachine") != null && name.Contains("StateMachineBox<"))
            Box(o, name, task);
    }

    static bool IsTask(ClrType type)
    {
        for (ClrType? t = type; t != null; t = t.BaseType)
            if (t.Name == "System.Threading.Tasks.Task")
                return true;
        return false;
    }

    static string Hex(ulong n) => n.ToString("x");

    static bool Over(ClrObject task) => (task.ReadField<int>("m_stateFlags") & 0x1600000) != 0;    // TASK_STATE_COMPLETED_MASK

    void Task(ClrObject o, string name)
    {
        _known.Add(o.Address);
        var resumed = new List<ulong>();
        ClrObject continuation = o.ReadObjectField("m_continuationObject");
        if (!continuation.IsNull && !Over(o))
            Resumed(continuation, resumed);
        bool isSource = name.Contains("ValueTaskSourceAsTask") && o.Type!.GetFieldByName("_source") != null;
        ClrObject source = isSource ? o.ReadObjectField("_source") : default;
        if (isSource)
            _awaited.Add(source.Address);
        lines.Add(("task", Hex(o.Address)), ("type", name), ("over", Over(o)), ("resumes", resumed.Select(Hex)), ("source", isSource ? Hex(source.Address) : ""),
                  ("runs", !name.Contains("StateMachineBox") && !o.ReadObjectField("m_action").IsNull));
    }

    /// <summary>What is a continuation: boxes, tasks, lists, Actions.</summary>
    void Resumed(ClrObject o, List<ulong> to)
    {
        string name = o.Type?.Name ?? "";
        if (name == "System.Collections.Generic.List<System.Object>")
        {
            int n = o.ReadField<int>("_size");
            ClrArray items = o.ReadObjectField("_items").AsArray();
            for (int i = 0; i < n; i++)
                if (!items.GetObjectValue(i).IsNull)
                    Resumed(items.GetObjectValue(i), to);
        }
        else if (name == "System.Action")
        {
            bool old = o.Type!.GetFieldByName("_invocationList") != null;     // before .NET 11
            ClrObject all = o.ReadObjectField(old ? "_invocationList" : "_helperObject");
            if (!all.IsNull && all.IsArray)
                foreach (int i in Enumerable.Range(0, all.AsArray().Length))
                {
                    ClrObject one = old ? all.AsArray().GetObjectValue(i) : all.AsArray().GetStructValue(i).ReadObjectField("Value");
                    if (!one.IsNull)
                        Resumed(one, to);
                }
            else if (!o.ReadObjectField("_target").IsNull)
                to.Add(o.ReadObjectField("_target").Address);
        }
        else if (name.EndsWith("AwaitTaskContinuation"))
            Resumed(o.ReadObjectField("m_action"), to);
        else if (name.EndsWith("ContinueWithTaskContinuation"))
            to.Add(o.ReadObjectField("m_task").Address);
        else
        {
            to.Add(o.Address);
            if (name.Contains("Mres"))
                _awaited.Add(o.Address);
        }
    }

    void Box(ClrObject o, string name, bool task)
    {
        _known.Add(o.Address);
        ClrInstanceField field = o.Type!.GetFieldByName("StateMachine")!;
        var awaits = new List<ulong>();
        string machine = "";
        int state = -1;
        if (field.IsValueType)
        {
            ClrValueType value = o.ReadValueTypeField("StateMachine");
            if (value.Type?.GetFieldByName("<>1__state") != null)
                state = value.ReadField<int>("<>1__state");
            foreach (ClrInstanceField f in value.Type?.Fields ?? [])
                if (f.Name != null && f.Name.StartsWith("<>u__"))
                    Awaiter(f, value.Address, true, awaits);
        }
        else
        {
            ClrObject value = o.ReadObjectField("StateMachine");
            machine = value.IsNull ? "" : Hex(value.Address);
            if (!value.IsNull && value.Type!.GetFieldByName("<>1__state") != null)
                state = value.ReadField<int>("<>1__state");
            foreach (ClrInstanceField f in value.Type?.Fields ?? [])
                if (f.Name != null && f.Name.StartsWith("<>u__"))
                    Awaiter(f, value.Address, false, awaits);
        }
        lines.Add(("box", Hex(o.Address)), ("machine", machine), ("type", name), ("awaits", awaits.Select(Hex)), ("over", task ? Over(o) : state == -1));
    }

    /// <summary>What an awaiter leads to: the reference in it, or in the structures in it.</summary>
    void Awaiter(ClrInstanceField f, ulong at, bool interior, List<ulong> to)
    {
        if (f.IsObjectReference)
        {
            ClrObject o = f.ReadObject(at, interior);
            if (o.IsNull)
                return;
            if (!IsTask(o.Type!) && o.Type!.IsValueType)                   // an awaiter in an object of its own
            {
                foreach (ClrInstanceField inner in o.Type!.Fields)
                    Awaiter(inner, o.Address, false, to);
                return;
            }
            Add(o, to);
        }
        else if (f.IsValueType && !f.IsPrimitive && f.ElementType == ClrElementType.Struct && f.Type?.Name != "System.Int16")
        {
            ClrValueType value = f.ReadStruct(at, interior);
            if (value.Type == null || value.Type.Fields.Length == 0)       // ClrMD does not find every instance of a generic structure
            {
                ClrObject first = heap.GetObject(heap.Runtime.DataTarget.DataReader.ReadPointer(value.Address));
                if (first.IsValid && !first.IsNull)
                    Add(first, to);
            }
            foreach (ClrInstanceField inner in value.Type?.Fields ?? [])
                if (inner.Name != "_result")
                    Awaiter(inner, value.Address, true, to);
        }
    }

    void Add(ClrObject awaited, List<ulong> to)
    {
        _awaited.Add(awaited.Address);
        to.Add(awaited.Address);
    }

    public void Others()
    {
        foreach (ulong address in _awaited.Except(_known))
        {
            ClrObject o = heap.GetObject(address);
            ClrInstanceField? builder = o.Type?.GetFieldByName("<>t__builder");
            string box = "";
            if (builder != null && builder.IsValueType)
                foreach (ClrInstanceField f in builder.ReadStruct(address, false).Type?.Fields ?? [])
                    if (f.IsObjectReference && !f.ReadObject(builder.ReadStruct(address, false).Address, true).IsNull)
                        box = Hex(f.ReadObject(builder.ReadStruct(address, false).Address, true).Address);
            lines.Add(("other", Hex(address)), ("type", o.Type?.Name ?? ""), ("box", box));
        }
    }
}

sealed class Lines(TextWriter output)
{
    public void Add(params (string Key, object Value)[] members) =>
        output.WriteLine(JsonSerializer.Serialize(members.ToDictionary(m => m.Key, m => m.Value)));
}
