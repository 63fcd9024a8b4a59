// SPDX-License-Identifier: MIT
// Makes devtools_bundle.gen.mjs of the loader and the heap model of Chrome DevTools, which come as TypeScript.
import {build} from 'esbuild';

const front = 'chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker';

// The real build generates locales.js; the loader needs none.
const noLocales = {
  name: 'no-locales',
  setup(it) {
    it.onResolve({filter: /locales\.js$/}, args => ({path: args.path, namespace: 'no-locales'}));
    it.onLoad({filter: /.*/, namespace: 'no-locales'}, () => ({
      contents: 'export const LOCALES = [], BUNDLED_LOCALES = [], DEFAULT_LOCALE = "en-US", REMOTE_FETCH_PATTERN = "", LOCAL_FETCH_PATTERN = "";',
    }));
  },
};

await build({
  stdin: {
    contents: `export {HeapSnapshotLoader} from './node_modules/${front}/HeapSnapshotLoader.ts';
export {SecondaryInitManager} from './node_modules/${front}/HeapSnapshot.ts';`,
    resolveDir: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
    loader: 'ts',
  },
  bundle: true, platform: 'node', format: 'esm', target: 'node18', outfile: 'devtools_bundle.gen.mjs', logLevel: 'error', plugins: [noLocales],
});
