// SPDX-License-Identifier: MIT
// A .heapsnapshot as the Memory panel of Chrome DevTools sees it.  Needs devtools_bundle.gen.mjs (devtools_bundle.mjs makes it).
import fs from 'node:fs';
import {addRetained, run, summarize} from './reader.mjs';

// What the bundle calls and Node 18 (toSorted) or 20 (withResolvers) lack.
Array.prototype.toSorted ??= function(compare) {
  return [...this].sort(compare);
};
Promise.withResolvers ??= function() {
  let resolve, reject;
  const promise = new Promise((a, b) => {
    resolve = a;
    reject = b;
  });
  return {promise, resolve, reject};
};

async function load(file) {
  const {HeapSnapshotLoader, SecondaryInitManager} = await import('./devtools_bundle.gen.mjs');
  const loader = new HeapSnapshotLoader({sendEvent() {}});
  for await (const chunk of fs.createReadStream(file, {encoding: 'utf8', highWaterMark: 1 << 20})) {
    loader.write(chunk);
  }
  loader.close();
  // part of the work runs in a second worker, behind a port
  const {port1, port2} = new MessageChannel();
  new SecondaryInitManager(port2);
  return loader.buildSnapshot(port1);
}

class Model {
  #snapshot;
  #node;

  constructor(snapshot) {
    this.#snapshot = snapshot;
    this.#node = snapshot.rootNode();
    this.nodeCount = snapshot.nodeCount;
  }

  #at(i) {
    this.#node.nodeIndex = i * this.#snapshot.nodeFieldCount;
    return this.#node;
  }

  node(i) {
    const n = this.#at(i);
    return {
      type: n.type(), name: n.rawName(), id: n.id(), self: n.selfSize(), retained: n.retainedSize(), distance: n.distance(),
      dominator: n.dominatorIndex() / this.#snapshot.nodeFieldCount,
    };
  }

  edges(i) {
    const found = [];
    for (const it = this.#at(i).edges(); it.hasNext(); it.next()) {
      const edge = it.item();
      found.push({type: edge.type(), name: edge.name(), to: edge.nodeIndex() / this.#snapshot.nodeFieldCount});
    }
    return found;
  }
}

run('devtools_read.mjs', async options => {
  const warnings = [];
  console.warn = text => warnings.push(String(text));
  const snapshot = await load(options.file);
  const model = new Model(snapshot);
  const result = addRetained(summarize('heapsnapshot', model, options), model, options);
  // the rows of the Summary view: objects, bytes, largest retained size, distance
  result.classes = Object.fromEntries(Object.values(snapshot.aggregatesWithFilter({})).map(c => [c.name, [c.count, c.self, c.maxRet, c.distance]]));
  Object.assign(result.facts, {total_size: snapshot.totalSize, statistics: snapshot.getStatistics(), warnings});
  return result;
});
