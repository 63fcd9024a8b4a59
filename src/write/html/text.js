// Numbers for people, and elements.  Text gets into the page by text nodes and attributes only, never as markup.

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function count(n) {
  return n.toLocaleString("en-US");
}

function bytes(n) {
  let unit = 0;
  let value = Math.abs(n);
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${n < 0 ? "\u2212" : ""}${value.toFixed(digits)} ${UNITS[unit]}`;
}

function exactBytes(n) {
  return `${count(n)} bytes`;
}

function share(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  return percent > 0 && percent < 0.1 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

function plural(n, one, many = one + "s") {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

// The name of something in a dump: written from left to right, whatever it contains.
function named(node) {
  return el("bdi", {class: `name kind-${node.kind}`, dir: "ltr"}, node.name);
}

// A bar that shows PART of WHOLE; the number beside it says the same.
function bar(part, whole) {
  const filled = el("span", {class: "filled"});
  filled.style.width = `${whole > 0 ? Math.min(100, 100 * part / whole) : 0}%`;
  return el("span", {class: "bar", "aria-hidden": "true"}, filled);
}

// What a colour of a chart stands for.
function swatch(kind, meaning) {
  return el("span", {}, el("span", {class: `swatch ${kind}`}), meaning);
}

function bytesCell(n) {
  return el("td", {class: "number", title: exactBytes(n)}, bytes(n));
}

function countCell(n) {
  return el("td", {class: "number"}, count(n));
}

function shareCell(part, whole) {
  return el("td", {class: "share"}, bar(part, whole), el("span", {class: "percent"}, share(part, whole)));
}

// Left out where there is no room.
function roomy(cell) {
  cell.classList.add("roomy");
  return cell;
}

// A card with a heading, in the list of sections at the top, too.
function section(id, title, explanation, ...children) {
  document.getElementById("sections").append(el("li", {}, el("a", {href: `#${id}`}, title)));
  const card = el("section", {id, class: "card", "aria-labelledby": `${id}-title`},
                  el("h2", {id: `${id}-title`}, title), explanation ? el("p", {class: "muted explanation"}, explanation) : null, ...children);
  document.getElementById("content").append(card);
  return card;
}
