// SPDX-License-Identifier: MIT
// Objects with fields of all kinds whose values are read, and what the program itself says of them.
using System.Globalization;

namespace ValueLab;

enum State : byte { New, Paid, Failed = 200 }

[Flags]
enum Rights : long { None = 0, Read = 1, Write = 2, ReadWrite = 3, Delete = 4, Share = 8, Owner = 1L << 40, Odd = long.MinValue }

enum Level { Low = -5, High = 5 }

struct Money
{
    public decimal Amount;
    public State Of;
}

struct Place
{
    public int X, Y;
    public int Width { get; set; }
}

struct Route
{
    public Place From, To;
    public string? Name;
    public Either<Place> Last;
}

// An instance of it is no element, no argument, and in no box.
struct Either<T>
{
    public T One;
    public byte Which;
}

class Document
{
    public DateTime Due;
    public long Version;
}

sealed class Box<T>(T content)
{
    public T Content = content;
}

sealed class Maybe<T>(T? content) where T : struct
{
    public T? Content = content;
}

sealed class Order : Document
{
    public int Id { get; set; }
    public State State;
    public Rights Rights;
    public Level Level;
    public DayOfWeek Day;               // of another module
    public bool Done;
    public char Sign;
    public sbyte Tiny;
    public ushort Small;
    public ulong Large;
    public float Rate;
    public double Weight;
    public Half Narrow;
    public Int128 Huge;
    public UInt128 Immense;
    public nint Handle;
    public TimeSpan Took;
    public DateTimeOffset Made;
    public DateOnly Birthday;
    public TimeOnly Noon;
    public Guid Key;
    public decimal Price;
    public int? MaybeInt;
    public State? MaybeState;
    public DateTime? MaybeDue;
    public DateTimeOffset? MaybeMade;
    public Guid? MaybeKey;
    public decimal? MaybePrice;
    public bool? MaybeDone;
    public DayOfWeek? MaybeDay;
    public TimeOnly? MaybeNoon;
    public Half? MaybeNarrow;
    public Int128? MaybeHuge;
    public Money Total;
    public Route Route;
    public KeyValuePair<string, Place> Pair;
    public (int Left, Guid Right, State) Both;
    public Either<DateTime> Either;
    public Place? MaybePlace;
    public Place[] Places = [];
    public string? Customer;
    public object? Tag;                 // a boxed value
    public Box<DateTime>? BoxedDue;
    public Box<State>? BoxedState;
    public Box<int>? BoxedInt;
    public Box<Guid>? BoxedKey;
    public Box<int?>? BoxedMaybe;
    public Box<Rights?>? BoxedRights;
    public Box<Int128>? BoxedHuge;
    public Box<Half>? BoxedNarrow;
    public Maybe<int>? OwnMaybe;        // its field is a nullable of its type parameter
    public Order? Next;

    static DateTime Date(Random r) => new(r.NextInt64(DateTime.MaxValue.Ticks + 1) / (r.Next(2) == 0 ? 1 : 10_000_000) * (r.Next(2) == 0 ? 1 : 1), (DateTimeKind)r.Next(3));

    static decimal Decimal(Random r) => new(r.Next(int.MinValue, int.MaxValue), r.Next(3) == 0 ? r.Next() : 0, r.Next(3) == 0 ? r.Next() : 0, r.Next(2) == 0, (byte)r.Next(29));

    static DateTimeOffset Offset(Random r)
    {
        var minutes = r.Next(-14 * 60, 14 * 60 + 1);
        return new(new DateTime(r.NextInt64(TimeSpan.TicksPerDay * 2, DateTime.MaxValue.Ticks - TimeSpan.TicksPerDay * 2)), TimeSpan.FromMinutes(minutes));
    }

    static Guid NewKey(Random r)
    {
        var bytes = new byte[16];
        r.NextBytes(bytes);
        return new Guid(bytes);
    }

    static Rights NewRights(Random r) => (Rights)(r.Next(4) == 0 ? r.NextInt64() : r.Next(16)) | (r.Next(8) == 0 ? Rights.Owner : 0) | (r.Next(8) == 0 ? Rights.Odd : 0);

    // Numbers of all sizes, those that are none, and those whose shortest text is short.
    static double Double(Random r) => r.Next(8) switch { 0 => BitConverter.Int64BitsToDouble((long)r.Next(0x7fe, 0x801) << 52 | (long)r.Next(2)), 1 => -0.0, 2 => r.Next(1000) / 10.0, 3 => Math.Pow(10, r.Next(-20, 20)), 4 => r.NextDouble(), _ => BitConverter.Int64BitsToDouble(r.NextInt64(long.MinValue, long.MaxValue)) };

    static float Single(Random r) => r.Next(8) switch { 0 => BitConverter.Int32BitsToSingle(r.Next(0xfe, 0x101) << 23 | r.Next(2)), 1 => -0.0f, 2 => r.Next(1000) / 10.0f, 3 => MathF.Pow(10, r.Next(-20, 20)), 4 => r.NextSingle(), _ => BitConverter.Int32BitsToSingle(r.Next(int.MinValue, int.MaxValue)) };

    static Half Narrowest(Random r) => BitConverter.Int16BitsToHalf((short)r.Next(short.MinValue, short.MaxValue + 1));

    static Int128 Wide(Random r) => new Int128((ulong)r.NextInt64(long.MinValue, long.MaxValue), (ulong)r.NextInt64(long.MinValue, long.MaxValue)) >> r.Next(128);

    public static Order Make(int id, Random r)
    {
        bool Some() => r.Next(3) > 0;
        return new Order
        {
            Id = id * (r.Next(2) * 2 - 1), Due = Date(r), Version = r.NextInt64(long.MinValue, long.MaxValue), State = (State)(r.Next(4) == 3 ? 200 : r.Next(4)), Rights = NewRights(r),
            Level = (Level)(r.Next(3) * 5 - 5), Day = (DayOfWeek)r.Next(8), Done = Some(), Sign = (char)r.Next(33, 127), Tiny = (sbyte)r.Next(-128, 128), Small = (ushort)r.Next(65536),
            Large = (ulong)r.NextInt64(long.MinValue, long.MaxValue), Rate = Single(r), Weight = Double(r), Narrow = Narrowest(r), Huge = Wide(r), Immense = (UInt128)Wide(r),
            MaybeNarrow = Some() ? Narrowest(r) : null, MaybeHuge = Some() ? Wide(r) : null,
            BoxedMaybe = new(Some() ? id : null), BoxedRights = new(Some() ? NewRights(r) : null), BoxedHuge = new(Wide(r)), BoxedNarrow = new(Narrowest(r)), OwnMaybe = new(Some() ? -id : null),
            Handle = (nint)r.NextInt64(), Took = new(r.NextInt64(long.MinValue, long.MaxValue) / (Some() ? 1000 : 1)),
            Made = Offset(r), Birthday = DateOnly.FromDateTime(Date(r)), Noon = TimeOnly.FromDateTime(Date(r)), Key = NewKey(r), Price = Decimal(r),
            MaybeInt = Some() ? r.Next() : null, MaybeState = Some() ? State.Failed : null, MaybeDue = Some() ? Date(r) : null, MaybeMade = Some() ? Offset(r) : null, MaybeKey = Some() ? NewKey(r) : null,
            MaybePrice = Some() ? Decimal(r) : null, MaybeDone = Some() ? Some() : null, MaybeDay = Some() ? DayOfWeek.Friday : null, MaybeNoon = Some() ? TimeOnly.FromDateTime(Date(r)) : null,
            Customer = Some() ? $"customer {id}" : null,
            Tag = r.Next(8) switch { 0 => id, 1 => State.Failed, 2 => Date(r), 3 => NewKey(r), 4 => Decimal(r), 5 => NewRights(r), 6 => 'x', _ => null },
            Total = new() { Amount = Decimal(r), Of = State.Paid }, Pair = new($"key {id}", new() { X = id, Y = -id, Width = r.Next() }), Both = (id, NewKey(r), State.Failed),
            Route = new() { From = new() { X = id }, To = new() { Y = id, Width = r.Next() }, Name = Some() ? $"route {id}" : null, Last = new() { One = new() { X = r.Next() }, Which = (byte)id } },
            Either = new() { One = Date(r), Which = 7 }, MaybePlace = Some() ? new Place { X = r.Next(), Y = id } : null, Places = [new() { X = id, Y = r.Next() }, new() { X = -id }],
            BoxedDue = new(Date(r)), BoxedState = new(State.Paid), BoxedInt = new(id), BoxedKey = new(NewKey(r)),
        };
    }

    // As gcdumpc writes a value.
    static string Text(object? value)
    {
        const string Seconds = "yyyy-MM-dd HH:mm:ss.FFFFFFF";
        var c = CultureInfo.InvariantCulture;
        static string Short(string s) => s.Contains('.') && s.LastIndexOf('.') > s.LastIndexOf(':') ? s.TrimEnd('0') : s;
        return value switch
        {
            null => "null",
            DateTime d => d.ToString(Seconds, c) + d.Kind switch { DateTimeKind.Utc => "Z", DateTimeKind.Local => " local", _ => "" },
            DateTimeOffset d => d.ToString(Seconds + "zzz", c),
            TimeSpan t => Short(t.ToString("c", c)),
            DateOnly d => d.ToString("yyyy-MM-dd", c),
            TimeOnly t => t.ToString("HH:mm:ss.FFFFFFF", c),
            bool b => b ? "true" : "false",
            char x => $"'{x}'",
            string s => $"\"{s}\"",
            IFormattable f => f.ToString(null, c),
            _ => "?",
        };
    }

    static readonly System.Reflection.BindingFlags s_all = System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.Public | System.Reflection.BindingFlags.NonPublic;

    static bool IsStruct(object value) => value.GetType() is { IsValueType: true, IsPrimitive: false, IsEnum: false } && value is not (IFormattable or Guid or DateTimeOffset) || value is System.Runtime.CompilerServices.ITuple;

    // The parts of a struct, "Outer.Inner".
    static void Print(TextWriter to, string name, object? value)
    {
        if (value == null || !IsStruct(value))
        {
            to.Write($"\t{name}={Text(value)}");
            return;
        }
        foreach (var field in value.GetType().GetFields(s_all))
            Print(to, $"{name}.{(field.Name.StartsWith('<') ? field.Name[1..field.Name.IndexOf('>')] : field.Name)}", field.GetValue(value));
    }

    // One line for each: the number, and for each field its name and value.
    public void Print(TextWriter to, int number)
    {
        to.Write(number);
        foreach (var field in typeof(Order).GetFields(s_all))
        {
            var value = field.GetValue(this);
            var name = field.Name.StartsWith('<') ? field.Name[1..field.Name.IndexOf('>')] : field.Name;
            var content = value?.GetType().GetField("Content");
            if (field.FieldType == typeof(Place?))
            {
                to.Write($"\t{name}.hasValue={Text(value != null)}");
                Print(to, name + ".value", value ?? default(Place));
            }
            else if (value is not (Order or Place[]))
                Print(to, name, content != null ? content.GetValue(value) : value);
        }
        to.WriteLine();
    }
}
