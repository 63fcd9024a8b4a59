namespace CoffeeShop;

/// The third mistake: four connections, and a statement that never comes back.  Everybody else waits.
public sealed class OrderDatabase
{
    readonly SemaphoreSlim connections = new(4);
    readonly TaskCompletionSource answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public async Task Insert(string order)
    {
        await connections.WaitAsync();
        try
        {
            await Execute(order);
        }
        finally
        {
            connections.Release();
        }
    }

    async Task Execute(string statement)
    {
        await answer.Task;
        Console.Error.WriteLine(statement);
    }
}

public sealed class Checkout(OrderDatabase database)
{
    public async Task PlaceOrder(UserSession session)
    {
        await Reserve(session);
        await database.Insert($"order of {session.Customer}");
    }

    static async Task Reserve(UserSession session)
    {
        foreach (var item in session.Cart)
            await Task.Delay(item.Count);
    }
}
