// @ts-check
// A table that can be searched, and sorted by its column heads.  Rows are made when they are scrolled to.
import {copyButton, el, roomy, titled} from "./dom.js";
import {count, plural} from "./numbers.js";
import {change, valueOf, watch} from "./state.js";

const ROWS_AT_ONCE = 40;
// Many times faster than localeCompare; made when a text is first compared.
/** @type {Intl.Collator | null} */
let collator = null;

/** @param {string} a @param {string} b */
function compareTexts(a, b) {
  collator ??= new Intl.Collator("en");
  return collator.compare(a, b);
}

// In a table with very many rows, only the first ones are sorted until the user looks further.
const MANY = 5000;
const FIRST = 400;
// Rows are added this many pixels before the end.
const AHEAD = 800;

/**
 * value: what is compared and copied.  number: largest first.  bar: drawn as a bar.  narrow: false hides it on phones.
 * @template T
 * @typedef {{title: string, value: (row: T) => string | number, cell: (row: T) => HTMLTableCellElement, number?: boolean, bar?: boolean,
 *            narrow?: boolean}} Column
 */

/**
 * foot: made for the rows found.  keep: search and order go into the address.  more: further rows, which are added to ROWS when the user
 * searches, sorts, copies or scrolls to the end.  others: rows that a button adds.
 * @template T
 * @typedef {{caption: string, columns: Column<T>[], rows: T[], sortBy: number, foot?: (found: T[]) => globalThis.Node | null, keep?: boolean,
 *            more?: {waiting: () => number, load: () => Promise<boolean>},
 *            others?: {label: string, rows: T[]},
 *            search?: {id: string, label: string, hint: string, text: (row: T) => string, more?: globalThis.Node | null}}} TableOptions
 */

/**
 * A CSV field; a text that a spreadsheet would interpret as a formula gets an apostrophe, as in the csv format.
 * @param {string | number} value
 */
function quoted(value) {
  const text = typeof value === "string" && /^[=+@\t-]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @template T
 * @param {TableOptions<T>} options
 */
export function sortableTable({caption, columns, rows: usual, sortBy, search, foot, keep = false, more, others}) {
  let rows = usual;
  let order = {column: sortBy, down: columns[sortBy].number === true};
  /** @type {string[]} */
  let words = [];
  let found = [...rows];
  // FOUND is sorted; otherwise only its first rows are at first.
  let ordered = true;
  /** @type {Map<T, string>} */
  const texts = new Map();
  const body = el("tbody");
  const footer = el("tfoot");
  const status = el("p", {role: "status", class: "muted found"});
  const heads = columns.map((column, i) =>
    el("th", {scope: "col", class: classOf(column)}, el("button", {type: "button", class: "sort", click: () => sortByColumn(i)}, column.title)));
  const table = el("table", {class: "narrowing"}, el("caption", {class: "hidden"}, caption), el("thead", {}, el("tr", {}, ...heads)), body, footer);
  const scroll = el("div", {class: "scroll long", tabindex: "0", role: "region", "aria-label": caption, scroll: fill}, table);

  /** @param {number} i */
  function sortByColumn(i) {
    order = {column: i, down: order.column === i ? !order.down : columns[i].number === true};
    if (keep) {
      change({sort: `${order.down ? "-" : ""}${columns[i].title}`}, true);
    }
    show();
  }

  /** @param {Column<T>} column */
  function classOf(column) {
    return [column.number && !column.bar ? "number" : "", column.narrow === false ? "roomy" : ""].join(" ").trim() || null;
  }

  /**
   * @param {T} a
   * @param {T} b
   */
  function compare(a, b) {
    const {value} = columns[order.column];
    const x = value(a);
    const y = value(b);
    const result = typeof x === "string" ? compareTexts(x, String(y)) : x - Number(y);
    return order.down ? -result : result;
  }

  /** @param {T} row */
  function textOf(row) {
    let text = texts.get(row);
    if (text === undefined) {
      text = search?.text(row) ?? "";
      texts.set(row, text);
    }
    return text;
  }

  /** @param {T[]} all */
  function firstOf(all) {
    /** @type {T[]} */
    const first = [];
    for (const row of all) {
      if (first.length < FIRST || compare(row, first[FIRST - 1]) < 0) {
        let from = 0;
        for (let to = first.length; from < to;) {
          const middle = (from + to) >> 1;
          [from, to] = compare(row, first[middle]) < 0 ? [from, middle] : [middle + 1, to];
        }
        first.splice(from, 0, row);
        first.length = Math.min(first.length, FIRST);
      }
    }
    return first;
  }

  function orderAll() {
    if (!ordered) {
      found = found.slice(FIRST).sort(compare);
      ordered = true;
    }
  }

  // With all rows.
  async function complete() {
    if (more !== undefined && await more.load()) {
      show();
    }
  }

  function show() {
    if (words.length > 0 || order.column !== sortBy) {
      complete();
    }
    found = words.length === 0 ? [...rows] : rows.filter(row => words.every(word => textOf(row).includes(word)));
    ordered = found.length <= MANY;
    found = ordered ? found.sort(compare) : [...firstOf(found), ...found];
    heads.forEach((head, i) => {
      if (i === order.column) {
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
    const all = rows.length + (more?.waiting() ?? 0);
    const n = found.length - (ordered ? 0 : FIRST);
    status.textContent = n === rows.length ? plural(all, "row") : `${count(n)} of ${plural(all, "row")}`;
    const sums = foot?.(ordered ? found : found.slice(FIRST));
    footer.replaceChildren(...sums ? [sums] : []);
    body.replaceChildren();
    scroll.scrollTop = 0;
    fill();
  }

  // Adds rows until they fill the visible part, and some more.
  function fill() {
    if (body.rows.length > 0 && scroll.scrollTop + scroll.clientHeight + AHEAD < scroll.scrollHeight) {
      return;
    }
    const from = body.rows.length;
    if (!ordered && from + ROWS_AT_ONCE > FIRST) {
      orderAll();
    }
    if (from > 0 && from === found.length) {
      complete();
    }
    const some = found.slice(from, from + ROWS_AT_ONCE).map(row =>
      el("tr", {}, ...columns.map(column => titled(column.narrow === false ? roomy(column.cell(row)) : column.cell(row), column.title))));
    for (const link of some.flatMap(row => [...row.querySelectorAll("a, button")])) {
      link.setAttribute("tabindex", "-1");
    }
    body.append(...some);
    if (from === 0) {
      body.querySelector("a, button")?.setAttribute("tabindex", "0");
    }
  }

  /** @param {string} text */
  function find(text) {
    words = text.toLowerCase().split(/\s+/).filter(word => word !== "");
    show();
  }

  async function csv() {
    await complete();
    orderAll();
    return [columns.map(c => c.title), ...found.map(row => columns.map(c => c.value(row)))]
      .map(line => line.map(quoted).join(",")).join("\r\n") + "\r\n";
  }

  const parts = [];
  if (search) {
    const input = el("input", {type: "search", id: search.id, spellcheck: "false", autocomplete: "off", placeholder: search.hint, input: () => {
      if (keep) {
        change({q: input.value}, true);
      } else {
        find(input.value);
      }
    }});
    if (keep) {
      watch("q", value => {
        if (input.value !== value) {
          input.value = value;
        }
        find(value);
      });
    }
    const button = others === undefined || others.rows.length === 0 ? null
      : el("button", {type: "button", class: "chip", "aria-pressed": "false", click: () =>
        change({all: valueOf("all") === "" ? "1" : ""})}, others.label);
    if (button !== null) {
      watch("all", value => {
        rows = value === "" ? usual : [...usual, ...others?.rows ?? []];
        button.setAttribute("aria-pressed", String(value !== ""));
        show();
      });
    }
    parts.push(el("div", {class: "search"}, el("label", {for: search.id}, search.label), input, search.more ?? null, button, status,
                  copyButton("Copy as CSV", `Copy as CSV: ${caption}`, csv)));
  }
  if (keep) {
    watch("sort", value => {
      const down = value.startsWith("-");
      const i = columns.findIndex(column => column.title === (down ? value.slice(1) : value));
      order = i >= 0 ? {column: i, down} : {column: sortBy, down: columns[sortBy].number === true};
      show();
    });
  }
  // One link has the focus at a time; arrows move it.
  body.addEventListener("keydown", event => {
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    const next = event.key === "ArrowDown" ? row?.nextElementSibling : event.key === "ArrowUp" ? row?.previousElementSibling : null;
    const link = next?.querySelector("a, button");
    if (link instanceof HTMLElement) {
      event.preventDefault();
      link.setAttribute("tabindex", "0");
      link.focus();
      row?.querySelector("a, button")?.setAttribute("tabindex", "-1");
      fill();
    }
  });
  parts.push(scroll);
  show();
  return el("div", {class: "sortable"}, ...parts);
}
