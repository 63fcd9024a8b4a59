// The coffee shop of the guides in tools/doc: a small service with three mistakes that people make.  It needs no network: it invents its customers.
//
//     CoffeeShop [CUSTOMERS]      serves that many (1,000), prints "ready", serves more for each number it reads, ends with its input
//
// At a terminal it says what to do.
using CoffeeShop;

var shop = new Storefront();
shop.Open();
shop.Serve(args.Length > 0 ? int.Parse(args[0]) : 1000).Wait();
Console.WriteLine("ready");
Help();
while (Console.ReadLine() is { } line)
{
    if (int.TryParse(line, out var more) && more > 0)
    {
        shop.Serve(more).Wait();
        Console.WriteLine("ready");
    }
    else
        Help();
}

static void Help()
{
    if (!Console.IsInputRedirected)
        Console.Error.WriteLine("""
            The shop is open.  Take a dump of it in another terminal:
                build/gcdumpc --name CoffeeShop -o live.nettrace
            Here, a number serves so many more customers, and Ctrl-C closes the shop.
            """);
}
