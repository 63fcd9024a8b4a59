using System.Collections.Concurrent;

namespace CoffeeShop;

public sealed record CartItem(string Article, int Count);

public sealed class UserSession(string customer)
{
    public string Customer { get; } = customer;
    public DateTime Begun { get; } = DateTime.UtcNow;
    public List<CartItem> Cart { get; } = [];
    public byte[] Preferences { get; } = new byte[2000];
}

/// The first mistake: a session begins, and none ever ends.
public sealed class SessionStore
{
    readonly ConcurrentDictionary<Guid, UserSession> sessions = new();

    public int Count => sessions.Count;

    public UserSession Begin(string customer)
    {
        var session = new UserSession(customer);
        sessions[Guid.NewGuid()] = session;
        return session;
    }
}
