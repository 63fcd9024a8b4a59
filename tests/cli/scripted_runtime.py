"""Runtimes of .NET Core 3 that follow a script: they speak the diagnostic protocol at a Unix socket, and send what a test gives them."""
import os
import socket
import struct
import threading
import time

OK, ERROR = 0x00, 0xFF
UNKNOWN_COMMAND = 0x80131385
COLLECT, STOP, INFO = (2, 3), (2, 1), (4, 4)


def reply(command, payload):
    return b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 0xFF, command, 0) + payload


def process_info(*texts):
    """The answer of .NET 7: command line, system, architecture, assembly, version of the runtime."""
    texts = [(t + "\0").encode("utf-16-le") for t in texts]
    return struct.pack("<Q16s", os.getpid(), b"c" * 16) + b"".join(struct.pack("<I", len(t) // 2) + t for t in texts)


SESSION = reply(OK, struct.pack("<Q", 7))


class ScriptedRuntime:
    """Serves each connection in its own thread; a subclass answers a command in answer(), which returns True to keep the connection open.  The others are closed LINGER
    seconds later, as a busy runtime does."""

    linger = 0

    def __init__(self, path):
        self.request = threading.local()         # .payload of the command that is answered
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(8)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        keep = False
        try:
            header = connection.recv(20, socket.MSG_WAITALL)
            size, command_set, command = struct.unpack_from("<HBB", header, 14)
            self.request.payload = connection.recv(size - 20, socket.MSG_WAITALL)
            keep = self.answer((command_set, command), connection)
        except (OSError, struct.error):
            pass
        if not keep:
            time.sleep(self.linger)
            connection.close()

    def answer(self, _command, connection):
        connection.sendall(reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)))
        return False

    def close(self):
        self.server.close()


class Runtime(ScriptedRuntime):
    """
    It has no process information, or only INFO, so gcdumpc opens one session.  Each stream is answered with the next of STREAMS; then the
    connection is closed, or stays silent until a stop.  The stop is answered with STOPPED.
    """

    def __init__(self, path, streams, silent=False, info=None, stopped=SESSION):
        self.streams, self.silent, self.opened, self.sent, self.info, self.stopped = list(streams), silent, 0, threading.Event(), info, stopped
        self.held = []
        super().__init__(path)

    def answer(self, command, connection):
        if command == COLLECT:
            self.opened += 1
            connection.sendall(SESSION + self.streams.pop(0))
            if self.silent:
                self.held.append(connection)
            self.sent.set()
            return self.silent
        if command == STOP:
            connection.sendall(self.stopped)
            for c in self.held:
                c.close()
            return False
        if command == INFO and self.info is not None:
            connection.sendall(reply(OK, self.info))
            return False
        return super().answer(command, connection)


class Flood(ScriptedRuntime):
    """
    It answers the request for a session with HEAD, and then repeats PIECE COUNT times, or endlessly.  It answers the stop and ends the
    stream, unless it is DEAF: then it reads nothing and goes on while there is a listener.  PAUSE: seconds after each piece.
    """

    def __init__(self, path, head, piece=b"\xff" * (1 << 20), count=None, deaf=False, pause=0):
        self.head, self.piece, self.count, self.deaf, self.pause = head, piece, count, deaf, pause
        self.sessions, self.stopped, self.sent = 0, threading.Event(), 0
        super().__init__(path)

    def answer(self, command, connection):
        if command == COLLECT:
            self.sessions += 1
            connection.sendall(SESSION)
            self.stream(connection)
            return False
        if command == STOP:
            self.stopped.set()
            if not self.deaf:
                connection.sendall(SESSION)
            return False
        return super().answer(command, connection)

    def stream(self, connection):
        connection.sendall(self.head)
        while self.count is None or self.sent < self.count:
            if self.stopped.is_set() and not self.deaf:
                return
            if not self.piece:
                return
            connection.sendall(self.piece)
            self.sent += 1
            time.sleep(self.pause)
        self.stopped.wait(300)


class SamplingRuntime(ScriptedRuntime):
    """
    Has the sessions of gcdumpc sites at once, and ends one when it is stopped: FOLDER has what the session of collections, that of allocations and that of the walk gets, and
    what the first gets a moment LATER.  A session without a file gets nothing.
    """

    KEYWORD_GC, KEYWORD_SAMPLING, LEVEL_OF_TICKS, LATER = 1, 1 << 43, 5, 0.7

    def __init__(self, path, folder, version):
        self.folder, self.version, self.sessions, self.opened = folder, version, {}, 0
        super().__init__(path)

    def read(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return b""
        with open(path, "rb") as f:
            return f.read()

    def kind(self):
        keywords, level = struct.unpack_from("<QI", self.request.payload, 13)
        if keywords == self.KEYWORD_GC:
            return "collections"
        return "allocations" if keywords & self.KEYWORD_SAMPLING or level == self.LEVEL_OF_TICKS else "walk"

    def answer(self, command, connection):
        if command == INFO:
            connection.sendall(reply(OK, process_info("shop", "Linux", "x64", "shop", self.version)))
            return False
        if command == COLLECT:
            self.opened += 1
            number, kind = self.opened, self.kind()
            self.sessions[number] = connection
            connection.sendall(reply(OK, struct.pack("<Q", number)) + self.read(kind))
            with open(os.path.join(self.folder, "asked"), "a", encoding="ascii") as f:
                buffer, _, rundown, _, keywords, level = struct.unpack_from("<IIBIQI", self.request.payload)
                f.write(f"{kind} {buffer} {rundown} {keywords:x} {level}\n")
            if kind == "collections":
                time.sleep(self.LATER)
                connection.sendall(self.read("later"))
            return True
        if command == STOP:
            number, = struct.unpack("<Q", self.request.payload)
            connection.sendall(reply(OK, struct.pack("<Q", number)))
            self.sessions.pop(number).close()
            return False
        return super().answer(command, connection)
