"""A client of gcdumpc mcp for tests: sends any bytes, reads whole lines, checks answers against the schemas that the server gives."""
import json
import os
import select
import time

LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"


class Ended(Exception):
    """No more lines come."""


def conforms(value, schema, path="$"):
    """What of VALUE is not as SCHEMA says, for the keywords that the server uses; None: nothing."""
    known = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description", "minimum", "maximum"}
    if not set(schema) <= known:
        return f"{path}: unknown keywords in {schema}"
    if "anyOf" in schema:
        found = [conforms(value, s, path) for s in schema["anyOf"]]
        return None if None in found else found[0]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    names = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    fits = [isinstance(value, names[k]) if k in names else isinstance(value, (int, float) if k == "number" else int) and not isinstance(value, bool)
            for k in kinds]
    if not any(fits):
        return f"{path}: {value!r:.80} is no {kinds}"
    if isinstance(value, dict):
        wrong = [f"{path}: {k} is missing" for k in schema.get("required", []) if k not in value]
        wrong += [f"{path}: {k} is not in the schema" for k in value if k not in schema["properties"]]
        wrong += [w for k, v in value.items() if k in schema["properties"] and (w := conforms(v, schema["properties"][k], f"{path}.{k}"))]
        return wrong[0] if wrong else None
    if isinstance(value, list) and "items" in schema:
        return next((w for i, v in enumerate(value) if (w := conforms(v, schema["items"], f"{path}[{i}]"))), None)
    return None


class Client:
    """A client of the running PROCESS (subprocess.Popen with pipes, or pseudo one), of either revision."""

    def __init__(self, process, revision=MODERN, seconds=240):
        self.process, self.revision, self.seconds = process, revision, seconds
        self.buffer, self.number, self.characters = b"", 0, 0
        self.notifications, self.others = [], []
        self.schemas = None
        if revision == LEGACY:
            self.initialized = self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
            self.send({"method": "notifications/initialized"})

    def send(self, message):
        """MESSAGE: an object without "jsonrpc", or bytes."""
        data = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self):
        """The next line of the server as a value."""
        until = time.monotonic() + self.seconds
        fd = self.process.stdout.fileno()
        while b"\n" not in self.buffer:
            if not select.select([fd], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the server does not answer")
            data = os.read(fd, 1 << 20)
            if not data:
                raise Ended
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        line.decode("ascii")
        return json.loads(line)

    def answer(self, number):
        """The answer to request NUMBER; messages before it are kept."""
        while True:
            message = self.line()
            if message.get("id") == number:
                return message
            (self.notifications if "method" in message else self.others).append(message)

    def ask(self, method, params=None, number=None):
        """Sends a request; its number."""
        if number is None:
            self.number += 1
            number = self.number
        params = dict(params or {})
        if self.revision == MODERN:
            params["_meta"] = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, **params.get("_meta", {})}
        self.send({"id": number, "method": method, "params": params})
        return number

    def request(self, method, params=None):
        return self.answer(self.ask(method, params))

    def tools(self):
        return {t["name"]: t for t in self.request("tools/list")["result"]["tools"]}

    def result(self, tool, **arguments):
        """The result of a call as it comes."""
        if self.schemas is None:
            self.schemas = self.tools()
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        text = "".join(c["text"] for c in result["content"])
        self.characters += len(text)
        if not result.get("isError"):
            if json.loads(text) != result["structuredContent"]:
                raise AssertionError(f"{tool}: the text is not the structured content")
            wrong = conforms(result["structuredContent"], self.schemas[tool]["outputSchema"])
            if wrong:
                raise AssertionError(f"{tool} {arguments}: {wrong}")
        return result

    def call(self, tool, **arguments):
        """The answer of a tool."""
        result = self.result(tool, **arguments)
        if result.get("isError"):
            raise AssertionError(f"{tool} {arguments}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def error(self, tool, **arguments):
        """The sentence of a tool that fails."""
        result = self.result(tool, **arguments)
        if not result.get("isError"):
            raise AssertionError(f"{tool} {arguments}: {result}")
        return result["content"][0]["text"]

    def all(self, tool, key, **arguments):
        """All rows, page by page."""
        page = self.call(tool, **arguments)
        rows = page[key]
        while page["next_cursor"] is not None:
            page = self.call(tool, cursor=page["next_cursor"], **arguments)
            rows = rows + page[key]
        return rows
