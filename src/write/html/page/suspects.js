// @ts-check
// What may be a leak, with the path to it and what it holds.
import {heap} from "./data.js";
import {el, named, section} from "./dom.js";
import {labelOf, nameOf, visible} from "./names.js";
import {bytes, plural, share} from "./numbers.js";
import * as words from "./words.js";

/** @typedef {import("./data.js").Suspect} Suspect */

/** @param {import("./data.js").StepRow} step */
function pathStep([number, repeats, retained, dependent, fold]) {
  return el("li", {class: fold > 0 ? "folded" : null},
    number < 0 ? el("span", {class: "muted"}, `${plural(repeats, "more object")}`) : named({name: nameOf(number), kind: "t"}),
    number >= 0 && repeats > 1 ? el("span", {class: "muted"}, ` ${words.repeated(repeats)}`) : null,
    dependent ? el("span", {class: "muted"}, " by a dependent handle") : null,
    el("span", {class: "muted"}, ` ${words.keeps(retained)}`));
}

/**
 * The steps, and in front of hidden ones side by side a line that says how many.
 * @param {import("./data.js").StepRow[]} steps
 */
function foldedSteps(steps) {
  return steps.flatMap((step, i) => {
    if (step[4] !== 2 || (i > 0 && steps[i - 1][4] === 2)) {
      return [pathStep(step)];
    }
    const end = steps.findIndex((other, k) => k > i && other[4] !== 2);
    return [el("li", {class: "fold muted"}, words.hiddenSteps((end < 0 ? steps.length : end) - i)), pathStep(step)];
  });
}

/**
 * From the root to what is suspected, one step below the other; a button unfolds those of the framework.
 * @param {Suspect} s
 */
function suspectPath(s) {
  const root = s.root_group === undefined ? "Not known which root" : labelOf(heap.root_groups[s.root_group]);
  const steps = s.path ?? [];
  const list = el("ol", {class: "path"}, el("li", {}, el("strong", {}, root),
                  s.root_name ? el("span", {}, " ", named({name: visible(s.root_name), kind: "s"})) : null), ...foldedSteps(steps));
  const toggle = el("button", {type: "button", class: "chip", "aria-expanded": "false", click: () => {
    const all = list.classList.toggle("unfolded");
    toggle.textContent = all ? words.FOLD : words.UNFOLD;
    toggle.setAttribute("aria-expanded", String(all));
  }}, words.UNFOLD);
  return el("div", {}, el("h4", {}, "Held by", steps.some(step => step[4] > 0) ? toggle : null), list);
}

/**
 * @param {string} title
 * @param {import("./data.js").PartRow[]} parts
 */
function suspectParts(title, parts) {
  return el("div", {}, el("h4", {}, title), el("ul", {class: "parts"}, ...parts.map(([number, objects, size]) =>
    el("li", {}, named({name: nameOf(number), kind: "t"}), el("span", {class: "muted"}, ` ${words.inObjects(size, objects)}`)))));
}

/**
 * @param {Suspect} s
 * @param {number} i
 */
function suspectArticle(s, i) {
  return el("article", {class: "suspect", "aria-labelledby": `suspect-${i}`},
    el("h3", {id: `suspect-${i}`}, `${i + 1}. ${s.title}`,
       el("span", {class: "muted"}, ` ${bytes(s.bytes)}, ${share(s.bytes, heap.totals.bytes)}`)),
    el("p", {}, el("bdi", {dir: "ltr"}, visible(s.sentence))),
    s.advice ? el("p", {}, el("bdi", {dir: "ltr"}, visible(s.advice))) : null,
    el("details", {open: i === 0}, el("summary", {}, "Details"), el("div", {class: "columns"},
      s.path ? suspectPath(s) : null,
      s.held.length > 0 ? suspectParts("Directly below it", s.held) : null,
      s.content.length > 0 ? suspectParts("All that it keeps, by type", s.content) : null)));
}

export function suspectSection() {
  const limit = heap.suspect_bytes;
  const shown = heap.suspects.length > 0 ? heap.suspects : heap.consumer;
  const explanation = heap.suspects.length > 0 ? words.someSuspects(limit) : words.noSuspects(limit, shown.length > 0);
  section("suspects", "Suspects", explanation, ...shown.map(suspectArticle));
}
