#!/usr/bin/env python3
"""The reference decoder against event counts found by another reader, on recordings made by other runtimes.

The recordings are outside the repository; do not copy them into it: env GCDUMPC_SHARED_TRACES names their folder,
else it is ../shared/traces beside the repository.  Without it the tests are skipped, with a line that says so.

A baseline has one line per kind of event: "Provider/Task/Opcode, COUNT, <first event>".  The names are those of that
reader, so they are translated to ids here.  Very frequent rundown events are left out of the baselines: an event of
the file that no baseline mentions is no error, a baseline line without its events is one.
"""

import os
import sys
import unittest
import zipfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from nettrace_ref import decode

BESIDE_THE_REPOSITORY = os.path.join(HERE, "..", "..", "..", "shared", "traces")
FOLDER = os.path.join(os.environ.get("GCDUMPC_SHARED_TRACES", BESIDE_THE_REPOSITORY), "nettrace")

CLR = "Microsoft-Windows-DotNETRuntime/"
RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown/"
PRIVATE = "Microsoft-Windows-DotNETRuntimePrivate/"

# Two ids share the name CLR/GC: IncreaseMemoryPressure and DecreaseMemoryPressure.
IDS = {
    "Microsoft-DotNETCore-SampleProfiler/Thread/Sample": (0,),
    CLR + "GC/Start": (1,), CLR + "GC/Stop": (2,), CLR + "GC/RestartEEStop": (3,), CLR + "GC/HeapStats": (4,),
    CLR + "GC/RestartEEStart": (7,), CLR + "GC/SuspendEEStop": (8,), CLR + "GC/SuspendEEStart": (9,),
    CLR + "GC/AllocationTick": (10,), CLR + "GC/FinalizersStop": (13,), CLR + "GC/FinalizersStart": (14,),
    CLR + "GC/BulkSurvivingObjectRanges": (21,), CLR + "GC/BulkMovedObjectRanges": (22,),
    CLR + "GC/GenerationRange": (23,),
    CLR + "GC/PinObjectAtGCTime": (33,), CLR + "GC/Triggered": (35,), CLR + "GC": (200, 201),
    CLR + "GC/MarkWithType": (202,), CLR + "GC/PerHeapHistory": (204,), CLR + "GC/GlobalHeapHistory": (205,),
    CLR + "ThreadPoolWorkerThread/Start": (50,), CLR + "ThreadPoolWorkerThread/Wait": (57,),
    CLR + "ThreadPoolWorkerThreadAdjustment/Sample": (54,), CLR + "ThreadPoolWorkerThreadAdjustment/Adjustment": (55,),
    CLR + "ThreadPoolWorkerThreadAdjustment/Stats": (56,),
    CLR + "ThreadPool/Enqueue": (61,), CLR + "ThreadPool/Dequeue": (62,),
    CLR + "Contention/Start": (81,), CLR + "Contention/Stop": (91,),
    CLR + "AppDomainResourceManagement/ThreadCreated": (85,),
    CLR + "Method/LoadVerbose": (143,), CLR + "Method/JittingStarted": (145,), CLR + "Method/R2RGetEntryPoint": (159,),
    CLR + "Loader/DomainModuleLoad": (151,), CLR + "Loader/ModuleLoad": (152,), CLR + "Loader/AssemblyLoad": (154,),
    PRIVATE + "GC/PinPlugAtGCTime": (199,),
    RUNDOWN + "Method/DCStopComplete": (146,), RUNDOWN + "Method/DCStopInit": (148,),
    RUNDOWN + "Loader/DomainModuleDCStop": (152,), RUNDOWN + "Loader/ModuleDCStop": (154,),
    RUNDOWN + "Loader/AssemblyDCStop": (156,), RUNDOWN + "Loader/AppDomainDCStop": (158,),
    RUNDOWN + "Runtime/Start": (187,),
    RUNDOWN + "ExecutionCheckpointRundown/ExecutionCheckpointDCEnd": (300,),
}


def baseline_lines(path):
    with open(path, encoding="utf-8-sig") as file:
        for line in file:
            name, count, _ = line.split(", ", 2)
            yield name, int(count)


def count_of(trace, name):
    """How many events of the trace have that name; None when the name is not known here."""
    provider = name.split("/")[0]
    if name in IDS:
        by_id = trace.counts()
        return sum(by_id[provider, event_id] for event_id in IDS[name])
    # events of an EventSource carry their name; the baseline may add an opcode to it
    names = Counter(event.name for event in trace.events if event.provider == provider)
    own = name.split("/")[1]
    return names[own] or None


def setUpModule():
    if not os.path.isdir(FOLDER):
        print("skipped: event counts of other recordings: no folder of them (GCDUMPC_SHARED_TRACES)", file=sys.stderr)
        raise unittest.SkipTest("no shared recordings")


class Baselines(unittest.TestCase):
    def recordings(self):
        for entry in sorted(os.listdir(FOLDER)):
            if entry.endswith((".nettrace.zip", ".netperf.zip")):
                with zipfile.ZipFile(os.path.join(FOLDER, entry)) as archive:
                    yield entry.removesuffix(".zip"), archive.read(archive.namelist()[0])

    def test_event_counts(self):
        compared = 0
        for name, data in self.recordings():
            with self.subTest(name):
                trace = decode(data)
                for event, count in baseline_lines(os.path.join(FOLDER, name + ".baseline.txt")):
                    self.assertEqual(count_of(trace, event), count, event)
                    compared += 1
        self.assertGreater(compared, 0)

    def test_closed_without_loss(self):
        for name, data in self.recordings():
            with self.subTest(name):
                trace = decode(data)
                self.assertEqual((trace.state, trace.trailing_bytes, trace.unknown_metadata, trace.bad_metadata),
                                 ("closed", 0, 0, 0))
                self.assertEqual((trace.loss.total, trace.loss.irregular), (0, 0))
                self.assertEqual(trace.final_sequence_point, name.endswith(".nettrace"))


if __name__ == "__main__":
    unittest.main()
