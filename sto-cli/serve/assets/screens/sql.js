'use strict';
// The store as SQL tables: an editor, shipped examples, and results as a table, a plot, or CSV.
import { call } from '../host/call.js';
import { dataTable } from '../components/data_table.js';
import { choice, options } from '../components/fields.js';
import { linePlot } from '../components/line_plot.js';
import { counted, grouped } from '../components/numbers.js';
import { Part } from '../components/part.js';
import { element } from '../dom.js';
import { save } from '../save.js';
import { setKeys } from '../shell/keys.js';
import { currentAddress, remember } from '../shell/router.js';

/**
 * @typedef {object} Catalog
 * @property {{name: string, arguments: string | null, columns: [string, string][]}[]} names Tables and functions.
 * @property {{name: string, about: string, sql: string}[]} examples
 */

/** @typedef {string | number | null} Cell */
/** @typedef {{columns: string[], rows: Cell[][], more: boolean}} Result */

const PARAMETER = 'p.'; // before names of parameters in the address
const MAX_ROWS = 1000; // shown
const ADDRESS = '/api/v1/sql';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/sql',
  title: 'SQL',
  async render(main, address, signal) {
    /** @type {Catalog} */
    const catalog = await (await call(ADDRESS, { signal })).json();
    const editor = new Editor(catalog, signal);
    main.append(element('h1', {}, this.title), element('div', { class: 'sql' }, editor.form, schema(catalog, (text) => editor.insert(text))), editor.result.element);
    setKeys('SQL', [{ key: 'Ctrl+Enter', does: 'run the query' }]);
    await editor.restore(address.parameters);
    return { restore: ({ parameters }) => (editor.restore(parameters), true), leave: () => setKeys('SQL', []) };
  },
};

/** The query with its parameters, and its result. */
class Editor {
  /**
   * @param {Catalog} catalog
   * @param {AbortSignal} signal
   */
  constructor({ examples }, signal) {
    this.result = new Part(signal);
    this.text = element('textarea', {
      rows: 10, spellcheck: 'false', autocomplete: 'off', 'aria-label': 'Query', name: 'query',
      input: () => this.#askForParameters(), keydown: (event) => this.#press(event),
    });
    this.parameters = element('div', { class: 'tools' });
    const chosen = options(['', ...examples.map(({ name }) => name)], '', 'Examples…', Object.fromEntries(examples.map(({ name, about }) => [name, `${name}: ${about}`])));
    const choose = (/** @type {string} */ name) => {
      this.text.value = examples.find((example) => example.name === name)?.sql ?? this.text.value;
      this.#askForParameters();
      this.text.focus();
    };
    this.form = element(
      'form',
      { class: 'editor', 'aria-label': 'Query', submit: (event) => this.#submit(event) },
      choice('Start from', chosen, choose),
      this.text,
      this.parameters,
      element('div', { class: 'tools' }, element('button', { type: 'submit', class: 'main' }, 'Run'), element('small', {}, 'Ctrl+Enter')),
    );
  }

  /** @param {URLSearchParams} parameters */
  restore(parameters) {
    const sql = parameters.get('q');
    this.text.value = sql ?? '';
    this.#askForParameters(parameters);
    return sql ? this.#run() : this.result.show(async () => []);
  }

  /** @param {string} text */
  insert(text) {
    this.text.setRangeText(text, this.text.selectionStart, this.text.selectionEnd, 'end');
    this.text.focus();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    /** @type {Record<string, string | null>} */
    const values = Object.fromEntries(this.#fields().map(({ name, value }) => [PARAMETER + name, value]));
    const old = [...currentAddress().parameters.keys()].filter((key) => key.startsWith(PARAMETER));
    remember({ ...Object.fromEntries(old.map((key) => [key, null])), ...values, q: this.text.value.trim() });
    this.#run();
  }

  #fields() {
    return [...this.parameters.querySelectorAll('input')];
  }

  /**
   * Shows a field for each parameter of the query, such as `:version`. Fields keep their values.
   * @param {URLSearchParams} [given]
   */
  #askForParameters(given) {
    const known = new Map(this.#fields().map(({ name, value }) => [name, value]));
    const names = namesIn(this.text.value);
    if (!given && names.length === known.size && names.every((name) => known.has(name))) return;
    this.parameters.replaceChildren(
      ...names.map((name) => element('label', {}, `:${name} `, element('input', { name, value: given?.get(PARAMETER + name) ?? known.get(name) ?? '', autocomplete: 'off', spellcheck: 'false' }))),
    );
  }

  #run() {
    const parameters = Object.fromEntries(this.#fields().map(({ name, value }) => [name, typed(value)]));
    const body = JSON.stringify({ sql: this.text.value, parameters, limit: MAX_ROWS });
    return this.result.show(async (signal) => {
      const response = await call(ADDRESS, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
      return shown(await response.json());
    });
  }
}

/**
 * Returns the names of parameters, outside of comments and texts.
 * @param {string} sql
 */
function namesIn(sql) {
  const code = sql.replace(/--[^\n]*|'(?:[^']|'')*'|"[^"]*"/g, ' ');
  return [...new Set([...code.matchAll(/(?<![:\w]):([a-z_]\w*)/gi)].map(([, name]) => name))];
}

/**
 * Numbers are passed as numbers, as SQLite compares them by type.
 * @param {string} value
 * @returns {Cell}
 */
function typed(value) {
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** @param {Result} result */
function shown(result) {
  const { columns, rows, more } = result;
  if (rows.length === 0) return [element('p', { role: 'status' }, 'No rows.')];
  const numbers = columns.flatMap((_, ix) => (rows.some((row) => typeof row[ix] === 'number') && rows.every((row) => typeof row[ix] !== 'string') ? [ix] : []));
  const plot = element('div');
  const draw = (/** @type {string} */ value) => {
    remember({ plot: value });
    plot.replaceChildren(...(value === '' ? [] : [plotOf(result, columns.indexOf(value), numbers)]));
  };
  const chosen = currentAddress().parameters.get('plot') ?? '';
  if (numbers.some((ix) => columns[ix] === chosen)) plot.append(plotOf(result, columns.indexOf(chosen), numbers));
  return [
    element(
      'div',
      { class: 'tools' },
      element('span', { class: 'soft', role: 'status' }, more ? `The first ${counted(rows.length, 'row')}` : counted(rows.length, 'row')),
      numbers.length > 0 && choice('Plot', options(['', ...numbers.map((ix) => columns[ix])], chosen, 'none'), draw),
      element('button', { type: 'button', click: () => download(result) }, 'Download CSV'),
    ),
    plot,
    element('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'Result' }, resultTable(result, numbers)),
  ];
}

/**
 * @param {Result} result
 * @param {number[]} numbers Columns of numbers.
 */
function resultTable({ columns, rows }, numbers) {
  const cells = columns.map((title, ix) => {
    const isNumber = numbers.includes(ix);
    return {
      title,
      isNumber,
      cell: (/** @type {Cell[]} */ row) => written(row[ix]),
      key: (/** @type {Cell[]} */ row) => row[ix] ?? (isNumber ? -Infinity : ''),
    };
  });
  return dataTable(cells, rows, { caption: 'Result of the query', isWide: true });
}

/** @param {Cell} cell */
function written(cell) {
  if (cell === null) return element('span', { class: 'soft' }, 'NULL');
  if (typeof cell !== 'number') return element('span', { title: cell }, cell);
  return numeral(cell);
}

/** @param {number} number */
function numeral(number) {
  return Number.isInteger(number) ? grouped(number) : String(Number(number.toPrecision(6)));
}

/**
 * Plots a column. Points are named by the first column that has text.
 * @param {Result} result
 * @param {number} of
 * @param {number[]} numbers
 */
function plotOf({ columns, rows }, of, numbers) {
  const named = columns.findIndex((_, ix) => !numbers.includes(ix));
  const points = rows.map((row, ix) => {
    const name = named < 0 ? String(ix + 1) : String(row[named] ?? '');
    const value = Number(row[of] ?? 0);
    return { name, value, about: `${name}: ${columns[of]} ${numeral(value)}` };
  });
  return linePlot({ title: `${columns[of]} of each row`, points, format: numeral });
}

/** @param {Result} result */
function download({ columns, rows }) {
  const quoted = (/** @type {Cell} */ cell) => (/[",\r\n]/.test(String(cell ?? '')) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? ''));
  const lines = [columns, ...rows].map((row) => row.map(quoted).join(','));
  save('result.csv', new Blob([lines.join('\r\n') + '\r\n'], { type: 'text/csv' }));
}

/**
 * @param {Catalog} catalog
 * @param {(text: string) => void} insert
 */
function schema({ names }, insert) {
  const entries = names.map(({ name, arguments: parameters, columns }) => {
    const call = parameters === null ? name : `${name}(${parameters})`;
    const button = element('button', { type: 'button', class: 'plain', title: `Insert ${name}`, click: () => insert(name) }, call);
    return element('li', {}, button, columns.length > 0 && element('small', {}, columns.map(([column, type]) => `${column} ${type.toLowerCase()}`).join(', ')));
  });
  return element('details', { class: 'schema panel', open: matchMedia('(min-width: 60rem)').matches }, element('summary', {}, 'Tables and functions'), element('ul', {}, ...entries));
}
