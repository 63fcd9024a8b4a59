// @ts-check
// The state of the page: what is open, sorted, searched and zoomed.  It lives in the address, so Back, Forward, reload and a mailed link work.
//
//   view      the section last jumped to            open     what the panel shows: "type:Name", "suspect:0" …
//   q, sort   search and order of the types         by, colour, picture, at, find    of the map
//   all       also unchanged types of two dumps

import {listen} from "./dom.js";

/** @typedef {Record<string, string>} Values */

/** @returns {Values} */
function fromAddress() {
  const text = location.hash.slice(1);
  return text.includes("=") ? Object.fromEntries(new URLSearchParams(text)) : text === "" ? {} : {view: decodeURIComponent(text)};
}

/** @type {{values: Values, watchers: {key: string, changed: (value: string) => void}[]}} */
const state = {values: fromAddress(), watchers: []};

/** @param {string} key  "" = not set */
export function valueOf(key) {
  return Object.hasOwn(state.values, key) ? state.values[key] : "";
}

/**
 * Calls CHANGED now if there is a value, and whenever the value changes.
 * @param {string} key
 * @param {(value: string) => void} changed
 */
export function watch(key, changed) {
  state.watchers.push({key, changed});
  if (valueOf(key) !== "") {
    changed(valueOf(key));
  }
}

/** @param {Values} changes */
function changedValues(changes) {
  return Object.fromEntries(Object.entries({...state.values, ...changes}).filter(([, value]) => value !== ""));
}

/**
 * The address with these changes.
 * @param {Values} changes
 */
export function addressOf(changes) {
  return `#${new URLSearchParams(changedValues(changes))}`;
}

/** @param {Values} values */
function use(values) {
  const before = state.values;
  state.values = values;
  for (const {key, changed} of state.watchers) {
    if ((before[key] ?? "") !== valueOf(key)) {
      changed(valueOf(key));
    }
  }
}

/**
 * "" removes a value.  A small change replaces the entry in the history, others add one.
 * @param {Values} changes
 */
export function change(changes, small = false) {
  const address = addressOf(changes);
  if (address !== addressOf({})) {
    if (small) {
      history.replaceState(null, "", address);
    } else {
      history.pushState(null, "", address);
    }
    use(changedValues(changes));
  }
}

listen(window, "hashchange", () => use(fromAddress()));
