"""Summaries of dumps that never were: a fleet of services with versions, leaks and pauses, for questions to thousands of them.

The same SEED makes the same lines.  They fit tools/doc/summary.schema.json (tests/readers/test_fleet.py checks it) and have few types, so that ten
thousand are 20 MB."""
import json
import random

DAY_MS = 86400000
START_MS = 1793491200000                 # 2026-11-01
OWN = ("Order", "Customer", "Basket", "Price", "Session", "Report")
SYSTEM = ("System.String", "System.Byte[]", "System.Object[]", "System.Int32[]", "System.Collections.Generic.List<System.Object>")
GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh")
ROOTS = ("statics", "strong_handles", "pinned_handles", "other", "locals", "refcounted", "finalizer", "weak")


def one_type(name, count, size, own):
    return {"name": name, "module": "Shop.dll" if own else "System.Private.CoreLib.dll", "origin": "own" if own else "framework", "count": count,
            "own_bytes": count * size, "retained_bytes": count * size * (3 if own else 1)}


def findings(service, objects, total):
    """Every third service leaks sessions by one of two holders."""
    if service % 3:
        return []
    owner = f"Shop.{OWN[service % 2 + 3]}Store"
    return [{"kind": "object", "type": "System.Object[]", "collection": "list", "element": "Shop.Session", "owner": owner, "owner_module": "Shop.dll",
             "root_kind": "statics", "root": f"static variable {owner}.all", "objects": 1, "bytes": total // 2, "own_bytes": 24,
             "retained_bytes": total // 2, "share": 0.5, "sentence": f"{owner} holds {objects} objects.", "advice": None}]


def summary(rng, service, instance, number, dumps):
    day = 28 * number / dumps
    version = 1 + int(day // 7)
    grown = 1 + (day * (service % 4) / 10)
    base = 1000 * (service + 1) + 10 * instance
    types = [one_type(f"Shop.{name}", int(base * grown) + i * rng.randrange(20) + number, 40 + 8 * i, True) for i, name in enumerate(OWN)]
    types += [one_type(name, base * 12 + rng.randrange(100), 32 + 16 * i, False) for i, name in enumerate(SYSTEM)]
    if service % 5 == 0 and version >= 3:
        types.append(one_type("Shop.SessionCache", 5 + instance, 64, True))
    types.sort(key=lambda t: -t["own_bytes"])
    total, objects = sum(t["own_bytes"] for t in types), sum(t["count"] for t in types)
    complete = rng.random() > 0.02
    resident = total * 2 + rng.randrange(50 << 20)
    at = START_MS + int(day * DAY_MS) + instance * 1000 + service
    heap = total + total // 10
    return {
        "schema": 1, "kind": "summary", "gcdumpc": "0.1.0", "time": None, "unix_ms": at, "host": f"node{instance % 7}",
        "name": f"service{service:02}",                    # and each number on two machines
        "pid": 1000 + 100 * service + instance // 2, "runtime_version": f"{8 + service % 3}.0.1", "os": "Linux", "architecture": "x64",
        "build_id": f"{service:016x}{version:016x}", "labels": {"version": f"1.{version}.0"} if service % 7 else {}, "file": f"{at}.nettrace.gz",
        "file_bytes": total // 8, "complete": complete, "unverified": False,
        "reasons": [] if complete else [{"code": "events_lost", "amount": rng.randrange(1, 99), "text": "events were lost"}],
        "objects": objects, "bytes": total, "references": objects * 2, "type_count": len(types),
        "pause_ns": 3000000 + objects * rng.randrange(90, 250),
        "gc_heaps": 1, "walks": 1, "lost_events": 0, "event_bytes": objects * 50, "retained_bytes": total - total // 50,
        "memory": {"resident_bytes": resident, "anonymous_bytes": resident * 3 // 4, "file_bytes": resident // 4, "shared_bytes": 0,
                   "swapped_bytes": 0, "gc_heap_bytes": heap, "native_or_unknown_bytes": max(0, resident * 3 // 4 - heap), "cgroup_limit_bytes": None,
                   "cgroup_used_bytes": None},
        "generations": [{"generation": g, "used_bytes": total // 5, "reserved_bytes": total} for g in GENERATIONS],
        "roots": {root: service + instance for root in ROOTS}, "findings": findings(service, objects, total), "types": types,
        "holders": sorted(types, key=lambda t: -t["retained_bytes"]),
    }


def fleet(services=20, instances=10, dumps=50, seed=1):
    """SERVICES * INSTANCES * DUMPS of them: each instance is one process, dumped over four weeks."""
    rng = random.Random(seed)
    for service in range(services):
        for instance in range(instances):
            for number in range(dumps):
                yield summary(rng, service, instance, number, dumps)


def write(path, summaries):
    with open(path, "w", encoding="utf-8") as f:
        for one in summaries:
            f.write(json.dumps(one, separators=(",", ":")) + "\n")
