"""Event Trace Logs (.etl): Windows recordings compared with the event counts of another reader, wrapped recordings compared with their originals.

The Windows recordings are outside the repository; do not copy them into it.  GCDUMPC_SHARED_TRACES names their folder; the default is
../shared/traces beside the repository.  Without it, these tests are skipped with a message.
"""
import gzip
import json
import os
import re
import struct
import sys
import tempfile
import unittest
import zipfile

from golden_support import BUILD, NAMED, READERS, ROOT, bundled, gcdumpc, gcdumpc_json, run

sys.path.insert(0, READERS)
from sample_heaps import shop_events, write                              # noqa: E402
from test_shared_traces import CLR, IDS, PRIVATE, RUNDOWN                # noqa: E402
from trace_bytes import Ev, Payloads, V4File                             # noqa: E402

FOLDER = os.path.join(os.environ.get("GCDUMPC_SHARED_TRACES", os.path.join(ROOT, "..", "shared", "traces")), "etl")
WRAP = os.path.join(BUILD, "nettrace2etl")
GENHEAP = os.path.join(BUILD, "genheap")
KERNEL = "Windows Kernel/"

# Names of the other reader, beyond those of .nettrace files.  A kernel event's id is its group and number.
ETL_IDS = IDS | {
    CLR + "GC/CreateSegment": (5,), CLR + "GC/TerminateConcurrentThread": (12,), CLR + "Type/BulkType": (15,),
    CLR + "GC/MarkStackRoots": (25,), CLR + "GC/MarkFinalizeQueueRoots": (26,), CLR + "GC/MarkHandles": (27,), CLR + "GC/MarkCards": (28,),
    CLR + "GC/FinalizeObject": (29,), CLR + "Exception/Start": (80,), CLR + "Method/UnloadVerbose": (144,),
    CLR + "Loader/ModuleUnload": (153,), CLR + "Loader/AssemblyUnload": (155,), CLR + "Loader/AppDomainLoad": (156,),
    CLR + "Loader/AppDomainUnload": (157,), CLR + "Runtime/Start": (187,), CLR + "GarbageCollection/IncreaseMemoryPressure": (200,),
    CLR + "GC/LOHCompact": (208,), CLR + "GC/FitBucketInfo": (209,),
    RUNDOWN + "GC/SettingsRundown": (10,), RUNDOWN + "TieredCompilationRundown/SettingsDCStart": (280,),
    PRIVATE + "GC/PerHeapHistory": (4,), PRIVATE + "GC/GlobalHeapHistory": (5,), PRIVATE + "GC/MarkStackRoots": (7,),
    PRIVATE + "GC/MarkFinalizeQueueRoots": (8,), PRIVATE + "GC/MarkHandles": (9,), PRIVATE + "GC/MarkCards": (10,),
    PRIVATE + "NgenBinder/NgenBind": (188,), PRIVATE + "Binding/FusionMessage": (196,),
    KERNEL + "EventTrace": (0x0000,), KERNEL + "EventTrace/Extension": (0x0005,), KERNEL + "EventTrace/RundownComplete": (0x0008,),
    KERNEL + "DiskIO/Read": (0x010a,), KERNEL + "DiskIO/Write": (0x010b,), KERNEL + "DiskIO/ReadInit": (0x010c,),
    KERNEL + "DiskIO/WriteInit": (0x010d,), KERNEL + "DiskIO/FlushBuffers": (0x010e,), KERNEL + "DiskIO/FlushInit": (0x010f,),
    KERNEL + "Memory/HardFault": (0x0220,),
    KERNEL + "Process/Start": (0x0301,), KERNEL + "Process/Stop": (0x0302,), KERNEL + "Process/DCStart": (0x0303,),
    KERNEL + "Process/DCStop": (0x0304,), KERNEL + "Process/PerfCtr": (0x0320,), KERNEL + "Process/PerfCtrRundown": (0x0321,),
    KERNEL + "Process/Defunct": (0x0327,),
    KERNEL + "TcpIp/SendIPV6": (0x061a,), KERNEL + "TcpIp/RecvIPV6": (0x061b,),
    KERNEL + "UdpIp/Recv": (0x080b,), KERNEL + "UdpIp/SendIPV6": (0x081a,), KERNEL + "UdpIp/RecvIPV6": (0x081b,),
    KERNEL + "Image/Unload": (0x1402,), KERNEL + "Image/DCStart": (0x1403,), KERNEL + "Image/DCStop": (0x1404,), KERNEL + "Image/Load": (0x030a,),
    KERNEL + "Thread/Start": (0x0501,), KERNEL + "Thread/Stop": (0x0502,), KERNEL + "UdpIp/Send": (0x080a,),
}
# Providers without a name in the files.
GUIDS = {PRIVATE: "{763fd754-7086-4dfe-95eb-c01a46faf4ca}", "solar_system/": "{d3dd3dd4-aac2-4e2a-8dd4-a8fb61b77615}"}
ETL_IDS["solar_system/PrimitiveTypesTest"] = (0,)
RECORDS = {"gcevents": 71, "gcrundownevents": 112, "net.4.5.2.x64": 179474, "primitive-types": 7}


def counts(path):
    """Events by provider and id."""
    r = gcdumpc("info", "--events", "--json", path)
    if r.returncode != 0:
        raise AssertionError(f"info --events: exit {r.returncode}: {r.stderr.decode()}")
    found = {}
    for row in json.loads(r.stdout)["events"]:
        key = row["provider"], row["id"]
        found[key] = found.get(key, 0) + row["count"]
    return found


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def wrap(self, *args):
        r = run(WRAP, *args)
        self.assertEqual(r.returncode, 0, r.stderr.decode())

    def gclog(self, path, *options, **run):
        """Without the verdict, which differs where a format cannot tell a loss."""
        r = gcdumpc("convert", "-q", path, "-f", "gclog", "-o", "-", *options, **run)
        self.assertIn(r.returncode, (0, 3), r.stderr.decode())
        return re.sub(rb"\nt \w+ \[gcdumpc [^\n]*", b"", r.stdout)


@unittest.skipUnless(os.path.isdir(FOLDER), "no folder of recordings of Windows (GCDUMPC_SHARED_TRACES)")
class OfWindows(Folder):
    def recordings(self):
        for name in RECORDS:
            with zipfile.ZipFile(os.path.join(FOLDER, name + ".etl.zip")) as archive:
                inside = [n for n in archive.namelist() if n.endswith(".etl")]
                self.assertEqual(len(inside), 1)
                with open(self.path(name + ".etl"), "wb") as f:
                    f.write(archive.read(inside[0]))
            yield name, self.path(name + ".etl")

    def test_event_counts(self):
        for name, path in self.recordings():
            with self.subTest(name):
                found, compared = counts(path), 0
                self.assertEqual(sum(found.values()), RECORDS[name])
                with open(os.path.join(FOLDER, name + ".baseline.txt"), encoding="utf-8-sig") as f:
                    lines = re.findall(r"^COUNT (.*):(\d+)$", f.read(), re.M)
                for event, count in lines:
                    ids = ETL_IDS.get(event)
                    provider = event.split("/")[0]
                    if ids is None:
                        # no event of the runtime may be missing, whatever else Windows records
                        self.assertNotIn(provider + "/", (CLR, RUNDOWN), event)
                        continue
                    provider = GUIDS.get(provider + "/", provider)
                    self.assertEqual(sum(found.get((provider, i), 0) for i in ids), int(count), event)
                    compared += 1
                self.assertGreater(compared, 0)

    def test_none_holds_a_heap_dump(self):
        for name, path in self.recordings():
            r = gcdumpc("info", path)
            self.assertEqual(r.returncode, 1, name)
            self.assertRegex(r.stderr.decode(), r"contains no heap dump: a recording needs the provider")

    def test_gzip_and_pipe(self):
        path = dict(self.recordings())["net.4.5.2.x64"]
        with open(path, "rb") as f:
            data = f.read()
        with open(self.path("packed"), "wb") as f:
            f.write(gzip.compress(data, 1))
        self.assertEqual(counts(self.path("packed")), counts(path))
        r = gcdumpc("info", "--events", "-", input=data)
        self.assertEqual((r.returncode, r.stdout), (0, gcdumpc("info", "--events", path).stdout))


class Wrapped(Folder):
    WAYS = ([], ["--compress", "--shuffle"], ["--shuffle", "--tight"])

    def test_every_bundled_recording(self):
        for name, path in bundled():
            if name in NAMED or name == "net10-wks-lossy":  # an .etl has no names; wrapped, it reports no loss, so its sums contradict each other
                continue
            with gzip.open(path) as packed, open(self.path("heap.nettrace"), "wb") as f:
                f.write(packed.read())
            whole = self.gclog(path)
            for way in self.WAYS:
                with self.subTest(name, way=way):
                    self.wrap(*way, self.path("heap.nettrace"), self.path("heap.etl"))
                    self.assertEqual(self.gclog(self.path("heap.etl")), whole)

    def test_generated(self):
        for options in (["--pointer", "4"], ["--server", "--noise"], ["--shape", "fan"], ["--shape", "random", "--dumps", "2"]):
            with self.subTest(options):
                self.assertEqual(run(GENHEAP, "-n", "20000", *options, self.path("heap.nettrace")).returncode, 0)
                self.wrap("--compress", "--shuffle", self.path("heap.nettrace"), self.path("heap.etl"))
                self.assertEqual(self.gclog(self.path("heap.etl")), self.gclog(self.path("heap.nettrace")))
                a, b = (gcdumpc_json("info", self.path("heap." + x))[0] for x in ("nettrace", "etl"))
                self.assertEqual(b["verdict"], a["verdict"])
                self.assertEqual(b["trace"]["pointer_bytes"], a["trace"]["pointer_bytes"])

    def test_two_processes(self):
        paths = dict(bundled())
        one, two = paths["net10-wks"], paths["net8-svr"]
        self.wrap("--shuffle", one, two, self.path("heap.etl"))
        info, _ = gcdumpc_json("info", self.path("heap.etl"))
        a, b = (p["pid"] for p in info["processes"])
        self.assertEqual([p["chosen"] for p in info["processes"]], [True, False])
        self.assertEqual(self.gclog(self.path("heap.etl")), self.gclog(one))
        self.assertEqual(self.gclog(self.path("heap.etl"), "--process", a), self.gclog(one))
        self.assertEqual(self.gclog(self.path("heap.etl"), "--process", b), self.gclog(two))
        text = gcdumpc("info", self.path("heap.etl"))
        self.assertRegex(text.stdout.decode(), rf"(?m)^processes +{a}, HeapLab: 1 heap dump, this one\n +{b}, HeapLab: 1 heap dump$")
        self.assertRegex(text.stderr.decode(), "--process chooses")

    def test_every_start_twice(self):
        # .NET Framework 4.5.2 writes each GCStart as version 1 and as version 2, a few microseconds apart
        events = shop_events()
        twice = [Ev(1, events[0].time - 1, Payloads.gc_start())] + events
        outputs = []
        for some in (events, twice):
            with open(self.path("heap.nettrace"), "wb") as f:
                f.write(write(V4File(), some))
            self.wrap(self.path("heap.nettrace"), self.path("heap.etl"))
            info, status = gcdumpc_json("info", self.path("heap.etl"))
            self.assertEqual((status, info["dumps"], info["verdict"]["complete"]), (0, 1, True))
            outputs.append(self.gclog(self.path("heap.etl")))
        self.assertEqual(outputs[0], outputs[1])

    @staticmethod
    def started(data, *processes):
        """DATA with one more buffer: kernel events about processes, rows (id, image, command line, event, version, user)."""
        records = b""
        for pid, image, line, event, version, user in processes:
            payload = (bytes(8) + struct.pack("<4I", pid, 4, 0, 0) + bytes(8) + (bytes(4) if version >= 4 else b"") + user
                       + image.encode() + b"\0" + line.encode("utf-16-le") + b"\0\0")
            header = struct.pack("<HBBHBBIIQQ", version, 2, 0xc0, 0x20 + len(payload), event, 3, 0, 0, 10 ** 12, 0)
            records += header + payload + bytes(-len(payload) % 8)
        number = int.from_bytes(data[0x8c:0x90], "little")
        end = 0x48 + len(records)
        buffer = bytearray(0x48) + records
        struct.pack_into("<I", buffer, 0, end)
        struct.pack_into("<Q", buffer, 0x18, number)
        struct.pack_into("<H", buffer, 0x28, 2000)
        struct.pack_into("<IHH", buffer, 0x30, end, 0x20, 0)
        return data[:0x8c] + (number + 1).to_bytes(4, "little") + data[0x90:] + buffer

    def test_names_of_processes(self):
        # in this recording the runtime itself has not sent its command line
        path = dict(bundled())["net10-wks-killed"]
        self.wrap(path, self.path("heap.etl"))
        with open(self.path("heap.etl"), "rb") as f:
            data = f.read()
        pid = gcdumpc_json("info", self.path("heap.etl"))[0]["process"]["pid"]
        nobody, somebody = bytes(4), b"\1" + bytes(15) + b"\1\2" + bytes(6) + b"\xee" * 8
        line = "dotnet C:\\app\\Shop.dll --all"
        quoted = '"C:\\Program Files\\dotnet\\dotnet.exe" "C:\\my apps\\My Shop.dll" --all'
        for rows, expected in (
                ([(pid, "dotnet.exe", line, 3, 4, nobody)], ("Shop", line)),
                ([(pid, "dotnet.exe", line, 3, 4, somebody)], ("Shop", line)),
                ([(pid, "dotnet.exe", quoted, 3, 4, nobody)], ("My Shop", quoted)),
                ([(pid, "My Shop.exe", '"C:\\a b\\My Shop.exe', 3, 4, nobody)], ("My Shop", '"C:\\a b\\My Shop.exe')),
                ([(pid, "Shop.exe", "", 4, 3, somebody)], ("Shop", "Shop.exe")),
                ([(7, "a.exe", "a", 3, 4, nobody), (pid, "b.exe", "b", 3, 4, nobody)], ("b", "b")),
                ([(pid, "a.exe", "a", 3, 4, nobody), (pid, "b.exe", "b", 4, 4, nobody)], ("a", "a")),
                ([(pid, "a.exe", "a", 3, 4, nobody), (pid, "b.exe", "b", 1, 4, nobody)], ("b", "b")),
                ([(7, "a.exe", "a", 3, 4, nobody)], (None, None)),
                ([(pid, "a.exe", "a", 3, 2, nobody)], (None, None)),
                ([(pid, "a.exe", "a", 5, 4, nobody)], (None, None))):
            with self.subTest(rows):
                with open(self.path("named.etl"), "wb") as f:
                    f.write(self.started(data, *rows))
                info, _ = gcdumpc_json("info", self.path("named.etl"))
                self.assertEqual((info["process"]["name"], info["process"]["command_line"]), expected)
                self.assertEqual(info["processes"][0]["name"], expected[0])
                if expected[0]:
                    self.assertEqual(self.gclog(self.path("named.etl"), "--process", expected[0]), self.gclog(self.path("named.etl")))

    def test_several_files(self):
        path = dict(bundled())["net10-wks"]
        self.wrap("--shuffle", "--rundown", self.path("heap.rundown.etl"), path, self.path("heap.etl"))
        files = [self.path("heap.etl"), self.path("heap.rundown.etl")]
        whole = self.gclog(path)
        alone = self.gclog(files[0])
        self.assertNotEqual(alone, whole)
        self.assertEqual(self.gclog(files[0], files[1]), whole)
        with open(files[1], "rb") as f:
            packed = gzip.compress(f.read())
        with open(self.path("packed"), "wb") as f:
            f.write(packed)
        self.assertEqual(self.gclog(files[0], self.path("packed")), whole)
        # what is wrong with one of them
        for text, bad in ((r"file 2 is not an \.etl", path), (r"file 2 is not an \.etl", os.devnull)):
            r = gcdumpc("info", files[0], bad)
            self.assertEqual((r.returncode, r.stdout), (1, b""))
            self.assertRegex(r.stderr.decode(), text)
        r = gcdumpc("info", path, files[0])
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        self.assertRegex(r.stderr.decode(), r"only \.etl recordings can have several files")
        r = gcdumpc("info", files[0], self.path("none"))
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        self.assertRegex(r.stderr.decode(), r"none: ")
        # the first one ends early, the second one is still read
        with open(files[0], "rb") as f:
            data = f.read()
        with open(self.path("cut.etl"), "wb") as f:
            f.write(data[:-1000])
        info, status = gcdumpc_json("info", self.path("cut.etl"), files[1])
        self.assertEqual((status, info["trace"]["end"]), (3, "truncated"))
        self.assertNotEqual(info["process"]["command_line"], "")

    def test_pipe_and_gzip(self):
        path = dict(bundled())["net10-wks"]
        self.wrap(path, self.path("heap.etl"))
        with open(self.path("heap.etl"), "rb") as f:
            data = f.read()
        with open(self.path("heap.etl.gz"), "wb") as f:
            f.write(gzip.compress(data, 1))
        self.assertEqual(self.gclog(self.path("heap.etl.gz")), self.gclog(path))
        self.assertEqual(self.gclog("-", input=data), self.gclog(path))
        with open(self.path("cut.etl.gz"), "wb") as f:
            f.write(gzip.compress(data, 1)[:-9])
        r = gcdumpc("info", self.path("cut.etl.gz"))
        self.assertEqual(r.returncode, 3)
        self.assertRegex(r.stderr.decode(), "incomplete: .*gzip")

    def test_every_writer(self):
        path = dict(bundled())["net10-wks"]
        self.wrap("--compress", path, self.path("heap.etl"))
        for fmt in ("gcdump", "v8", "dart", "pprof", "collapsed"):
            outputs = []
            for source in (path, self.path("heap.etl")):
                self.assertEqual(gcdumpc("convert", "-q", source, "-f", fmt, "-o", self.path("out")).returncode, 0, fmt)
                with open(self.path("out"), "rb") as f:
                    outputs.append(f.read())
            self.assertEqual(outputs[0], outputs[1], fmt)


class Damaged(Folder):
    """The loss is reported, and the exit status is 3."""

    def setUp(self):
        super().setUp()
        self.source = dict(bundled())["net10-wks"]

    def etl(self, *options):
        self.wrap(*options, self.source, self.path("heap.etl"))
        with open(self.path("heap.etl"), "rb") as f:
            return bytearray(f.read())

    def put(self, data):
        with open(self.path("bad.etl"), "wb") as f:
            f.write(data)
        return self.path("bad.etl")

    @staticmethod
    def buffers(data):
        at, found = 0, []
        while at < len(data):
            size = int.from_bytes(data[at:at + 4], "little")
            found.append((at, size))
            at += size
        return found

    def incomplete(self, data, reason, text):
        info, status = gcdumpc_json("info", self.put(data))
        self.assertEqual(status, 3)
        reasons = {r["code"]: r for r in info["verdict"]["reasons"]}
        self.assertIn(reason, reasons)
        self.assertRegex(reasons[reason]["text"], text)
        return reasons

    def test_header_counts(self):
        self.incomplete(self.etl("--lost-events", "5"), "events_lost", "^5 events were lost during the recording$")
        self.incomplete(self.etl("--lost-buffers", "2"), "buffers_lost", "^2 buffers of events are missing$")
        for options in (["--lost-events", "5"], ["--lost-buffers", "2"]):
            r = gcdumpc("info", "--events", self.put(self.etl(*options)))
            self.assertEqual(r.returncode, 3)
            self.assertIn(b"lost", r.stderr)

    def test_a_file_that_was_not_closed(self):
        data = self.etl()
        data = data[:0x48 + 0x20 + 0x24] + bytes(4) + data[0x48 + 0x20 + 0x28:]
        self.incomplete(data, "loss_unverified", "final count of events is missing")

    def test_cut(self):
        data = self.etl()
        whole = self.buffers(data)
        for cut in (whole[-1][0] + 100, whole[-1][0] + 20):
            self.incomplete(data[:cut], "trace_truncated", f"at byte {cut}$")
        self.incomplete(data[:whole[-1][0]], "trace_truncated", f"at byte {whole[-1][0]}$")

    def test_a_missing_buffer(self):
        data = self.etl("--tight")
        at, size = self.buffers(data)[3]
        data = data[:at] + data[at + size:]
        written = int.from_bytes(data[0x8c:0x90], "little") - 1
        data[0x8c:0x90] = written.to_bytes(4, "little")
        self.incomplete(data, "buffers_lost", "^1 buffer of events is missing$")

    def joined(self, pieces):
        """PIECES as a file whose header counts them."""
        data = bytearray(b"".join(pieces))
        data[0x8c:0x90] = len(pieces).to_bytes(4, "little")
        return data

    def test_a_duplicate_buffer(self):
        whole = self.gclog(self.source)
        for options in (["--buffer", "70000"], ["--buffer", "70000", "--compress", "--shuffle"]):
            data = self.etl(*options)
            pieces = [bytes(data[at:at + size]) for at, size in self.buffers(data)]
            for i in range(1, len(pieces)):
                with self.subTest(options=options, buffer=i):
                    more = self.joined(pieces[:1] + pieces[i:i + 1] + pieces[1:])
                    more[0x8c:0x90] = len(pieces).to_bytes(4, "little")
                    reasons = self.incomplete(more, "buffers_repeated", "^1 buffer of events with the number of another one is left out$")
                    self.assertEqual(list(reasons), ["buffers_repeated"])
                    self.assertEqual(self.gclog(self.put(more)), whole)

    def test_a_duplicate_buffer_does_not_hide_a_loss(self):
        data = self.etl("--buffer", "70000")
        pieces = [bytes(data[at:at + size]) for at, size in self.buffers(data)]
        for i in range(1, len(pieces)):
            k = i % (len(pieces) - 1) + 1
            reasons = self.incomplete(self.joined(pieces[:i] + pieces[k:k + 1] + pieces[i + 1:]), "buffers_lost", "^1 buffer of events is missing$")
            self.assertEqual(reasons["buffers_repeated"]["amount"], 1)

    def test_the_order_of_buffers_does_not_matter(self):
        data = self.etl("--buffer", "70000")
        pieces = [bytes(data[at:at + size]) for at, size in self.buffers(data)]
        whole = self.gclog(self.source)
        for order in (pieces[:1] + pieces[:0:-1], pieces[:1] + pieces[2:] + pieces[1:2]):
            self.assertEqual(gcdumpc_json("info", self.put(self.joined(order)))[1], 0)
            self.assertEqual(self.gclog(self.put(self.joined(order))), whole)

    def test_events_of_a_file_with_a_duplicate_buffer(self):
        data = self.etl("--buffer", "70000")
        path = self.put(data)
        table = gcdumpc("info", "--events", path)
        at, size = self.buffers(data)[3]
        r = gcdumpc("info", "--events", self.put(data + data[at:at + size]))
        self.assertEqual((r.returncode, r.stdout), (3, table.stdout))
        self.assertRegex(r.stderr.decode(), "1 buffer of events with the number of another one is left out")

    def test_a_file_that_is_given_twice(self):
        path = self.put(self.etl())
        r = gcdumpc("info", path, path)
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        self.assertRegex(r.stderr.decode(), "file 1 and file 2 are the same recording: give it once")

    def test_a_damaged_buffer(self):
        for options in ([], ["--compress"]):
            data = self.etl(*options)
            at, size = self.buffers(data)[2]
            data[at + 0x48:at + 0x58] = bytes(range(1, 17))
            self.incomplete(data, "buffers_damaged", "^1 buffer of events is damaged$")

    def test_an_impossible_size(self):
        data = self.etl()
        at, _ = self.buffers(data)[5]
        data[at:at + 4] = (20).to_bytes(4, "little")
        self.incomplete(data, "trace_damaged", f"at byte {at}: a buffer is smaller than its header")

    def test_flags_of_a_loss(self):
        for flag in (2, 4):
            data = self.etl()
            at, _ = self.buffers(data)[2]
            data[at + 0x34] |= flag
            self.incomplete(data, "loss_unverified", "lost events cannot be ruled out")

    def test_circular(self):
        # two buffers dropped, the header unchanged; the numbers continue without a gap
        data = self.etl("--tight", "--buffer", "70000")
        found = self.buffers(data)
        self.assertGreater(len(found), 4)
        data = data[:found[1][0]] + data[found[3][0]:]
        data[0x48 + 0x20 + 0x20] = 2
        info, _ = gcdumpc_json("info", self.put(data))
        self.assertEqual((info["trace"]["end"], info["trace"]["lost_buffers"]), ("closed", 0))
        # one in the middle is a loss
        at, size = self.buffers(data)[2]
        info, status = gcdumpc_json("info", self.put(data[:at] + data[at + size:]))
        self.assertEqual((status, info["trace"]["lost_buffers"]), (3, 1))

    def test_space_after_the_buffers(self):
        data = self.etl()
        info, status = gcdumpc_json("info", self.put(data + bytes(1 << 20)))
        self.assertEqual((status, info["verdict"]["complete"], info["trace"]["end"]), (0, True, "closed"))

    def same_dump(self, data):
        self.assertEqual(self.gclog(self.put(data)), self.gclog(self.source))

    def test_windows_7(self):
        # no flag for the processor: its number in the low byte, the alignment in the high one
        data = self.etl()
        for at, _ in self.buffers(data)[1:]:
            self.assertEqual(data[at + 0x34], 0x20)
            data[at + 0x34] = 0
            data[at + 0x29] = 8
        self.same_dump(data)

    def test_header_of_a_32_bit_system(self):
        data = self.etl()
        record = 0x48
        pointers = record + 0x20 + 0x38
        header = data[:pointers] + data[pointers + 8:0x48 + 0x20 + 0x118 + 28] + bytes(8)
        header[record + 2] = 1
        header[record + 0x20 + 0x2c] = 4
        self.same_dump(header + data[len(header):])

    def test_clock_of_system_time(self):
        data = self.etl()
        data[record := 0x48 + 0x20 + 0x110] = 2
        data[record - 0x10:record - 8] = bytes(8)
        info, status = gcdumpc_json("info", self.put(data))
        self.assertEqual((status, info["gc"]["end_ns"]), (0, 100 * gcdumpc_json("info", self.source)[0]["gc"]["end_ns"]))

    def refused(self, data, text, *options):
        r = gcdumpc("info", self.put(data), *options)
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        self.assertRegex(r.stderr.decode(), text)

    def test_other_files(self):
        self.refused(b"PK\3\4" + bytes(200), "ZIP archive .*unpack it")
        name = b"Microsoft.Diagnostics.Tracing.Etlx.TraceLog"
        etlx = (b"\x14\0\0\0!FastSerialization.1" + b"\x05\x05\x01" + (1).to_bytes(4, "little") * 2 + len(name).to_bytes(4, "little") + name
                + b"\x06" + bytes(100))
        self.refused(etlx, r"is an \.etlx.*use the \.etl")
        data = self.etl()
        clock = bytearray(data)
        clock[0x48 + 0x20 + 0x110] = 3
        self.refused(clock, "processor cycles")
        packing = bytearray(self.etl("--compress"))
        packing[0x2c] = 2
        self.refused(packing, "compressed with LZNT1")
        self.refused(data[:200], "file ends within its header")


if __name__ == "__main__":
    unittest.main()
