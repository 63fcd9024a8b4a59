// SPDX-License-Identifier: MIT
using System.Buffers;
using System.Runtime.InteropServices;

namespace Shop;

/// <summary>Handed to a library that calls back, and never freed.</summary>
public sealed class ScannerCallback
{
    readonly byte[] _image = new byte[3000];

    public static void Register() => GCHandle.Alloc(new ScannerCallback());
}

/// <summary>Buffers for a device, between objects that die.</summary>
public sealed class VideoFrame
{
    static readonly List<VideoFrame> s_frames = new();
    readonly byte[] _pixels = new byte[8000];

    public static object Pin()
    {
        var frame = new VideoFrame();
        GCHandle.Alloc(frame._pixels, GCHandleType.Pinned);
        s_frames.Add(frame);
        return new byte[30_000];
    }
}

public sealed class SensorBuffer
{
    static readonly List<SensorBuffer> s_all = new();
    readonly byte[] _samples = GC.AllocateArray<byte>(6000, pinned: true);

    public static void Open() => s_all.Add(new SensorBuffer());
}

/// <summary>The finalizer of the first one never comes back.</summary>
public sealed class ImageFile
{
    readonly byte[] _pixels = new byte[1000];

    ~ImageFile() => GC.KeepAlive(_pixels);
}

sealed class StuckConnection
{
    ~StuckConnection() => Thread.Sleep(Timeout.Infinite);
}

/// <summary>Rented, and kept.</summary>
public sealed class UploadBuffer
{
    static readonly List<UploadBuffer> s_open = new();
    readonly byte[] _bytes = ArrayPool<byte>.Shared.Rent(60_000);

    public static void Open() => s_open.Add(new UploadBuffer());
}

/// <summary>Every second document stays: the gaps are too small for the next, larger ones.</summary>
public sealed class DocumentStore
{
    public static readonly DocumentStore Instance = new();
    readonly List<byte[]> _documents = new();

    public void Add() => _documents.Add(new byte[100_000]);

    /// <summary>Drops every second one: nothing is allocated in the gaps any more.</summary>
    public void Thin()
    {
        int i = 0;
        _documents.RemoveAll(_ => i++ % 2 == 1);
        GC.Collect();
    }
}

static class Handles
{
    public static bool FinalizersBlocked { get; private set; }

    public static readonly (string, Program.Scenario)[] All =
    {
        ("strong-handles", () => Stores.Fill(3_000, _ => ScannerCallback.Register())),
        ("pinned-handles", Frames),
        ("pinned-arrays", () => Stores.Fill(1_500, _ => SensorBuffer.Open())),
        ("finalizer-backlog", Images),
        ("rented-arrays", () => Stores.Fill(150, _ => UploadBuffer.Open())),
        ("fragmented-documents", Documents),
    };

    static IHost? Documents()
    {
        for (int i = 0; i < 400; i++)
            DocumentStore.Instance.Add();
        DocumentStore.Instance.Thin();
        return null;
    }

    static IHost? Frames()
    {
        object[] between = Enumerable.Range(0, 1_500).Select(_ => VideoFrame.Pin()).ToArray();
        GC.KeepAlive(between);
        return null;
    }

    /// <summary>From now on no finalizer runs.</summary>
    public static void BlockFinalizers()
    {
        FinalizersBlocked = true;
        Drop();
        GC.Collect();
        Thread.Sleep(50);
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static void Drop() => GC.KeepAlive(new StuckConnection());

    static IHost? Images()
    {
        BlockFinalizers();
        return Stores.Fill(15_000, _ => GC.KeepAlive(new ImageFile()));
    }
}
