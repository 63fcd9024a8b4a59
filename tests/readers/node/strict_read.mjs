// SPDX-License-Identifier: MIT
// A .heapsnapshot read by v8-heapsnapshot, the loader that takes the least: counts must be exact and the meta data those of V8.
import fs from 'node:fs';
import snapshots from 'v8-heapsnapshot';
import {run, summarize} from './reader.mjs';

run('strict_read.mjs', async options => {
  const warnings = [];
  console.warn = console.error = text => warnings.push(String(text));
  const text = fs.readFileSync(options.file, {encoding: 'utf8'});
  const snapshot = await snapshots.parseSnapshot(text);
  const ordinals = new Map(snapshot.nodes.map((node, i) => [node, i]));
  const model = {
    nodeCount: snapshot.nodes.length,
    node: i => ({...snapshot.nodes[i], self: snapshot.nodes[i].self_size}),
    edges: i => snapshot.nodes[i].out_edges.map(e => ({type: e.type, name: e.name, to: ordinals.get(e.to)})),
  };
  const result = summarize('heapsnapshot', model, options);
  // edges behind those the nodes claim are dropped without a word
  const declared = JSON.parse(text).snapshot;
  if (declared.edge_count !== result.edges) {
    throw new Error(`edge_count is ${declared.edge_count}, the nodes have ${result.edges} edges`);
  }
  const ids = new Set(snapshot.nodes.map(node => node.id));
  Object.assign(result.facts, {warnings, duplicate_ids: snapshot.nodes.length - ids.size, declared_nodes: declared.node_count});
  return result;
});
