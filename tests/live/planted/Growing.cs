// SPDX-License-Identifier: MIT
using System.Threading.Channels;

namespace Shop;

/// <summary>A hall with rooms, each with a list that grows.</summary>
public sealed class ChatHall
{
    public static readonly ChatHall Instance = new();
    readonly List<Room> _rooms = new();

    public sealed record Message(int Number, string Text);

    public sealed class Room
    {
        readonly List<Message> _transcript = new();
        public void Say(int n) => _transcript.Add(new Message(n, "message " + n));
    }

    public static IHost? Open()
    {
        for (int i = 0; i < 40; i++)
            Instance._rooms.Add(new Room());
        Talk();
        Program.More = Talk;
        return null;
    }

    static void Talk()
    {
        for (int i = 0; i < 20_000; i++)
            Instance._rooms[i % 40].Say(i);
    }
}

/// <summary>Letters are in a tray and in the archive; once they are answered, in the archive only.  Meanwhile a catalogue of stamps is loaded.</summary>
public sealed class LetterDesk
{
    public static readonly LetterDesk Instance = new();
    readonly List<Letter> _tray = new(), _archive = new();
    byte[]? _stamps;

    public sealed record Letter(int Number, byte[] Scan);

    public static IHost? Open()
    {
        for (int i = 0; i < 5_000; i++)
        {
            var letter = new Letter(i, new byte[500]);
            Instance._tray.Add(letter);
            Instance._archive.Add(letter);
        }
        Program.More = () =>
        {
            Instance._tray.Clear();
            Instance._archive.Add(new Letter(5_000, new byte[500]));
            Instance._stamps = new byte[500_000];
        };
        return null;
    }
}

/// <summary>Depositors, each with the payments of late, never more than eight.</summary>
public sealed class Savings
{
    const int Kept = 8;
    public static readonly Savings Instance = new();
    readonly Dictionary<int, Depositor> _byNumber = new();
    readonly Random _random = new(7);

    public sealed record Payment(DateTime At, decimal Amount);

    public sealed class Depositor
    {
        Payment[] _late = [];

        public void Pay(decimal amount) => _late = [new Payment(DateTime.UnixEpoch, amount), .. _late.Take(Kept - 1)];
    }

    public static IHost? Open()
    {
        for (int i = 0; i < 3_000; i++)
            Instance._byNumber[i] = new Depositor();
        Instance.Pay();
        Program.More = () =>
        {
            Instance.Pay();
            Instance.Pay();
        };
        return null;
    }

    void Pay()
    {
        for (int i = 0; i < 16_000; i++)
            _byNumber[_random.Next(3_000)].Pay(i);
    }
}

/// <summary>Twelve subscribers with a channel each; one of them reads no more.</summary>
public sealed class Newsletter
{
    public static readonly Newsletter Instance = new();
    readonly List<Subscriber> _all = new();

    public sealed record Issue(int Number, byte[] Text);

    public sealed class Subscriber
    {
        public readonly Channel<Issue> Inbox = Channel.CreateUnbounded<Issue>();
    }

    public static IHost? Send()
    {
        for (int i = 0; i < 12; i++)
            Instance._all.Add(new Subscriber());
        for (int i = 0; i < 20_000; i++)
            Instance._all[5].Inbox.Writer.TryWrite(new Issue(i, new byte[300]));
        return null;
    }
}

/// <summary>Sixty clubs with 200 members each, and a few visits of each member.</summary>
public sealed class Clubs
{
    public static readonly Clubs Instance = new();
    readonly Club[] _all = Enumerable.Range(0, 60).Select(_ => new Club()).ToArray();

    public sealed record Visit(DateTime At, string Where);

    public sealed class Member
    {
        readonly List<Visit> _visits = Enumerable.Range(0, 6).Select(i => new Visit(DateTime.UnixEpoch, "visit " + i)).ToList();
    }

    public sealed class Club
    {
        readonly Dictionary<int, Member> _members = Enumerable.Range(0, 200).ToDictionary(i => i, _ => new Member());
    }

    public static IHost? Open()
    {
        GC.KeepAlive(Instance);
        return null;
    }
}

public static class Growing
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("growth-many-owners", ChatHall.Open), ("growth-moved", LetterDesk.Open), ("growth-filling", Savings.Open),
        ("one-full-channel", Newsletter.Send), ("few-in-each", Clubs.Open),
    };
}
