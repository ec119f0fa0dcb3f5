'use strict';
// Files of what is shown: stacks in text form, and the picture.
import { element } from '../dom.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

/** @param {{stacks: Stacks, name: string}} shown */
export function downloads({ stacks, name }) {
  const file = `${name.replaceAll(/[^\w.-]+/g, '-')}`;
  return element(
    'details',
    { class: 'menu' },
    element('summary', {}, 'Download'),
    element(
      'div',
      { class: 'menu-items' },
      element('button', { type: 'button', click: () => save(`${file}.folded`, folded(stacks)) }, 'Folded stacks'),
      element('button', { type: 'button', click: (/** @type {any} */ event) => savePicture(event.target, `${file}.png`) }, 'Picture (PNG)'),
    ),
  );
}

/**
 * Returns the stacks one a line, as `main;parse 12`.
 * @param {Stacks} stacks
 */
function folded(stacks) {
  const path = [''];
  const lines = [];
  for (let node = 1; node < stacks.count; node += 1) {
    const depth = stacks.depth[node];
    const name = (stacks.frameOf(node)?.name ?? '').replaceAll(';', ',');
    path[depth] = depth === 1 ? name : `${path[depth - 1]};${name}`;
    if (stacks.self[node] > 0) lines.push(`${path[depth]} ${stacks.self[node]}\n`);
  }
  return new Blob(lines, { type: 'text/plain' });
}

/**
 * @param {Element} button
 * @param {string} name
 */
function savePicture(button, name) {
  const canvas = button.closest('.screen')?.querySelector('sto-flame canvas');
  if (canvas instanceof HTMLCanvasElement) canvas.toBlob((blob) => blob && save(name, blob));
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
