'use strict';
// Filters of profiles in addresses: the event, the roots of stacks, and a window of time.
import { ask } from '../ask.js';
import { element } from '../dom.js';
import { currentAddress, go, linkTo } from '../shell/router.js';

/** Parameters that change which stacks are loaded. */
export const FILTERS = ['event', 'by', 'from', 'to'];

/**
 * Returns the fields of a request.
 * @param {URLSearchParams} parameters
 */
export function filterOf(parameters) {
  const from = seconds(parameters.get('from'));
  const to = seconds(parameters.get('to'));
  const window = from === null && to === null ? null : { time: { from: from ?? 0, to } };
  return { filter: { event: parameters.get('event'), window }, by: parameters.get('by') };
}

/**
 * Returns nanoseconds.
 * @param {string | null} text
 */
function seconds(text) {
  const number = Number(text);
  return text === null || text === '' || Number.isNaN(number) ? null : Math.round(number * 1e9);
}

/**
 * Returns fields to change the filters; a change loads the screen anew.
 * @param {import('../ask.js').BuildRef} named
 * @param {URLSearchParams} parameters
 * @param {string} path
 */
export async function filterFields(named, parameters, path) {
  const { profiles } = await ask('show', { named }).catch(() => ({ profiles: [] }));
  const events = distinct(profiles.flatMap((/** @type {any} */ { events }) => events.map((/** @type {any} */ { event }) => event)));
  const keys = distinct(profiles.flatMap((/** @type {any} */ { labels, sample_labels }) => [...Object.keys(labels), ...(sample_labels ?? []).map(keyOf)]));
  const roots = [['', 'nothing'], ['thread', 'thread'], ...keys.map((key) => [`label:${key}`, `label ${key}`])];
  return [
    events.length > 1 && select('Event', 'event', [['', 'usual event'], ...events.map((event) => [event, event])], parameters, path),
    select('Group by', 'by', roots, parameters, path),
    element('span', { class: 'field' }, 'Seconds ', time('from', 'from', parameters, path), ' – ', time('to', 'to', parameters, path)),
  ].filter((field) => field !== false);
}

/** @param {string | {key: string}} label */
const keyOf = (label) => (typeof label === 'string' ? label : label.key);

/** @param {string[]} texts */
const distinct = (texts) => [...new Set(texts)].sort();

/**
 * @param {string} path
 * @param {string} key
 * @param {string} value
 */
function change(path, key, value) {
  const parameters = Object.fromEntries(currentAddress().parameters);
  go(linkTo(path, { ...parameters, [key]: value, zoom: '' }));
}

/**
 * @param {string} title
 * @param {string} key
 * @param {string[][]} options
 * @param {URLSearchParams} parameters
 * @param {string} path
 */
function select(title, key, options, parameters, path) {
  const current = parameters.get(key) ?? '';
  const all = options.some(([value]) => value === current) ? options : [...options, [current, current]];
  const listen = (/** @type {{target: HTMLSelectElement}} */ { target }) => change(path, key, target.value);
  return element(
    'label',
    { class: 'field' },
    `${title} `,
    element('select', { change: listen }, ...all.map(([value, name]) => element('option', { value, selected: value === current }, name))),
  );
}

/**
 * @param {string} name
 * @param {string} key
 * @param {URLSearchParams} parameters
 * @param {string} path
 */
function time(name, key, parameters, path) {
  const listen = (/** @type {{target: HTMLInputElement}} */ { target }) => change(path, key, target.value.trim());
  return element('input', {
    class: 'time', inputmode: 'decimal', placeholder: name === 'from' ? '0' : 'end', 'aria-label': `${name} second`,
    value: parameters.get(key) ?? '', change: listen,
  });
}
