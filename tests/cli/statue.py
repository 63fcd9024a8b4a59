"""The memory of a core file at its addresses in this process: what reads the memory of a .NET process finds the recorded heap."""
import ctypes
import gzip
import os
import platform
import re
import struct
import subprocess
import sys
import threading
import time

from fake_process import SameTrace, socket_name
from scripted_runtime import Runtime

PAGE = 4096
PT_LOAD, PT_NOTE, NT_PRSTATUS, NT_FILE = 1, 4, 1, 0x46494C45
ANONYMOUS, PRIVATE, FIXED, AT_A_FREE_PLACE = 0x20, 0x02, 0x10, 0x100000
READ_WRITE, EXECUTE = 3, 4
REGISTERS_BYTES = 27 * 8
PR_SET_PTRACER, TRIES = 0x59616D61, 20

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def program_headers(core):
    """(type, offset, address, bytes) of each."""
    at, = struct.unpack_from("<Q", core, 32)
    size, count = struct.unpack_from("<HH", core, 54)
    for i in range(count):
        kind, _, offset, address, _, size_in_file = struct.unpack_from("<IIQQQQ", core, at + i * size)
        yield kind, offset, address, size_in_file


def notes(core, offset, size):
    """(type, bytes) of each."""
    end = offset + size
    while offset < end:
        name, length, kind = struct.unpack_from("<III", core, offset)
        offset += 12 + (name + 3) // 4 * 4
        yield kind, core[offset:offset + length]
        offset += (length + 3) // 4 * 4


def mapped_files(core):
    """(start, end, offset in the file, path) of each."""
    found = []
    for kind, offset, _, size in program_headers(core):
        for note, data in notes(core, offset, size) if kind == PT_NOTE else ():
            if note == NT_FILE:
                count, page = struct.unpack_from("<QQ", data)
                paths = data[16 + 24 * count:].split(b"\0")
                found += [(a, b, n * page, p.decode()) for (a, b, n), p in
                          zip(struct.iter_unpack("<QQQ", data[16:16 + 24 * count]), paths)]
    return found


def place(start, end, how, fd=-1, offset=0):
    if LIBC.mmap(start, end - start, READ_WRITE, how | PRIVATE, fd, offset) != start:
        raise OSError(ctypes.get_errno(), f"{start:x} is not free")


def threads_of(core):
    """{number: registers, and a byte that is 0} in the order of the core file (struct user_regs_struct)."""
    found = {}
    for kind, offset, _, size in program_headers(core):
        for note, data in notes(core, offset, size) if kind == PT_NOTE else ():
            if note == NT_PRSTATUS:
                found[struct.unpack_from("<i", data, 32)[0]] = ctypes.create_string_buffer(data[112:112 + REGISTERS_BYTES], REGISTERS_BYTES + 1)
    return found


def become(core, folder):
    """Maps CORE into this process.  Its mapped files are empty ones below FOLDER, with their names.  Returns what the main thread has to call, which never returns, and what tells
    whether all threads stand.  Raises OSError if an address is taken: another process has other addresses."""
    files = mapped_files(core)
    loads = [(a, a + size, offset) for kind, offset, a, size in program_headers(core) if kind == PT_LOAD]
    for start, end, offset, name in files:
        if not any(a < end and b > start for a, b, _ in loads):
            continue                             # nothing of it is in the core file
        copy = os.path.join(folder, os.path.basename(name))
        with open(copy, "a+b") as f:
            f.truncate(max(os.path.getsize(copy), offset + end - start))
            place(start, end, AT_A_FREE_PLACE, f.fileno(), offset)
    for start, end, _ in loads:
        if not any(a <= start < b for a, b, _, _ in files):
            place(start, end, AT_A_FREE_PLACE | ANONYMOUS)
    for start, end, offset in loads:
        ctypes.memmove(start, core[offset:offset + end - start], end - start)
    wait, registers = waiting_code(), threads_of(core)
    main = min(registers)
    for number in registers:
        own = os.getpid() if number == main else stand(wait, registers[number])
        for start, end, offset in loads:         # the runtime knows its threads by their numbers
            for at in re.finditer(re.escape(struct.pack("<Q", number)), core[offset:end - start + offset]):
                if at.start() % 8 == 0:
                    ctypes.c_uint64.from_address(start + at.start()).value = own
    return lambda: wait(ctypes.addressof(registers[main])), lambda: all(r.raw[-1] for r in registers.values())


def waiting_code():
    """Loads the registers that rdi points to (those that system calls keep), marks that in the byte behind them, and waits forever."""
    text = bytes.fromhex("4c8b3f 4c8b7708 4c8b6f10 4c8b6718 488b6f20 488b5f28 4c8b5738 4c8b4f40 4c8b4748 488b5760 488b7768 488ba798000000 c687d800000001 488b7f70"
                         "b822000000 0f05 ebf7")
    page = LIBC.mmap(None, PAGE, READ_WRITE | EXECUTE, ANONYMOUS | PRIVATE, -1, 0)
    ctypes.memmove(page, text, len(text))
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(page)


def stand(wait, registers):
    """A thread with these REGISTERS that does nothing; returns its number.  By its name one knows a .NET runtime."""
    thread = threading.Thread(target=wait, args=(ctypes.addressof(registers),), daemon=True)
    thread.start()
    with open(f"/proc/self/task/{thread.native_id}/comm", "w", encoding="ascii") as f:
        f.write(".NET SynchManag")
    return thread.native_id


class Statue:
    """A process that is called NAME and has the memory of the core file PATH.  It has no diagnostic socket, unless there is a RECORDING: a runtime in it sends that, with the
    socket in FOLDER."""

    @staticmethod
    def can_be():
        return platform.machine() == "x86_64" and sys.maxsize > 1 << 32

    def __init__(self, path, folder, name="statue", recording=""):
        for _ in range(TRIES):
            self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), path, folder, name, *filter(None, [recording])], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "TMPDIR": folder})
            self.pid = self.process.pid
            if self.process.stdout.readline():
                return
            self.close()
        raise OSError(f"no process has room for {path}")

    def grow(self, mib):
        self.process.stdin.write(f"{mib}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def poke(self, address, data):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as f:
            f.seek(address)
            before = f.read(len(data))
            f.seek(address)
            f.write(data)
        return before

    def close(self):
        self.process.kill()
        self.process.communicate()


def serve(they_stand):
    grown = []
    while not they_stand():
        time.sleep(0.001)
    print("ready", flush=True)
    for line in sys.stdin:
        grown.append(b"x" * (int(line) << 20))
        print(len(grown), flush=True)
    os._exit(0)


def run(path, folder, name, recording=""):
    LIBC.prctl(PR_SET_PTRACER, -1, 0, 0, 0)
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write(name)
    with gzip.open(path) as f:
        wait, they_stand = become(f.read(), folder)
    if recording:
        runtime = Runtime(os.path.join(folder, socket_name()), [], silent=True)
        with open(recording, "rb") as f:
            runtime.streams = SameTrace(f.read())
    threading.Thread(target=serve, args=(they_stand,), daemon=True).start()
    wait()


if __name__ == "__main__":
    run(*sys.argv[1:])
