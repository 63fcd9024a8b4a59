// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using FastSerialization;

namespace Graphs;

/// <summary>Where a type comes from that has no name yet.</summary>
public sealed class Module : IFastSerializable
{
    public string? Path, PdbName;
    public ulong ImageBase;
    public int Size;
    public long BuildTicks;
    public Guid PdbGuid;
    public int PdbAge;

    public void FromStream(Deserializer d)
    {
        Path = d.ReadString();
        ImageBase = (ulong)d.ReadInt64();
        Size = d.ReadInt();
        BuildTicks = new DateTime(d.ReadInt64()).Ticks;
        PdbName = d.ReadString();
        d.Read(out PdbGuid);
        PdbAge = d.ReadInt();
    }

    public void ToStream(Serializer s)
    {
        s.Write(Path);
        s.Write((long)ImageBase);
        s.Write(Size);
        s.Write(BuildTicks);
        s.Write(PdbName);
        s.Write(PdbGuid);
        s.Write(PdbAge);
    }
}

public sealed class NodeType
{
    public string? Name, ModuleName, Suffix;
    public int Size = -1, TypeId;
    public Module? Deferred;

    /// <summary>As readers show it without a PDB.</summary>
    public string Shown => Name ?? $"TypeID(0x{TypeId:x})";
}

/// <summary>One node, decoded.</summary>
public readonly record struct Node(int Type, int Size, int[] Children);

public sealed class MemoryGraph : IFastSerializable, IFastSerializableVersion
{
    public long TotalSize;
    public int RootIndex;
    public List<NodeType> Types = [];
    public uint[] Offsets = [];
    public byte[] Blob = [];
    public ulong[] Addresses = [];
    public bool Is64Bit;
    public bool HasDeferredTypes;

    int IFastSerializableVersion.Version => 1;
    int IFastSerializableVersion.MinimumVersionCanRead => 0;
    int IFastSerializableVersion.MinimumReaderVersion => HasDeferredTypes ? 1 : 0;

    public void FromStream(Deserializer d)
    {
        HasDeferredTypes = d.MinimumReaderVersionBeingRead >= 1;
        TotalSize = d.ReadInt64();
        RootIndex = d.ReadInt();
        int typeCount = d.ReadInt();
        for (int i = 0; i < typeCount; i++)
            Types.Add(new NodeType { Name = d.ReadString(), Size = d.ReadInt(), ModuleName = d.ReadString() });
        Offsets = new uint[d.ReadInt()];
        for (int i = 0; i < Offsets.Length; i++)
            Offsets[i] = (uint)d.ReadInt();
        Blob = new byte[d.ReadInt()];
        for (int i = 0; i < Blob.Length; i++)
            Blob[i] = d.ReadByte();
        if (HasDeferredTypes)
            ReadDeferredTypes(d);
        Addresses = new ulong[d.ReadInt()];
        for (int i = 0; i < Addresses.Length; i++)
            Addresses[i] = (ulong)d.ReadInt64();
        d.TryReadTagged(ref Is64Bit);
    }

    private void ReadDeferredTypes(Deserializer d)
    {
        ForwardReference end = d.ReadForwardReference();
        int count = d.ReadInt();
        for (int i = 0; i < count; i++)
        {
            Types[i].TypeId = d.ReadInt();
            Types[i].Deferred = (Module?)d.ReadObject();
            Types[i].Suffix = d.ReadString();
            Types[i].ModuleName ??= Types[i].Deferred?.Path;
        }
        d.Goto(end);
    }

    public void ToStream(Serializer s)
    {
        s.Write(TotalSize);
        s.Write(RootIndex);
        s.Write(Types.Count);
        foreach (var t in Types)
        {
            s.Write(t.Name);
            s.Write(t.Size);
            s.Write(t.ModuleName);
        }
        s.Write(Offsets.Length);
        foreach (uint offset in Offsets)
            s.Write((int)offset);
        s.Write(Blob.Length);
        foreach (byte b in Blob)
            s.Write(b);
        if (HasDeferredTypes)
        {
            ForwardReference end = s.GetForwardReference();
            s.Write(end);
            s.Write(Types.Count);
            foreach (var t in Types)
            {
                s.Write(t.TypeId);
                s.Write(t.Deferred);
                s.Write(t.Suffix);
            }
            s.DefineForwardReference(end);
        }
        s.Write(Addresses.Length);
        foreach (ulong address in Addresses)
            s.Write((long)address);
        s.WriteTagged(Is64Bit);
    }

    /// <summary>Throws when the encoding leaves the blob or names a type or node that is not there: viewers fail on it later.</summary>
    public Node Decode(int index)
    {
        long at = Offsets[index];
        int typeAndFlag = ReadInt(ref at);
        int type = typeAndFlag >> 1;
        if (type < 0 || type >= Types.Count)
            throw new FormatException($"node {index}: type {type} of {Types.Count}");
        int size = (typeAndFlag & 1) != 0 ? ReadInt(ref at) : Types[type].Size;
        int count = ReadInt(ref at);
        if (size < 0 || count < 0 || count > Blob.Length - at)
            throw new FormatException($"node {index}: size {size}, {count} children");
        var children = new int[count];
        for (int i = 0; i < count; i++)
        {
            long child = (long)index + ReadInt(ref at);
            if (child < 0 || child >= Offsets.Length)
                throw new FormatException($"node {index}: child {child} of {Offsets.Length}");
            children[i] = (int)child;
        }
        return new Node(type, size, children);
    }

    private int ReadInt(ref long at)
    {
        int value = 0;
        for (int n = 0; ; n++)
        {
            if (at >= Blob.Length || n == 5)
                throw new FormatException($"number at {at} leaves the blob of {Blob.Length} bytes");
            byte b = Blob[at++];
            value = n == 0 ? (sbyte)(b << 1) >> 1 : value << 7 | b & 0x7f;
            if ((b & 0x80) == 0)
                return value;
        }
    }
}
