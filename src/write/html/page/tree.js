// @ts-check
// A tree in a table (ARIA treegrid): one row has the focus, arrows move it, right and left open and close, * opens all below, Enter shows the
// panel.
import {el, titled} from "./dom.js";
import {linked} from "./links.js";
import {fitsName} from "./names.js";
import {sum} from "./numbers.js";
import * as text from "./words.js";

const CHILDREN_AT_ONCE = 20;
// Initially, small rows are grouped: those with less than this part of all, except for the first few.
const SMALL = 1 / 500;
const FEW = 5;
const DEEPEST_INDENT = 24;
// Maximum numbers of rows that are opened at once, and that are open initially.
const OPEN_AT_ONCE = 400;
const ROWS_AT_ONCE = 40;
const MOST_ROWS = 1000;
const FIRST_ROWS = 8;

/** @typedef {{name: string, kind: string, number?: number, bytes?: number, note?: string, children: () => any[]}} TreeNode */

/**
 * kind: a class of the head.
 * @template N
 * @typedef {{title: string, kind: string | null, cell: (node: N) => HTMLTableCellElement}} TreeColumn
 */

/** @param {HTMLElement} element @param {string} role */
function withRole(element, role) {
  element.setAttribute("role", role);
  return element;
}

/**
 * How many of LIST from FROM on are shown together.
 * @param {TreeNode[]} list
 * @param {number} from
 */
function atOnce(list, from) {
  const least = SMALL * sum(list, n => n.bytes ?? 0);
  const some = list.slice(from, from + CHILDREN_AT_ONCE);
  const large = some.filter(n => (n.bytes ?? 0) >= least).length;
  const end = Math.max(FEW, large);
  return from > 0 || least <= 0 || list.length <= end + FEW ? CHILDREN_AT_ONCE : end;
}

/**
 * columns: all but the first one.  follow: should a node be open initially?  begin: nodes below each other that are open.
 * @template {TreeNode} N
 * @param {{label: string, nodes: N[], columns: TreeColumn<N>[], follow: (node: N) => boolean, begin?: N[], short?: boolean, measured?: boolean,
 *          title?: string}} options  short: short names; measured: the bytes of nodes are real bytes; title: of the first column
 */
export function treeTable({label, nodes, columns, follow, begin = [], short = false, measured = true, title = text.HELD_BY}) {
  const body = el("tbody");
  /** @type {WeakMap<Element, {level: number, node?: N, further?: () => void}>} */
  const rows = new WeakMap();
  /** @type {HTMLElement | null} */
  let current = null;
  // Counts the user's actions in the tree.
  let turns = 0;

  /** @param {Element} row */
  function levelOf(row) {
    return rows.get(row)?.level ?? 0;
  }

  /**
   * @param {N} node
   * @param {number} level
   * @param {number} place
   * @param {number} siblings
   */
  function rowOf(node, level, place, siblings) {
    const branch = node.children().length > 0;
    const row = el("tr", {role: "row", "aria-level": level, "aria-posinset": place, "aria-setsize": siblings, tabindex: "-1",
                          "aria-expanded": branch ? "false" : null, class: branch ? "branch" : null});
    row.style.setProperty("--level", String(Math.min(level - 1, DEEPEST_INDENT)));
    const name = linked(node, short);
    name.setAttribute("tabindex", "-1");
    row.append(el("td", {role: "gridcell", class: "node"}, el("div", {}, el("span", {class: "twisty", "aria-hidden": "true"}), name,
               node.note ? el("span", {class: "muted"}, ` ${node.note}`) : null)),
               ...columns.map(column => withRole(titled(column.cell(node), column.title), "gridcell")));
    rows.set(row, {node, level});
    return row;
  }

  /** @param {Element} row */
  function isOpen(row) {
    return row.getAttribute("aria-expanded") === "true";
  }

  /**
   * @param {N[]} list
   * @param {number} level
   * @param {number} from
   */
  function rowsOf(list, level, from) {
    const end = from + atOnce(list, from);
    const some = list.slice(from, end).map((node, i) => rowOf(node, level, from + i + 1, list.length));
    if (end < list.length) {
      const more = el("tr", {role: "row", "aria-level": level, tabindex: "-1", class: "further"},
                      el("td", {role: "gridcell", colspan: columns.length + 1, class: "node"},
                         text.moreBelow(list.length - end, measured ? sum(list.slice(end), n => n.bytes ?? 0) : 0)));
      rows.set(more, {level, further: () => {
        const rest = rowsOf(list, level, end);
        more.replaceWith(...rest);
        focus(rest[0]);
      }});
      some.push(more);
    }
    return some;
  }

  // A row with a single child opens the child, too, down to where the tree branches.
  /** @param {Element} row */
  function open(row) {
    for (let at = row, i = 0; i < OPEN_AT_ONCE; i++) {
      const node = rows.get(at)?.node;
      if (at.getAttribute("aria-expanded") !== "false" || node === undefined) {
        return;
      }
      const children = node.children();
      at.setAttribute("aria-expanded", "true");
      at.after(...rowsOf(children, levelOf(at) + 1, 0));
      if (children.length !== 1 || at.nextElementSibling === null) {
        return;
      }
      at = at.nextElementSibling;
    }
  }

  // Opens everything below the row that has the focus, or had it last.
  function openAll() {
    if (current !== null) {
      focus(openBelow(current));
    }
  }

  /** @param {HTMLElement} row */
  function openBelow(row) {
    const level = levelOf(row);
    opener(MOST_ROWS, at => at === row || levelOf(at) > level, open)(row, false);
    return row;
  }

  /**
   * What opens a row and those after it, up to MOST rows in all: some in each frame, as long as the user does nothing else in the tree.
   * @param {number} most
   * @param {(at: Element) => boolean} wanted  no: the last row is reached
   * @param {(at: Element) => void} openOne
   */
  function opener(most, wanted, openOne) {
    const turn = ++turns;
    const more = (/** @type {Element | null} */ from, /** @type {boolean} */ wait) => {
      if (wait) {
        requestAnimationFrame(() => requestAnimationFrame(() => turn === turns && from?.isConnected && more(from, false)));
        return;
      }
      let at = from;
      const end = Math.min(most, body.rows.length + ROWS_AT_ONCE);
      while (at !== null && wanted(at) && body.rows.length < end) {
        openOne(at);
        at = at.nextElementSibling;
      }
      if (at !== null && wanted(at) && body.rows.length < most) {
        more(at, true);
      }
    };
    return more;
  }

  /** @param {HTMLElement} row */
  function close(row) {
    turns++;
    row.setAttribute("aria-expanded", "false");
    while (row.nextElementSibling !== null && levelOf(row.nextElementSibling) > levelOf(row)) {
      if (row.nextElementSibling === current) {
        focus(row);
      }
      row.nextElementSibling.remove();
    }
  }

  /** @param {HTMLElement} row */
  function use(row) {
    const further = rows.get(row)?.further;
    if (further !== undefined) {
      further();
    } else if (row.hasAttribute("aria-expanded")) {
      isOpen(row) ? close(row) : open(row);
    }
    return null;
  }

  /** @param {HTMLElement} row */
  function remember(row) {
    current?.setAttribute("tabindex", "-1");
    current = row;
    row.setAttribute("tabindex", "0");
  }

  /** @param {HTMLElement} row */
  function focus(row) {
    remember(row);
    row.focus();
  }

  /** @param {Element} row */
  function parentOf(row) {
    let above = row.previousElementSibling;
    while (above !== null && levelOf(above) >= levelOf(row)) {
      above = above.previousElementSibling;
    }
    return above;
  }

  /** @type {Record<string, (row: HTMLElement) => Element | null>} */
  const keys = {
    ArrowDown: row => row.nextElementSibling,
    ArrowUp: row => row.previousElementSibling,
    Home: () => body.firstElementChild,
    End: () => body.lastElementChild,
    ArrowRight: row => {
      if (isOpen(row)) {
        return row.nextElementSibling;
      }
      open(row);
      return row;
    },
    ArrowLeft: row => {
      if (!isOpen(row)) {
        return parentOf(row);
      }
      close(row);
      return row;
    },
    Enter: row => {
      const link = row.querySelector("a");
      if (link === null) {
        return use(row);
      }
      link.click();
      return null;
    },
    " ": use,
    "*": openBelow,
  };

  /** @param {Event} event @returns {HTMLElement | null} */
  function rowAt(event) {
    return event.target instanceof Element ? event.target.closest("tr") : null;
  }

  body.addEventListener("keydown", event => {
    const row = rowAt(event);
    if (row === null || !Object.hasOwn(keys, event.key) || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    const next = keys[event.key](row);
    if (next instanceof HTMLElement) {
      focus(next);
    }
  });
  body.addEventListener("click", event => {
    const row = rowAt(event);
    if (row !== null && !(event.target instanceof Element && event.target.closest("a") !== null) && document.getSelection()?.isCollapsed) {
      focus(row);
      use(row);
    }
  });
  body.addEventListener("focusin", event => remember(/** @type {HTMLElement} */ (rowAt(event))));

  /**
   * @param {N[]} list  the new nodes
   * @param {N[]} way   those that are open, like BEGIN
   */
  function replace(list, way = []) {
    nodes = list;
    begin = way;
    show(nodes);
    firstLook();
  }

  /** @param {N[]} list */
  function show(list) {
    turns++;
    body.replaceChildren(...rowsOf(list, 1, 0));
    current = null;
    if (body.firstElementChild instanceof HTMLElement) {
      remember(body.firstElementChild);
    }
  }

  /**
   * The row of NODE at LEVEL, which is AT or comes after it; shows more of the level until the row is there.
   * @param {Element | null} at
   * @param {N} node
   * @param {number} level
   */
  function rowFrom(at, node, level) {
    while (at !== null && rows.get(at)?.node !== node) {
      const further = levelOf(at) === level ? rows.get(at)?.further : undefined;
      if (further !== undefined) {
        /** @type {Element | null} */
        const above = at.previousElementSibling;
        further();
        at = above;
      }
      at = at === null ? null : at.nextElementSibling;
    }
    return at;
  }

  /**
   * Opens the path to the last of these nodes, each below the previous one.
   * @param {N[]} way
   */
  function rowBelow(way) {
    let at = body.firstElementChild;
    way.forEach((node, depth) => {
      at = rowFrom(at, node, depth + 1);
      if (at !== null && depth + 1 < way.length) {
        open(at);
      }
    });
    return at;
  }

  /** @param {N[]} way */
  function reveal(way) {
    show(nodes);
    const at = rowBelow(way);
    if (at instanceof HTMLElement) {
      at.scrollIntoView({block: "center"});
      focus(at);
    }
  }

  // Opens rows along the largest branch.
  function firstLook() {
    const last = rowBelow(begin);
    if (begin.length > 0 && last !== null) {
      open(last);
    }
    for (let row = body.firstElementChild, i = 0; row !== null && i < FIRST_ROWS; row = row.nextElementSibling, i++) {
      const node = rows.get(row)?.node;
      if (node !== undefined && follow(node)) {
        open(row);
      }
    }
  }

  show(nodes);
  firstLook();
  const titles = [{title, kind: null}, ...columns];
  const head = el("tr", {role: "row"}, ...titles.map(column => el("th", {scope: "col", role: "columnheader", class: column.kind}, column.title)));
  const table = el("table", {role: "treegrid", "aria-label": label, "aria-readonly": "true", class: "tree"},
                   el("thead", {role: "rowgroup"}, head), withRole(body, "rowgroup"));

  /** @param {string} looked  words that a name must all contain */
  function filter(looked) {
    const words = looked.toLowerCase().split(/\s+/).filter(word => word !== "");
    const test = (/** @type {string} */ name) => {
      const lower = name.toLowerCase();
      return words.every(word => lower.includes(word));
    };
    show(words.length === 0 ? nodes : matching(nodes, test));
    if (words.length > 0) {
      openMatches();
    }
  }

  // Shows the matches, unless there are too many, when the rows above them have been drawn.
  function openMatches() {
    opener(ROWS_AT_ONCE, () => true, row => {
      const node = /** @type {any} */ (rows.get(row)?.node);
      if (node?.above === true) {
        open(row);
      }
    })(body.firstElementChild, true);
  }

  return {element: el("div", {class: "scroll"}, table), reveal, show, filter, openAll, replace};
}

/**
 * Is there a matching name below NODE?
 * @param {any} node
 * @param {(name: string) => boolean} test
 * @returns {boolean}
 */
function hasBelow(node, test) {
  return typeof node.has === "function" ? node.has(test)
    : node.children().some((/** @type {any} */ child) => fitsName(child, test) || hasBelow(child, test));
}

/**
 * Those of NODES with matching names, and those above them; what is below is filtered when it is opened.  above: there is a match below.
 * @template {{name: string, children: () => any[]}} N
 * @param {N[]} nodes
 * @param {(name: string) => boolean} test
 * @returns {N[]}
 */
function matching(nodes, test) {
  return nodes.flatMap(node => {
    const above = hasBelow(node, test);
    const children = () => above ? matching(node.children(), test) : node.children();
    return above || fitsName(node, test) ? [Object.assign(Object.create(node), {above, children})] : [];
  });
}

/**
 * A tree with a search and a button that opens all below the current row.
 * @param {string} id     of the field
 * @param {string} label  of the search
 * @param {{element: HTMLElement, filter: (text: string) => void, openAll: () => void}} tree
 * @param {...(globalThis.Node | null)} more  before the search
 */
export function withTools(id, label, tree, ...more) {
  const input = el("input", {type: "search", id, spellcheck: "false", autocomplete: "off", placeholder: "part of a name", input: () =>
    tree.filter(input.value)});
  return [el("div", {class: "search"}, ...more, el("label", {for: id}, label), input,
             el("button", {type: "button", class: "chip", title: text.ALL_BELOW_KEY, click: tree.openAll}, text.ALL_BELOW)), tree.element];
}
