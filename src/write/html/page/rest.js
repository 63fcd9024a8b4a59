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

async function expand() {
  const packed = Uint8Array.from(atob(heap.rest_packed ?? ""), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  addTypes(JSON.parse(await new Response(stream).text()));
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
