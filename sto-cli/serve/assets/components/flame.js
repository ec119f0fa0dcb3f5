'use strict';
// <sto-flame>: a flame graph on a canvas of the size of the window, with search, zoom, details and keys.
import { element } from '../dom.js';
import { FlameTree } from './flame_tree.js';
import { Picture, ROW } from './flame_picture.js';
import { counted, percent } from './numbers.js';
import { computePalette } from './palette.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

/**
 * What a flame graph shows.
 * @typedef {object} Content
 * @property {Stacks} stacks
 * @property {Uint8Array} colors Colour of each frame, see `palette.js`.
 * @property {(node: number) => string} describe Returns the details of a node as a sentence.
 * @property {string} label What is drawn, for screen readers.
 */

const MIN_ROWS = 6;

/**
 * Events: `zoom` with the address of the stack (`detail.key`), `search` with the text (`detail.text`), `names` with whether
 * they are full (`detail.isFull`), and `choose` with the index of a frame (`detail.frame`).
 */
export class FlameGraph extends HTMLElement {
  constructor() {
    super();
    this.canvas = element('canvas', { 'aria-hidden': 'true' });
    this.picture = new Picture(this.canvas);
    this.tree = new FlameTree({
      describe: (node) => this.content?.describe(node) ?? '',
      move: (node) => this.#moveTo(node),
      zoom: (node) => this.#zoomTo(node),
    });
    this.room = element('div', { class: 'flame-room' });
    this.scroller = element('div', { class: 'flame-scroller' }, this.tree.element, this.canvas, this.room);
    this.search = element('input', { type: 'search', spellcheck: 'false', autocomplete: 'off', placeholder: 'part of a name' });
    this.reset = element('button', { type: 'button', click: () => this.#zoomTo(0) }, 'Show all');
    this.fullNames = element('input', { type: 'checkbox', change: () => this.#changeNames() });
    this.status = element('p', { class: 'flame-status' });
    this.found = element('output', { class: 'flame-found', role: 'status' });
    /** @type {Content | null} */
    this.content = null;
    /** @type {Uint8Array | null} */
    this.hits = null;
    this.zoomed = 0;
    this.hovered = -1;
    this.chosenFrame = -1;
    this.requested = 0;
    /** @type {import('./flame_picture.js').Palette | null} */
    this.palette = null;
  }

  connectedCallback() {
    if (this.childElementCount > 0) return;
    const tools = element(
      'div',
      { class: 'tools' },
      element('label', {}, 'Search ', this.search),
      this.found,
      element('label', {}, this.fullNames, ' Full names'),
      this.reset,
    );
    this.append(tools, this.status, this.scroller);
    this.search.addEventListener('input', () => this.#find());
    this.scroller.addEventListener('scroll', () => this.draw());
    this.canvas.addEventListener('pointermove', (event) => this.#hover(this.#nodeAt(event)));
    this.canvas.addEventListener('pointerleave', () => this.#hover(-1));
    this.canvas.addEventListener('click', (event) => this.#click(this.#nodeAt(event)));
    this.resizing = new ResizeObserver(() => this.#fit());
    this.resizing.observe(this.scroller);
    this.recolor = () => {
      this.palette = null;
      // A browser that prints does not wait for the next frame.
      this.drawNow();
    };
    addEventListener('sto-theme', this.recolor);
    addEventListener('beforeprint', this.recolor);
  }

  disconnectedCallback() {
    this.resizing?.disconnect();
    if (this.recolor) removeEventListener('sto-theme', this.recolor);
    if (this.recolor) removeEventListener('beforeprint', this.recolor);
  }

  /**
   * Shows stacks; keeps the search.
   * @param {Content} content
   */
  show(content) {
    this.content = content;
    this.tree.element.setAttribute('aria-label', content.label);
    this.zoomed = 0;
    this.hovered = -1;
    this.hits = this.#matching();
    this.tree.show(content.stacks);
    this.#tellFound();
    this.#fit();
  }

  /** The address of the zoomed stack; empty if all is shown. */
  get zoom() {
    return this.zoomed === 0 ? '' : (this.content?.stacks.keyOf(this.zoomed) ?? '');
  }

  set zoom(key) {
    this.zoomed = key === '' ? 0 : (this.content?.stacks.nodeOf(key) ?? 0);
    this.tree.goTo(this.zoomed);
    this.#fit();
  }

  /** The text that is searched. */
  get query() {
    return this.search.value;
  }

  set query(text) {
    this.search.value = text;
    this.hits = this.#matching();
    this.#tellFound();
    this.draw();
  }

  /** The frame that is marked while nothing is searched; `-1` for none. */
  get chosen() {
    return this.chosenFrame;
  }

  set chosen(frame) {
    this.chosenFrame = frame;
    this.hits = this.#matching();
    this.draw();
  }

  /** Draws before the next frame. */
  draw() {
    this.requested ||= requestAnimationFrame(() => {
      this.requested = 0;
      this.drawNow();
    });
  }

  /** Draws at once. */
  drawNow() {
    const view = this.#view();
    if (!view || this.picture.width === 0) return;
    this.palette ??= computePalette(this);
    this.picture.draw(view, this.palette);
    this.#tell();
  }

  #view() {
    if (!this.content) return null;
    return {
      stacks: this.content.stacks,
      colors: this.content.colors,
      root: this.zoomed,
      current: this.tree.current,
      hovered: this.hovered,
      matches: this.hits,
      top: this.scroller.scrollTop,
      isFull: this.fullNames.checked,
      hasFocus: document.activeElement === this.tree.element,
    };
  }

  /** Fits the canvas to the window, and the room that can be scrolled to the rows. */
  #fit() {
    const width = this.scroller.clientWidth;
    if (!this.content || width === 0) return;
    const rows = this.content.stacks.lastRow(this.zoomed) + 1;
    const needed = Math.max(rows, MIN_ROWS) * ROW;
    const visible = Math.min(needed, Math.max(Math.round(innerHeight * 0.7), MIN_ROWS * ROW));
    this.scroller.style.height = `${visible}px`;
    // The canvas sticks to the window, and takes none of the room.
    this.room.style.height = `${needed - visible}px`;
    if (this.picture.width !== width || this.picture.height !== visible) this.picture.resize(width, visible);
    this.reset.disabled = this.zoomed === 0;
    // A canvas that was resized is empty.
    this.drawNow();
  }

  /** @param {PointerEvent | MouseEvent} event */
  #nodeAt(event) {
    const view = this.#view();
    const box = this.canvas.getBoundingClientRect();
    return view ? this.picture.nodeAt(view, event.clientX - box.left, event.clientY - box.top) : -1;
  }

  /** @param {number} node */
  #hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.classList.toggle('on-node', node >= 0);
    this.draw();
  }

  /** @param {number} node */
  #click(node) {
    if (node < 0) return;
    this.tree.goTo(node);
    this.#zoomTo(node);
  }

  /** @param {number} node */
  #zoomTo(node) {
    const stacks = this.content?.stacks;
    if (!stacks || stacks.total[node] === 0) return;
    this.zoomed = node;
    if (node === 0) this.tree.goTo(0);
    this.#fit();
    this.dispatchEvent(new CustomEvent('zoom', { detail: { key: this.zoom } }));
    if (node !== 0) this.dispatchEvent(new CustomEvent('choose', { detail: { frame: stacks.frame[node] } }));
  }

  /**
   * Shows the node that keys act on.
   * @param {number} node
   */
  #moveTo(node) {
    const view = this.#view();
    if (!view) return;
    this.hovered = -1;
    const stacks = view.stacks;
    const isIn = node >= this.zoomed && node < this.zoomed + stacks.size[this.zoomed];
    const isCaller = node < this.zoomed && this.zoomed < node + stacks.size[node];
    if (!isIn && !isCaller) {
      this.zoomed = stacks.parent[node];
      this.#fit();
    }
    const y = stacks.depth[node] * ROW;
    const { scrollTop, clientHeight } = this.scroller;
    if (y < scrollTop) this.scroller.scrollTop = y;
    else if (y + ROW > scrollTop + clientHeight) this.scroller.scrollTop = y + ROW - clientHeight;
    this.draw();
  }

  #changeNames() {
    this.draw();
    this.dispatchEvent(new CustomEvent('names', { detail: { isFull: this.fullNames.checked } }));
  }

  #find() {
    this.query = this.search.value;
    this.dispatchEvent(new CustomEvent('search', { detail: { text: this.search.value } }));
  }

  /** Returns which frames have the searched text in their names. */
  #matching() {
    const text = this.search.value.trim().toLowerCase();
    if (!this.content) return null;
    const { frames } = this.content.stacks;
    if (text === '' && this.chosenFrame >= 0) return Uint8Array.from(frames, (_, ix) => Number(ix === this.chosenFrame));
    if (text === '') return null;
    return Uint8Array.from(frames, ({ name, label }) => Number(name.toLowerCase().includes(text) || label.toLowerCase().includes(text)));
  }

  /** Writes how much the search found. */
  #tellFound() {
    const stacks = this.content?.stacks;
    if (!this.hits || !stacks || this.search.value.trim() === '') {
      this.found.textContent = '';
      return;
    }
    const functions = this.hits.reduce((sum, one) => sum + one, 0);
    const sum = stacks.sumOf(this.hits);
    this.found.textContent =
      sum.nodes === 0 ? 'no such name' : `${counted(functions, 'name')}, ${counted(sum.nodes, 'stack')}, ${percent(sum.cost / stacks.whole)} of all`;
  }

  /** Writes the details of the node under the pointer, or of the one that keys act on. */
  #tell() {
    const node = this.hovered >= 0 ? this.hovered : document.activeElement === this.tree.element ? this.tree.current : this.zoomed;
    this.status.textContent = this.content?.describe(node) ?? '';
  }
}

customElements.define('sto-flame', FlameGraph);
