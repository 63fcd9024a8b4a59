// @ts-check
// The small types of a heap with very many types: compressed in the page, and expanded when needed.
import {heap} from "./data.js";
import {addTypes} from "./names.js";

/** @type {{loading: Promise<boolean> | null, watchers: (() => void)[]}} */
const state = {loading: null, watchers: []};

// Types that are not expanded yet.
export function waitingTypes() {
  return state.loading === null ? heap.rest_types?.[0] ?? 0 : 0;
}

/** @param {() => void} changed  called when there are more types */
export function watchTypes(changed) {
  state.watchers.push(changed);
}

/**
 * The rows of the small types, whose names are texts.
 * @param {import("./data.js").Heap} of
 * @returns {Promise<[string, ...any[]][]>}
 */
export function restOf({rest_packed: text}) {
  if (text === undefined) {
    return Promise.resolve([]);
  }
  const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function expand() {
  addTypes(await restOf(heap));
  heap.rest_types = [0, 0, 0];
  state.watchers.forEach(changed => changed());
  return true;
}

// True if there are new types.
export function allTypes() {
  if (state.loading === null) {
    state.loading = heap.rest_packed === undefined ? Promise.resolve(false) : expand();
    return state.loading;
  }
  return state.loading.then(() => false);
}
