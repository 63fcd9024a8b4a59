"""What the commands print with each of their options, for bundled recordings: compared with expected/outputs.txt, so that any change is seen.
What is said about suspects is in golden/test_said."""
import shlex
import shutil
import unittest

from cli_support import HAVE_SQLITE, CliTest, main, trace

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
"""


@unittest.skipUnless(HAVE_SQLITE, "needs SQLite")
class Outputs(CliTest):
    def test_every_command(self):
        for name, source in (("old", "net9-wks"), ("new", "net10-wks-ranges"), ("lossy", "net10-wks-lossy"), ("two", "net8-wks-two-dumps")):
            shutil.copy(trace(source), self.path(name))
        self.done("convert", "new", "-o", "new.gclog", "-q")
        self.done("convert", "old", "-o", "old.gclog", "--summary", "old.json", "-q")
        text = []
        for line in COMMANDS.strip().split("\n"):
            run = self.gcdumpc(*shlex.split(line), env={"COLUMNS": "100"})
            text += [f"$ gcdumpc {line}\n", run.text, "" if run.text.endswith("\n") or not run.text else "\n"]
            text += [f"! {message}\n" for message in run.err.decode().splitlines()]
            text += [f"= {run.code}\n\n"]
        self.expected("outputs.txt", "".join(text))


if __name__ == "__main__":
    main()
