"""A headless browser, driven through its own debugging protocol: JSON over two pipes, no other library.

    with Browser() as browser:
        page = browser.open(path, width=1280, dark=False)
        page.run("document.title")            a value from the page
        page.click("#types .sort")            with the mouse, as a user would
        page.key("ArrowDown")
        page.complaints                       what the page printed, threw, or requested from a network
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 300                   # for a browser that hangs
OPTIONS = ["--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-extensions",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu", "--disable-dev-shm-usage",
           "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US"]
# The browser reads commands from descriptor 3 and writes to 4.
START = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"

KEYS = {"Enter": (13, "\r"), " ": (32, " "), "Tab": (9, ""), "Escape": (27, ""), "Backspace": (8, ""), "End": (35, ""), "Home": (36, ""),
        "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


def find_browser():
    """Path of the browser; skips the test if there is none."""
    for name in (os.environ.get("GCDUMPC_BROWSER"), *PROGRAMS):
        path = shutil.which(name) if name else None
        if path is not None:
            return path
    raise unittest.SkipTest("no browser: chromium (Debian's package chromium, tools/install-deps.sh --tests)")


class Browser:
    def __init__(self):
        program = find_browser()
        self.profile = tempfile.mkdtemp(prefix="gcdumpc-browser-")
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        (read_commands, self.commands), (self.answers, write_answers) = os.pipe(), os.pipe()
        # copies with high numbers: 3 and 4 must be free
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (read_commands, write_answers)]
        self.process = subprocess.Popen([sys.executable, "-c", START, *map(str, theirs), program, *OPTIONS, *sandbox,
                                         f"--user-data-dir={self.profile}"],
                                        pass_fds=theirs, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        for fd in (read_commands, write_answers, *theirs):
            os.close(fd)
        self.number, self.buffer, self.pages = 0, b"", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        for fd in (self.commands, self.answers):
            os.close(fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """The result of a command; other messages go to the pages."""
        self.number += 1
        number, command = self.number, {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        deadline = time.monotonic() + SECONDS
        while True:
            message = self.next_message(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.dispatch(message)

    def dispatch(self, message):
        if message.get("sessionId") in self.pages and "method" in message:
            self.pages[message["sessionId"]].event(message["method"], message["params"])

    def next_message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path, address="", **view):
        """ADDRESS: what follows the name of the file; VIEW: width, height, dark, media, scripts, slower, script (see Page)."""
        return Page(self, "file://" + os.path.abspath(path) + address, **view)


class Page:
    """SLOWER: times that the processor is slower.  SCRIPT: runs before the page's own."""

    def __init__(self, browser, address, *, width=1280, height=900, dark=False, media="", scripts=True, slower=1, script=""):
        self.browser, self.complaints, self.requests, self.loaded = browser, [], [], False
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        if slower > 1:
            self.call("Emulation.setCPUThrottlingRate", rate=slower)
        self.call("Page.navigate", url=address)
        deadline = time.monotonic() + SECONDS
        while not self.loaded:
            browser.dispatch(browser.next_message(deadline))
        self.complaints += [f"request: {url}" for url in self.requests if url != address.partition("#")[0]]
        if scripts:
            self.run("new Promise(done => { const look = () => document.documentElement.dataset.ready ? done() : setTimeout(look, 20); look(); })")
            self.settle()

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def picture(self):
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def event(self, method, parameters):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {parameters['args']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {parameters['exceptionDetails']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"log: {parameters['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def run(self, expression):
        """The value of a JavaScript expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def settle(self):
        """Waits until the page has been drawn with all changes so far."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def count(self, selector):
        return self.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector, at=0):
        """With the mouse, in the middle of the visible part of the element."""
        box = self.run(f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{at}]; e.scrollIntoView({{block: 'center'}});"
                       "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + Math.min(b.height / 2, 9)]; })()")
        self.settle()
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="none" if kind == "mouseMoved" else "left", clickCount=1)
        self.settle()

    def key(self, key, times=1, shift=False):
        code, text = KEYS[key]
        for _ in range(times):
            common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()
