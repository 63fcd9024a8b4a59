"""The gclog file that a dump has to become: gclog.md sections 4 and 5, line by line."""

import os
import re
import struct

from byte_cursor import utf16z
from gc_heap import RUNTIME

EVENT_PIPE = "Microsoft-DotNETCore-EventPipe"
RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"

# The event numbers its kinds one lower than the file; whatever is not named here is kind 5.
ROOT_KIND = {0: 1, 1: 2, 2: 3}
KIND_HANDLE, KIND_STATIC, KIND_OTHER = 3, 4, 5
FLAG_REF_COUNTED = 8


# -- the name on the a line ------------------------------------------------------------------------------------------

def application_name(trace, heap, path):
    """Process name, else the input's base name, else `unknown`."""
    commands = (_process_info(trace, heap), _runtime_information(trace, heap))
    for name in (*map(process_name, commands), file_name(path)):
        name = clean_name(name).strip(" ")
        if name:
            return name
    return "unknown"


def process_name(command_line):
    """`/opt/shop.exe x` is shop, `dotnet shop.dll x` is shop, too."""
    words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^ \t]+)', command_line)]
    if not words:
        return ""
    name = _base_name(words[0]).removesuffix(".exe")
    if name == "dotnet":
        library = next((word for word in words[1:] if word.endswith(".dll")), None)
        if library:
            return _base_name(library).removesuffix(".dll")
    return name


def file_name(path):
    name = os.path.basename(path).removesuffix(".gz")
    for suffix in (".nettrace", ".netperf"):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _base_name(word):
    return re.split(r"[/\\]", word)[-1]


def _command_line(trace, heap, providers, event_id, position):
    for event in trace.events:
        if event.provider in providers and event.event_id == event_id and event.process == heap.process:
            try:
                command_line = utf16z(bytes(event.payload), position)[0]
            except ValueError:
                continue
            if command_line:
                return command_line
    return ""


def _process_info(trace, heap):
    return _command_line(trace, heap, (EVENT_PIPE,), 1, 0)


def _runtime_information(trace, heap):
    """The command line comes after instance, SKU, two versions, start-up flags and mode (gc-events.md section 9)."""
    return _command_line(trace, heap, (RUNDOWN, RUNTIME), 187, struct.calcsize("<HH4H4HIB"))


def clean_name(name):
    """NUL, CR and LF would break the line structure; everything else stays."""
    return re.sub(r"[\0\r\n]", "_", name)


# -- the lines -------------------------------------------------------------------------------------------------------

def stamp(trace, heap):
    """Milliseconds from the start of the trace to the GCStart, in 32 bits."""
    return ((heap.start_ticks - trace.sync_ticks) * 1000 // trace.frequency) & 0xFFFFFFFF


class Expectation:
    """The expected contents of the file, in its order."""

    def __init__(self, trace, heap, name):
        self.heap = heap
        self.name = name
        self.stamp = stamp(trace, heap)
        self.object_ids = _ObjectIds(heap)
        self.type_ids = {}
        for type_id in self._used_types():
            self.type_ids.setdefault(type_id, len(self.type_ids) + 1)
        self._dependents = self._values_by_key()

    def _used_types(self):
        """In the order of first use: static containers, then objects."""
        yield from (type_id for address, type_id, _ in self.heap.statics if self.object_ids.target(address))
        yield from self.heap.type_ids

    def _values_by_key(self):
        """A dependent handle is a reference of its key.  Dead keys and Mono's key = value entries are dropped."""
        values = {}
        for key, value in self.heap.dependents:
            if key and value and key != value:
                values.setdefault(key, []).append(value)
        return values

    def begin(self):
        return f"a 2 {self.name} {self.stamp:x}"

    def end(self):
        return f"c {self.name} {self.stamp:x}"

    def types(self):
        for type_id, number in self.type_ids.items():
            yield f"t {number:x} {clean_name(self.heap.type_name(type_id))}"

    def roots(self):
        heap, target = self.heap, self.object_ids.target
        for address, type_id, _ in heap.statics:
            if target(address):
                yield f"r {target(address):x} {KIND_STATIC} 0 {self.type_ids[type_id]:x}"
        for address, kind, flags, _ in heap.roots:
            if target(address):
                yield f"r {target(address):x} {ROOT_KIND.get(kind, KIND_OTHER)} {flags:x}"
        for address in heap.ccws:
            if target(address):
                yield f"r {target(address):x} {KIND_HANDLE} {FLAG_REF_COUNTED:x}"

    def objects(self):
        target = self.object_ids.target
        pending = dict(self._dependents)        # two objects at one address: the first is the key
        for position, (address, type_id, size, references) in enumerate(self.heap.objects()):
            targets = [target(value) for value in references]
            targets += [target(value) for value in pending.pop(address, ())]
            fields = [self.object_ids.own(position, address), self.type_ids[type_id], size, *filter(None, targets)]
            yield "o " + " ".join(f"{field:x}" for field in fields)


class _ObjectIds:
    """Ids are addresses, unless two objects share one or one has none: then node index + 1 for all.

    In that case an address without an object has no id; it cannot be written and counts as 0.
    """

    def __init__(self, heap):
        addresses = heap.addresses
        self._index = None
        if len(set(addresses)) != len(addresses) or 0 in addresses:
            self._index = {}
            for position, address in enumerate(addresses):
                self._index.setdefault(address, position + 1)

    def own(self, position, address):
        return address if self._index is None else position + 1

    def target(self, address):
        if self._index is None or not address:
            return address
        return self._index.get(address, 0)
