// The coffee shop of the guides in tools/doc: a small service with three mistakes that people make.  It needs no network: it invents its customers.
//
//     CoffeeShop [CUSTOMERS]      serves that many (1,000), prints "ready", serves more for each number it reads, ends with its input
using CoffeeShop;

var shop = new Storefront();
shop.Open();
shop.Serve(args.Length > 0 ? int.Parse(args[0]) : 1000).Wait();
Console.WriteLine("ready");
while (int.TryParse(Console.ReadLine(), out var more))
{
    shop.Serve(more).Wait();
    Console.WriteLine("ready");
}
