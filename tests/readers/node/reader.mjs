// SPDX-License-Identifier: MIT
// What the programs of this folder share: arguments, sums, one JSON object on stdout, exit status 1 with the loader's own complaint.

const USAGE = 'FILE [--largest N] [--id ID,ID...] [--graph] [--seconds N]';

export function parseArguments(program) {
  const words = process.argv.slice(2);
  const options = {file: undefined, largest: 0, ids: [], graph: false, seconds: 300};
  while (words.length > 0) {
    const word = words.shift();
    if (word === '--largest') {
      options.largest = Number(words.shift());
    } else if (word === '--id') {
      options.ids = words.shift().split(',').map(Number);
    } else if (word === '--seconds') {
      options.seconds = Number(words.shift());
    } else if (word === '--graph') {
      options.graph = true;
    } else if (options.file === undefined && !word.startsWith('--')) {
      options.file = word;
    } else {
      usage(program);
    }
  }
  if (options.file === undefined || [options.largest, options.seconds, ...options.ids].some(n => !Number.isInteger(n) || n < 0)) {
    usage(program);
  }
  return options;
}

function usage(program) {
  process.stderr.write(`usage: ${program} ${USAGE}\n`);
  process.exit(2);
}

// Loaders complain in many ways: exceptions, rejected promises nobody awaits, texts thrown as errors, silence for ever.
export function run(program, read) {
  const options = parseArguments(program);
  const fail = reason => {
    process.stderr.write(`${program}: ${options.file}: ${reason instanceof Error ? reason.message : reason}\n`);
    process.exit(1);
  };
  process.on('unhandledRejection', fail);
  process.on('uncaughtException', fail);
  // stdout belongs to the result.  What a library prints there is progress, or its last words before it ends the process.
  const printed = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = text => printed.push(String(text)) > 0;
  process.on('exit', status => {
    if (status !== 0) {
      process.stderr.write(printed.slice(-5).join(''));
    }
  });
  setTimeout(() => fail(`no result after ${options.seconds} s`), options.seconds * 1000);
  read(options).then(result => write(JSON.stringify(result) + '\n', () => process.exit(0))).catch(fail);
}

// Names come from the file, "__proto__" among them: no plain objects as tables.
export class Sums {
  #rows = new Map();

  add(name, bytes, count = 1) {
    const row = this.#rows.get(name);
    if (row === undefined) {
      this.#rows.set(name, [count, bytes]);
    } else {
      row[0] += count;
      row[1] += bytes;
    }
  }

  toJSON() {
    return Object.fromEntries(this.#rows);
  }
}

// A snapshot seen through one loader.  The loader gives: nodeCount; node(i) = {type, name, id, self} and, where it knows them, retained,
// distance (from the root), dominator (an i); edges(i) = [{type, name, to}].  Node 0 is the root.
export function summarize(format, model, options) {
  const types = new Sums();
  const kinds = new Sums();
  const edgeTypes = new Map();
  const all = [];
  let bytes = 0;
  let edgeCount = 0;
  for (let i = 0; i < model.nodeCount; i++) {
    const node = model.node(i);
    bytes += node.self;
    kinds.add(node.type, node.self);
    if (node.type === 'object') {
      types.add(node.name, node.self);
    }
    const edges = model.edges(i);
    edgeCount += edges.length;
    for (const edge of edges) {
      edgeTypes.set(edge.type, (edgeTypes.get(edge.type) ?? 0) + 1);
    }
    if (options.graph) {
      all.push([node.type, node.name, node.id, node.self, edges.map(e => [e.type, e.name, e.to])]);
    }
  }
  const result = {
    format, nodes: model.nodeCount, edges: edgeCount, bytes, types, kinds, roots: rootGroups(model),
    edge_types: Object.fromEntries(edgeTypes), facts: {},
  };
  if (options.graph) {
    result.graph = all;
  }
  return result;
}

// The children of "(GC roots)", or of the root in a file that has none, with the number of their edges.
function rootGroups(model) {
  let top = model.edges(0);
  const gcRoots = top.find(e => model.node(e.to).name === '(GC roots)');
  if (gcRoots !== undefined) {
    top = model.edges(gcRoots.to);
  }
  return top.map(e => ({name: model.node(e.to).name, edges: model.edges(e.to).length}));
}

// Retained sizes of the objects asked for, and whether every retained size is the node's own size plus what it dominates.
export function addRetained(result, model, options) {
  const sums = new Float64Array(model.nodeCount);
  const chosen = [];
  for (let i = 0; i < model.nodeCount; i++) {
    const node = model.node(i);
    sums[i] += node.self - node.retained;
    if (i > 0) {
      sums[node.dominator] += node.retained;
    }
    if (node.type === 'object') {
      chosen.push({i, retained: node.retained});
    }
  }
  chosen.sort((a, b) => b.retained - a.retained || a.i - b.i);
  const picked = new Set(chosen.slice(0, options.largest).map(c => c.i));
  if (options.ids.length > 0) {
    const wanted = new Set(options.ids);
    for (let i = 0; i < model.nodeCount; i++) {
      if (wanted.has(model.node(i).id)) {
        picked.add(i);
      }
    }
  }
  result.retained = [...picked].map(i => {
    const {name, type, id, self, retained, distance} = model.node(i);
    return {name, type, id, self, retained, distance};
  });
  result.facts.dominator_sums_wrong = sums.reduce((n, s) => n + (s === 0 ? 0 : 1), 0);
  result.facts.root_retained = model.node(0).retained;
  return result;
}
