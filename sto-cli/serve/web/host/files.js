'use strict';
// Files of profiles, which the library writes. Nobody else can fetch them, so that no other program is offered.
import { element } from '../dom.js';
import { save } from '../save.js';
import { call } from './call.js';

/** @typedef {{runs: string[], event: string | null}} Shown The profiles by content id, and the event. */

/**
 * Returns a button that saves a file of the profiles.
 * @param {import('../components/downloads.js').FileKind} kind
 * @param {string} name Name of the file without its ending.
 * @param {Shown} shown
 */
export function fileLink({ format, ending, title }, name, { runs, event }) {
  const body = JSON.stringify({ named: { runs }, filter: { event }, format });
  const click = async () => {
    const response = await call('/api/v1/export', { body });
    save(`${name}.${ending}`, await response.blob());
  };
  return element('button', { type: 'button', click }, title);
}

/**
 * @param {Shown} _shown
 * @returns {HTMLElement[]}
 */
export const viewers = (_shown) => [];
