if (data.kind === "diff") {
  diffHeading();
  diffSummary();
  diffTypes();
  diffPaths();
} else {
  heading();
  summarySection();
  suspectSection();
  mapSection();
  typeSection();
  treeSection();
  largestSection();
  pathSection();
  rootSection();
  generationSection();
}
