'use strict';
// One dot for each run of both sides: an open circle before, a full one after.
import { element, svg } from '../dom.js';

const WIDTH = 320;
const ROW = 26;
const LEFT = 70;
const RIGHT = 8;
const PLACES = 3; // heights within a row, so that equal runs stay visible

/**
 * @param {[string, number[]][]} sides Names and values of the runs, before and after.
 * @param {(value: number) => string} format
 * @param {string} label What the values are.
 */
export function dots(sides, format, label) {
  const most = Math.max(...sides.flatMap(([, values]) => values), Number.MIN_VALUE);
  const x = (/** @type {number} */ value) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT);
  const height = sides.length * ROW + 18;
  const rows = sides.flatMap(([name, values], row) => [
    svg('text', { x: 0, y: row * ROW + ROW / 2 + 4 }, name),
    svg('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: row * ROW + ROW / 2, y2: row * ROW + ROW / 2 }),
    ...values.map((value, ix) => dot(x(value), row * ROW + ROW / 2 + ((ix % PLACES) - 1) * (values.length > 1 ? 4 : 0), row, format(value))),
  ]);
  const scale = [
    svg('text', { x: LEFT, y: height - 4 }, '0'),
    svg('text', { x: WIDTH - RIGHT, y: height - 4, 'text-anchor': 'end' }, format(most)),
  ];
  const text = sides.map(([name, values]) => `${name}: ${values.map(format).join(', ')}`).join('; ');
  return element(
    'figure',
    { class: 'dots' },
    svg('svg', { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': `${label}. ${text}` }, ...rows, ...scale),
    element('figcaption', {}, label),
  );
}

/**
 * @param {number} cx
 * @param {number} cy
 * @param {number} row
 * @param {string} value
 */
function dot(cx, cy, row, value) {
  return svg('circle', { cx, cy, r: 4.5, class: row === 0 ? 'before' : 'after' }, svg('title', {}, value));
}
