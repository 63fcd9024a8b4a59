// @ts-check
// A tree in a table (ARIA treegrid): one row has the focus, arrows move it, right and left open and close.
import {el, named} from "./dom.js";
import {count} from "./numbers.js";

const CHILDREN_AT_ONCE = 20;
const DEEPEST_INDENT = 24;

/** @typedef {{name: string, kind: string, children: () => any[]}} TreeNode */

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
 * columns: those behind the first one.  follow: is a node worth to be open at first?
 * @template {TreeNode} N
 * @param {{label: string, nodes: N[], columns: TreeColumn<N>[], follow: (node: N) => boolean}} options
 */
export function treeTable({label, nodes, columns, follow}) {
  const body = el("tbody");
  /** @type {WeakMap<Element, {level: number, node?: N, further?: () => void}>} */
  const rows = new WeakMap();
  /** @type {HTMLElement | null} */
  let current = null;

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
    row.append(el("td", {role: "gridcell", class: "node"}, el("div", {}, el("span", {class: "twisty", "aria-hidden": "true"}), named(node))),
               ...columns.map(column => withRole(column.cell(node), "gridcell")));
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
    const some = list.slice(from, from + CHILDREN_AT_ONCE).map((node, i) => rowOf(node, level, from + i + 1, list.length));
    if (from + CHILDREN_AT_ONCE < list.length) {
      const more = el("tr", {role: "row", "aria-level": level, tabindex: "-1", class: "further"},
                      el("td", {role: "gridcell", colspan: columns.length + 1, class: "node"},
                         `${count(list.length - from - CHILDREN_AT_ONCE)} more …`));
      rows.set(more, {level, further: () => {
        const rest = rowsOf(list, level, from + CHILDREN_AT_ONCE);
        more.replaceWith(...rest);
        focus(rest[0]);
      }});
      some.push(more);
    }
    return some;
  }

  /** @param {Element} row */
  function open(row) {
    const node = rows.get(row)?.node;
    if (row.getAttribute("aria-expanded") !== "false" || node === undefined) {
      return;
    }
    row.setAttribute("aria-expanded", "true");
    row.after(...rowsOf(node.children(), levelOf(row) + 1, 0));
  }

  /** @param {HTMLElement} row */
  function close(row) {
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
    Enter: use,
    " ": use,
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
    if (row !== null && document.getSelection()?.isCollapsed) {
      focus(row);
      use(row);
    }
  });
  body.addEventListener("focusin", event => remember(/** @type {HTMLElement} */ (rowAt(event))));

  body.append(...rowsOf(nodes, 1, 0));
  if (body.firstElementChild instanceof HTMLElement) {
    remember(body.firstElementChild);
  }
  // The first look is along the largest branch.
  for (let row = body.firstElementChild, i = 0; row !== null && i < 4; row = row.nextElementSibling, i++) {
    const node = rows.get(row)?.node;
    if (node !== undefined && follow(node)) {
      open(row);
    }
  }
  const titles = [{title: "Held by, from the outside in", kind: null}, ...columns];
  const head = el("tr", {role: "row"}, ...titles.map(({title, kind}) => el("th", {scope: "col", role: "columnheader", class: kind}, title)));
  return el("div", {class: "scroll"}, el("table", {role: "treegrid", "aria-label": label, "aria-readonly": "true", class: "tree"},
                                        el("thead", {role: "rowgroup"}, head), withRole(body, "rowgroup")));
}
