namespace CoffeeShop;

/// Every request comes here.
public sealed class Storefront
{
    readonly SessionStore sessions = new();
    readonly PriceFeed prices = new();
    readonly OrderDatabase database = new();
    readonly List<Task> orders = [];

    public void Open()
    {
        Services.Storefront = this;
        prices.Publish("coffee", 7.95m);
    }

    public async Task Serve(int customers)
    {
        for (var i = 0; i < customers; i++)
        {
            var session = sessions.Begin($"customer-{sessions.Count}@example.org");
            session.Cart.Add(new CartItem("coffee", 1 + i % 3));
            session.Cart.Add(new CartItem("filter papers", 1));
            if (i % 2 == 0)
                new PriceWatch(prices).Watch("coffee");
            if (i % 10 == 0)
                orders.Add(new Checkout(database).PlaceOrder(session));
        }
        await Task.Delay(100);
        orders.RemoveAll(o => o.IsCompleted);
    }
}

static class Services
{
    public static Storefront? Storefront;
}
