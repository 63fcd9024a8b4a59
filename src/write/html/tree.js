// A tree in a table (ARIA treegrid): one row has the focus, arrows move it, right and left open and close.

const CHILDREN_AT_ONCE = 20;
const DEEPEST_INDENT = 24;

// The columns behind the first one: {title, cell(node), kind: a class of the head}.  follow(node): is it worth to be open at first?
function treeTable({label, nodes, columns, follow}) {
  const body = el("tbody");
  let current = null;

  function rowOf(node, level, place, siblings) {
    const children = node.children();
    const row = el("tr", {role: "row", "aria-level": level, "aria-posinset": place, "aria-setsize": siblings, tabindex: "-1",
                          "aria-expanded": children.length > 0 ? "false" : null, class: children.length > 0 ? "branch" : null});
    row.style.setProperty("--level", Math.min(level - 1, DEEPEST_INDENT));
    row.append(el("td", {role: "gridcell", class: "node"}, el("div", {}, el("span", {class: "twisty", "aria-hidden": "true"}), named(node))),
               ...columns.map(column => withRole(column.cell(node))));
    row.node = node;
    row.level = level;
    return row;
  }

  function withRole(cell) {
    cell.setAttribute("role", "gridcell");
    return cell;
  }

  function isOpen(row) {
    return row.getAttribute("aria-expanded") === "true";
  }

  function rowsOf(list, level, from) {
    const rows = list.slice(from, from + CHILDREN_AT_ONCE).map((node, i) => rowOf(node, level, from + i + 1, list.length));
    if (from + CHILDREN_AT_ONCE < list.length) {
      const more = el("tr", {role: "row", "aria-level": level, tabindex: "-1", class: "further"},
                      el("td", {role: "gridcell", colspan: columns.length + 1, class: "node"},
                         `${count(list.length - from - CHILDREN_AT_ONCE)} more …`));
      more.style.setProperty("--level", Math.min(level - 1, DEEPEST_INDENT));
      more.level = level;
      more.further = () => {
        const rest = rowsOf(list, level, from + CHILDREN_AT_ONCE);
        more.replaceWith(...rest);
        focus(rest[0]);
      };
      rows.push(more);
    }
    return rows;
  }

  function open(row) {
    if (row.getAttribute("aria-expanded") !== "false") {
      return;
    }
    row.setAttribute("aria-expanded", "true");
    row.after(...rowsOf(row.node.children(), row.level + 1, 0));
  }

  function close(row) {
    row.setAttribute("aria-expanded", "false");
    while (row.nextElementSibling !== null && row.nextElementSibling.level > row.level) {
      if (row.nextElementSibling === current) {
        focus(row);
      }
      row.nextElementSibling.remove();
    }
  }

  function use(row) {
    if (row.further) {
      row.further();
    } else if (row.hasAttribute("aria-expanded")) {
      isOpen(row) ? close(row) : open(row);
    }
  }

  function remember(row) {
    current?.setAttribute("tabindex", "-1");
    current = row;
    row.setAttribute("tabindex", "0");
  }

  function focus(row) {
    remember(row);
    row.focus();
  }

  function parentOf(row) {
    let above = row.previousElementSibling;
    while (above !== null && above.level >= row.level) {
      above = above.previousElementSibling;
    }
    return above;
  }

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

  body.addEventListener("keydown", event => {
    const row = event.target.closest("tr");
    if (row === null || !(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    const next = keys[event.key](row);
    if (next) {
      focus(next);
    }
  });
  body.addEventListener("click", event => {
    const row = event.target.closest("tr");
    if (row !== null && document.getSelection().isCollapsed) {
      focus(row);
      use(row);
    }
  });
  body.addEventListener("focusin", event => remember(event.target.closest("tr")));

  body.append(...rowsOf(nodes, 1, 0));
  if (body.firstElementChild !== null) {
    remember(body.firstElementChild);
  }
  // The first look is along the largest branch.
  for (let row = body.firstElementChild, i = 0; row !== null && i < 4; row = row.nextElementSibling, i++) {
    if (row.node !== undefined && follow(row.node)) {
      open(row);
    }
  }
  const head = el("tr", {role: "row"}, ...[{title: "Held by, from the outside in", kind: null}, ...columns].map(({title, kind}) =>
    el("th", {scope: "col", role: "columnheader", class: kind}, title)));
  return el("div", {class: "scroll"}, el("table", {role: "treegrid", "aria-label": label, "aria-readonly": "true", class: "tree"},
                                        el("thead", {role: "rowgroup"}, head), withGroup(body)));

  function withGroup(part) {
    part.setAttribute("role", "rowgroup");
    return part;
  }
}
