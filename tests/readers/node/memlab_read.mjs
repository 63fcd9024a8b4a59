// SPDX-License-Identifier: MIT
// A .heapsnapshot as memlab sees it.
import fs from 'node:fs';
import heapAnalysis from '@memlab/heap-analysis';
import {addRetained, run, summarize} from './reader.mjs';

class Model {
  #nodes;

  constructor(heap) {
    this.#nodes = heap.nodes;
    this.nodeCount = heap.nodes.length;
  }

  node(i) {
    const n = this.#nodes.get(i);
    return {type: n.type, name: n.name, id: n.id, self: n.self_size, retained: n.retainedSize, dominator: n.dominatorNode?.nodeIndex};
  }

  edges(i) {
    return this.#nodes.get(i).references.map(e => ({type: e.type, name: e.name_or_index, to: e.toNode.nodeIndex}));
  }
}

run('memlab_read.mjs', async options => {
  fs.accessSync(options.file, fs.constants.R_OK);    // memlab ends the process itself
  const model = new Model(await heapAnalysis.getFullHeapFromFile(options.file));
  return addRetained(summarize('heapsnapshot', model, options), model, options);
});
