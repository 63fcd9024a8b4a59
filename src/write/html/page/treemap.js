// @ts-check
// A map of rectangles whose areas are sizes, one in another (map) or one below the other (flame).  Every rectangle is a button: a click zooms into
// it, arrows move the focus to its neighbours, Escape zooms out.  A table below shows the same.  The elements are not <button>, because a browser
// takes a third longer to lay them out, and there are hundreds.
import {data, heap} from "./data.js";
import {bytesCell, countCell, el, listen, named, shareCell, swatch} from "./dom.js";
import {keyOf, linked} from "./links.js";
import {COLOURINGS, colourOf, fitsName, longOf, originOf, shortOf} from "./names.js";
import {largestFirst, leaf} from "./nodes.js";
import {bytes, plural, sum} from "./numbers.js";
import {squarify} from "./squarify.js";
import {change, valueOf, watch} from "./state.js";
import {sortableTable} from "./table.js";
import * as words from "./words.js";

/** @typedef {import("./nodes.js").Node} Node */
/** @type {[string, string][]} */
const COLOUR_CHOICES = Object.entries(COLOURINGS).map(([value, {title}]) => [value, `Colour: ${title}`]);

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * The look of a map.  prefix: of the keys of its state, and of ids.  whole: the sum of all nodes.  pictures: one or both.  chains: a node with one
 * child is drawn together with it.  open: called for a click on a node with nothing inside.
 * @typedef {{prefix: string, label: string, crumbs: string, whole: number, pictures: ("map" | "flame")[], chains: boolean, colours: boolean,
 *            size: (node: Node) => string, describe: (node: Node, name: string) => string,
 *            columns: import("./table.js").Column<Node>[], open: (node: Node) => void}} Look
 */

/**
 * The map of the heap.
 * @type {Look}
 */
export const HEAP_LOOK = {
  prefix: "", label: words.MAP_KEYS, crumbs: "Where the map is", whole: data.kind === "heap" ? heap.totals.bytes : 0,
  pictures: ["map", "flame"], chains: true, colours: true,
  size: node => bytes(node.bytes), describe: (node, name) => words.sizes(name, node, heap.totals.bytes),
  columns: [{title: "Bytes", number: true, value: n => n.bytes, cell: n => bytesCell(n.bytes)},
            {title: "Objects", number: true, value: n => n.objects, cell: n => countCell(n.objects)}],
  open: node => {
    const key = keyOf(node);
    if (key !== "") {
      change({open: key});
    }
  },
};

// Pixels: smaller rectangles are not drawn, the table has them; the heading of a rectangle with others in it; a row of the flame graph.
const SMALLEST = 11;
const THINNEST = 3;
const HEAD = 19;
const ROW = 22;
// Maximum numbers of levels and rectangles.
const DEEPEST = 12;
const DEEPEST_FLAME = 60;
const MOST = 500;
// A node and its child are drawn as one if the child has this part of the node.
const NEARLY_ALL = 0.995;

/**
 * The parts of NODE: its children, and its own bytes if it has both.
 * @param {Node} node
 */
function parts(node) {
  const children = node.children().filter(child => child.bytes > 0);
  if (children.length > 0 && node.ownBytes > 0) {
    const own = leaf(`${shortOf(node)} itself`, "o", node.ownObjects, node.ownBytes);
    own.number = node.number;
    children.push(own);
  }
  return largestFirst(children);
}

/**
 * NODE and the nodes below it as long as there is only one.
 * @param {Node} node
 */
function chain(node) {
  const nodes = [node];
  for (let at = node; ;) {
    const [first] = at.children();
    if (first === undefined || first.bytes < NEARLY_ALL * node.bytes || first.kind === "o") {
      return nodes;
    }
    nodes.push(first);
    at = first;
  }
}

/** @param {Node[]} nodes */
function heading(nodes) {
  const names = nodes.map(shortOf);
  return names.length > 5 ? [...names.slice(0, 2), "…", ...names.slice(-2)].join(" › ") : names.join(" › ");
}

/**
 * A choice of one of several.
 * @param {string} key  of the state; the first option has no value
 * @param {string} legend
 * @param {[string, string][]} options  value and title
 * @param {string} reset  a key whose value another choice removes, or ""
 */
export function choice(key, legend, options, reset) {
  const inputs = options.map(([value]) => el("input", {type: "radio", name: `map-${key}`, value, change: () =>
    change({[key]: value === options[0][0] ? "" : value, ...reset === "" ? {} : {[reset]: ""}})}));
  const use = (/** @type {string} */ value) => inputs.forEach(input => {
    input.checked = input.value === (value || options[0][0]);
  });
  use("");
  watch(key, use);
  return el("fieldset", {class: "choice"}, el("legend", {class: "hidden"}, legend),
            ...options.map(([, title], i) => el("label", {}, inputs[i], el("span", {}, title))));
}

/**
 * ATFIRST: number of rectangles, the largest, that are drawn before complete() is called.
 * @param {{title: string, root: () => Node}[]} views
 * @param {Look} look
 */
export function treemap(views, look, atFirst = MOST) {
  /** @type {Map<number, Node>} */
  const roots = new Map();
  const [BY, AT, FIND, COLOUR, PICTURE] = ["by", "at", "find", "colour", "picture"].map(key => `${look.prefix}${key}`);
  // From the whole to the node shown.
  /** @type {Node[]} */
  let path = [rootOf(0)];
  /** @type {WeakMap<Element, Node[]>} */
  const ways = new WeakMap();
  const crumbs = el("ol");
  const map = el("div", {class: "map", role: "group", "aria-label": look.label});
  const tip = el("div", {class: "tip", "aria-hidden": "true", hidden: true});
  const detail = el("p", {class: "detail"});
  const table = el("div");
  const details = el("details", {class: "as-table", toggle: list}, el("summary", {}, "The same as a table"), table);
  const found = el("p", {role: "status", class: "muted found"});
  const find = el("input", {type: "search", id: `${look.prefix}map-search`, spellcheck: "false", autocomplete: "off",
                            placeholder: "part of a name", input: () => change({[FIND]: find.value}, true)});
  const legend = el("p", {class: "legend muted"});
  let most = atFirst;
  const here = () => path[path.length - 1];
  const colouring = () => Object.hasOwn(COLOURINGS, valueOf(COLOUR)) ? valueOf(COLOUR) : Object.keys(COLOURINGS)[0];
  const isFlame = () => (valueOf(PICTURE) || look.pictures[0]) === "flame";

  /** @param {Node} node @param {Box} [box]  of its tile */
  function show(node, box) {
    detail.textContent = look.describe(node, longOf(node));
    tip.hidden = box === undefined;
    if (box !== undefined) {
      tip.textContent = detail.textContent;
      tip.style.left = `${Math.max(0, Math.min(box.x, map.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${box.y + 28 + tip.offsetHeight > map.clientHeight ? Math.max(0, box.y - tip.offsetHeight - 12) : box.y + 24}px`;
    }
  }

  let drawn = {width: 0, height: 0, flame: false};
  const part = (/** @type {number} */ x, /** @type {number} */ whole) => `${100 * x / Math.max(1, whole)}%`;

  /**
   * Draws the rectangles of a level before those inside them, so that the large ones are there if there are too many.
   * @param {(area: {nodes: Node[], trail: Node[], depth: number} & Box, place: (node: Node, box: Box) => Box | null) => void} arrange
   */
  function draw(arrange) {
    const {clientWidth: width, clientHeight: height} = map;
    drawn = {width, height, flame: isFlame()};
    const waiting = [{nodes: parts(here()), trail: path, x: 0, y: 0, width, height, depth: 1}];
    /** @type {HTMLElement[]} */
    const added = [];
    const room = most;
    for (let area; added.length < room && (area = waiting.shift()) !== undefined;) {
      const {trail, depth} = area;
      arrange(area, (node, box) => {
        if (added.length >= room) {
          return null;
        }
        const nodes = look.chains ? chain(node) : [node];
        const inside = parts(nodes[nodes.length - 1]);
        const way = [...trail, ...nodes];
        added.push(tile(way, nodes, inside.length > 0, box));
        const deepest = isFlame() ? DEEPEST_FLAME : DEEPEST;
        const inner = inside.length > 0 && depth < deepest ? {nodes: inside, trail: way, ...box, depth: depth + 1} : null;
        if (inner !== null) {
          waiting.push(inner);
        }
        return inner;
      });
    }
    map.append(...added);
  }

  function drawMap() {
    draw((area, place) => squarify(area.nodes, area, (node, x, y, width, height) => {
      const inner = width < SMALLEST || height < SMALLEST ? null : place(node, {x, y, width, height});
      if (inner !== null && width > 40 && height > HEAD + 20) {
        Object.assign(inner, {x: x + 3, y: y + HEAD, width: width - 7, height: height - HEAD - 4});
      } else if (inner !== null) {
        inner.width = 0;
      }
    }));
  }

  // A map that is always a flame graph has the height of the graph.
  function drawFlame() {
    const lowest = look.pictures.length === 1 ? ROW * DEEPEST_FLAME : map.clientHeight;
    draw((area, place) => {
      const whole = area.depth === 1 ? sum(area.nodes, n => n.bytes) : area.trail[area.trail.length - 1].bytes;
      let {x} = area;
      for (const node of area.nodes) {
        const width = whole > 0 ? area.width * node.bytes / whole : 0;
        if (width >= THINNEST && area.y + ROW <= lowest) {
          const inner = place(node, {x, y: area.y, width, height: ROW});
          if (inner !== null) {
            inner.y += ROW;
          }
        }
        x += width;
      }
    });
  }

  /**
   * @param {Node[]} way  from the whole to the last of NODES
   * @param {Node[]} nodes  that the tile represents
   * @param {boolean} branch
   * @param {Box} box
   */
  function tile(way, nodes, branch, {x, y, width, height}) {
    const node = nodes[0];
    const last = nodes[nodes.length - 1];
    const colour = colourOf(nodes.find(n => originOf(n.number) === 0) ?? (last.number >= 0 ? last : node), colouring());
    const kind = `tile ${branch ? "branch" : "leaf"}${height < 38 ? " low" : ""} ${colour}`;
    const button = el("div", {role: "button", class: kind, tabindex: "-1", "data-bytes": node.bytes,
                                 "aria-label": words.tile(heading(nodes), look.describe(node, ""), branch),
                                 click: () => branch ? zoom(way) : look.open(last), focus: () => show(last, {x, y, width, height})});
    // in parts of the map, which on paper has another size; rows of a flame graph are as high as their text
    const [top, high] = drawn.flame ? [`${y}px`, `${height - 1}px`] : [part(y, drawn.height), part(height - 1, drawn.height)];
    Object.assign(button.style, {left: part(x, drawn.width), top, width: part(Math.max(1, width - 1), drawn.width), height: high});
    if (width > 34 && height > 15) {
      button.append(el("bdi", {class: "label", dir: "ltr"}, heading(nodes)));
      if (width > 130 || height > 38 && width > 60 && !branch) {
        button.append(" ", el("span", {class: "size"}, look.size(node)));
      }
    }
    ways.set(button, way);
    return button;
  }

  /** @returns {HTMLElement[]} */
  function tiles() {
    return /** @type {HTMLElement[]} */ ([...map.querySelectorAll(".tile")]);
  }

  /** @param {Element} t */
  function nodeOf(t) {
    return ways.get(t)?.at(-1);
  }

  /** @param {Node | undefined} node */
  function tileOf(node) {
    return tiles().find(t => node !== undefined && ways.get(t)?.includes(node)) ?? tiles()[0];
  }

  function redraw() {
    const hadFocus = map.contains(document.activeElement);
    const focused = hadFocus && document.activeElement !== null ? nodeOf(document.activeElement) : undefined;
    map.replaceChildren();
    if (isFlame()) {
      drawFlame();
      if (look.pictures.length === 1) {
        map.style.height = `${Math.max(ROW, ...tiles().map(t => t.offsetTop + ROW))}px`;
      }
    } else {
      drawMap();
    }
    map.append(tip);
    tip.hidden = true;
    mark(valueOf(FIND));
    const first = tileOf(focused);
    first?.setAttribute("tabindex", "0");
    if (hadFocus) {
      first?.focus();
    }
  }

  // Highlights the matches of a search.
  /** @param {string} text */
  function mark(text) {
    const looked = text.toLowerCase();
    let n = 0;
    for (const t of tiles()) {
      const node = nodeOf(t);
      const has = looked !== "" && node !== undefined && fitsName(node, name => name.toLowerCase().includes(looked));
      t.classList.toggle("match", has);
      n += has ? 1 : 0;
    }
    map.classList.toggle("searched", looked !== "");
    found.textContent = looked === "" ? "" : plural(n, "rectangle");
  }

  // Only while it is open.
  function list() {
    if (!details.open) {
      return;
    }
    const into = (/** @type {Node} */ node) => el("td", {}, parts(node).length === 0 ? null
      : el("button", {type: "button", class: "chip", "aria-label": `Into ${longOf(node)}`, click: () => zoom([...path, node])}, "into"));
    const [first, ...others] = look.columns;
    table.replaceChildren(sortableTable({
      caption: `What is in ${longOf(here())}`, rows: parts(here()), sortBy: 1,
      columns: [
        {title: "Name", value: longOf, cell: n => el("th", {scope: "row"}, linked(n))}, first,
        {title: "Share", number: true, bar: true, value: n => n.bytes, cell: n => shareCell(n.bytes, here().bytes)}, ...others,
        {title: "Inside", value: n => n.children().length, cell: into},
      ],
    }));
  }

  function trace() {
    crumbs.replaceChildren(...path.map((node, i) => el("li", {}, i === path.length - 1
      ? el("span", {"aria-current": "true"}, i > 0 ? linked(node, true) : named(node))
      : el("button", {type: "button", class: "link", click: () => zoom(path.slice(0, i + 1))}, named({...node, name: shortOf(node)})))));
    crumbs.scrollLeft = crumbs.scrollWidth;
  }

  /** @param {Node[]} to */
  function zoom(to) {
    const at = to.slice(1).map((node, i) => to[i].children().indexOf(node));
    change({[AT]: at.join(".")});
  }

  // Made when first shown.
  function rootOf(/** @type {number} */ i) {
    const root = roots.get(i) ?? views[i].root();
    roots.set(i, root);
    return root;
  }

  // The path in the address, as far as it exists.
  function wayOf(/** @type {string} */ at) {
    const by = Number(valueOf(BY));
    const way = [rootOf(views[by] === undefined ? 0 : by)];
    for (const i of at === "" ? [] : at.split(".")) {
      const next = way[way.length - 1].children()[Number(i)];
      if (next === undefined || next.children().length === 0) {
        break;
      }
      way.push(next);
    }
    return way;
  }

  function go() {
    const inMap = map.contains(document.activeElement);
    const inTable = table.contains(document.activeElement);
    const from = here();
    path = wayOf(valueOf(AT));
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
   * The nearest rectangle in a direction: those straight ahead come before those to the side.
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
      // A rectangle that overlaps in the other direction is hardly to the side.
      const apart = Math.abs((x - now.x) * dy) + Math.abs((y - now.y) * dx);
      const aside = dy !== 0 && Math.abs(x - now.x) < (tileNow.offsetWidth + other.offsetWidth) / 2 ? apart / 100 : apart;
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
    } else if (event.key === "Enter" || event.key === " ") {
      /** @type {HTMLElement} */ (event.target).click();
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
  map.addEventListener("pointermove", event => {
    const at = event.target instanceof Element ? event.target.closest(".tile") : null;
    const node = at === null ? undefined : nodeOf(at);
    if (node !== undefined) {
      const {left, top} = map.getBoundingClientRect();
      show(node, {x: event.clientX - left, y: event.clientY - top, width: 0, height: 0});
    }
  });
  map.addEventListener("pointerleave", () => show(here()));
  map.addEventListener("focusout", () => show(here()));

  function explainColours() {
    const {names, other, kind = "colour"} = COLOURINGS[colouring()];
    legend.replaceChildren(...names().map((name, i) => swatch(`${kind}${i}`, name)), ...other === null ? [] : [swatch("colour-other", other)]);
  }

  const toolbar = el("div", {class: "tools"},
    choice(BY, "Arrange the map by", views.map((view, i) => [String(i), view.title]), AT),
    ...look.pictures.length === 1 ? [] : [choice(PICTURE, "Picture", [["map", "Map"], ["flame", "Flame"]], "")],
    ...look.colours ? [choice(COLOUR, "Colours stand for", COLOUR_CHOICES, "")] : [],
    el("div", {class: "search"}, el("label", {for: find.id, class: "hidden"}, "Search the map"), find, found));
  const crumbLine = el("nav", {class: "crumbs", "aria-label": look.crumbs}, crumbs);
  for (const key of [BY, AT]) {
    watch(key, go);
  }
  watch(PICTURE, redraw);
  watch(COLOUR, () => {
    redraw();
    explainColours();
  });
  watch(FIND, value => {
    find.value = value;
    mark(value);
  });
  explainColours();
  go();
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    if (map.clientWidth === width && map.clientHeight === height) {
      return;
    }
    [width, height] = [map.clientWidth, map.clientHeight];
    redraw();
  }).observe(map);
  listen(window, "beforeprint", redraw);
  listen(window, "afterprint", redraw);
  return {parts: [toolbar, crumbLine, map, detail, legend, details],
          complete: () => {
            most = MOST;
            redraw();
          },
          /** @param {Node[]} way  below the whole */
          reveal: way => {
            const to = [rootOf(0), ...way];
            const at = to.slice(1, -1).map((node, i) => to[i].children().indexOf(node));
            change({[BY]: "", [AT]: at.join("."), view: "map", open: ""});
            tileOf(way.at(-1))?.focus();
          }};
}
