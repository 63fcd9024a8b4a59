"""A process that answers like a .NET runtime, for tests that need the pid of one.  It sends a given recording to every client."""
import os
import subprocess
import sys
import threading

from scripted_runtime import Runtime, SamplingRuntime, process_info

SECONDS = 60


class SameTrace(list):
    """Sends a stream to each client."""
    def __init__(self, data):
        super().__init__([data])

    def pop(self, _):
        return self[0]


def socket_name():
    with open("/proc/self/stat", encoding="ascii", errors="replace") as f:
        started = f.read().rpartition(")")[2].split()[19]
    return f"dotnet-diagnostic-{os.getpid()}-{started}-socket"


class FakeProcess:
    """
    Makes it look like a .NET process with TMPDIR=FOLDER, where its socket is; --name finds it as NAME, and one thread is called THREAD.
    With LINGER it says that it runs .NET 10, and closes connections LINGER seconds late.  If RECORDING is a folder, it samples: see SamplingRuntime.
    """

    def __init__(self, folder, recording, name="fake", thread="python", linger=0, version="10.0.0"):
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), recording, name, thread, str(linger), version],
                                        env={**os.environ, "TMPDIR": folder}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.socket = os.path.join(folder, self.process.stdout.readline().strip())

    def sessions(self):
        """How many it has opened so far."""
        self.process.stdin.write("?")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.unlink(self.socket)


def serve(recording, name, thread, linger, version):
    waiting = threading.Thread(target=threading.Event().wait, daemon=True)
    waiting.start()
    with open(f"/proc/self/task/{waiting.native_id}/comm", "w", encoding="ascii") as f:
        f.write(thread)
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write(name)
    path = os.path.join(os.environ["TMPDIR"], socket_name())
    if os.path.isdir(recording):
        runtime = SamplingRuntime(path, recording, version)
    else:
        info = process_info(name, "Linux", "x64", name, version) if float(linger) > 0 else None
        runtime = Runtime(path, [], silent=True, info=info)
        with open(recording, "rb") as f:
            runtime.streams = SameTrace(f.read())
    runtime.linger = float(linger)
    print(socket_name(), flush=True)
    while sys.stdin.read(1):
        print(runtime.opened, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
