// A table that is sorted by its column heads and searched.  Only the first rows are in the page until somebody asks for more.
//
//   columns   {title, value(row): what is compared, cell(row): a <td> or <th>, number: largest first, bar: and drawn as one,
//              narrow: false hides it on phones}

const ROWS_AT_ONCE = 25;

function sortableTable({caption, columns, rows, sortBy, search, foot}) {
  let order = {column: sortBy, down: columns[sortBy].number === true};
  let shown = ROWS_AT_ONCE;
  let found = rows;
  const body = el("tbody");
  const more = el("button", {type: "button", class: "more", click: () => {
    const first = shown;
    shown += Math.max(ROWS_AT_ONCE, shown);
    fill();
    body.rows[first]?.querySelector("button, a")?.focus();
  }});
  const status = el("p", {role: "status", class: "muted found"});
  const heads = columns.map((column, i) =>
    el("th", {scope: "col", class: classOf(column)}, el("button", {type: "button", class: "sort", click: () => sortByColumn(i)}, column.title)));

  function sortByColumn(i) {
    order = {column: i, down: order.column === i ? !order.down : columns[i].number === true};
    shown = ROWS_AT_ONCE;
    sort();
  }

  function classOf(column) {
    return [column.number && !column.bar ? "number" : "", column.narrow === false ? "roomy" : ""].join(" ").trim() || null;
  }

  function compare(a, b) {
    const value = columns[order.column].value;
    const x = value(a);
    const y = value(b);
    const result = typeof x === "string" ? x.localeCompare(y, "en") : x - y;
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

  const parts = [];
  if (search) {
    const input = el("input", {type: "search", id: search.id, spellcheck: "false", autocomplete: "off", placeholder: search.hint, input: () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(word => word !== "");
      found = rows.filter(row => words.every(word => search.text(row).includes(word)));
      shown = ROWS_AT_ONCE;
      sort();
    }});
    parts.push(el("div", {class: "search"}, el("label", {for: search.id}, search.label), input, status));
  }
  parts.push(el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "hidden"}, caption), el("thead", {}, el("tr", {}, ...heads)), body,
                                             foot ? el("tfoot", {}, foot) : null)), more);
  found = [...rows];
  sort();
  return el("div", {class: "sortable"}, ...parts);
}
