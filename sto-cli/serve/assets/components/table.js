'use strict';
// <sto-table>: a table of any number of rows, of which only the visible ones are elements. Sorted by its heads, filtered
// by a text, and used by keys.
import { element } from '../dom.js';
import { counted } from './numbers.js';

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => import('../dom.js').Content} cell
 * @property {(row: Row) => number | string} [order] Missing if rows cannot be sorted by it. Numbers begin with the largest.
 * @property {string} width Width in a CSS grid, such as `6rem` or `minmax(8rem, 1fr)`.
 * @property {boolean} [isNumber]
 * @property {boolean} [isExtra] Whether narrow windows leave it out.
 * @property {string} [about] Explains the column.
 */

/**
 * @template Row
 * @typedef {object} TableContent
 * @property {string} label For screen readers.
 * @property {Column<Row>[]} columns
 * @property {Row[]} rows
 * @property {(row: Row) => string} text What the filter searches.
 * @property {(row: Row) => string} key Tells rows apart.
 * @property {number} [sortBy] Index of the column that rows are sorted by at first.
 * @property {string} [noun] What rows are, in the singular.
 */

const ROW = 28; // pixels, see `styles/table.css`
const SPARE = 6; // rows above and below the visible ones

let tables = 0;

/** Event: `choose` with the row (`detail.row`). */
export class Table extends HTMLElement {
  constructor() {
    super();
    this.idPrefix = `table-${(tables += 1)}-`;
    this.filter = element('input', { type: 'search', spellcheck: 'false', autocomplete: 'off', placeholder: 'part of a name' });
    this.count = element('output', { class: 'soft' });
    this.tools = element('div', { class: 'tools' }, element('label', {}, 'Filter ', this.filter), this.count);
    this.head = element('div', { class: 'table-head', role: 'row', 'aria-rowindex': 1 });
    this.body = element('div', { class: 'table-body', role: 'rowgroup' });
    this.grid = element('div', { class: 'table-grid', role: 'grid', tabindex: 0 }, element('div', { role: 'rowgroup', class: 'table-heads' }, this.head), this.body);
    /** @type {TableContent<any> | null} */
    this.content = null;
    /** @type {any[]} */
    this.rows = [];
    this.sortBy = 0;
    this.isReversed = false;
    this.active = -1;
    this.chosen = '';
  }

  connectedCallback() {
    if (this.childElementCount > 0) return;
    this.append(this.tools, this.grid);
    this.filter.addEventListener('input', () => this.#order());
    this.grid.addEventListener('scroll', () => this.#draw());
    this.grid.addEventListener('keydown', (event) => this.#press(event));
    this.grid.addEventListener('focus', () => this.active < 0 && this.#activate(0));
    this.resizing = new ResizeObserver(() => requestAnimationFrame(() => this.#draw()));
    this.resizing.observe(this.grid);
  }

  disconnectedCallback() {
    this.resizing?.disconnect();
  }

  /**
   * Shows rows; keeps the filter.
   * @template Row
   * @param {TableContent<Row>} content
   */
  show(content) {
    this.content = content;
    this.sortBy = content.sortBy ?? 0;
    this.isReversed = false;
    this.grid.setAttribute('aria-label', content.label);
    this.grid.style.setProperty('--columns', content.columns.map(({ width }) => width).join(' '));
    this.grid.style.setProperty('--narrow', content.columns.filter(({ isExtra }) => !isExtra).map(({ width }) => width).join(' '));
    this.head.replaceChildren(...content.columns.map((column, ix) => this.#headCell(column, ix)));
    this.#order();
  }

  /**
   * Marks a row, and scrolls to it.
   * @param {string} key
   */
  choose(key) {
    this.chosen = key;
    const at = this.rows.findIndex((row) => this.content?.key(row) === key);
    if (at >= 0) this.#activate(at);
    this.#draw();
  }

  /**
   * @param {Column<any>} column
   * @param {number} ix
   */
  #headCell({ title, order, isNumber, isExtra, about }, ix) {
    const sort = element('button', { type: 'button', tabindex: -1, title: about, click: () => this.#sort(ix) }, title);
    return element('div', { role: 'columnheader', class: cellClass(isNumber, isExtra), title: about }, order ? sort : title);
  }

  /** @param {number} column */
  #sort(column) {
    this.isReversed = column === this.sortBy && !this.isReversed;
    this.sortBy = column;
    this.#order();
  }

  /** Filters and sorts. */
  #order() {
    const content = this.content;
    if (!content) return;
    const text = this.filter.value.trim().toLowerCase();
    this.rows = content.rows.filter((row) => content.text(row).toLowerCase().includes(text));
    const order = content.columns[this.sortBy]?.order;
    if (order) this.rows.sort((a, b) => compare(order(a), order(b)));
    if (this.isReversed) this.rows.reverse();
    this.active = this.rows.findIndex((row) => content.key(row) === this.chosen);
    this.#tellOrder();
    this.grid.setAttribute('aria-rowcount', String(this.rows.length + 1));
    this.count.textContent = counted(this.rows.length, content.noun ?? 'row');
    this.grid.scrollTop = 0;
    this.#draw();
  }

  #tellOrder() {
    const columns = this.content?.columns ?? [];
    [...this.head.children].forEach((cell, ix) => {
      if (ix !== this.sortBy || !columns[ix].order) cell.removeAttribute('aria-sort');
      else cell.setAttribute('aria-sort', Boolean(columns[ix].isNumber) !== this.isReversed ? 'descending' : 'ascending');
    });
  }

  #draw() {
    const content = this.content;
    if (!content) return;
    const first = Math.max(Math.floor(this.grid.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(first + Math.ceil(this.grid.clientHeight / ROW) + 2 * SPARE, this.rows.length);
    this.body.style.height = `${this.rows.length * ROW}px`;
    this.body.replaceChildren(...this.rows.slice(first, last).map((row, ix) => this.#row(content, row, first + ix)));
    if (this.active >= first && this.active < last) this.grid.setAttribute('aria-activedescendant', this.idPrefix + this.active);
    else this.grid.removeAttribute('aria-activedescendant');
  }

  /**
   * @param {TableContent<any>} content
   * @param {any} row
   * @param {number} ix
   */
  #row(content, row, ix) {
    const cells = content.columns.map(({ cell, isNumber, isExtra }) =>
      element('div', { role: 'gridcell', class: cellClass(isNumber, isExtra) }, cell(row)),
    );
    const created = element(
      'div',
      {
        id: this.idPrefix + ix, role: 'row', 'aria-rowindex': ix + 2, 'aria-selected': String(content.key(row) === this.chosen),
        class: ix === this.active ? 'table-row active' : 'table-row', click: () => this.#chooseAt(ix),
      },
      ...cells,
    );
    created.style.top = `${ix * ROW}px`;
    return created;
  }

  /** @param {number} ix */
  #activate(ix) {
    if (this.rows.length === 0) return;
    this.active = Math.max(0, Math.min(ix, this.rows.length - 1));
    const top = this.active * ROW;
    const { scrollTop } = this.grid;
    const visible = this.grid.clientHeight - this.head.offsetHeight;
    if (top < scrollTop) this.grid.scrollTop = top;
    else if (top + ROW > scrollTop + visible) this.grid.scrollTop = top + ROW - visible;
    this.#draw();
  }

  /** @param {number} ix */
  #chooseAt(ix) {
    const row = this.rows[ix];
    if (row === undefined || !this.content) return;
    this.chosen = this.content.key(row);
    this.active = ix;
    this.#draw();
    this.dispatchEvent(new CustomEvent('choose', { detail: { row } }));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.grid) return;
    const page = Math.max(Math.floor(this.grid.clientHeight / ROW) - 2, 1);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#activate(this.active + 1),
      ArrowUp: () => this.#activate(this.active - 1),
      PageDown: () => this.#activate(this.active + page),
      PageUp: () => this.#activate(this.active - page),
      Home: () => this.#activate(0),
      End: () => this.#activate(this.rows.length - 1),
      Enter: () => this.#chooseAt(this.active),
      ' ': () => this.#chooseAt(this.active),
      s: () => this.#sort((this.sortBy + 1) % (this.content?.columns.length ?? 1)),
    };
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }
}

/**
 * @param {boolean | undefined} isNumber
 * @param {boolean | undefined} isExtra
 */
function cellClass(isNumber, isExtra) {
  return [isNumber && 'number', isExtra && 'extra'].filter(Boolean).join(' ') || null;
}

/**
 * Large numbers come first, and texts by the alphabet.
 * @param {number | string} a
 * @param {number | string} b
 */
function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return b - a || 0;
  return String(a).localeCompare(String(b));
}

customElements.define('sto-table', Table);
