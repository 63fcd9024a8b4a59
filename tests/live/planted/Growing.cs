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

/// <summary>Boards with the latest notes, cut back to 80 when there are 100; some are read more than others.  Without a limit, 40 archived boards have
/// as many, and no more come to them.</summary>
public sealed class NoteBoards
{
    const int Boards = 400;
    static NoteBoards? s_instance;
    readonly Board[] _all = Enumerable.Range(0, Boards).Select(_ => new Board()).ToArray();
    readonly bool _limited;
    readonly Random _random = new(11);

    NoteBoards(bool limited) => _limited = limited;

    public sealed record Note(int Number, string Text);

    public sealed class Board
    {
        public readonly List<Note> Notes = new();
    }

    public static IHost? Trimmed() => Fill(new NoteBoards(true), 120, 250, 400);
    public static IHost? Behind() => Fill(new NoteBoards(false), 40, 75, 60);

    static IHost? Fill(NoteBoards boards, int active, int first, int later)
    {
        s_instance = boards;
        boards.Add(0, active, first);
        boards.Add(active, Boards, 20);
        Program.More = () => boards.Add(boards._limited ? 0 : active, Boards, later);
        return null;
    }

    void Add(int from, int to, int each)
    {
        for (int i = from; i < to; i++)
            for (int n = each - each / 8 + _random.Next(each / 4); n > 0; n--)
                Add(_all[i].Notes, n);
    }

    void Add(List<Note> notes, int n)
    {
        if (_limited && notes.Count >= 100)
            notes.RemoveRange(0, 20);
        notes.Add(new Note(n, "note " + n));
    }
}

/// <summary>Jobs that poll, of which nobody disposes.</summary>
public static class Polls
{
    public static IHost? Open()
    {
        Begin(1_000);
        Program.More = () => Begin(2_000);
        return null;
    }

    static void Begin(int jobs)
    {
        for (int i = 0; i < jobs; i++)
            _ = new PollJob();
    }
}

/// <summary>Of each of 60 policies only the latest revision is kept, but each revision refers to the one before.</summary>
public sealed class PolicyBook
{
    public static readonly PolicyBook Instance = new();
    readonly Dictionary<int, PolicyRevision> _current = new();

    public sealed record PolicyRevision(int Number, byte[] Signed, PolicyRevision? Supersedes);

    public static IHost? Open()
    {
        Renew(150);
        Program.More = () => Renew(250);
        return null;
    }

    static void Renew(int rounds)
    {
        for (int i = 0; i < rounds * 60; i++)
            Instance._current[i % 60] = new PolicyRevision(i, new byte[300], Instance._current.GetValueOrDefault(i % 60));
    }
}

public static class Growing
{
    public static readonly (string, Program.Scenario)[] All =
    {
        ("growth-many-owners", ChatHall.Open), ("growth-moved", LetterDesk.Open), ("growth-filling", Savings.Open),
        ("growth-trimmed", NoteBoards.Trimmed), ("growth-behind", NoteBoards.Behind), ("growth-timers", Polls.Open),
        ("one-full-channel", Newsletter.Send), ("few-in-each", Clubs.Open),
        ("growth-chains", PolicyBook.Open),
    };
}
