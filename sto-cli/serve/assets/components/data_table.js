'use strict';
// A table whose rows can be sorted. On narrow screens, each row is a card with the titles of its cells.
import { element } from '../dom.js';

/** @typedef {import('../dom.js').Content} Content */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Content} cell
 * @property {boolean} [isNumber] Whether cells are aligned to the right.
 * @property {boolean} [isHead] Whether the cell names its row.
 * @property {(row: Row) => number | string} [key] Makes the column sortable: numbers descending, text ascending first.
 * @property {string} [about] Explains the column.
 * @property {boolean} [isSwitch] Whether the cell is a button that shows and hides the details of its row.
 */

/**
 * @template Row
 * @typedef {object} TableOptions
 * @property {string} caption What the table lists, for screen readers.
 * @property {string} [sort] Title of the column that sorts the rows, after a `-` if in reverse.
 * @property {(sort: string) => void} [onSort] Called when the user sorts the rows.
 * @property {(row: Row) => Content} [details] More about a row, below it: hidden until asked for if a column is a switch.
 * @property {boolean} [isWide] Whether it stays a table on narrow screens.
 */

/**
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {readonly Row[]} rows
 * @param {TableOptions<Row>} options
 * @returns {HTMLTableElement}
 */
export function dataTable(columns, rows, options) {
  const body = element('tbody');
  const heads = columns.map((column) => head(column, (title) => sortBy(title)));
  const table = element('table', { class: options.isWide ? 'data wide' : 'data' }, element('caption', { class: 'hidden-text' }, options.caption), element('thead', {}, element('tr', {}, ...heads)), body);
  let sort = options.sort ?? '';
  fill();
  return table;

  /** @param {string} title */
  function sortBy(title) {
    sort = sort === title ? `-${title}` : title;
    fill();
    options.onSort?.(sort);
  }

  function fill() {
    const isReverse = sort.startsWith('-');
    const title = isReverse ? sort.slice(1) : sort;
    const key = columns.find((column) => column.title === title)?.key;
    heads.forEach((cell, ix) => {
      if (key && columns[ix].title === title) cell.setAttribute('aria-sort', isAscending(key, rows) !== isReverse ? 'ascending' : 'descending');
      else cell.removeAttribute('aria-sort');
    });
    const sorted = key ? sortedBy(rows, key) : [...rows];
    if (isReverse) sorted.reverse();
    body.replaceChildren(...sorted.flatMap((row) => rowOf(columns, row, options)));
  }
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {(title: string) => void} sortBy
 */
function head({ title, isNumber, key, about }, sortBy) {
  const text = key ? element('button', { type: 'button', class: 'sort', click: () => sortBy(title) }, title) : title;
  return element('th', { scope: 'col', class: isNumber ? 'number' : null, title: about }, text);
}

/**
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {Row} row
 * @param {TableOptions<Row>} options
 */
function rowOf(columns, row, { details }) {
  const below = element('tr', { class: 'details' });
  const cells = columns.map(({ title, cell, isNumber, isHead, isSwitch }) => {
    const content = isSwitch ? element('button', { type: 'button', class: 'plain', 'aria-expanded': 'false', click: toggle }, cell(row)) : cell(row);
    return element(isHead ? 'th' : 'td', { scope: isHead && 'row', class: isNumber ? 'number' : null, 'data-title': title }, content);
  });
  const shown = element('tr', {}, ...cells);
  if (columns.some(({ isSwitch }) => isSwitch)) return [shown];
  return fill() ? [shown, below] : [shown];

  function fill() {
    const more = details?.(row);
    if (more) below.replaceChildren(element('td', { colspan: columns.length }, more));
    return Boolean(more);
  }

  /** @param {Event} event */
  function toggle({ currentTarget }) {
    const isOpen = below.isConnected;
    if (isOpen) below.remove();
    else if (fill()) shown.after(below);
    /** @type {HTMLElement} */ (currentTarget).setAttribute('aria-expanded', String(!isOpen));
  }
}

/**
 * @template Row
 * @param {readonly Row[]} rows
 * @param {(row: Row) => number | string} key
 */
function sortedBy(rows, key) {
  const order = isAscending(key, rows) ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return order * (x < y ? -1 : Number(x > y));
  });
}

/**
 * @template Row
 * @param {(row: Row) => number | string} key
 * @param {readonly Row[]} rows
 */
function isAscending(key, rows) {
  return rows.length > 0 && typeof key(rows[0]) === 'string';
}
