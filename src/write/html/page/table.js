// @ts-check
// A table that is sorted by its column heads and searched.  Only the first rows are in the page until somebody asks for more.
import {el, roomy} from "./dom.js";
import {count, plural} from "./numbers.js";

const ROWS_AT_ONCE = 25;

/**
 * value: what is compared.  number: largest first.  bar: and drawn as one.  narrow: false hides it on phones.
 * @template T
 * @typedef {{title: string, value: (row: T) => string | number, cell: (row: T) => HTMLTableCellElement, number?: boolean, bar?: boolean,
 *            narrow?: boolean}} Column
 */

/**
 * @template T
 * @typedef {{caption: string, columns: Column<T>[], rows: T[], sortBy: number, foot?: globalThis.Node | null,
 *            search?: {id: string, label: string, hint: string, text: (row: T) => string}}} TableOptions
 */

/**
 * @template T
 * @param {TableOptions<T>} options
 */
export function sortableTable({caption, columns, rows, sortBy, search, foot}) {
  let order = {column: sortBy, down: columns[sortBy].number === true};
  let shown = ROWS_AT_ONCE;
  let found = [...rows];
  const body = el("tbody");
  const more = el("button", {type: "button", class: "more", click: showMore});
  const status = el("p", {role: "status", class: "muted found"});
  const heads = columns.map((column, i) =>
    el("th", {scope: "col", class: classOf(column)}, el("button", {type: "button", class: "sort", click: () => sortByColumn(i)}, column.title)));

  function showMore() {
    const first = shown;
    shown += Math.max(ROWS_AT_ONCE, shown);
    fill();
    /** @type {HTMLElement | null | undefined} */ (body.rows[first]?.querySelector("button, a"))?.focus();
  }

  /** @param {number} i */
  function sortByColumn(i) {
    order = {column: i, down: order.column === i ? !order.down : columns[i].number === true};
    shown = ROWS_AT_ONCE;
    sort();
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
    const result = typeof x === "string" ? x.localeCompare(String(y), "en") : x - Number(y);
    return order.down ? -result : result;
  }

  function sort() {
    found.sort(compare);
    heads.forEach((head, i) => {
      if (i === order.column) {
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
    fill();
  }

  function fill() {
    body.replaceChildren(...found.slice(0, shown).map(row =>
      el("tr", {}, ...columns.map(column => column.narrow === false ? roomy(column.cell(row)) : column.cell(row)))));
    more.hidden = found.length <= shown;
    more.textContent = `Show more (${count(Math.min(shown, found.length))} of ${count(found.length)} shown)`;
    status.textContent = found.length === rows.length ? `${plural(rows.length, "row")}` : `${count(found.length)} of ${plural(rows.length, "row")}`;
  }

  /** @param {string} text */
  function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(word => word !== "");
    found = rows.filter(row => words.every(word => search?.text(row).includes(word)));
    shown = ROWS_AT_ONCE;
    sort();
  }

  const parts = [];
  if (search) {
    const input = el("input", {type: "search", id: search.id, spellcheck: "false", autocomplete: "off", placeholder: search.hint,
                               input: () => find(input.value)});
    parts.push(el("div", {class: "search"}, el("label", {for: search.id}, search.label), input, status));
  }
  parts.push(el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "hidden"}, caption), el("thead", {}, el("tr", {}, ...heads)), body,
                                             foot ? el("tfoot", {}, foot) : null)), more);
  sort();
  return el("div", {class: "sortable"}, ...parts);
}
