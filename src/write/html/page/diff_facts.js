// @ts-check
// For the panel: how a type has changed since the older dump.
import {diff} from "./data.js";
import {changeOf} from "./growth.js";
import * as words from "./words.js";

/**
 * @param {string} name  as in the file
 * @returns {[string, string][]}
 */
export function changeFacts(name) {
  const change = changeOf(name);
  return change === undefined ? [] : [["In the older dump", words.inOlder(change.before)],
                                      ["Since then", words.since(change.before, change.after, diff.retained)]];
}
