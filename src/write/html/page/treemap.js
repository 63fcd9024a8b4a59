// @ts-check
// A map of rectangles as large as what they stand for, one in another as long as there is room.  Every rectangle is a button: a click
// goes into it, arrows move the focus to the one that lies there, Escape goes out.  A table below says the same.
import {heap} from "./data.js";
import {bytesCell, countCell, el, named, shareCell, swatch} from "./dom.js";
import {colours} from "./names.js";
import {largestFirst, leaf} from "./nodes.js";
import {bytes, plural, share} from "./numbers.js";
import {squarify} from "./squarify.js";
import {sortableTable} from "./table.js";

/** @typedef {import("./nodes.js").Node} Node */

// Pixels: what is smaller is not drawn, the table has it; the heading of a rectangle that has others in it.
const SMALLEST = 9;
const HEAD = 19;
// Levels and rectangles.
const DEEPEST = 12;
const MOST = 700;

/** @param {Node} node */
function describe(node) {
  return `${node.name}: ${bytes(node.bytes)}, ${share(node.bytes, heap.totals.bytes)}, ${plural(node.objects, "object")}`;
}

/**
 * What NODE consists of: its children, and its own bytes when it has both.
 * @param {Node} node
 */
function parts(node) {
  const children = node.children().filter(child => child.bytes > 0);
  if (children.length > 0 && node.ownBytes > 0) {
    const own = leaf(`${node.name} itself`, "o", node.ownObjects, node.ownBytes);
    own.colour = node.colour;
    children.push(own);
  }
  return largestFirst(children);
}

/** @param {{title: string, root: Node}[]} views */
export function treemap(views) {
  // From the whole to what is shown.
  /** @type {Node[]} */
  let path = [views[0].root];
  /** @type {WeakMap<Element, Node>} */
  const nodes = new WeakMap();
  const crumbs = el("ol");
  const map = el("div", {class: "map", role: "group", "aria-label": "Map of the memory; arrow keys move, Enter goes in, Escape goes out"});
  const detail = el("p", {class: "detail"});
  const table = el("div");
  const details = el("details", {class: "as-table", toggle: list}, el("summary", {}, "The same as a table"), table);
  const here = () => path[path.length - 1];

  /** @param {Node} detailOf */
  function show(detailOf) {
    detail.textContent = describe(detailOf);
  }

  // Those of a level before those inside of them, so that what is large is there when there are too many.
  function draw() {
    const waiting = [{nodes: parts(here()), trail: path, x: 0, y: 0, width: map.clientWidth, height: map.clientHeight, depth: 1}];
    for (let area; (area = waiting.shift()) !== undefined;) {
      const {trail, depth} = area;
      squarify(area.nodes, area, (node, x, y, width, height) => {
        if (width < SMALLEST || height < SMALLEST || map.childElementCount >= MOST) {
          return;
        }
        const inside = parts(node);
        const way = [...trail, node];
        map.append(tile(way, inside.length > 0, {x, y, width, height}));
        if (inside.length > 0 && width > 40 && height > HEAD + 20 && depth < DEEPEST) {
          waiting.push({nodes: inside, trail: way, x: x + 3, y: y + HEAD, width: width - 7, height: height - HEAD - 4, depth: depth + 1});
        }
      });
    }
  }

  /**
   * @param {Node[]} way  to the node
   * @param {boolean} branch
   * @param {{x: number, y: number, width: number, height: number}} box
   */
  function tile(way, branch, {x, y, width, height}) {
    const node = way[way.length - 1];
    const button = el("button", {type: "button", class: `tile ${branch ? "branch" : "leaf"} ${node.colour}`, tabindex: "-1", "data-bytes": node.bytes,
                                 "aria-label": `${describe(node)}, level ${way.length - path.length}${branch ? "" : ", nothing inside"}`,
                                 click: () => branch ? zoom(way) : show(node), focus: () => show(node), pointerenter: () => show(node)});
    Object.assign(button.style, {left: `${x}px`, top: `${y}px`, width: `${width - 1}px`, height: `${height - 1}px`});
    if (width > 34 && height > 15) {
      button.append(el("bdi", {class: "label", dir: "ltr"}, node.name));
      if (width > 130 || height > 38 && width > 60 && !branch) {
        button.append(el("span", {class: "size"}, bytes(node.bytes)));
      }
    }
    nodes.set(button, node);
    return button;
  }

  /** @returns {HTMLElement[]} */
  function tiles() {
    return /** @type {HTMLElement[]} */ ([...map.children]);
  }

  /** @param {Node | undefined} node */
  function tileOf(node) {
    return tiles().find(t => nodes.get(t) === node) ?? tiles()[0];
  }

  function redraw() {
    const hadFocus = map.contains(document.activeElement);
    const focused = hadFocus && document.activeElement !== null ? nodes.get(document.activeElement) : undefined;
    map.replaceChildren();
    draw();
    const first = tileOf(focused);
    first?.setAttribute("tabindex", "0");
    if (hadFocus) {
      first?.focus();
    }
  }

  // Only while somebody looks at it.
  function list() {
    if (!details.open) {
      return;
    }
    const name = (/** @type {Node} */ node) => parts(node).length === 0 ? named(node)
      : el("button", {type: "button", class: "link", click: () => zoom([...path, node])}, named(node));
    table.replaceChildren(sortableTable({
      caption: `What is in ${here().name}`, rows: parts(here()), sortBy: 1,
      columns: [
        {title: "Name", value: n => n.name, cell: n => el("th", {scope: "row"}, name(n))},
        {title: "Bytes", number: true, value: n => n.bytes, cell: n => bytesCell(n.bytes)},
        {title: "Share", number: true, bar: true, value: n => n.bytes, cell: n => shareCell(n.bytes, here().bytes)},
        {title: "Objects", number: true, value: n => n.objects, cell: n => countCell(n.objects)},
      ],
    }));
  }

  function trace() {
    crumbs.replaceChildren(...path.map((node, i) => el("li", {}, i === path.length - 1
      ? el("span", {"aria-current": "true"}, named(node))
      : el("button", {type: "button", class: "link", click: () => zoom(path.slice(0, i + 1))}, named(node)))));
  }

  /** @param {Node[]} to */
  function zoom(to) {
    const inMap = map.contains(document.activeElement);
    const inTable = table.contains(document.activeElement);
    const from = here();
    path = to;
    trace();
    list();
    redraw();
    show(here());
    if (inMap) {
      tileOf(from)?.focus();
    } else if (inTable) {
      /** @type {HTMLElement | null} */ (table.querySelector("tbody button") ?? crumbs.querySelector("button"))?.focus();
    }
  }

  /**
   * The nearest rectangle in a direction: those straight ahead before those that lie aside.
   * @param {HTMLElement} tileNow
   * @param {number} dx
   * @param {number} dy
   */
  function neighbour(tileNow, dx, dy) {
    const box = (/** @type {HTMLElement} */ t) => ({x: t.offsetLeft + t.offsetWidth / 2, y: t.offsetTop + Math.min(t.offsetHeight, HEAD) / 2});
    const now = box(tileNow);
    /** @type {HTMLElement | undefined} */
    let best;
    let bestDistance = Infinity;
    for (const other of tiles()) {
      const {x, y} = box(other);
      const ahead = (x - now.x) * dx + (y - now.y) * dy;
      const aside = Math.abs((x - now.x) * dy) + Math.abs((y - now.y) * dx);
      if (other !== tileNow && ahead > 0.5 && ahead + 3 * aside < bestDistance) {
        best = other;
        bestDistance = ahead + 3 * aside;
      }
    }
    return best;
  }

  /** @type {Record<string, [number, number]>} */
  const moves = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};

  map.addEventListener("keydown", event => {
    let next;
    if (Object.hasOwn(moves, event.key)) {
      next = neighbour(/** @type {HTMLElement} */ (event.target), ...moves[event.key]);
    } else if (event.key === "Home") {
      next = tiles()[0];
    } else if (event.key === "End") {
      next = tiles().at(-1);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      if (path.length > 1) {
        zoom(path.slice(0, -1));
      }
    } else {
      return;
    }
    event.preventDefault();
    next?.focus();
  });
  map.addEventListener("focusin", event => {
    for (const t of map.querySelectorAll("[tabindex='0']")) {
      t.setAttribute("tabindex", "-1");
    }
    /** @type {HTMLElement} */ (event.target).setAttribute("tabindex", "0");
  });
  map.addEventListener("pointerleave", () => show(here()));
  new ResizeObserver(redraw).observe(map);

  const choice = el("fieldset", {class: "choice"}, el("legend", {class: "hidden"}, "Arrange the map by"), ...views.map((view, i) =>
    el("label", {}, el("input", {type: "radio", name: "map-view", value: i, checked: i === 0, change: () => zoom([view.root])}),
       el("span", {}, view.title))));
  const crumbLine = el("nav", {class: "crumbs", "aria-label": "Where the map is"}, crumbs);
  zoom(path);
  const legend = el("p", {class: "legend muted"}, ...colours.map((name, i) => swatch(`colour${i}`, name)),
                    swatch("colour-other", "other namespaces"));
  return [choice, crumbLine, map, detail, legend, details];
}
