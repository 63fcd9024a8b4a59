// SPDX-License-Identifier: MIT
using System.Collections.Generic;

namespace HeapLab;

/// <summary>Element type of the collections only: List and others may make empty arrays of it.</summary>
sealed class Book
{
    public Book(string title) => Title = title;

    public readonly string Title;
}

static class Collections
{
    public static void Build(Lab lab, Ledger ledger)
    {
        const int books = 100;
        var byNumber = lab.Keep(new Dictionary<int, Book>(books));
        var byKey = lab.Keep(new Dictionary<Key, Book>(books));
        var byTitle = lab.Keep(new SortedDictionary<string, Book>());
        var list = lab.Keep(new List<Book>(books));
        var set = lab.Keep(new HashSet<Book>(books));
        var chain = lab.Keep(new LinkedList<Book>());
        for (int i = 0; i < books; i++)
        {
            var book = new Book("book " + i);
            byNumber[i] = book;
            byKey[new Key(i)] = book;
            byTitle[book.Title] = book;
            list.Add(book);
            set.Add(book);
            chain.AddLast(book);
        }
        ledger.Own("HeapLab.Book", books, 24 * books, books);
        ledger.AtLeast("HeapLab.Book[]", 1);
        ledger.Own("System.Collections.Generic.Dictionary`2[System.Int32,HeapLab.Book]", 1);
        ledger.Own("Entry[System.Int32,HeapLab.Book][]", 1, edges: books);
        ledger.Own("System.Collections.Generic.Dictionary`2[HeapLab.Key,HeapLab.Book]", 1);
        ledger.Own("Entry[HeapLab.Key,HeapLab.Book][]", 1, edges: books);
        ledger.Own("System.Collections.Generic.SortedDictionary`2[System.String,HeapLab.Book]", 1);
        // Nodes of the SortedSet inside the sorted dictionary: key, value; parents are not stored.
        ledger.Own("Node[System.Collections.Generic.KeyValuePair`2[System.String,HeapLab.Book]]", books,
            edges: 2 * books + books - 1);
        ledger.Own("System.Collections.Generic.List`1[HeapLab.Book]", 1, edges: 1);
        ledger.Own("System.Collections.Generic.HashSet`1[HeapLab.Book]", 1);
        ledger.Own("Entry[HeapLab.Book][]", 1, edges: books);
        ledger.Own("System.Collections.Generic.LinkedList`1[HeapLab.Book]", 1, edges: 1);
        // List, next, previous, item.
        ledger.Own("System.Collections.Generic.LinkedListNode`1[HeapLab.Book]", books, edges: 4 * books);
    }
}
