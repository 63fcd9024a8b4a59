// SPDX-License-Identifier: MIT
using System;
using System.Globalization;

// RandomLab OBJECTS: a heap without locality.  A quarter of the objects are nodes of an array, made in random order and linked at random, each with a
// string, an array of bytes and a tag of its own.  Prints one line and waits for the end of standard input.
if (args.Length != 1 || !int.TryParse(args[0], NumberStyles.None, CultureInfo.InvariantCulture, out int objects) || objects < 4)
{
    Console.Error.WriteLine("usage: RandomLab OBJECTS");
    return 2;
}
var random = new Random(1);
var order = new int[objects / 4];
for (int i = 0; i < order.Length; i++)
    order[i] = i;
random.Shuffle(order);
var nodes = new Node[order.Length];
foreach (int i in order)
    nodes[i] = new Node { Text = new string('x', random.Next(1, 12)), Bytes = new byte[random.Next(32)], Tag = new Tag() };
foreach (Node node in nodes)
{
    node.Left = nodes[random.Next(nodes.Length)];
    node.Right = random.Next(2) == 0 ? nodes[random.Next(nodes.Length)] : null;
}
GC.Collect();
GC.Collect();
Console.WriteLine("linked");
Console.In.ReadToEnd();
GC.KeepAlive(nodes);
return 0;

sealed class Node
{
    public Node? Left, Right;
    public required string Text;
    public required byte[] Bytes;
    public required Tag Tag;
}

sealed class Tag
{
    public int Number;
}
