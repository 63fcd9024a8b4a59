// @ts-check
import {data} from "./data.js";
import {diffHeading, diffSummary, hasNewer} from "./diff.js";
import {stepTree} from "./diff_rows.js";
import {diffPaths, diffTypes} from "./diff_tables.js";
import {generationSection, largestSection, rootSection} from "./heap_tables.js";
import {mapSection, treeSection} from "./held.js";
import {makeDominatorTree} from "./nodes.js";
import {panel} from "./panel.js";
import {places} from "./places.js";
import {heading, summarySection, warnings} from "./summary.js";
import {suspectSection} from "./suspects.js";
import {dumpSection, trendHeading, trendSummary, trendTypes} from "./trend.js";
import {typeTrends} from "./trend_rows.js";
import {pathSection, typeSection} from "./types.js";
import {waitSection} from "./waits.js";
import {EXPLANATIONS} from "./words.js";

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

/** @typedef {((way: import("./nodes.js").Node[]) => void) | undefined} Reveal */
const tree = makeDominatorTree();
/** @type {{toMap: Reveal, toTree: Reveal}} */
const reveal = {toMap: undefined, toTree: undefined};

/** @param {string} explanation */
function mapAndPanel(explanation) {
  reveal.toMap = mapSection(tree, explanation);
  panel({toMap: way => reveal.toMap?.(way), toTree: way => reveal.toTree?.(way), tree});
}

function treeOfAll() {
  reveal.toTree = treeSection(tree);
}

if (data.kind === "trend") {
  const rows = typeTrends();
  trendHeading();
  trendSummary(rows);
  build([() => panel({toMap: () => undefined, toTree: () => undefined, tree}), () => trendTypes(rows), dumpSection, places]);
} else if (data.kind === "diff") {
  const steps = stepTree();
  diffHeading();
  diffSummary(steps);
  build([() => diffPaths(steps), diffTypes, ...hasNewer ? [() => mapAndPanel(EXPLANATIONS.diffMap),
    () => suspectSection("Suspects of the newer dump"), treeOfAll] : [], places]);
} else {
  const suspectsFirst = data.start === "suspects";
  heading();
  if (suspectsFirst) {
    document.body.classList.add("suspects-first");
    suspectSection("Suspects", warnings());
  }
  summarySection(suspectsFirst);
  build([() => mapAndPanel(EXPLANATIONS.map), ...suspectsFirst ? [] : [() => suspectSection()], typeSection, treeOfAll, largestSection, pathSection,
    waitSection, rootSection, generationSection, places]);
}
