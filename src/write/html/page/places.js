// @ts-check
// The list of sections at the top: it marks the visible section, and a jump to a section is a step in the history.
import {byId, listen} from "./dom.js";
import {change, watch} from "./state.js";

export function places() {
  /** @type {HTMLAnchorElement[]} */
  const links = [...byId("sections").querySelectorAll("a")];
  const idOf = (/** @type {HTMLAnchorElement} */ link) => (link.getAttribute("href") ?? "").slice(1);
  const sections = links.map(link => byId(idOf(link)));
  let waiting = true;

  function mark() {
    waiting = false;
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const tops = sections.map(s => s.getBoundingClientRect().top);
    const passed = tops.filter(top => top <= 120).length;
    const at = end && scrollY > 0 ? sections.length - 1 : passed > 0 ? tops.indexOf(tops[passed - 1]) : 0;      // of two side by side the first
    links.forEach((link, i) => {
      if (i === at) {
        link.setAttribute("aria-current", "true");
      } else {
        link.removeAttribute("aria-current");
      }
    });
  }

  listen(window, "scroll", () => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(mark);
    }
  }, {passive: true});
  listen(document, "click", event => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const id = (link?.getAttribute("href") ?? "").slice(1);
    if (sections.some(s => s.id === id) && event instanceof MouseEvent && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      change({view: id});
      byId(id).scrollIntoView();
    }
  });
  watch("view", id => {
    if (sections.some(s => s.id === id)) {
      byId(id).scrollIntoView();
    }
  });
  requestAnimationFrame(mark);
}
