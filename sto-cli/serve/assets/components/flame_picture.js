'use strict';
// Draws the visible part of stacks on a canvas. What is drawn is bounded by pixels, not by the number of stacks: boxes
// narrower than half a pixel are merged, and skipped by a search.

import { colorOfChange } from './palette.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

export const ROW = 20; // pixels
const MIN_WIDTH = 0.5; // pixels
const MIN_WIDTH_OF_NAME = 30; // pixels
const MARK = 3; // pixels of the line below matches
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
 * Colours as the browser computes them: of boxes as pixels, and of the rest as text.
 * @typedef {object} Palette
 * @property {Uint32Array} boxes
 * @property {Uint32Array} faded Boxes that the search did not find.
 * @property {number} merged
 * @property {number} paper
 * @property {number} mark
 * @property {string} text
 * @property {string} ink
 */

/** A name and where it is drawn. @typedef {{text: string, x: number, y: number, isFaded: boolean}} Name */

export class Picture {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    this.character = 7;
    this.image = new ImageData(1, 1);
    this.pixels = new Uint32Array(1);
    /** One line of pixels of a row's boxes, and one of the marks below matches. */
    this.line = new Uint32Array(1);
    this.marks = new Uint32Array(1);
    /** @type {Name[]} */
    this.names = [];
  }

  /**
   * Sets the size in CSS pixels.
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const ratio = devicePixelRatio || 1;
    this.ratio = ratio;
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
    this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.line = new Uint32Array(this.canvas.width);
    this.marks = new Uint32Array(this.canvas.width);
  }

  /**
   * Draws boxes as lines of pixels, which takes a tenth of the time of as many rectangles, and names and outlines over
   * them.
   * @param {View} view
   * @param {Palette} palette
   */
  draw(view, palette) {
    this.pixels.fill(palette.paper);
    this.names = [];
    const { stacks, root } = view;
    const callers = stacks.callers(root).reverse();
    const first = Math.floor(view.top / ROW);
    const last = Math.min(Math.ceil((view.top + this.height) / ROW), stacks.rowStart.length - 1);
    for (let row = first; row < last; row += 1) {
      const y = row * ROW - view.top;
      this.line.fill(palette.paper);
      this.marks.fill(0);
      if (row < callers.length) this.#box(view, palette, callers[row], 0, this.width, y, true);
      else this.#row(view, palette, row, y);
      this.#copyLine(y, palette.paper);
    }
    this.context.putImageData(this.image, 0, 0);
    this.#write(palette);
    this.#outline(view, palette);
  }

  /**
   * Fills a row of the picture with the line of its boxes.
   * @param {number} y
   * @param {number} paper
   */
  #copyLine(y, paper) {
    const { width, height } = this.canvas;
    const begin = Math.round(y * this.ratio);
    const end = Math.round((y + ROW - 1) * this.ratio);
    const markBegin = Math.round((y + ROW - 1 - MARK) * this.ratio);
    for (let line = Math.max(begin, 0); line < Math.min(end, height); line += 1) this.pixels.set(this.line, line * width);
    for (let x = 0; x < width; x += 1) {
      if (this.marks[x] === 0) continue;
      for (let line = Math.max(markBegin, 0); line < Math.min(end, height); line += 1) this.pixels[line * width + x] = this.marks[x];
    }
  }

  /**
   * @param {View} view
   * @param {Palette} palette
   * @param {number} row
   * @param {number} y
   */
  #row(view, palette, row, y) {
    const { stacks, root } = view;
    const scale = this.width / stacks.total[root];
    const from = stacks.start[root];
    const to = from + stacks.total[root];
    const end = stacks.rowStart[row + 1];
    let at = stacks.firstEndingAfter(row, from);
    while (at < end) {
      const start = stacks.startInRows[at];
      if (start >= to) return;
      const width = stacks.totalInRows[at] * scale;
      const x = (start - from) * scale;
      if (width >= MIN_WIDTH) {
        this.#box(view, palette, stacks.inRows[at], x, width, y, false);
        at += 1;
        continue;
      }
      let next = stacks.firstStartingAt(row, at + 1, start + MIN_WIDTH / scale);
      // Only the last one can be wide: the next begins where it ends.
      if (next > at + 1 && stacks.totalInRows[next - 1] * scale >= MIN_WIDTH) next -= 1;
      const right = (stacks.startInRows[next - 1] + stacks.totalInRows[next - 1] - from) * scale;
      if (right > x) this.#fill(this.line, palette.merged, x, right);
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
   * @param {boolean} isCaller Whether the box is above the root.
   */
  #box(view, palette, node, x, width, y, isCaller) {
    const color = node === 0 ? COLOR_OF_WHOLE : view.colors[view.stacks.frame[node]];
    const isMatch = node !== 0 && view.matches?.[view.stacks.frame[node]] === 1;
    const isFaded = isCaller || (view.matches !== null && !isMatch);
    // A gap tells boxes apart, unless it took most of them.
    const right = width > 2 ? x + width - 1 : x + width;
    this.#fill(this.line, (isFaded ? palette.faded : palette.boxes)[color], x, right);
    if (isMatch) this.#fill(this.marks, palette.mark, x, right);
    if (width < MIN_WIDTH_OF_NAME) return;
    const frame = view.stacks.frameOf(node);
    const name = frame === null ? 'all' : view.isFull ? frame.name : frame.label;
    const text = fitting(name, (width - 6) / this.character);
    if (text !== '') this.names.push({ text, x: x + 4, y: y + ROW / 2, isFaded });
  }

  /**
   * @param {Uint32Array} line
   * @param {number} color
   * @param {number} from In CSS pixels.
   * @param {number} to
   */
  #fill(line, color, from, to) {
    const begin = Math.round(from * this.ratio);
    line.fill(color, begin, Math.max(begin + 1, Math.round(to * this.ratio)));
  }

  /** @param {Palette} palette */
  #write(palette) {
    const { context } = this;
    context.fillStyle = palette.text;
    for (const { text, x, y, isFaded } of this.names) {
      context.globalAlpha = isFaded ? 0.7 : 1;
      context.fillText(text, x, y);
    }
    context.globalAlpha = 1;
  }

  /**
   * Marks the node under the pointer, and the one that keys act on.
   * @param {View} view
   * @param {Palette} palette
   */
  #outline(view, palette) {
    const { context } = this;
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
