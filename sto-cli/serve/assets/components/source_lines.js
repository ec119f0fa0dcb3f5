'use strict';
// The lines of a function with their costs. Pages have no source files: they show what the store knows.
import { ask } from '../ask.js';
import { element } from '../dom.js';
import { Problem } from '../problem.js';
import { percent, quantity } from './numbers.js';

/**
 * @param {import('./stacks.js').Frame} frame
 * @param {import('../ask.js').BuildRef} named
 * @param {object} filter
 * @param {string} unit
 */
export async function sourceLines(frame, named, filter, unit) {
  const section = element('section', { class: 'source' }, element('h3', {}, 'Lines'));
  if (frame.kind === 'module' || frame.kind === 'file') return element('div');
  try {
    const { files } = await ask('source', { function: frame.name, named, filter });
    if (files.length === 0) section.append(element('p', { class: 'soft' }, 'The profile has no line numbers of this function: record a program with debug info.'));
    section.append(...files.map((/** @type {any} */ file) => fileOf(file, unit)));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    section.append(element('p', { class: 'soft' }, `The lines are not known: ${error.message}.`));
  }
  return section;
}

/**
 * @param {{file: string, path: string | null, warnings: string[], lines: any[]}} file
 * @param {string} unit
 */
function fileOf({ file, path, warnings, lines }, unit) {
  const hint = element('div', {}, 'There is no source text here; ', element('code', {}, 'sto source'), ' shows it next to these costs where the source is.');
  const notes = [...warnings.map((warning) => element('div', {}, warning)), ...(path === null ? [hint] : [])];
  const largest = Math.max(...lines.map(({ total }) => total?.value ?? 0));
  return element(
    'figure',
    {},
    element('figcaption', {}, element('code', {}, file), ...notes),
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Lines of ${file}` },
      element(
        'table',
        { class: 'lines' },
        element('thead', {}, element('tr', {}, ...['Self', 'Total', 'Line', path === null ? 'Share' : 'Source'].map((title) => element('th', { scope: 'col' }, title)))),
        element('tbody', {}, ...lines.map((line) => lineOf(line, unit, largest))),
      ),
    ),
  );
}

/**
 * @param {any} line
 * @param {string} unit
 * @param {number} largest
 */
function lineOf({ line, self, total, source }, unit, largest) {
  const cost = (/** @type {any} */ part) => (part ? `${quantity(part.value, unit)} (${percent(part.share)})` : '');
  const bar = element('meter', { max: largest, value: total?.value ?? 0, 'aria-hidden': 'true' });
  return element(
    'tr',
    {},
    element('td', { class: 'number' }, cost(self)),
    element('td', { class: 'number' }, cost(total)),
    element('td', { class: 'number' }, String(line)),
    element('td', {}, source === null ? bar : element('code', {}, source)),
  );
}
