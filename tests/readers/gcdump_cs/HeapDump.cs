// SPDX-License-Identifier: MIT
// The objects inside a .gcdump, as FastSerialization asks for them: each class reads and writes its own fields, the library does
// the rest (signature, tags, types, versions, references, labels).  Names and versions are those that other readers look up.
using System;
using System.Collections.Generic;
using FastSerialization;

public sealed class GCHeapDump : IFastSerializable, IFastSerializableVersion
{
    public Graphs.MemoryGraph Graph = new();
    public float CountMultiplier = 1, SizeMultiplier = 1;
    public JSHeapInfo? JavaScript;
    public DotNetHeapInfo? Heap;
    public string? Log, MachineName, ProcessName, CreationTool;
    public long TimeTicks, Commit, WorkingSet;
    public int ProcessId;
    public float[] MultipliersByType = [];
    public InteropInfo? Interop;
    public int FileVersion, FileMinimumReader;

    int IFastSerializableVersion.Version => 10;
    int IFastSerializableVersion.MinimumVersionCanRead => 9;
    int IFastSerializableVersion.MinimumReaderVersion => 8;

    public void FromStream(Deserializer d)
    {
        FileVersion = d.VersionBeingRead;
        FileMinimumReader = d.MinimumReaderVersionBeingRead;
        Graph = (Graphs.MemoryGraph)d.ReadObject();
        d.ReadBool();       // is 64 bit: the graph says it again
        CountMultiplier = d.ReadFloat();
        SizeMultiplier = d.ReadFloat();
        JavaScript = (JSHeapInfo?)d.ReadObject();
        Heap = (DotNetHeapInfo?)d.ReadObject();
        Log = d.ReadString();
        // DateTime refuses an invalid time, and so does every reader
        TimeTicks = new DateTime(d.ReadInt64()).Ticks;
        MachineName = d.ReadString();
        ProcessName = d.ReadString();
        ProcessId = d.ReadInt();
        Commit = d.ReadInt64();
        WorkingSet = d.ReadInt64();
        MultipliersByType = new float[d.ReadInt()];
        for (int i = 0; i < MultipliersByType.Length; i++)
            MultipliersByType[i] = d.ReadFloat();
        d.TryReadTagged(ref Interop);
        d.TryReadTagged(ref CreationTool);
    }

    public void ToStream(Serializer s)
    {
        s.Write(Graph);
        s.Write(Graph.Is64Bit);
        s.Write(CountMultiplier);
        s.Write(SizeMultiplier);
        s.Write(JavaScript);
        s.Write(Heap);
        s.Write(Log);
        s.Write(TimeTicks);
        s.Write(MachineName);
        s.Write(ProcessName);
        s.Write(ProcessId);
        s.Write(Commit);
        s.Write(WorkingSet);
        s.Write(MultipliersByType.Length);
        foreach (float m in MultipliersByType)
            s.Write(m);
        s.WriteTagged(Interop);
        s.WriteTagged(CreationTool);
    }

    /// <summary>The dump in a file, with 4-byte labels as all tools write them; throws what the library throws.</summary>
    public static GCHeapDump Read(string path)
    {
        var settings = SerializationSettings.Default.WithStreamLabelWidth(StreamLabelWidth.FourBytes);
        using var d = new Deserializer(path, settings);
        d.RegisterFactory(typeof(GCHeapDump), () => new GCHeapDump());
        d.RegisterFactory(typeof(Graphs.MemoryGraph), () => new Graphs.MemoryGraph());
        d.RegisterFactory(typeof(Graphs.Module), () => new Graphs.Module());
        d.RegisterFactory(typeof(DotNetHeapInfo), () => new DotNetHeapInfo());
        d.RegisterFactory(typeof(GCHeapDumpSegment), () => new GCHeapDumpSegment());
        d.RegisterFactory(typeof(JSHeapInfo), () => new JSHeapInfo());
        d.RegisterFactory(typeof(InteropInfo), () => new InteropInfo());
        return (GCHeapDump)d.GetEntryObject();
    }

    public void Write(string path)
    {
        var settings = SerializationSettings.Default.WithStreamLabelWidth(StreamLabelWidth.FourBytes);
        using var s = new Serializer(new IOStreamStreamWriter(path, settings), this);
    }
}

public sealed class DotNetHeapInfo : IFastSerializable
{
    public long SizeOfAllSegments;
    public List<GCHeapDumpSegment> Segments = [];

    public void FromStream(Deserializer d)
    {
        SizeOfAllSegments = d.ReadInt64();
        int count = d.ReadInt();
        for (int i = 0; i < count; i++)
            Segments.Add((GCHeapDumpSegment)d.ReadObject());
    }

    public void ToStream(Serializer s)
    {
        s.Write(SizeOfAllSegments);
        s.Write(Segments.Count);
        foreach (var segment in Segments)
            s.Write(segment);
    }
}

public sealed class GCHeapDumpSegment : IFastSerializable, IFastSerializableVersion
{
    /// <summary>Start, End, Gen0End .. Gen4End.</summary>
    public readonly ulong[] Ends = new ulong[7];
    /// <summary>0: without the end of the pinned object heap.</summary>
    public int FileVersion = 1;

    // what a reader compares with is 1; a writer of version 0 gives the older number
    int IFastSerializableVersion.Version => FileVersion;
    int IFastSerializableVersion.MinimumVersionCanRead => 0;
    int IFastSerializableVersion.MinimumReaderVersion => FileVersion;

    public void FromStream(Deserializer d)
    {
        FileVersion = d.VersionBeingRead;
        for (int i = 0; i < (FileVersion >= 1 ? 7 : 6); i++)
            Ends[i] = (ulong)d.ReadInt64();
    }

    public void ToStream(Serializer s)
    {
        for (int i = 0; i < (FileVersion >= 1 ? 7 : 6); i++)
            s.Write((long)Ends[i]);
    }
}

public sealed class JSHeapInfo : IFastSerializable
{
    public void FromStream(Deserializer d) { }
    public void ToStream(Serializer s) { }
}

public sealed class InteropInfo : IFastSerializable
{
    /// <summary>Callable wrappers in all; interfaces; modules.</summary>
    public int Wrappers, Rcws, Ccws, Interfaces, Modules;
    public List<string?> ModuleNames = [];

    public void FromStream(Deserializer d)
    {
        Wrappers = d.ReadInt();
        if (Wrappers == 0)
            return;
        Rcws = d.ReadInt();
        Ccws = d.ReadInt();
        Interfaces = d.ReadInt();
        Modules = d.ReadInt();
        Skip(d, Rcws, 2 * 4 + 3 * 8 + 2 * 4);
        Skip(d, Ccws, 2 * 4 + 2 * 8 + 2 * 4);
        Skip(d, Interfaces, 1 + 2 * 4 + 3 * 8);
        for (int i = 0; i < Modules; i++)
        {
            Skip(d, 1, 8 + 2 * 4);
            ModuleNames.Add(d.ReadString());
        }
    }

    private static void Skip(Deserializer d, int records, int bytes)
    {
        for (long i = 0; i < (long)records * bytes; i++)
            d.ReadByte();
    }

    public void ToStream(Serializer s)
    {
        s.Write(Wrappers);
        if (Wrappers == 0)
            return;
        s.Write(Rcws);
        s.Write(Ccws);
        s.Write(Interfaces);
        s.Write(Modules);
        int bytes = Rcws * 40 + Ccws * 32 + Interfaces * 33;
        for (int i = 0; i < bytes; i++)
            s.Write((byte)i);
        foreach (string? name in ModuleNames)
        {
            s.Write(0x10000L);
            s.Write(4096);
            s.Write(0);
            s.Write(name);
        }
    }
}
