"""What a user must find for each leak of Shop (planted/), one line per expectation.

    first(SCENARIO, WORDS ..., kind=, path=)    the first suspect: its sentence, with its advice, has all WORDS; its path a type with each of PATH
    only(SCENARIO, WORDS ..., kind=)            the same, and there is no other suspect
    finding(SCENARIO, WORDS ..., kind=)         some suspect or finding has all WORDS
    note(SCENARIO, WORDS ...)                   a note has all WORDS, and there is no suspect
    large(SCENARIO, WORDS ...)                  some suspect has all WORDS, and nothing but their size speaks against any
    waiting(SCENARIO, WORDS ...)                what calls wait for has all WORDS, and there is no suspect
    growing(SCENARIO, WORDS ...)                of two dumps, what has come or a suspect that has grown has all WORDS
    filling(SCENARIO, WORDS ...)                the same from memory, of what has a limit; else what has come may have one, and that is said first
    limited(SCENARIO, WORDS ...)                the same from memory; events do not tell that there may be a limit
    steady(SCENARIO, WORDS ...)                 of two dumps, no suspect has grown and nothing has come; the headline has all WORDS

NEVER: words that no suspect's sentence, advice or path may have.

A word is a regular expression; the names of the user's types and numbers are exact, spelling of the framework's types is not.
MISS: the reason why the line does not hold yet.  Such a line must fail; remove MISS when it holds.  ON: the runtimes for which that is true.
"""
import collections
import re

Expectation = collections.namedtuple("Expectation", "scenario what words kind path miss on never")
EXPECTATIONS = []
HEALTHY = [
    "healthy-console", "healthy-worker", "healthy-web", "healthy-web-load", "healthy-web-busy", "healthy-web-ef", "healthy-cache",
    "healthy-configuration", "healthy-compiler", "healthy-timers", "healthy-pipeline", "healthy-tables", "healthy-json", "healthy-pool",
    "healthy-parallel", "healthy-events", "healthy-regexes", "healthy-singletons", "healthy-burst", "healthy-uploads", "healthy-object-pool", "healthy-recent-pages",
    "healthy-workers", "healthy-many-pages", "healthy-own-pool",
]


def _line(what):
    def add(scenario, *words, kind=None, path=(), miss=None, on=(8, 9, 10), never=()):
        EXPECTATIONS.append(Expectation(scenario, what, words, kind, path, miss, on, never))
    return add


first, only, finding, note, large, waiting = map(_line, ("first", "only", "finding", "note", "large", "waiting"))
growing, steady, filling, limited = map(_line, ("growing", "steady", "filling", "limited"))
OF_TWO = ("growing", "steady", "filling", "limited")
MAY_HAVE_LIMIT = re.compile("If it has no (SizeLimit|limit)|That is a cache or a pool|It may be limited|if that is their limit")


def whole(word):
    """The regular expression of a WORD that is not part of another name or number."""
    return rf"(?<![\w,]){word}(?![\w]|,\d)"


# -- collections ----------------------------------------------------------------------------------------------------------------------
first("concurrent-dictionary", "SessionStore", "5,041", "UserSession", "ConcurrentDictionary<")
first("static-list", "OrderArchive", "30,000", "Order", "List<")
first("dictionary", "CustomerIndex", "10,000", "Customer", "Dictionary<")
first("nested-dictionary", "PriceBook", "80,000|400", "Price", "Dictionary<")
first("sorted-dictionary", "DeliveryPlan", "20,000", "Order", "SortedDictionary<")
first("sorted-set", "Ranking", "20,000", "Score", "SortedSet<")
first("sorted-list", "PriceHistory", "80,000", "Price", "SortedList<")
first("hash-set", "VisitorLog", "15,000", "Visitor", "HashSet<")
first("linked-list", "RecentlySeen", "10,000", "Customer", "LinkedList<")
first("queue", "PrintQueue", "25,000", "Order", "Queue<")
first("stack", "UndoHistory", "15,000", "Edit", "Stack<")
first("priority-queue", "Dispatcher", "25,000", "Order", "PriorityQueue<")
first("concurrent-queue", "OutgoingMail", "6,000", "Mail", "ConcurrentQueue<")
first("concurrent-bag", "ParseResults", "9,000", "Invoice", "ConcurrentBag<")
first("concurrent-stack", "Calls", "25,000", "Order", "ConcurrentStack<")
first("blocking-collection", "UploadQueue", "3,000", "Upload", "BlockingCollection<|ConcurrentQueue<")
first("immutable-dictionary", "StockVersions", "12,001", "ImmutableDictionary<", "StockItem")
first("immutable-list", "Timeline", "12,000", "Post", "ImmutableList<")
note("frozen-dictionary", "CountryTable", "10,000", "Customer", r"\w*FrozenDictionary")
first("byte-arrays", "Gallery", "120", r"[Bb]yte\[\]", "List<")
first("string-builder", "AuditLog", "StringBuilder")
first("strings", "SearchHistory", "120,000", "[Ss]tring", "List<")
first("sparse-array", "SeatMap", r"Seat\[\]")
finding("sparse-array", "SeatMap", r"Seat\[\]", "2,000,000", "100|99.*empty")
first("over-capacity", "RoutePlanner", "15,000", "Route", "List<")
finding("over-capacity", "15,000", "List<.*Stop>", "empty")
first("sparse-dictionary", "BookingCalendar", "Order", "Dictionary<")
finding("sparse-dictionary", "BookingCalendar", "200", "empty")
first("boxed-values", "Measurements", "400,000", "Double|double", "ArrayList")
finding("boxed-values", "400,000", "Double|double", "boxed")
first("boxed-cells", "Spreadsheet", "30,000", "CellRow", "List<")
finding("boxed-cells", "360,000", "Int32|int", "boxed")
first("own-chain", "Ledger", "30,000", "LedgerEntry")
first("own-tree", "Catalog", "19,53[01]", "Category")
first("observable-collection", "Board", "10,000", "Customer", "ObservableCollection<")
first("jagged-array", "Terrain", "1,000", "[Dd]ouble")
first("keys-without-equals", "QueryCache", "6,000", "QueryResult", "Dictionary<")
first("lazy", "ReportList", "5,000", "Lazy<", "Report", "List<")

# -- events ---------------------------------------------------------------------------------------------------------------------------
first("event", r"The event PriceFeed\.Changed \(Shop\.dll\)", "5,040",
      r"on PriceFeed\.Changed without its -= in PriceListener", kind="handlers")
first("static-event", "Bus.OrderPlaced", "3,000", "OrderView", kind="handlers")
first("framework-event", "AppDomain|AppContext.ProcessExit", "3,00.", "TempFolder", kind="handlers")
first("framework-event-tasks", "TaskScheduler.UnobservedTaskException", "3,000", "FailureMonitor", kind="handlers")
first("property-changed", r"The event BasketModel\.PropertyChanged ", "3,000", "BasketView", kind="handlers")
first("closure-event", r"The event PriceFeed\.Changed ", "3,000", "ImportWizard", kind="handlers")
first("observable", "StockTicker", "3,000", "PriceAlarm", "List<", "look in PriceAlarm for a subscription to StockTicker",
      never=["look in StockTicker"])
first("change-token", "3,000", "FeatureFlags", "registrations?|callbacks?|handlers?")
first("file-watcher", "ImportFolder", "60", "FileSystemWatcher")
first("weak-bus", "WeakBus", "3,000", "ProductView")

# -- timers and what flows into them --------------------------------------------------------------------------------------------------
first("timer", "3,000", r"PollJob\.Poll", "[Tt]imer")
first("timers-of-two", "timers are set, 2,500 of them for HeavyMonitor", "look in HeavyMonitor", kind="timers")
first("system-timers", "3,000", "HeartbeatService", "[Tt]imer")
first("periodic-timer", "3,000", "CleanupLoop", "[Tt]imer")
first("task-delay", "3,000", "ReminderService", "[Tt]imer|Delay")
first("timeout-not-cancelled", "3,000", "PaymentRequest", "[Tt]imer|Delay")
first("async-local", "3,000", "RequestContext", "[Tt]imer")
first("static-and-timers", "ChatRooms", "3,000", "LiveChat", "List<")
first("registered-wait", "3,000", "CallbackServer")

# -- tasks, cancellation, threads -----------------------------------------------------------------------------------------------------
first("completion-sources", "PendingReplies", "3,000", "RpcClient|TaskCompletionSource<.*Reply>", "ConcurrentDictionary<")
first("semaphore", "Checkout", "3,000", "SemaphoreSlim")
first("cancellation-registrations", "Lifetime", "3,000", "DownloadJob", "registrations?|callbacks?")
first("cancellation-links", "Lifetime", "5,000", "ReportJob")
first("finished-tasks", "ExportQueue", "3,000", "Task<.*ExportResult>", "List<")
first("continuations", "StartUp", "3,000", "WarmUp")
first("task-chain", "SaveChain", "3,000", "SaveAfter")
first("channel", "TelemetryPipe", "100,000", "Telemetry", "Channel<")
first("channel-readers", "ConnectionTable", "3,000", "ClientConnection", "ConcurrentDictionary<")
first("when-all", "StartUp", "3,000", "Aggregator")
first("thread-stack", "10,000|10", "Customer", "thread stack")
first("thread-static", "12", "ParseBuffer", "[Tt]hread.static", miss="no finding of this kind", on=(8,))
first("thread-local", "12", "FormatState", "ThreadLocal", r"Formatter\.s_state|s_state")
first("shared-bag", r"_unsorted of one SortingRoom", "20,000", "Letter", "ConcurrentBag<", never=["WorkStealingQueue object", r"ThreadLocal<"])

# -- caches, code made at run time, weak references -----------------------------------------------------------------------------------
first("memory-cache", "ProductCache", "5,000", "ProductPage", "MemoryCache")
first("weak-table", "4,000", "Order", "Thumbnail")
first("static-closure", "Discounts", "10,000", "Customer")
first("compiled-expressions", "RuleEngine", "5,000", "Dictionary<", "Func<")
first("compiled-regexes", "Patterns", "800", "Regex", "ConcurrentDictionary<")
finding("xml-serializers", "120", "Microsoft.GeneratedCode|InvoiceWriter|XmlSerializer", miss="no finding of this kind", on=(8,))
first("scripts", "ScriptHost", "200", "List<")
finding("scripts", "200", "assemblies", kind="assemblies")
first("plugin-copies", "TenantHost|PriceRules", "20", "Shop.Pricing", "loaded")
first("http-clients", "8,000", "ApiClient", "List<")
first("dead-weak-references", "Glossary", "250,000", "WeakReference<.*Customer>", "List<")
first("weak-and-strong", "TicketCache", "4,000", "Ticket", "List<")
first("interned-strings", "80,000", "[Ss]tring", "interned")

# -- handles, finalizers, fragmentation -----------------------------------------------------------------------------------------------
first("strong-handles", "3,000", "ScannerCallback", "strong handle")
first("pinned-handles", "VideoFrame", "1,500")
finding("pinned-handles", "1,50.", r"[Bb]yte\[\]", kind="pinned")
first("pinned-arrays", "SensorBuffer", "1,500", "List<")
first("finalizer-backlog", "15,000", "ImageFile", kind="finalizers")
first("rented-arrays", "UploadBuffer", "150", "List<")
first("fragmented-documents", "DocumentStore", "200", r"[Bb]yte\[\]", "List<")
finding("fragmented-documents", "MiB", "free", "large", kind="fragmentation")

# -- hosts, services, data ------------------------------------------------------------------------------------------------------------
first("service-provider", "BasketStore", "5,041", "UserSession", "ConcurrentDictionary<")
first("captured-transients", "5,000", "ReportExporter", "[Ss]ervice ?[Pp]rovider")
first("scopes", "MessageHandler", "3,000", "UnitOfWork|IServiceScope", "List<")
first("cancellation-timeouts", "5,000", "ExportJob", r"timers are set, (5,000 of them|all) for ExportJob", "ExportJob should dispose of")
first("options-monitor", "3,000", r"OptionsMonitor<PriceOptions>\._onChange", "in PriceFormat for an OnChange")
first("hosted-service", "MailSender", "9,999", "WorkItem", "Channel<")
first("log-scopes", "20,000", "ImportRound", "[Ss]cope")
first("log-lines", "LogWindow", "50,0..", "LogLine", "ConcurrentQueue<")
first("ef-tracker", "ArticleReader|ShopContext", "10,000", "Article")
first("activities", "15,000", "Activity")

# -- web ------------------------------------------------------------------------------------------------------------------------------
first("web-sessions", "BasketStore", "2,500", "UserSession", "ConcurrentDictionary<")
first("web-middleware", "RequestStatistics", "2,500", "PathStatistics", "ConcurrentDictionary<")
first("web-request-services", "RequestJournal", "2,000", "List<")
first("web-long-polling", "60", "LongPolling")
first("web-distributed-cache", "2,500", "MemoryCache|MemoryDistributedCache")

# -- kinds that were once answered wrongly --------------------------------------------------------------------------------------------
COMPILER = ("<>", "DisplayClass", r">d__", "BackingField")
only("few-boxed-values", r"Invoices\.s_all", "2,000", "Invoice", "List<", never=("[Bb]oxed", "Hashtable"))
only("async-local-loops", "300 calls of StockRefresh.LoopAsync wait", "AsyncLocal", "Visit.Current", "Visit", "SuppressFlow",
     never=("timers? (is|are) set", "[Dd]ispose"))
only("few-long-chains", r"5 Sketch", "20,000 Change", r"static property Shop\.Workspace\.Current", "in Sketch for what links",
     never=("adds to it", *COMPILER))
only("generated-assemblies", r"150 assemblies Microsoft\.GeneratedCode", "never unloaded", "outside of the heap", "new XmlSerializer")
only("linked-sources", "8,000 callbacks", r"4,000 of them for Download\.Abort|Download\.Abort", "Shutdown.Source", "CreateLinkedTokenSource",
     r"Download should dispose", r"CreateLinkedTokenSource makes from (\w+\.)*Shutdown\.Source,", never=("Linked1CancellationTokenSource",))
only("sparse-lists", r"Fleet\.s_trucks", r"120 List<Fleet\.Parcel>", "empty", "TrimExcess", never=("never removes",))
only("attached-values", r"400 Reception\.Remarks", "attached to", r"ConditionalWeakTable<Reception\.Guest", r"Reception\.s_guests",
     "List<String> with about 250", never=("never removes",))
note("own-pool", "ArrayPool<Byte>", r"Scans\.s_pool", "24 returned arrays", never=("Byte.*elements",))
note("healthy-burst", r"ArrayPool<Byte>\.Shared", "returned arrays", "how it works")
note("healthy-object-pool", r"ObjectPool<Parser>|ObjectPool<Parsers\.Parser>|ObjectPool<Parsers\+Parser>", "returned objects", "maximumRetained")
note("healthy-uploads", "MemoryPool|memory pools", "free blocks")
only("own-threads", "thread-static variables", "24 of them by way of Printers.Ribbon", "live as long as their threads", never=("thread pool",), miss="its thread-static variables are not known", on=(8,))
only("static-application", "MemoryCache", "4,000", r"ArticlePages\.Page", "in ArticlePages for", "size limit", never=(r"variable Shop\.ArticlePages",))
only("many-publishers", r"event Auction\.Ended of 100 Auction", "5,000 handlers", "about 50 each", "all methods of Bidder",
     r"\+= on Auction\.Ended without its -= in Bidder", never=("never removes",))
waiting("stuck-requests", "40 calls wait in Shop.Turnstile.PassAsync", r"SemaphoreSlim\.WaitAsync")
only("basic-event", r"event Counter\.Closed ", "3,000 handlers", "all methods of Display", r"RemoveHandler in Display", kind="handlers",
     never=(r"\+=", r"event Counter\.ClosedEvent"))
first("captured-variable", "_checks of one Scales", r"variable picture \(Byte\[\]\) of Scales\.Weigh", "any lambda that uses", never=COMPILER)
first("compiled-names", r"lambda in Schedule\.Plan", r"static property Shop\.Schedule\.Main", "in Schedule for what adds", never=(r"\+=", *COMPILER))
finding("compiled-names", r"iterators? of Schedule\.Days", never=COMPILER)
first("log-scopes", "in ImportLoop.ExecuteAsync", "20,000 log scopes", "BeginScope without using", never=("links each",))
first("thread-stack", "running", "dotnet-stack", never=("never removes",))

# -- kinds that most programs are made of ----------------------------------------------------------------------------------------------
note("frozen-table", r"PostCodes\.All", "60,000", r"PostCodes\.Place", "cannot grow")
note("healthy-own-pool", r"EnvelopePool", "4,000 EnvelopePool.Envelope", "Stack<", "for the next peak", "keep fewer")
note("healthy-many-pages", "RecentPages.Many", "6,000 RecentPages.Page in a dictionary and a linked list", "lower its limit")
only("generic-event", "Action<Order>", "3,000 handlers", "OrderRow", r"-= in OrderRow", kind="handlers")
only("timer-lambda", r"(2,500 of them|all) for a lambda in Sessions\.Open", r"look in Sessions\.Open", never=("look in a lambda", *COMPILER))
only("semaphore-not-released", r"Invoicing\.s_oneAtATime", "2,500 calls", r"Invoicing\.PrintAsync", "semaphore", "Release",
     never=("TaskCompletionSource",))
only("cancellation-of-jobs", "4,000 callbacks", r"Backup\.s_end", "all for Backup", "Backup should dispose", kind="cancellation")
only("change-tracker", "30,000", r"UnitOfChanges\.Entry", "_entries", "in UnitOfChanges for what adds")
only("library-event", "3,000 NetworkAddressChangedEventHandler", r"NetworkChange\.\w+", r"-= in Uplink", never=("3,000 ExecutionContext", "adds to"))
only("tenant-caches", r"Tenants\.Instance", "60 Lazy<", r"about 300 Tenants\.Report", r"Look in Tenants\.ReportCache for what adds")
only("observer-chain", r"Prices\.Quotes", "3,000", r"Prices\.Chart", r"Prices\.Where\.Sink", never=COMPILER)
only("trie", "122,131", r"Dictation\.TrieNode", "tree", "field _root of one Dictation", r"adds (\w+\.)*TrieNode objects to this tree", never=("16 Dictation",))
large("large-index", r"field _terms of one SearchIndex", "20,000", "If all of it is needed, nothing is wrong")
large("large-world", r"field _sprites of one World", r"Sprite\[\]", "If all of it is needed, nothing is wrong")
large("large-actors", r"Actor\.s_root", "4,021", "If it grows")
large("large-devices", r"Devices\.s_open", "1,500", r"Devices\.Session", "ConcurrentDictionary<", "If it grows")
large("large-reminders", r"_planned of one Reminders", "1,500", "If it grows")
large("large-documents", r"Documents\.s_open", "2,500", r"Documents\.Document", "If it grows")
large("large-cache", r"Thumbnails\.s_cache", "4,000", "MemoryCache", "may be full and within its limit|has no SizeLimit")

# -- two dumps, and many owners -------------------------------------------------------------------------------------------------------
growing("growth-many-owners", r"ChatHall\.Room\._transcript", "20,000 -> 40,000", r"ChatHall\.Message", r"[Ll]ook in ChatHall\.Room for what adds")
growing("growth-chains", r"PolicyBook\._current", "9,000 -> 24,000", r"PolicyBook\.PolicyRevision", "chain of about 400",
        r"[Ll]ook in PolicyBook\.PolicyRevision for what links each new", "by its field Supersedes")
growing("growth-moved", r"\(4[89]\d\.\d KiB", never=[r"\d MiB\)"])
steady("growth-filling", "None of the 2,9..|3,000", "more than 8", "fill up to a limit")
steady("growth-trimmed", "None of the 400 NoteBoards.Board|400", "(9\\d|100)", "cut back to a limit")
growing("growth-behind", r"NoteBoards\.Board\.Notes", r"NoteBoards\.Note", r"[Ll]ook in NoteBoards\.Board for what adds")
growing("growth-timers", "1,000 -> 3,000", r"PollJob\.Poll|PollJob", "[Tt]imer")
only("one-full-channel", "Only 1 of 12 Newsletter.Subscriber", "20,000", r"Newsletter\.Issue")
large("few-in-each", "12,000 Clubs.Member in 60 Clubs.Club|12,000 Clubs.Member", "60 Clubs.Club", "about 6 Clubs.Visit", "If all of it is needed, nothing is wrong")

# -- limits, and what seems to be one -------------------------------------------------------------------------------------------------
filling("limit-recent", r"limit is 4,000 \(_maxEntries of LabelCache\)")
filling("limit-metrics", r"the limit of each is 60 \(_maxSamples\)")
filling("limit-ring", "fills an array that is as long as before")
filling("limit-memory-cache", "SizeLimit is 6,000", "5,900")
filling("limit-channel", "Its limit is 6,000")
filling("limit-blocking", "Its limit is 6,000")
limited("limit-queue", r"limit is 6,000 \(_maxLines of ReceiptPrinter\)")
growing("growth-capacity", r"Journal\._lines", "60,000 -> 130,000", r"look in Journal for what fills it")
growing("growth-cache", r"ProductCache\._cache", r"3,000 -> 9,000 (\w+\.)?ProductPage", r"[Ll]ook in ProductCache for entries without an expiration")
growing("growth-snapshots", r"Snapshots\._byNumber", "8,000 -> 20,000", "[Ll]ook in Snapshots for what adds", never=["Each is an object of its own"])

# -- the right level ------------------------------------------------------------------------------------------------------------------
first("recent-lost", "LabelCache", "list has 9,000 nodes", "only 4,000", "in LabelCache for what removes from the dictionary")
first("bus", r"MessageBus\._handlers|_handlers of one MessageBus", "3,500", r"look in OrderTicket for what adds a method", never=["look in MessageBus"])
first("bus-subscriptions", "3,500", "MessageBus.Subscription", r"look in OrderTicket for what adds a method", never=["look in MessageBus"])
first("lambda-jobs", "field _jobs of one ShutdownJobs", "6,000 Action", r"a lambda in ShutdownJobs", "look in ShutdownJobs for what adds")
first("few-long-lists", "field _byUser of one AuditTrail", "12 List<AuditTrail.Entry>", "each with about 5,000 AuditTrail.Entry", "to these collections")
first("many-short-lists", "20,000 List<AuditTrail.Entry>", "each with about 3 AuditTrail.Entry", "what adds keys to it")
first("slow-clients", "40 TickCall", "about 1,500 TickCall.Tick", r"Look in TickCall for what takes elements out of its UnboundedChannel<TickCall\.Tick>")
first("local-list", "12,000 Yard.Pallet", "List<Yard.Pallet>", "stack", "local variable", never=["Truck"])
first("async-local-list", r"variable pallets of Yard\.LoadAsync", "12,000", "List<Yard.Pallet>")


def _growth_problems(expectation, said):
    growth = said.get("growth")
    grown = said["suspects"] + ([growth] if growth else [])
    if expectation.what == "filling" and said.get("by_events"):
        return [f"no limit is thought of: {g['sentence']} {g['advice']}" for g in grown if not MAY_HAVE_LIMIT.search(g["advice"])]
    if expectation.what == "limited" and said.get("by_events"):
        return []
    if expectation.what in ("steady", "filling", "limited"):
        return [f"has grown: {g['sentence']}" for g in grown] + _problems(expectation, {"sentence": said.get("headline") or "", "advice": None})
    each = [_problems(expectation, {**g, "sentence": f"{g['sentence']} {g.get('grown') or ''}"}) for g in grown]
    return min(each, key=len, default=["nothing has grown"]) + _never(expectation, grown)


def problems(expectation, said):
    """Why what gcdumpc SAID does not meet the EXPECTATION; empty if it does."""
    if expectation.what in OF_TWO:
        return _growth_problems(expectation, said)
    what, suspects = expectation.what, said["suspects"]
    beside = what in ("note", "waiting")
    accused = [f"only its size: {s['sentence']}" for s in suspects if what == "large" and not s.get("size_only")]
    found = said["notes" if what == "note" else "waiting"] if beside else suspects
    if not found:
        return ["no " + (what if beside or what in ("finding", "large") else "suspect")]
    each = [_problems(expectation, f) for f in (found[:1] if what in ("first", "only") else found)]
    others = suspects[0 if beside else 1:] if beside or what == "only" else []
    return min(each, key=len) + accused + [f"another suspect: {s['sentence']}" for s in others] + _never(expectation, suspects)


def _said(one):
    return one["sentence"] + " " + (one.get("advice") or "")


def _types(suspect):
    return [step["type"] or "" for step in suspect.get("path") or []]


def _problems(expectation, one):
    missing = [f"no {word} in it" for word in expectation.words if re.search(_spelled(word), _said(one)) is None]
    if expectation.kind is not None and one["kind"] != expectation.kind:
        missing.append(f"{one['kind']} instead of {expectation.kind}")
    return missing + [f"no {want} on the path" for want in expectation.path if not any(re.search(want, t) for t in _types(one))]


def _never(expectation, suspects):
    return [f"{word} is said" for s in suspects for word in expectation.never if re.search(word, " ".join([_said(s), *_types(s)]))]


def _spelled(word):
    """Splits alternatives, each a whole name or number."""
    return "|".join(whole(w) if re.fullmatch(r"[\w,.?]+", w) else w for w in word.split("|"))
