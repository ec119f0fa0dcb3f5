'use strict';
// Files of profiles, which the server writes, and other programs that show them.
import { element } from '../dom.js';
import { call } from './call.js';

/** @typedef {{runs: string[], event: string | null}} Shown The profiles by content id, and the event. */

/** Sites that show profiles. They fetch a file from this server by an address that is valid for minutes. */
const VIEWERS = [
  ['speedscope', 'speedscope.app', 'https://www.speedscope.app/#profileURL='],
  ['firefox', 'profiler.firefox.com', 'https://profiler.firefox.com/from-url/'],
];

/**
 * Returns a link to a file of the profiles.
 * @param {import('../components/downloads.js').FileKind} kind
 * @param {string} _name Name of the file without its ending; the server chooses one.
 * @param {Shown} shown
 */
export function fileLink({ format, title }, _name, shown) {
  return element('a', { href: `/api/v1/export/${format}?${queryOf(shown)}`, download: true }, title);
}

/**
 * Returns buttons that open the profiles in other programs.
 * @param {Shown} shown
 */
export function viewers(shown) {
  const query = queryOf(shown);
  return VIEWERS.map(([format, title, site]) => element('button', { type: 'button', click: () => openIn(site, format, query) }, `Open in ${title}`));
}

/** @param {Shown} shown */
function queryOf({ runs, event }) {
  return new URLSearchParams({ runs: runs.join(','), ...(event ? { event } : {}) });
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
