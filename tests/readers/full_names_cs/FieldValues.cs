// SPDX-License-Identifier: MIT
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Microsoft.Diagnostics.Runtime;

namespace FullNames;

/// <summary>
/// The value of each field of each object, in lines of words separated by tabs: ADDRESS FIELD KIND VALUE.  KIND is "reference" (the address of an object, or
/// 0), "null" of a nullable, "value" (an integer, also of an enum; or a text as gcdumpc writes it), or "other" of a struct (its type).
/// </summary>
sealed class FieldValues(IDataReader memory, TextWriter output)
{
    readonly byte[] _bytes = new byte[16];
    ulong _object;

    public void Print(ClrHeap heap)
    {
        foreach (ClrObject o in heap.EnumerateObjects())
            if (o.Type is { IsFree: false, IsArray: false, IsString: false } type && !o.IsBoxedValue)
            {
                _object = o.Address;
                foreach (ClrInstanceField f in type.Fields)
                    Print(f, o.Address, false, f.Name ?? "", 0);
            }
    }

    /// A struct is its parts, "Outer/Inner".
    void Print(ClrInstanceField f, ulong address, bool interior, string path, int depth)
    {
        string text = Text(f, f.GetAddress(address, interior), () => f.ReadStruct(address, interior));
        output.WriteLine($"{_object}\t{path}\t{text}");
        if (text.StartsWith("other\t", StringComparison.Ordinal) && f.Type is { IsValueType: true } type && depth < 5)
            foreach (ClrInstanceField part in type.Fields)
                Print(part, f.GetAddress(address, interior), true, $"{path}/{part.Name}", depth + 1);
    }

    string Text(ClrInstanceField f, ulong address, Func<ClrValueType> whole)
    {
        string name = f.Type?.Name ?? "?";
        if (f.IsObjectReference)
            return $"reference\t{Read<ulong>(address)}";
        if (name.StartsWith("System.Nullable<", StringComparison.Ordinal) && f.Type!.GetFieldByName("value") is { } value && f.Type.GetFieldByName("hasValue") is { } flag)
        {
            ulong at = whole().Address;
            return Read<byte>(flag.GetAddress(at, true)) == 0 ? "null\t" : Text(value, value.GetAddress(at, true), () => default);
        }
        ClrElementType element = f.Type is { IsEnum: true } ? f.Type.AsEnum().ElementType : f.ElementType;
        string? text = Primitive(element, address) ?? Struct(name, address);
        return text != null ? $"value\t{text}" : $"other\t{name}";
    }

    T Read<T>(ulong address) where T : struct
    {
        int n = Unsafe.SizeOf<T>();
        if (memory.Read(address, _bytes.AsSpan(0, n)) != n)
            throw new IOException($"nothing at {address:x}");
        return Unsafe.ReadUnaligned<T>(ref _bytes[0]);
    }

    string? Primitive(ClrElementType element, ulong address) => element switch
    {
        ClrElementType.Boolean => Read<byte>(address).ToString(),
        ClrElementType.Char => Read<ushort>(address).ToString(),
        ClrElementType.Int8 => Read<sbyte>(address).ToString(),
        ClrElementType.UInt8 => Read<byte>(address).ToString(),
        ClrElementType.Int16 => Read<short>(address).ToString(),
        ClrElementType.UInt16 => Read<ushort>(address).ToString(),
        ClrElementType.Int32 => Read<int>(address).ToString(),
        ClrElementType.UInt32 => Read<uint>(address).ToString(),
        ClrElementType.Int64 or ClrElementType.NativeInt => Read<long>(address).ToString(),
        ClrElementType.UInt64 or ClrElementType.NativeUInt => Read<ulong>(address).ToString(),
        ClrElementType.Float => Read<float>(address).ToString(CultureInfo.InvariantCulture),
        ClrElementType.Double => Read<double>(address).ToString(CultureInfo.InvariantCulture),
        _ => null,
    };

    string? Struct(string name, ulong address)
    {
        const string Seconds = "yyyy-MM-dd HH:mm:ss.FFFFFFF";
        var c = CultureInfo.InvariantCulture;
        static string Short(string s) => s.Contains('.') && s.LastIndexOf('.') > s.LastIndexOf(':') ? s.TrimEnd('0') : s;
        string Date(DateTime d) => d.ToString(Seconds, c) + d.Kind switch { DateTimeKind.Utc => "Z", DateTimeKind.Local => " local", _ => "" };
        return name switch
        {
            "System.DateTime" => Date(Read<DateTime>(address)),
            "System.DateTimeOffset" => Read<DateTimeOffset>(address).ToString(Seconds + "zzz", c),
            "System.TimeSpan" => Short(Read<TimeSpan>(address).ToString("c", c)),
            "System.DateOnly" => Read<DateOnly>(address).ToString("yyyy-MM-dd", c),
            "System.TimeOnly" => Read<TimeOnly>(address).ToString("HH:mm:ss.FFFFFFF", c),
            "System.Guid" => Read<Guid>(address).ToString(),
            "System.Decimal" => Read<decimal>(address).ToString(c),
            "System.Int128" => Read<Int128>(address).ToString(c),
            "System.UInt128" => Read<UInt128>(address).ToString(c),
            "System.Half" => Read<Half>(address).ToString(c),
            _ => null,
        };
    }
}
