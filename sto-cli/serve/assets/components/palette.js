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
  const probe = document.createElement('span');
  probe.hidden = true;
  within.append(probe);
  const compute = (/** @type {string} */ color) => {
    probe.style.color = color;
    return getComputedStyle(probe).color;
  };
  const kinds = KINDS.flatMap((kind) => [100, 88, 76].map((part) => compute(`color-mix(in oklab, var(--box-${kind}) ${part}%, var(--box-tint))`)));
  const steps = [];
  for (let step = -STEPS; step <= STEPS; step += 1) {
    const part = step === 0 ? 0 : 20 + 16 * Math.abs(step);
    steps.push(compute(`color-mix(in oklab, var(${step < 0 ? '--box-less' : '--box-more'}) ${part}%, var(--box-same))`));
  }
  const boxes = [...kinds, ...steps];
  const text = compute('var(--box-text)');
  const palette = {
    boxes,
    texts: boxes.map(() => text),
    merged: compute('var(--box-merged)'),
    paper: compute('var(--paper)'),
    ink: compute('var(--ink)'),
    mark: compute('var(--mark)'),
  };
  probe.remove();
  return palette;
}
