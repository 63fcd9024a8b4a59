// Talks to `gcdumpc mcp` with an official client: node mcp_clients.mjs OLD|NEW PROGRAM ARGUMENT...
//
// Reads one step a line from standard input: {"tool": NAME, "arguments": {...}}, with "cancel_ms" or "progress"; or {"list": true}.  Prints one line a
// step: {"result": ...} or {"error": TEXT}, with "progress": [...].  The clients check structured answers by the schemas of the tools.
import { createInterface } from "node:readline";

const [which, program, ...words] = process.argv.slice(2);
let client, transport;
if (which === "OLD") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    client = new Client({ name: "test", version: "1" });
    transport = new StdioClientTransport({ command: program, args: words, env: process.env, stderr: "inherit" });
} else {
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    transport = new StdioClientTransport({ command: program, args: words, env: process.env, stderr: "inherit" });
}
const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");
await client.connect(transport);
say({ result: { server: client.getServerVersion(), version: client.getNegotiatedProtocolVersion?.() ?? null, instructions: client.getInstructions() } });

async function call(step) {
    const progress = [], options = { timeout: 600_000 }, abort = new AbortController();
    if (step.progress)
        options.onprogress = (p) => progress.push(p);
    if (step.cancel_ms !== undefined) {
        options.signal = abort.signal;
        setTimeout(() => abort.abort("no more"), step.cancel_ms);
    }
    const params = { name: step.tool, arguments: step.arguments };
    try {
        const result = which === "OLD" ? await client.callTool(params, undefined, options) : await client.callTool(params, options);
        return { result, progress };
    } catch (e) {
        return { error: String(e.message ?? e), progress };
    }
}

for await (const line of createInterface({ input: process.stdin })) {
    const step = JSON.parse(line);
    say(step.list ? { result: await client.listTools() } : await call(step));
}
await client.close();
say({ result: "closed" });
