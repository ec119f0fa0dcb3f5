'use strict';
// Colours of boxes. Each has a variable in `styles/flame.css`, and drawings ask the browser for its value.

const KINDS = ['user', 'kernel', 'inlined', 'jit', 'interpreted', 'unresolved'];
/** Shades of one kind, so that neighbours differ. */
const TINTS = 3;
/** Steps of a change in each direction. */
const STEPS = 5;
const UNCHANGED = KINDS.length * TINTS + STEPS;

/**
 * Returns the colour of a frame by the kind of its code.
 * @param {import('./stacks.js').Frame} frame
 */
export function colorOfKind({ kind, label }) {
  const known = KINDS.findIndex((name) => kind.startsWith(name));
  let hash = 0;
  for (let at = 0; at < label.length; at += 1) hash = (hash * 31 + label.charCodeAt(at)) >>> 0;
  return Math.max(known, 0) * TINTS + (hash % TINTS);
}

/**
 * Returns the colour of a change: blue for less, orange for more.
 * @param {number} step From -5 to 5.
 */
export function colorOfChange(step) {
  return UNCHANGED + Math.max(-STEPS, Math.min(STEPS, step));
}

/**
 * Returns all colours as the browser computes them within an element.
 * @param {HTMLElement} within
 * @returns {import('./flame_picture.js').Palette}
 */
export function computePalette(within) {
  const probe = new Probe(within);
  const kinds = KINDS.flatMap((kind) => [100, 88, 76].map((part) => `color-mix(in oklab, var(--box-${kind}) ${part}%, var(--box-tint))`));
  const boxes = [...kinds, ...changeColors()];
  const palette = {
    boxes: Uint32Array.from(boxes, (box) => probe.pixel(box)),
    faded: Uint32Array.from(boxes, (box) => probe.pixel(`color-mix(in oklab, ${box} 40%, var(--paper))`)),
    merged: probe.pixel('var(--box-merged)'),
    paper: probe.pixel('var(--paper)'),
    mark: probe.pixel('var(--mark)'),
    text: probe.color('var(--box-text)'),
    ink: probe.color('var(--ink)'),
  };
  probe.remove();
  return palette;
}

function changeColors() {
  const colors = [];
  for (let step = -STEPS; step <= STEPS; step += 1) {
    const part = step === 0 ? 0 : 20 + 16 * Math.abs(step);
    colors.push(`color-mix(in oklab, var(${step < 0 ? '--box-less' : '--box-more'}) ${part}%, var(--box-same))`);
  }
  return colors;
}

/** Asks the browser for colours. */
class Probe {
  /** @param {HTMLElement} within Where variables have their values. */
  constructor(within) {
    this.element = document.createElement('span');
    this.element.hidden = true;
    within.append(this.element);
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
  }

  /**
   * @param {string} color
   * @returns {string} Without variables.
   */
  color(color) {
    this.element.style.color = color;
    return getComputedStyle(this.element).color;
  }

  /**
   * @param {string} color
   * @returns {number} As in the data of a picture.
   */
  pixel(color) {
    this.context.fillStyle = this.color(color);
    this.context.fillRect(0, 0, 1, 1);
    return new Uint32Array(this.context.getImageData(0, 0, 1, 1).data.buffer)[0];
  }

  remove() {
    this.element.remove();
  }
}
