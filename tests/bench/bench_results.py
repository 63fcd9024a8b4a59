"""Stored results: files, tables, the table in README.md, and comparisons.

A file (schema 1) has the version, the machine, the build, and a list "sizes", one element a recording: its objects, references and bytes,
and rows of medians.  "heap" names what was recorded; without it, it is one of genheap.  Everything derived, per object or as ratio to md5sum, is
computed for display.
"""
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
README = os.path.join(HERE, "README.md")
BASE = "md5sum"
GENERATED = "genheap"
BEGIN, END = "<!-- figures: written by bench.py --render -->\n", "<!-- end of figures -->\n"


def load(path):
    with open(path, encoding="utf-8") as f:
        results = json.load(f)
    if results.get("schema") != 1:
        raise ValueError(f"{path}: not a file of figures, or of a later version")
    return results


def store(path, results):
    """As JSON, or as a table when PATH ends with .md.  Sizes that only PATH has stay."""
    if path.endswith(".md"):
        text = table(results)
    else:
        if os.path.exists(path):
            old = load(path)
            same = all(old[k] == results[k] for k in ("version", "machine", "build"))
            if not same:
                raise ValueError(f"{path}: has figures of another version, machine or build")
            new = {key(s) for s in results["sizes"]}
            kept = [s for s in old["sizes"] if key(s) not in new]
            results = {**results, "sizes": sorted(kept + results["sizes"], key=key)}
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def heap(size):
    return size.get("heap", GENERATED)


def key(size):
    return heap(size) != GENERATED, heap(size), size["objects"]


def label(row):
    threads = row.get("threads")
    return f"`{row['command']}`" + (f", {threads} thread{'s' if threads > 1 else ''}" if threads else "")


def base_of(size):
    return next((r for r in size["rows"] if r["command"] == BASE and "wall_s" in r), None)


def ratio(a, b):
    return f"{a / b:.2f}" if b else "-"


def row_cells(size, row):
    """The cells of one row.  Bytes, objects and references count as often as they are read: diff reads two dumps."""
    if "wall_s" not in row:
        return [label(row), f"exit {row['exit']}"] + ["-"] * 7
    base, times, wall = base_of(size), row["inputs"], row["wall_s"]
    return [label(row), f"{wall:.2f}", f"{row['cpu_s']:.2f}", f"{row['peak_mib']:,.1f}", f"{times * size['bytes'] / 1e6 / wall:,.0f}",
            f"{wall * 1e9 / (times * size['objects']):,.1f}", f"{wall * 1e9 / (times * size['edges']):,.1f}" if size["edges"] else "-",
            *([ratio(wall, base["wall_s"]), ratio(row["cpu_s"], base["cpu_s"])] if base else ["-", "-"])]


def lines(cells, align):
    return ["| " + " | ".join(c) + " |" for c in cells[:1]] + ["|" + "|".join(align) + "|"] + ["| " + " | ".join(c) + " |" for c in cells[1:]]


def side_by_side(sizes):
    """All heaps in one table."""
    names = list(dict.fromkeys(label(r) for s in sizes for r in s["rows"]))
    cells = [["wall / CPU × md5sum, MiB"] + [f"{heap(s)}, {s['objects'] / 1e6:.3g} million" for s in sizes]]
    for name in names:
        rows = [next((row_cells(s, r) for r in s["rows"] if label(r) == name), None) for s in sizes]
        cells.append([name] + [f"{r[7]} / {r[8]}, {r[3]}" if r else "" for r in rows])
    return ["", *lines(cells, ["---"] + ["---:"] * len(sizes))]


def header(results):
    m, b = results["machine"], results["build"]
    return [f"### {results['version']}", "",
            f"{m['system']} {m['architecture']}, {m['cores']} cores, {m['memory_gib']:g} GiB, {b['compiler']}, {b['type']}."]


def overview(results):
    """Markdown: all heaps in one table, for the document."""
    last = results["sizes"][-1]
    low, high = last["load"]
    when = f"Medians of {last['runs']}, load {low:.1f} before and {high:.1f} after, {last['date']}."
    return "\n".join([*header(results), when, *side_by_side(results["sizes"])]) + "\n"


def table(results):
    """Markdown: each size with all columns, below an overview if one of several heaps is of a program."""
    out = header(results)
    if len(results["sizes"]) > 1 and any(heap(s) != GENERATED for s in results["sizes"]):
        out += side_by_side(results["sizes"])
    for size in results["sizes"]:
        low, high = size["load"]
        out += ["", f"{'' if heap(size) == GENERATED else heap(size) + ': '}{size['objects']:,} objects, {size['edges']:,} references, {size['bytes'] / 1e6:,.0f} MB; medians of {size['runs']}, "
                f"load {low:.1f} before and {high:.1f} after, {size['date']}:", ""]
        head = ["command", "wall s", "CPU s", "peak MiB", "MB/s", "ns/object", "ns/edge", "wall × md5sum", "CPU × md5sum"]
        out += lines([head] + [row_cells(size, r) for r in size["rows"]], ["---"] + ["---:"] * 8)
    return "\n".join(out) + "\n"


def version_key(name):
    return [int(n) for n in re.findall(r"\d+", name)]


def rendered(text, folder=RESULTS):
    """README.md with the figures of the newest version between the marks, and a list of the others."""
    files = sorted((n for n in os.listdir(folder) if n.endswith(".json")), key=version_key, reverse=True) if os.path.isdir(folder) else []
    body = overview(load(os.path.join(folder, files[0]))) if files else "None are kept yet.\n"
    if len(files) > 1:
        body += "\nEarlier: " + ", ".join(f"[{n.removesuffix('.json')}](results/{n})" for n in files[1:]) + "\n"
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:begin] + "\n" + body + "\n" + text[end:]


def compare(old, new):
    """Old compared with new, row by row, in Markdown.  Times are ratios to md5sum, so that another machine matters less."""
    def rows(results):
        return {(heap(s), s["objects"], r["command"], r.get("threads")): (s, r) for s in results["sizes"] for r in s["rows"]}

    a, b = rows(old), rows(new)
    cells = [["heap", "objects", "command", "wall s", "CPU s", "peak MiB", "wall × md5sum", "CPU × md5sum", "CPU ratio, new : old"]]
    for k in list(b) + [k for k in a if k not in b]:
        row = (b.get(k) or a[k])[1]
        if k not in a or k not in b:
            cells.append([k[0], f"{k[1]:,}", label(row), "only in the " + ("new one" if k in b else "old one")] + ["-"] * 5)
            continue
        pair = [row_cells(*x) for x in (a[k], b[k])]
        cells.append([k[0], f"{k[1]:,}", label(row)] + [f"{pair[0][i]} → {pair[1][i]}" for i in (1, 2, 3, 7, 8)] + [growth(a[k], b[k])])
    return f"{old['version']} → {new['version']}\n\n" + "\n".join(lines(cells, ["---", "---:", "---"] + ["---:"] * 6)) + "\n"


def growth(old, new):
    """Growth of the processor time relative to md5sum, or absolute if one of them has no md5sum."""
    if any("wall_s" not in r for _, r in (old, new)):
        return "-"
    bases = [base_of(s) for s, _ in (old, new)]
    unit = [b["cpu_s"] for b in bases] if all(bases) else [1, 1]
    return ratio(new[1]["cpu_s"] / (unit[1] or 1), old[1]["cpu_s"] / (unit[0] or 1))
