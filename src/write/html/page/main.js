// @ts-check
import {data} from "./data.js";
import {diffHeading, diffSummary, hasNewer} from "./diff.js";
import {stepTree} from "./diff_rows.js";
import {diffPaths, diffTypes, growthColumns} from "./diff_tables.js";
import {listen} from "./dom.js";
import {dropPlace} from "./drop.js";
import {generationSection, largestSection, rootSection} from "./heap_tables.js";
import {mapSection, treeSection} from "./held.js";
import {makeDominatorTree} from "./nodes.js";
import {panel} from "./panel.js";
import {places} from "./places.js";
import {sharedSection} from "./shared.js";
import {siteSection} from "./sites.js";
import {heading, summarySection, warnings} from "./summary.js";
import {suspectSection} from "./suspects.js";
import {dumpSection, trendHeading, trendLines, trendSummary, trendTypes} from "./trend.js";
import {typeTrends} from "./trend_rows.js";
import {pathSection, typeSection} from "./types.js";
import {waitSection} from "./waits.js";
import {EXPLANATIONS} from "./words.js";

/**
 * Calls DONE once, after the next frame or a timeout: a hidden window has no frames.
 * @param {() => void} done
 */
function afterFrame(done) {
  let called = false;
  const call = () => {
    if (!called) {
      called = true;
      done();
    }
  };
  requestAnimationFrame(() => setTimeout(call));
  setTimeout(call, 300);
}

/**
 * Runs JOBS one after another, with gaps in which the user can use what is there already; all at once before printing.  The first frame comes
 * before all jobs, the next frame after the first job, which makes what a window shows.
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
  listen(window, "beforeprint", finish, {once: true});
  afterFrame(() => {
    jobs.shift()?.();
    afterFrame(next);
  });
}

/** @typedef {((way: import("./nodes.js").Node[]) => void) | undefined} Reveal */
/** @type {{toMap: Reveal, toTree: Reveal, completeMap: () => void, tree: import("./nodes.js").Node | null}} */
const made = {toMap: undefined, toTree: undefined, completeMap: () => undefined, tree: null};

// Made when the first view needs it.
function tree() {
  made.tree ??= makeDominatorTree();
  return made.tree;
}

/** @param {string} explanation */
function drawMap(explanation) {
  const map = mapSection(tree(), explanation);
  made.toMap = map.reveal;
  made.completeMap = map.complete;
}

function mapAndPanel() {
  made.completeMap();
  panel({toMap: way => made.toMap?.(way), toTree: way => made.toTree?.(way), tree: tree()});
}

function treeOfAll(/** @type {import("./tree.js").TreeColumn<import("./nodes.js").Node>[]} */ columns = []) {
  made.toTree = treeSection(tree(), columns);
}

if (data.kind === "trend") {
  const rows = typeTrends();
  trendHeading();
  trendSummary(rows);
  build([
    () => panel({toMap: () => undefined, toTree: () => undefined, tree: tree()}),
    () => trendTypes(rows),
    () => trendLines(rows),
    dumpSection,
    places
  ]);
} else if (data.kind === "diff") {
  const steps = stepTree();
  diffHeading();
  diffSummary(steps);
  build([() => diffPaths(steps), diffTypes, ...hasNewer ? [() => drawMap(EXPLANATIONS.diffMap), mapAndPanel,
    () => suspectSection("Suspects of the newer dump"), () => treeOfAll(growthColumns(tree(), steps)), largestSection, sharedSection, siteSection,
    waitSection, rootSection, generationSection] : [], places]);
} else {
  const suspectsFirst = data.start === "suspects";
  heading();
  if (suspectsFirst) {
    document.body.classList.add("suspects-first");
    suspectSection(undefined, warnings());
  }
  summarySection(suspectsFirst, dropPlace());
  build([() => drawMap(EXPLANATIONS.map), mapAndPanel, ...suspectsFirst ? [] : [() => suspectSection()], typeSection, () => treeOfAll(),
    largestSection, sharedSection, pathSection, siteSection, waitSection, rootSection, generationSection, places]);
}
