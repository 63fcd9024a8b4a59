namespace CoffeeShop;

public sealed class PriceFeed
{
    public event Action<string, decimal>? Changed;

    public void Publish(string article, decimal price) => Changed?.Invoke(article, price);
}

/// The second mistake: += without -=.  The feed holds every watch that there has ever been.
public sealed class PriceWatch(PriceFeed feed)
{
    readonly decimal[] history = new decimal[200];
    string article = "";
    int seen;

    public void Watch(string which)
    {
        article = which;
        feed.Changed += OnChanged;
    }

    void OnChanged(string which, decimal price)
    {
        if (which == article)
            history[seen++ % history.Length] = price;
    }
}
