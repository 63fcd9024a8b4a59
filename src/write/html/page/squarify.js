// @ts-check
// The layout of the rectangles of a map.
import {sum} from "./numbers.js";

/**
 * Squarified: rows of rectangles that are as square as possible (Bruls, Huizing, van Wijk), for nodes with bytes, largest first.
 * @template {{bytes: number}} N
 * @param {N[]} nodes
 * @param {{x: number, y: number, width: number, height: number}} area
 * @param {(node: N, x: number, y: number, width: number, height: number) => void} place
 */
export function squarify(nodes, {x, y, width, height}, place) {
  let left = sum(nodes, n => n.bytes);
  let from = 0;
  while (from < nodes.length && left > 0 && width > 0 && height > 0) {
    const scale = width * height / left;
    const {to, row} = bestRow(nodes, from, scale, Math.min(width, height));
    const thick = row / Math.min(width, height);
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

/**
 * The number of nodes with which the worst rectangle along the SHORT side is as good as possible.  row: their area.
 * @param {{bytes: number}[]} nodes
 * @param {number} from
 * @param {number} scale
 * @param {number} short
 */
function bestRow(nodes, from, scale, short) {
  let to = from;
  let row = 0;
  for (let worst = Infinity; to < nodes.length; to++) {
    const area = row + nodes[to].bytes * scale;
    const largest = nodes[from].bytes * scale;
    const smallest = nodes[to].bytes * scale;
    const ratio = Math.max(short * short * largest / (area * area), area * area / (short * short * smallest));
    if (ratio > worst) {
      break;
    }
    worst = ratio;
    row = area;
  }
  return {to, row};
}
