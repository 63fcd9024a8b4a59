"""What the commands print with each of their options, for bundled recordings: compared with
expected/outputs-*.txt, so that any change is seen.
What is said about suspects is in golden/test_said."""
import csv
import hashlib
import json
import os
import random
import shlex
import unittest

from cli_support import BLESS, EXPECTED, HAVE_SQLITE, SANITIZED, SOURCE, CliTest, main, trace

COMMANDS = """
report new --top 3
report new --top 3 --retained
report new --sort count --top 3
report new --sort name --top 3 --human
report new --sort retained --retained --top 2 --names=raw
report new --filter HeapLab.* --retained --min-bytes 1K
report new --filter String
report new --filter nonesuch
report new --by module
report new --by module --retained --sort retained
report new --by kind --csv
report new --by namespace --top 4 --human
report new --by generation
report new --by generation --json
report new --by length --top 4
report new --by root
report new --by root --retained
report new --by nonesuch
report new --by length --retained
report new --by generation --retained
report new --by root --top 3
report new --by module --format prometheus
report new --format prometheus --names=raw
report new --json --csv
report new --csv --top 2 --retained
report new --json --top 1
report new --format prometheus --top 1
report lossy --top 2
report lossy --strict --top 1
report lossy --by root --csv
report new.gclog --top 2 --separate-loads
report two --walk 2 --top 2
retained new --top 4
retained new --largest objects --top 3 --human
retained new --largest types --top 3 --csv
retained new --by-dominator System.String --skip System.* --top 3
retained new --tree 2 --top 6
retained new --tree 3 --top 4 --json
retained new --tree 1 --csv --top 3
retained new --type HeapLab.Guest
retained new --type HeapLab.* --top 3 --json
retained new --content HeapLab.Guest --top 4
retained new --by-dominator System.String --top 4 --human
retained new --by-dominator HeapLab.Guest --csv
retained new --min-bytes 20K
retained lossy --top 2
retained new.gclog --tree 2 --top 3
paths new --type HeapLab.Guest
paths new HeapLab.Guest --full
paths new --type HeapLab.* --max-paths 2
paths new --type HeapLab.Guest --to-root --human
paths new --type HeapLab.Guest --json
paths new --type HeapLab.Guest --csv
paths new --object 100
paths new --object 100 --to-root --full
paths new --object 100 --json
paths new --object 0x1
paths new --object 99999999
paths new.gclog --object 1 --csv
paths lossy --type System.Object[] --max-paths 1
paths new
async new --top 3
async new --csv --top 2
async new --json --top 1
async lossy
diff old new --top 4
diff old new --sort count --top 3 --human
diff old new --sort name --top 3 --filter HeapLab.*
diff old new --retained --top 3 --sort retained
diff old new --paths --top 6
diff old new --paths --csv --min-bytes 1K
diff old new --csv --top 2
diff old new --json --top 1
diff old new --fail-if "count > +1" --top 1
diff old new --fail-if "bytes < 1" --top 1
diff old new --fail-if "nonsense" --top 1
diff new new
diff lossy new --top 2
trend old new lossy --top 3
trend old new --sort count --top 2 --retained --human
trend old new --json --top 1
trend old new --csv --top 2
trend old new --fail-if "count(HeapLab.Guest) > +0" --top 1
trend old new --fail-if "count(HeapLab.Nonesuch*) > +0" --top 1
trend old.json new --top 2
trend old.json new --json --top 1
trend old.json new --fail-if "count(System.*) > 1000" --top 1
trend new old.json --fail-if "count(System.*) < 5" --top 1
trend new old.json --fail-if "count(HeapLab.Leaf) > +1" --top 1
info new --events
sql new "SELECT name, objects FROM types ORDER BY objects DESC LIMIT 3"
sql new --csv "SELECT 1 AS a, 'x;y' AS b, NULL AS c"
sql new --json "SELECT 1.5 AS a, x'00ff' AS b"
sql new --human "SELECT 123456 AS size_bytes, 1234567 AS n"
sql new "SELEC"
sql new "SELECT 1; SELECT 2"
leaks new --min-bytes 20K --top 2
leaks new --min-bytes 20K --top 2 --full --human
leaks new --share 1 --min-bytes 1 --top 2 --csv
leaks new --share 1 --min-bytes 1 --top 2 --json
leaks new --share 100 --findings
leaks new --mine HeapLab.Guest --min-bytes 1K --top 1
leaks new --mine Nonesuch
leaks new --share 0
leaks lossy --top 1
leaks svr --min-bytes 1 --top 2
leaks new.gclog --min-bytes 1 --top 1
leaks evening --top 2 --full
leaks evening --findings --csv
leaks core --no-modules --min-bytes 1 --top 3
retained new --by-field --top 3
retained core --no-modules --by-field --top 6 --human
retained core --no-modules --by-field --csv --top 4
retained core --type *OverrideEventProvider --by _providerName --top 3
retained core --type *OverrideEventProvider --by _providerName --show-values --top 3
retained core --type *OverrideEventProvider --by name
retained core --no-modules --tree 3 --top 5
retained evening --tree 2 --top 3 --json
retained new --largest nonesuch
retained new --type Nonesuch
retained new --type HeapLab.Guest --content HeapLab.Guest
retained svr --top 2 --with-dead
report core --no-modules --top 4
report core --no-modules --by root --retained
report core --no-modules --by generation
report core --no-modules --with-dead --top 3
report core --no-modules --by length --human
report core --no-modules --json --top 1
report svr --by generation --top 2
report svr --by module --csv
report names --top 5 --names=csharp
report names --top 5 --names=raw
report killed --top 1
report nonames --top 3
report evening --by namespace
report new --top 0
report new --top x
report new --min-bytes 1X
report new --sort nonesuch
report new -o x.html
report new -o x.nonesuch
report new --format html
report new --walk 2
report new --process 99
report new --max-objects 10
report new --max-memory 1
report new --separate-loads --top 1
report nonesuch
report
report new old
paths core --no-modules --type System.String --max-paths 2
paths core --no-modules --object 5 --show-values
paths core --no-modules --object 5 --json
paths evening --type CoffeeShop.* --max-paths 3 --full
paths evening --type CoffeeShop.* --csv --max-paths 2
paths new --type HeapLab.Guest --mine HeapLab.Leaf
paths new --type HeapLab.Guest --object 5
paths new --type Nonesuch
paths new --object x
paths new --type HeapLab.Guest --max-paths 0
async evening --top 3
async core --no-modules
async evening --min-bytes 1K --filter CoffeeShop.*
exceptions new
exceptions core --no-modules
exceptions core --no-modules --top 1 --show-values
exceptions core --no-modules --with-dead --show-values --json
exceptions core --no-modules --csv
strings new
strings core --no-modules --top 3
strings core --no-modules --top 2 --show-values
strings core --no-modules --json --top 2
strings core --no-modules --csv --top 3
strings core --no-modules --min-bytes 100 --filter System.String --human
sites sites --no-modules --top 2
sites sites --no-modules --top 2 --full --human
sites sites --no-modules --csv --top 2
sites sites --no-modules --json --top 1
sites sites --no-modules --also-dead --top 2
sites sites --no-modules --mine *Cart* --min-bytes 1K --top 1
sites new
diff morning evening --top 4 --mine CoffeeShop.*
diff morning evening --paths --top 4 --full
diff morning evening --retained --csv --top 3
diff core new --no-modules --top 2
diff svr new --top 2 --sort nonesuch
diff old new --fail-if "bytes(HeapLab.Guest) > +10%" --fail-if "count > 1G" --top 1
diff old new --fail-if "count(Nonesuch) > 1" --top 1
diff old
diff old new lossy
trend old new svr core --no-modules --top 3 --min-bytes 1K
trend morning evening --retained --csv --top 2
trend morning evening --filter CoffeeShop.* --human
trend old
trend nonesuch.json new
info new
info new --json
info svr
info lossy
info killed
info names
info nonames
info two --walk 2
info core --no-modules
info core --no-modules --json
info sites --no-modules
info new.gclog
info evening --human
convert new
convert new -o x.nonesuch
convert new -f nonesuch -o -
convert new -f raw -o y.html
convert lossy --strict -o z.gclog
convert new -o new.dartheap --stack-by retained
convert new -o new.collapsed --top 3
convert new -o new.collapsed --stack-by nonesuch
convert core --no-modules --redact -o redacted.gcdump
convert core --no-modules --values strings -o values.gclog
sql core --no-modules "SELECT kind, count(*) FROM roots GROUP BY kind ORDER BY kind"
sql evening "SELECT count(*) AS n, sum(bytes) AS bytes FROM objects"
sql evening "SELECT * FROM suspects"
sql new ".tables"
sql new "DELETE FROM types"
sql new --csv "SELECT * FROM objects LIMIT 2"
sql new --csv "SELECT * FROM types LIMIT 2"
sql new --csv "SELECT * FROM edges LIMIT 2"
sql new --csv "SELECT * FROM dominators LIMIT 2"
sql new --csv "SELECT * FROM roots LIMIT 2"
sql new --csv "SELECT * FROM dependent_handles LIMIT 2"
sql new --csv "SELECT * FROM modules LIMIT 2"
sql new --csv "SELECT * FROM ranges LIMIT 2"
sql new --csv "SELECT * FROM v_types_by_bytes ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_objects ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_largest_retained ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_roots_summary ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_roots ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_who_references ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_dominated ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_generations ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM v_unreachable ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM refs ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM statics ORDER BY 1, 2 LIMIT 2"
sql new --csv "SELECT * FROM facts"
sql new "SELECT count(*), sum(size_bytes), sum(address), sum(retained_bytes), sum(depth) FROM objects"
sql new "SELECT count(*), sum(from_id), sum(to_id), sum(slot) FROM edges"
sql new "SELECT kind, count(*), sum(object_id), sum(type_id) FROM roots GROUP BY 1 ORDER BY 1"
sql sites --no-modules --csv "SELECT * FROM sites LIMIT 3"
sql sites --no-modules --csv "SELECT * FROM samples LIMIT 3"
sql core --no-modules --csv "SELECT * FROM v_objects WHERE type = 'System.String' LIMIT 2"
sql core --no-modules --json "SELECT * FROM modules LIMIT 2"
sql new --csv "SELECT * FROM reachable_from(613) LIMIT 3"
sql new --csv "SELECT * FROM path_from_root(200)"
sql new "SELECT * FROM reachable_from"
sql new "SELECT * FROM path_from_root(99999999)"
sql new "SELECT type_name(3), type_name(99999), type_name(NULL)"
sql new "SELECT count(*) FROM types t JOIN reachable_from(t.id) LIMIT 1"
convert new -f gclog -o -
convert core --no-modules --values strings -f gclog -o -
convert lossy -f gclog -o -
convert new -f gcdump -o -
convert core --no-modules -f gcdump -o -
convert new -f v8 -o -
convert evening -f v8 -o -
convert core --no-modules --redact -f v8 -o -
convert svr -f dart -o -
convert core --no-modules --values hashes -f dart -o -
convert evening -f collapsed --stack-by dominators -o -
convert evening -f collapsed --stack-by paths -o -
convert evening -f collapsed --stack-by waits -o -
convert sites --no-modules -f collapsed -o -
convert new --summary - --top 1
convert lossy --summary - --top 2 --label host=a --label x=
convert evening --summary - --top 3 --names=raw
convert names --summary - --top 1
convert core --no-modules --summary - --top 2
convert new.gclog --summary - --top 1
convert new --summary - --label nonsense
report new --json=1 --top 1 --retained
report new --by root --json=1
retained new --json=1 --top 1
retained new --type HeapLab.Guest --json=1
retained new --tree 1 --json=1 --top 1
paths new --type HeapLab.Guest --json=1 --max-paths 1
leaks evening --json=1 --top 1
async evening --json=1 --top 1
diff old new --json=1 --top 1
trend old new --json=1 --top 1
info lossy --json=1
sql new --json=1 "SELECT 1 AS a"
nonesuch
help nonesuch
"""



# A digest of each list and object of their JSON is compared, which says where to look: all lines and columns, at
# little cost.  The data of a page count as JSON.
DIGESTS = """
report new --json --retained
report new --json --by root --retained
report new --json --by length
report new --json --by kind
report evening --json --by module --retained
report evening --json --by namespace
report core --no-modules --json --retained --with-dead
report core --no-modules --json --by generation
report two --json
report two --json --walk 2
report names --json
report names --json --separate-loads
report new --json --by generation
retained new --json
retained evening --json
retained evening --json --tree 4 --top 40
retained core --no-modules --json
retained core --no-modules --json --tree 6 --top 60
retained core --no-modules --json --by-field
retained core --no-modules --json --type HeapLab.*
retained core --no-modules --json --content HeapLab.*
retained evening --json --by-dominator System.String --skip System.*
retained lossy --json
paths new --json --type HeapLab.* --max-paths 100
paths evening --json --type CoffeeShop.* --max-paths 50
paths core --no-modules --json --type HeapLab.* --max-paths 100
paths core --no-modules --json --type System.String --max-paths 100 --show-values
paths core --no-modules --json --object 400
paths evening --json --object 400 --full
paths lossy --json --type * --max-paths 20
leaks new --json --share 1 --min-bytes 1 --findings
leaks evening --json --share 1 --min-bytes 1 --findings
leaks core --no-modules --json --share 1 --min-bytes 1 --findings --show-values
leaks svr --json --share 1 --min-bytes 1 --findings
leaks sites --no-modules --json --share 1 --min-bytes 1 --findings
leaks lossy --json --share 1 --min-bytes 1
async new --json
async evening --json
async core --no-modules --json
strings core --no-modules --json
exceptions core --no-modules --json
sites sites --no-modules --json
sites sites --no-modules --json --also-dead
sql new --csv EVERY
sql core --no-modules --show-values --csv EVERY
sql sites --no-modules --csv EVERY
info two --json --walk 2
info svr --json
info killed --json
info names --json
info evening --json
info sites --no-modules --json
diff old new --json
diff old new --json --retained
diff old new --json --paths
diff morning evening --json --retained
diff morning evening --json --paths --full
diff evening morning --json --paths --min-bytes 1K
diff lossy killed --json
trend old new svr --json
trend old new svr core --no-modules --json --retained
trend morning evening --json --filter CoffeeShop.*
convert new --summary -
convert evening --summary -
convert core --no-modules --summary -
convert core --no-modules -f html -o -
convert evening -f html -o -
convert sites --no-modules -f html -o -
convert lossy -f html -o -
convert svr -f html -o - --mine System.*
convert core --no-modules -f v8 -o -
convert core --no-modules -f v8 --values strings -o -
convert sites --no-modules -f v8 -o -
leaks core --no-modules --min-bytes 1 -o page.html -q
diff morning evening -o page.html -q
diff old new -o page.html -q
diff core new --no-modules -o page.html -q
trend old new svr -o page.html -q
trend morning evening -o page.html -q
"""
# The same questions about heaps that a generator bent: what a real heap has once or never, they have often.
BENT = {"bent1": ("evening", 1), "bent2": ("evening", 2), "bent3": ("new", 3), "bent4": ("new", 4)}
QUESTIONS = "\n".join(f"{question} --json".replace("X", name) for name in BENT for question in (
    "report X --retained", "report X --by root --retained", "report X --by length", "retained X", "retained X --tree 5 --top 80",
    "retained X --largest types --min-bytes 1K", "paths X --type * --max-paths 80", "paths X --type System.* --max-paths 40 --full", "async X",
    "leaks X --share 1 --min-bytes 1 --findings", "diff X evening --paths --min-bytes 1", "diff evening X --retained", "info X"))
QUESTIONS += "\nsql bent1 --csv EVERY\ntrend bent1 bent2 bent3 bent4 --json --retained\nleaks bent3 -o page.html -q\ndiff bent1 bent2 -o page.html -q\n"
# And about copies of a core file and of recordings in other formats, with values and without.
COPIES = """
info core.nettrace --json
report core.nettrace --json --retained
paths core.nettrace --type HeapLab.* --max-paths 100 --json
strings core.nettrace --json --show-values
strings core.nettrace --json --filter System.* --max-string 8
exceptions core.nettrace --json --show-values
retained core.nettrace --by-field --json
retained core.nettrace --type *OverrideEventProvider --by _providerName --show-values --json
sql core.nettrace --show-values --csv EVERY
convert core.nettrace -f html -o -
diff core.nettrace core --no-modules --json
info core.dart --json
report core.dart --json --retained
leaks core.dart --share 1 --min-bytes 1 --json
info evening.gcdump --json
report evening.gcdump --json --retained
paths evening.gcdump --type CoffeeShop.* --max-paths 50 --json
leaks evening.gcdump --share 1 --min-bytes 1 --json
diff evening.gcdump evening --paths --json
"""
CHANGED = "\n".join(f"convert core.nettrace{how} -f {form} -o -" for how in ("", " --no-fields", " --redact") for form in ("nettrace", "gclog"))
# Which types a pattern means: each way to write one, and some that nearly fit.
PATTERNS = """
System.String | string | String | string[] | string?[] | STRING | System.Strin | tring | *tring | Str* | System.* | System.*.* | * | **
object[] | Object[] | int[] | System.Int32[] | int[,] | *[,] | *[] | *[][] | int? | nint | byte[]
List | List<*> | List<string> | List<HeapLab.*> | *.List<*> | System.Collections.Generic.List`1 | List`1[*] | Dictionary<*>.Entry[] | Dictionary<string,*>+Entry[]
Entry[] | *.Entry[] | *+Entry[] | Dictionary<*,*> | Dictionary<string, object>.Entry[] | Concurrent* | <>c | *<>c | *+<>c | *.<>c | Tables.Entry
HeapLab.Lab | Lab | heaplab.lab | HeapLab.Lab[] | HeapLab.?ab | HeapLab.[LG]* | HeapLab.[!LG]* | HeapLab.L\\* | HeapLab | .Lab | Lab. | HeapLab.
/Lab/ | /^HeapLab/ | /lab$/ | /[/ | /a{1,2}b/ | /Entry\\[\\]/ | Lab [HeapLab] | Lab [HeapLab.dll] | *[HeapLab] | string [mscorlib] | String [System.Private.CoreLib]
"""
FILTERS = "\n".join(f"report new --filter {shlex.quote(pattern.strip())} --json" for line in PATTERNS.strip().split("\n") for pattern in line.split("|"))
# EVERY stands for what prints all rows of these.
TABLES = ("objects types edges dominators roots dependent_handles modules ranges suspects sites samples strings fields facts v_types_by_bytes v_objects "
          "v_largest_retained v_roots_summary v_roots v_generations v_unreachable refs statics").split()
EVERY = "; ".join(f"SELECT '{table}' AS \"table\"; SELECT * FROM {table}" for table in TABLES)
# Dumps that are no JSON: a digest of the whole.
DUMPS = "\n".join(f"convert {name} -f {form} -o -" for name in ("core --no-modules", "evening", "sites --no-modules", "svr", "lossy", "names", "two")
                  for form in ("gclog", "gcdump", "dart", "pprof", "collapsed", "nettrace"))


def group_of(line):
    """Core files and recordings of sites have code of their own: their lines are run apart, by what is read."""
    words = shlex.split(line)
    if "--filter" in words and "--json" in words and words[0] == "report":
        return "patterns"
    if words[1:] and words[1].partition(".")[2] in ("nettrace", "dart", "gcdump"):
        return "copies"
    return next((name for name in ("core", "sites") if name in words[1:]), words[0])


def digest(data):
    return hashlib.sha256(data).hexdigest()


def parts(value, name=""):
    """Lines with the digest of each list and the values of the objects of JSON.  A list of objects gets one line per key."""
    if isinstance(value, dict) and name.count(".") < 2:
        for key in sorted(value):
            yield from parts(value[key], f"{name}.{key}".lstrip("."))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        for key in sorted({key for each in value for key in each}):
            column = [each.get(key) for each in value]
            yield f"{name}[{len(value)}].{key} {digest(json.dumps(column, sort_keys=True).encode())[:12]}\n"
    else:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
        yield f"{name} {text if len(text) < 60 else digest(text.encode())[:12]}\n"


def columns(text):
    """The same for each column of the tables of EVERY."""
    for table in text.split('"table"\n')[1:]:
        name, head, *rows = csv.reader(table.splitlines())
        for key, *column in zip(head, *rows):
            yield f"{name[0]}[{len(rows)}].{key} {digest(json.dumps(column).encode())[:12]}\n"


def bend(text, seed):
    """A heap log with objects and roots lost, references lost, doubled and led elsewhere, and other sizes, kinds of roots and types."""
    rng, lines = random.Random(seed), [line.split(" ") for line in text.splitlines()]
    objects = [line[1] for line in lines if line[0] == "o"]
    for line in lines:
        odd = rng.random()
        if line[0] == "t" and "[gcdumpc" in line and seed % 2:
            continue                             # the checksum: without it the heap counts as whole
        if line[0] == "o" and odd < 0.2:
            at = rng.randrange(4, len(line)) if len(line) > 4 else 0
            if odd < 0.02:
                continue
            if odd < 0.04:
                line[3] = format(rng.choice((0, 24, 8 * rng.randrange(1 << 9), 1 << rng.randrange(20))), "x")
            elif odd < 0.05:
                line[2] = format(rng.randrange(1, 100), "x")
            elif odd < 0.08:
                line.append(rng.choice(objects))
            elif at > 0 and odd < 0.12:
                line[at] = rng.choice(objects)
            elif at > 0 and odd < 0.16:
                line.append(line[at])
            elif at > 0:
                del line[at]
        elif line[0] == "r" and odd < 0.5:
            if odd < 0.3:
                continue
            line[2] = str(rng.randrange(5))
        yield " ".join(line) + "\n"


PAGE = '<script type="application/json" id="data">'
DIGESTED = set("\n".join((DIGESTS, QUESTIONS, COPIES, FILTERS)).strip().split("\n"))
# A sanitizer sees the same code at work in the other lines: the pattern of a report, the second heap of each kind, and of what is digested a third.
AGAIN = set(f"{FILTERS}\n{QUESTIONS}".split("\n")) if SANITIZED and os.environ.get("GCDUMPC_LONG") != "1" else set()
AGAIN -= {line for line in AGAIN if "bent1" in line or "bent3" in line} | {line for line in FILTERS.split("\n")[::8]}
if AGAIN:
    AGAIN |= {line for lines in (DIGESTS, COPIES, DUMPS) for place, line in enumerate(lines.strip().split("\n")) if place % 3}
GROUPS = {}
for LINE in filter(None, "\n".join((COMMANDS, DIGESTS, QUESTIONS, COPIES, FILTERS, DUMPS, CHANGED)).split("\n")):
    GROUPS.setdefault(group_of(LINE), []).append(LINE)
RECORDINGS = {"old": "net9-wks", "new": "net10-wks-ranges", "lossy": "net10-wks-lossy", "two": "net8-wks-two-dumps", "svr": "net9-svr",
              "names": "net10-wks-names", "nonames": "net10-wks-nonames", "killed": "net10-wks-killed"}
OTHERS = {"core": "net10-core/heap.core.gz", "sites": "sites/leaks.nettrace.gz", "morning": "shop/morning.nettrace.gz",
          "evening": "shop/evening.nettrace.gz"}


@unittest.skipUnless(HAVE_SQLITE, "needs SQLite")
class Outputs(CliTest):
    """One test for each group, which ends at the first command that prints something else."""

    def block(self, line):
        run = self.gcdumpc(*(EVERY if word == "EVERY" else word for word in shlex.split(line)), env={"COLUMNS": "100"})
        out = run.text if " -f " not in line else f"sha256 {digest(run.out)}\n" if run.out else ""
        if line.endswith(" EVERY"):
            out = "".join(columns(run.text))
        elif line in DIGESTED and run.code in (0, 3):
            text = self.get("page.html").decode() if "page.html" in line else run.text
            out = "".join(parts(json.loads(text[text.find(PAGE) + len(PAGE):].partition("</script>")[0] if PAGE in text else text)))
        return "".join([f"$ gcdumpc {line}\n", out, "" if out.endswith("\n") or not out else "\n",
                        *(f"! {message}\n" for message in run.err.decode().splitlines()), f"= {run.code}\n\n"])

    def group(self, name):
        lines = GROUPS[name]
        for key, source in RECORDINGS.items():
            os.symlink(trace(source), self.path(key))
        for key, source in OTHERS.items():
            os.symlink(os.path.join(SOURCE, "traces", source), self.path(key))
        words = {word for line in lines for word in shlex.split(line)}
        for key, (source, seed) in BENT.items():
            if key in words:
                log = self.done("convert", source, "-f", "gclog", "-o", "-", "-q").text
                self.put(key, "".join(bend(log, seed)).encode())
        for copy, *made in ("core.nettrace", "core", "--values", "strings", "--no-modules"), ("core.dart", "core", "--no-modules"), ("evening.gcdump", "evening"):
            if copy in words:
                self.done("convert", *made, "-o", copy, "-f", copy.partition(".")[2], "-q")
        if "new.gclog" in words:
            self.done("convert", "new", "-o", "new.gclog", "-q")
        if "old.json" in words:
            self.done("convert", "old", "-o", "old.gclog", "--summary", "old.json", "-q")
        file = f"outputs-{name}.txt"
        if BLESS:
            self.expected(file, "".join(map(self.block, lines)))
            return
        with open(os.path.join(EXPECTED, file), encoding="utf-8", newline="") as f:
            wanted = f.read()
        for line in lines:
            if line in AGAIN:
                here, end = wanted.partition(f"$ gcdumpc {line}\n")[::2]
                self.assertEqual(here, "", f"{file}: {line}")
                wanted = end[end.index("\n$ gcdumpc ") + 1:] if "\n$ gcdumpc " in end else ""
                continue
            found = self.block(line)
            self.assertEqual(found, wanted[:len(found)], f"{file}: {line}")
            wanted = wanted[len(found):]
        self.assertEqual(wanted, "", file)


for NAME in GROUPS:
    setattr(Outputs, f"test_{NAME}", lambda self, name=NAME: self.group(name))


if __name__ == "__main__":
    main()
