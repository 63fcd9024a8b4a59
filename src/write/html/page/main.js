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

if (data.kind === "diff") {
  diffHeading();
  diffSummary();
  diffTypes();
  diffPaths();
} else {
  const dominatorTree = makeDominatorTree();
  heading();
  summarySection();
  const toMap = mapSection(dominatorTree);
  suspectSection();
  typeSection();
  const toTree = treeSection(dominatorTree);
  largestSection();
  pathSection();
  waitSection();
  rootSection();
  generationSection();
  panel({toMap, toTree, tree: dominatorTree});
}
places();
