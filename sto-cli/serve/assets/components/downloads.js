'use strict';
// Files of the profiles that are shown, and other programs that show them.
import { element } from '../dom.js';
import { fileLink, viewers } from '../host/files.js';
import { save } from '../save.js';

/** @typedef {{format: string, ending: string, title: string}} FileKind */

/** @type {FileKind[]} Files in formats of the library. */
const FILES = [
  { format: 'pprof', ending: 'pb.gz', title: 'pprof' },
  { format: 'folded', ending: 'folded', title: 'Folded stacks' },
  { format: 'firefox', ending: 'firefox.json', title: 'Firefox Profiler' },
  { format: 'speedscope', ending: 'speedscope.json', title: 'speedscope' },
  { format: 'html', ending: 'html', title: 'Page that works offline' },
];

/**
 * Returns a menu of files and viewers.
 * @param {string} title What is shown.
 * @param {import('../host/files.js').Shown} shown
 */
export function downloads(title, shown) {
  const name = title.replaceAll(/[^\w.-]+/g, '-');
  const files = FILES.map((kind) => fileLink(kind, name, shown));
  const picture = element('button', { type: 'button', click: () => savePicture(picture, `${name}.png`) }, 'Picture (PNG)');
  return element('details', { class: 'menu' }, element('summary', {}, 'Download'), element('div', { class: 'menu-items' }, ...files, picture, ...viewers(shown)));
}

/**
 * @param {Element} button
 * @param {string} name
 */
function savePicture(button, name) {
  const canvas = button.closest('.screen')?.querySelector('sto-flame canvas');
  if (canvas instanceof HTMLCanvasElement) canvas.toBlob((blob) => blob && save(name, blob));
}
