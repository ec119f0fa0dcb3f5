'use strict';
// Draws the visible part of stacks on a canvas. What is drawn is bounded by pixels, not by the number of stacks: boxes
// narrower than half a pixel are merged, and skipped by a search.

import { colorOfChange } from './palette.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

export const ROW = 20; // pixels
const MIN_WIDTH = 0.5; // pixels
const COLOR_OF_WHOLE = colorOfChange(0);
const FONT = '11.5px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/**
 * What is drawn.
 * @typedef {object} View
 * @property {Stacks} stacks
 * @property {number} root The node that takes the whole width.
 * @property {number} current The node that keys act on.
 * @property {number} hovered `-1` if none.
 * @property {Uint8Array} colors Index of each frame's colour in `palette`.
 * @property {Uint8Array | null} matches 1 for each frame that the search found.
 * @property {number} top Pixels that are scrolled away above.
 * @property {boolean} isFull Whether names are shown in full.
 * @property {boolean} hasFocus
 */

/**
 * Colours as the browser computes them.
 * @typedef {{boxes: string[], texts: string[], merged: string, paper: string, ink: string, mark: string}} Palette
 */

export class Picture {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.width = 0;
    this.height = 0;
    this.character = 7;
  }

  /**
   * Sets the size in CSS pixels.
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const ratio = devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
    this.character = this.context.measureText('m').width;
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   */
  draw(view, palette) {
    const { context } = this;
    context.globalAlpha = 1;
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, this.width, this.height);
    const { stacks, root } = view;
    const callers = stacks.callers(root).reverse();
    const rows = stacks.rowStart.length - 1;
    const first = Math.floor(view.top / ROW);
    const last = Math.min(Math.ceil((view.top + this.height) / ROW), rows);
    for (let row = first; row < last; row += 1) {
      if (row < callers.length) this.#caller(view, palette, callers[row], row);
      else this.#row(view, palette, row);
    }
    this.#outline(view, palette);
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   * @param {number} node
   * @param {number} row
   */
  #caller(view, palette, node, row) {
    this.#box(view, palette, node, 0, this.width, row * ROW - view.top, 0.6);
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   * @param {number} row
   */
  #row(view, palette, row) {
    const { stacks, root } = view;
    const scale = this.width / stacks.total[root];
    const from = stacks.start[root];
    const to = from + stacks.total[root];
    const y = row * ROW - view.top;
    const end = stacks.rowStart[row + 1];
    let at = stacks.firstEndingAfter(row, from);
    while (at < end) {
      const node = stacks.inRows[at];
      const start = stacks.start[node];
      if (start >= to) return;
      const width = stacks.total[node] * scale;
      const x = (start - from) * scale;
      if (width >= MIN_WIDTH) {
        this.#box(view, palette, node, x, width, y, 1);
        at += 1;
        continue;
      }
      let next = stacks.firstStartingAt(row, at + 1, start + MIN_WIDTH / scale);
      // Only the last one can be wide: the next begins where it ends.
      if (next > at + 1 && stacks.total[stacks.inRows[next - 1]] * scale >= MIN_WIDTH) next -= 1;
      const last = stacks.inRows[next - 1];
      const right = (stacks.start[last] + stacks.total[last] - from) * scale;
      if (right > x) this.#merged(view, palette, x, right - x, y);
      at = next;
    }
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   * @param {number} node
   * @param {number} x
   * @param {number} width
   * @param {number} y
   * @param {number} alpha
   */
  #box(view, palette, node, x, width, y, alpha) {
    const { context } = this;
    const color = node === 0 ? COLOR_OF_WHOLE : view.colors[view.stacks.frame[node]];
    const isMatch = node !== 0 && view.matches?.[view.stacks.frame[node]] === 1;
    context.globalAlpha = view.matches && !isMatch ? alpha * 0.4 : alpha;
    context.fillStyle = palette.boxes[color];
    // A gap tells boxes apart, unless it took most of them.
    context.fillRect(x, y, width > 2 ? width - 0.75 : width, ROW - 1);
    if (isMatch) {
      context.fillStyle = palette.mark;
      context.fillRect(x, y + ROW - 4, Math.max(width - 0.75, 0.75), 3);
    }
    if (width < 30) return;
    const frame = view.stacks.frameOf(node);
    const name = frame === null ? 'all' : view.isFull ? frame.name : frame.label;
    const text = fitting(name, (width - 6) / this.character);
    if (text === '') return;
    context.fillStyle = palette.texts[color];
    context.fillText(text, x + 4, y + ROW / 2);
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   * @param {number} x
   * @param {number} width
   * @param {number} y
   */
  #merged(view, palette, x, width, y) {
    this.context.globalAlpha = view.matches ? 0.4 : 1;
    this.context.fillStyle = palette.merged;
    this.context.fillRect(x, y, Math.max(width, MIN_WIDTH), ROW - 1);
  }

  /**
   * Marks the node under the pointer, and the one that keys act on.
   * @param {View} view
   * @param {Palette} palette
   */
  #outline(view, palette) {
    const { context } = this;
    context.globalAlpha = 1;
    context.strokeStyle = palette.ink;
    for (const [node, width] of [[view.hovered, 1], [view.hasFocus ? view.current : -1, 2]]) {
      const place = node >= 0 ? this.placeOf(view, node) : null;
      if (!place) continue;
      context.lineWidth = width;
      context.strokeRect(place.x + width / 2, place.y + width / 2, Math.max(place.width - width, 1), ROW - 1 - width);
    }
  }

  /**
   * Returns where a node is drawn, `null` if it is not below or above the root.
   * @param {View} view
   * @param {number} node
   */
  placeOf(view, node) {
    const { stacks, root } = view;
    const y = stacks.depth[node] * ROW - view.top;
    const isIn = node >= root && node < root + stacks.size[root];
    if (!isIn) return node < root && root < node + stacks.size[node] ? { x: 0, width: this.width, y } : null;
    const scale = this.width / stacks.total[root];
    return { x: (stacks.start[node] - stacks.start[root]) * scale, width: stacks.total[node] * scale, y };
  }

  /**
   * Returns the node at a place of the canvas, `-1` if there is none.
   * @param {View} view
   * @param {number} x
   * @param {number} y
   */
  nodeAt(view, x, y) {
    const { stacks, root } = view;
    const row = Math.floor((y + view.top) / ROW);
    const depth = stacks.depth[root];
    if (row < 0 || row >= stacks.rowStart.length - 1) return -1;
    if (row <= depth) return [root, ...stacks.callers(root)][depth - row];
    const place = stacks.start[root] + (x / this.width) * stacks.total[root];
    const at = stacks.firstEndingAfter(row, place);
    if (at >= stacks.rowStart[row + 1]) return -1;
    const node = stacks.inRows[at];
    return stacks.start[node] <= place ? node : -1;
  }
}

/**
 * Returns the end of a path, or the start of the function's own name, that fits into a box.
 * @param {string} name
 * @param {number} room Number of characters.
 */
function fitting(name, room) {
  if (name.length <= room) return name;
  if (room < 4) return '';
  const whole = Math.floor(room);
  for (const mark of name.matchAll(/(::|[./])(?=[\p{L}\p{N}_(])/gu)) {
    const rest = `…${mark[1] === '::' ? '::' : ''}${name.slice(mark.index + mark[1].length)}`;
    if (rest.length <= whole) return rest;
  }
  const own = name.split(/::|\//).at(-1) || name;
  return `${own.slice(0, whole - 1)}…`;
}
