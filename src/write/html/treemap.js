// A map of rectangles as large as what they stand for, one in another as long as there is room.  Every rectangle is a button: a click
// goes into it, arrows move the focus to the one that lies there, Escape goes out.  A table below says the same.

const SMALLEST = 9;              // pixels; what is smaller is not drawn, the table has it
const HEAD = 19;                 // of a rectangle that has others in it
const DEEPEST = 12;              // levels
const MOST = 700;                // rectangles

// Squarified: rows of rectangles as square as they can be (Bruls, Huizing, van Wijk).  Of nodes with bytes, largest first.
function squarify(nodes, x, y, width, height, place) {
  let left = sum(nodes, n => n.bytes);
  let from = 0;
  while (from < nodes.length && left > 0 && width > 0 && height > 0) {
    const short = Math.min(width, height);
    const scale = width * height / left;
    let to = from;
    let row = 0;
    let worst = Infinity;
    while (to < nodes.length) {
      const area = row + nodes[to].bytes * scale;
      const largest = nodes[from].bytes * scale;
      const smallest = nodes[to].bytes * scale;
      const ratio = Math.max(short * short * largest / (area * area), area * area / (short * short * smallest));
      if (ratio > worst) {
        break;
      }
      worst = ratio;
      row = area;
      to++;
    }
    const thick = row / short;
    let along = 0;
    for (let i = from; i < to; i++) {
      const long = nodes[i].bytes * scale / thick;
      if (width >= height) {
        place(nodes[i], x, y + along, thick, long);
      } else {
        place(nodes[i], x + along, y, long, thick);
      }
      along += long;
      left -= nodes[i].bytes;
    }
    if (width >= height) {
      x += thick;
      width -= thick;
    } else {
      y += thick;
      height -= thick;
    }
    from = to;
  }
}

function treemap(views) {
  let path = [views[0].root];    // from the whole to what is shown
  const crumbs = el("ol");
  const map = el("div", {class: "map", role: "group", "aria-label": "Map of the memory; arrow keys move, Enter goes in, Escape goes out"});
  const detail = el("p", {class: "detail"});
  const table = el("div");
  const details = el("details", {class: "as-table", toggle: list}, el("summary", {}, "The same as a table"), table);
  const here = () => path[path.length - 1];

  function describe(node) {
    return `${node.name}: ${bytes(node.bytes)}, ${share(node.bytes, data.totals.bytes)}, ${plural(node.objects, "object")}`;
  }

  // What NODE consists of: its children, and its own bytes when it has both.
  function parts(node) {
    const children = node.children().filter(child => child.bytes > 0);
    if (children.length > 0 && node.ownBytes > 0) {
      children.push(new Group(`${node.name} itself`, "o", node.ownObjects, node.ownBytes, node.ownObjects, node.ownBytes, []));
      children.at(-1).colour = node.colour;
    }
    return largestFirst(children);
  }

  function show(detailOf) {
    detail.textContent = describe(detailOf);
  }

  // Those of a level before those inside of them, so that what is large is there when there are too many.
  function draw(nodes, trail, x, y, width, height) {
    const waiting = [{nodes, trail, x, y, width, height, depth: 1}];
    for (let area; (area = waiting.shift()) !== undefined;) {
      squarify(area.nodes, area.x, area.y, area.width, area.height, (node, left, top, wide, high) => {
        if (wide < SMALLEST || high < SMALLEST || map.childElementCount >= MOST) {
          return;
        }
        const inside = parts(node);
        const way = [...area.trail, node];
        tile(node, inside.length > 0 ? way : null, left, top, wide, high, area.depth);
        if (inside.length > 0 && wide > 40 && high > HEAD + 20 && area.depth < DEEPEST) {
          waiting.push({nodes: inside, trail: way, x: left + 3, y: top + HEAD, width: wide - 7, height: high - HEAD - 4, depth: area.depth + 1});
        }
      });
    }
  }

  function tile(node, way, x, y, width, height, depth) {
    const button = el("button", {type: "button", class: `tile ${way === null ? "leaf" : "branch"} ${node.colour}`, tabindex: "-1",
                                 "aria-label": `${describe(node)}, level ${depth}${way === null ? ", nothing inside" : ""}`,
                                 click: () => way === null ? show(node) : zoom(way), focus: () => show(node), pointerenter: () => show(node)});
    Object.assign(button.style, {left: `${x}px`, top: `${y}px`, width: `${width - 1}px`, height: `${height - 1}px`});
    if (width > 34 && height > 15) {
      button.append(el("bdi", {class: "label", dir: "ltr"}, node.name));
      if (width > 130 || height > 38 && width > 60 && way === null) {
        button.append(el("span", {class: "size"}, bytes(node.bytes)));
      }
    }
    button.node = node;
    map.append(button);
  }

  function redraw() {
    const {clientWidth: width, clientHeight: height} = map;
    const hadFocus = map.contains(document.activeElement) ? document.activeElement.node : null;
    map.replaceChildren();
    draw(parts(here()), path, 0, 0, width, height);
    const first = [...map.children].find(t => t.node === hadFocus) ?? map.firstElementChild;
    first?.setAttribute("tabindex", "0");
    if (hadFocus !== null) {
      first?.focus();
    }
  }

  // Only while somebody looks at it.
  function list() {
    if (!details.open) {
      return;
    }
    const name = node => parts(node).length === 0 ? named(node)
      : el("button", {type: "button", class: "link", click: () => zoom([...path, node])}, named(node));
    table.replaceChildren(sortableTable({
      caption: `What is in ${here().name}`, rows: parts(here()), sortBy: 1, foot: null,
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
      ([...map.children].find(t => t.node === from) ?? map.firstElementChild)?.focus();
    } else if (inTable) {
      (table.querySelector("tbody button") ?? crumbs.querySelector("button"))?.focus();
    }
  }

  // The nearest rectangle in a direction: those straight ahead before those that lie aside.
  function neighbour(tileNow, dx, dy) {
    const box = t => ({x: t.offsetLeft + t.offsetWidth / 2, y: t.offsetTop + Math.min(t.offsetHeight, HEAD) / 2});
    const now = box(tileNow);
    let best = null;
    let bestDistance = Infinity;
    for (const other of map.children) {
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

  const moves = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};

  map.addEventListener("keydown", event => {
    let next = null;
    if (event.key in moves) {
      next = neighbour(event.target, ...moves[event.key]);
    } else if (event.key === "Home") {
      next = map.firstElementChild;
    } else if (event.key === "End") {
      next = map.lastElementChild;
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
    event.target.setAttribute("tabindex", "0");
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
