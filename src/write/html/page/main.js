// @ts-check
import {data} from "./data.js";
import {diffHeading, diffPaths, diffSummary, diffTypes} from "./diff.js";
import {generationSection, largestSection, rootSection} from "./heap_tables.js";
import {mapSection, treeSection} from "./held.js";
import {makeDominatorTree} from "./nodes.js";
import {panel} from "./panel.js";
import {places} from "./places.js";
import {heading, summarySection} from "./summary.js";
import {suspectSection} from "./suspects.js";
import {pathSection, typeSection} from "./types.js";
import {waitSection} from "./waits.js";

/**
 * Runs JOBS, one after another, with room between them for who wants to use what is there already; all at once before a print.
 * @param {(() => void)[]} jobs
 */
function build(jobs) {
  const finish = () => {
    while (jobs.length > 0) {
      jobs.shift()?.();
    }
    document.documentElement.dataset.ready = "yes";
  };
  const next = () => {
    jobs.shift()?.();
    if (jobs.length > 0) {
      setTimeout(next);
    } else {
      finish();
    }
  };
  let started = false;
  const start = () => {
    if (!started) {
      started = true;
      next();
    }
  };
  addEventListener("beforeprint", finish, {once: true});
  // Behind the first frame; a window that nobody sees has none.
  requestAnimationFrame(() => setTimeout(start));
  setTimeout(start, 300);
}

if (data.kind === "diff") {
  build([() => {
    diffHeading();
    diffSummary();
    diffTypes();
    diffPaths();
  }, places]);
} else {
  const tree = makeDominatorTree();
  /** @typedef {((way: import("./nodes.js").Node[]) => void) | undefined} Reveal */
  /** @type {Reveal} */
  let toMap;
  /** @type {Reveal} */
  let toTree;
  heading();
  summarySection();
  build([() => {
    toMap = mapSection(tree);
    panel({toMap: way => toMap?.(way), toTree: way => toTree?.(way), tree});
  }, suspectSection, typeSection, () => {
    toTree = treeSection(tree);
  }, largestSection, pathSection, waitSection, rootSection, generationSection, places]);
}
