// The data of the page and views of its trees.  What gcdumpc wrote (src/write/html/html_json.c):
//
// "kind" is "heap", or "diff" for two dumps side by side (html_diff.c; what that has: diff.js).  Of a heap:
//
//   names, kinds     texts and what they name: "t" a type, "s" a static variable, "r" a group of roots and the like
//   types            [name, module, objects, bytes, retained]
//   other_types      [types, objects, bytes] that are not in types
//   tree             [parent row or -1, name, own objects, own bytes, objects and bytes with all below], parents first
//   largest          [name, bytes, retained, address or null, [names from the root on]]
//   paths            {type: name, tree: as above; own is what of that type ends here}
//   suspects         {title, sentence, advice, objects, bytes, retained, held and content: [name, objects, bytes] of the types below,
//                    root_group, root_name, path: [name or -1, repeats, retained, held by a dependent handle] from the root on}
//   consumer         without suspects the largest consumer, in the same form
//   generations      [objects, bytes, ranges, free bytes, reserved bytes] of 0, 1, 2, large, pinned, and outside of ranges
//   roots            how many of each group, in the order of root_groups, their labels

const data = JSON.parse(document.getElementById("data").textContent);

// Labels that are more than the frame without its brackets.
const LABELS = {"[several roots]": "Several roots together", "...": "Further down, and rarer paths"};

// Control characters and those that turn the direction of writing could make a name look like another one.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(text) {
  return text.replace(HIDDEN, "\ufffd");
}

// "[thread stacks]", "thread stacks": "Thread stacks".
function labelOf(text) {
  const word = text.replace(/[[\]]/g, "");
  return LABELS[text] ?? word[0].toUpperCase() + word.slice(1);
}

function nameOf(number) {
  const text = data.names[number];
  return data.kinds[number] === "r" ? labelOf(text) : visible(text);
}

// "Shop.Data" of "Shop.Data.Order<System.String>[]".
function namespaceOf(number) {
  const text = data.names[number];
  const end = text.search(/[<[(`+ ]/);
  const dot = text.lastIndexOf(".", end < 0 ? text.length : end);
  return dot > 0 ? visible(text.slice(0, dot)) : "(no namespace)";
}

// The namespaces with most bytes have colours of their own, the same all over the page; the others share one.
const COLOURS = 9;

const colours = (data.types ?? []).length === 0 ? [] : (() => {
  const sizes = new Map();
  for (const [name, , , size] of data.types) {
    sizes.set(namespaceOf(name), (sizes.get(namespaceOf(name)) ?? 0) + size);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]).slice(0, COLOURS).map(([name]) => name);
})();

function colourOf(namespace) {
  const i = colours.indexOf(namespace);
  return `colour${i < 0 ? "-other" : i}`;
}

// A node of a view: rows of one name side by side, folded into one.  children() is made when somebody looks.
class Rows {
  constructor(tree, rows) {
    this.tree = tree;
    this.rows = rows;
    this.number = tree.rows[rows[0]][1];
    this.kind = data.kinds[this.number];
    this.name = nameOf(this.number);
    this.colour = this.kind === "t" ? colourOf(namespaceOf(this.number)) : "colour-none";
    this.ownObjects = sum(rows, r => tree.rows[r][2]);
    this.ownBytes = sum(rows, r => tree.rows[r][3]);
    this.objects = sum(rows, r => tree.rows[r][4]);
    this.bytes = sum(rows, r => tree.rows[r][5]);
  }

  children() {
    this.made ??= withRest(this, folded(this.tree, this.rows.flatMap(r => this.tree.below[r])));
    return this.made;
  }
}

// A node that is made up: a namespace, all that is left out below another one.
class Group {
  constructor(name, kind, objects, bytes, ownObjects, ownBytes, children) {
    Object.assign(this, {name, kind, objects, bytes, ownObjects, ownBytes});
    this.colour = kind === "n" ? colourOf(name) : "colour-none";
    this.made = children;
  }

  children() {
    return this.made;
  }
}

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

function largestFirst(nodes) {
  return nodes.sort((a, b) => b.bytes - a.bytes || b.objects - a.objects);
}

function folded(tree, rows) {
  return largestFirst([...groupBy(rows, r => tree.rows[r][1]).values()].map(same => new Rows(tree, same)));
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const k = key(item);
    groups.has(k) ? groups.get(k).push(item) : groups.set(k, [item]);
  }
  return groups;
}

// The file holds the largest nodes only; what is missing to the sums of NODE is one more child.
function withRest(node, children) {
  const bytes = node.bytes - node.ownBytes - sum(children, c => c.bytes);
  const objects = node.objects - node.ownObjects - sum(children, c => c.objects);
  if (bytes > 0 && objects > 0) {
    children.push(new Group(children.length > 0 ? "(smaller ones)" : "(in detail not listed)", "o", objects, bytes, objects, bytes, []));
  }
  return children;
}

// Rows with the numbers of the rows below each of them.
function treeOf(rows) {
  const tree = {rows, below: rows.map(() => []), top: []};
  rows.forEach((row, i) => (row[0] < 0 ? tree.top : tree.below[row[0]]).push(i));
  return tree;
}

function wholeTree(rows, name) {
  const tree = treeOf(rows);
  const top = folded(tree, tree.top);
  return new Group(name, "o", sum(top, n => n.objects), sum(top, n => n.bytes), 0, 0, top);
}

function makeDominatorTree() {
  const tree = wholeTree(data.tree, "All objects");
  tree.objects = data.totals.objects;
  tree.bytes = data.totals.bytes;
  withRest(tree, tree.made);
  return tree;
}

const dominatorTree = data.kind === "heap" ? makeDominatorTree() : null;

// The outermost types of the dominator tree by namespace: each with all that it keeps alive.
function byNamespace() {
  const tree = treeOf(data.tree);
  const isType = row => row >= 0 && data.kinds[tree.rows[row][1]] === "t";
  const outermost = tree.rows.flatMap((row, i) => isType(i) && !isType(row[0]) ? [i] : []);
  const groups = [...groupBy(outermost, r => namespaceOf(tree.rows[r][1]))].map(([name, rows]) => {
    const types = folded(tree, rows);
    return new Group(name, "n", sum(types, t => t.objects), sum(types, t => t.bytes), 0, 0, types);
  });
  return withRestOf(groups);
}

// All types by namespace: each with its own bytes.
function byOwnSize() {
  const groups = [...groupBy(data.types, t => namespaceOf(t[0]))].map(([name, rows]) => {
    const types = rows.map(t => Object.assign(new Group(nameOf(t[0]), "t", t[2], t[3], t[2], t[3], []), {colour: colourOf(name)}));
    return new Group(name, "n", sum(types, t => t.objects), sum(types, t => t.bytes), 0, 0, largestFirst(types));
  });
  return withRestOf(groups);
}

function withRestOf(groups) {
  const all = new Group("All objects", "o", data.totals.objects, data.totals.bytes, 0, 0, largestFirst(groups));
  withRest(all, all.made);
  return all;
}
