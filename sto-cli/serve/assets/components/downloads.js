'use strict';
// Files of the profiles that are shown, and other programs that show them.
import { call } from '../ask.js';
import { element } from '../dom.js';

/** Files that the server writes: their names in addresses, and in the menu. */
const FILES = [
  ['pprof', 'pprof'],
  ['folded', 'Folded stacks'],
  ['firefox', 'Firefox Profiler'],
  ['speedscope', 'speedscope'],
  ['html', 'Page that works offline'],
];

/** Sites that show profiles. They fetch a file from this server by an address that is valid for minutes. */
const VIEWERS = [
  ['speedscope', 'speedscope.app', 'https://www.speedscope.app/#profileURL='],
  ['firefox', 'profiler.firefox.com', 'https://profiler.firefox.com/from-url/'],
];

/**
 * Returns a menu of files and viewers.
 * @param {string} name What is shown.
 * @param {string[]} runs Content ids of the profiles.
 * @param {string | null} event
 */
export function downloads(name, runs, event) {
  const query = new URLSearchParams({ runs: runs.join(','), ...(event ? { event } : {}) });
  const files = FILES.map(([format, title]) => element('a', { href: `/api/v1/export/${format}?${query}`, download: true }, title));
  const viewers = VIEWERS.map(([format, title, site]) => element('button', { type: 'button', click: () => openIn(site, format, query) }, `Open in ${title}`));
  const picture = element('button', { type: 'button', click: () => savePicture(picture, `${name.replaceAll(/[^\w.-]+/g, '-')}.png`) }, 'Picture (PNG)');
  return element('details', { class: 'menu' }, element('summary', {}, 'Download'), element('div', { class: 'menu-items' }, ...files, picture, ...viewers));
}

/**
 * @param {string} site
 * @param {string} format
 * @param {URLSearchParams} query
 */
async function openIn(site, format, query) {
  const response = await call(`/api/v1/export-links/${format}?${query}`);
  const { path } = await response.json();
  window.open(site + encodeURIComponent(location.origin + path), '_blank', 'noopener');
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
