'use strict';
// A flame graph and a table side by side, and the callers and callees of the chosen function below.
import { element } from '../dom.js';
import { remember } from '../shell/router.js';
import { setKeys } from '../shell/keys.js';
import { addCommands, matching } from '../shell/palette.js';
import { FlameGraph } from './flame.js';
import { calleesOf, callersOf, groupBy, invert } from './regroup.js';
import { Table } from './table.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

/**
 * What an explorer needs to know about stacks.
 * @typedef {object} Subject
 * @property {Stacks} stacks
 * @property {string} label What is drawn, for screen readers.
 * @property {(stacks: Stacks) => Uint8Array} colorsOf
 * @property {(stacks: Stacks, node: number) => string} describe
 * @property {(stacks: Stacks) => import('./table.js').TableContent<any>} table Rows have the index of their frame as
 *   `frame`, and its text as key.
 * @property {(frame: import('./stacks.js').Frame) => Promise<Node>} [about] More about the chosen function.
 */

const VIEWS = [
  ['', 'Callers above callees'],
  ['inverted', 'Inverted: callees above callers'],
  ['module', 'By module'],
  ['file', 'By source file'],
];

/** Keys that components handle, for the list of keys. */
const KEYS = {
  'In the flame graph': [
    { key: '↑ ↓', does: 'go to the stack before or after' },
    { key: '→', does: 'open a stack, then go to its first callee' },
    { key: '←', does: 'close a stack, or go to its caller' },
    { key: 'Enter', does: 'zoom to the stack' },
    { key: 'Escape', does: 'show all' },
  ],
  'In a table': [
    { key: '↑ ↓', does: 'go to another row; also Page Up, Page Down, Home, End' },
    { key: 'Enter', does: 'choose the row' },
    { key: 's', does: 'sort by the next column' },
  ],
};

export class Explorer {
  /**
   * Creates an empty explorer; `restore` fills it once it is on the page.
   * @param {Subject} subject
   */
  constructor(subject) {
    this.subject = subject;
    this.stacks = subject.stacks;
    this.flame = new FlameGraph();
    this.table = new Table();
    this.below = element('section', { class: 'sandwich', 'aria-live': 'off' });
    this.view = element(
      'select',
      { change: () => this.#changeView() },
      ...VIEWS.map(([value, name]) => element('option', { value }, name)),
    );
    this.viewField = element('label', { class: 'field' }, 'Stacks ', this.view);
    this.element = element('div', { class: 'explorer' }, element('div', { class: 'side-by-side' }, this.flame, this.table), this.below);
    this.#listen();
  }

  #listen() {
    this.flame.addEventListener('zoom', (event) => remember({ zoom: detailOf(event).key }));
    this.flame.addEventListener('search', (event) => remember({ search: detailOf(event).text }, { replace: true }));
    this.flame.addEventListener('names', (event) => remember({ names: detailOf(event).isFull ? 'full' : '' }));
    this.flame.addEventListener('choose', (event) => this.choose(detailOf(event).frame, { replace: true }));
    this.table.addEventListener('choose', (event) => this.choose(detailOf(event).row.frame));
    for (const [heading, keys] of Object.entries(KEYS)) setKeys(heading, keys);
    this.forget = addCommands((text) => (text.length < 2 ? [] : matching(text, this.#commands()).slice(0, 20)));
  }

  /** Stops to offer functions in the palette, and keys. */
  leave() {
    this.forget?.();
    for (const heading of Object.keys(KEYS)) setKeys(heading, []);
  }

  #commands() {
    return this.stacks.frames.map((frame, ix) => ({ kind: 'function here', name: frame.label, run: () => this.choose(ix) }));
  }

  /**
   * Shows the state of an address: `view`, `zoom`, `search`, `names`, `function`.
   * @param {URLSearchParams} parameters
   */
  restore(parameters) {
    this.view.value = parameters.get('view') ?? '';
    if (this.view.selectedIndex < 0) this.view.value = '';
    this.#show();
    this.flame.fullNames.checked = parameters.get('names') === 'full';
    this.flame.query = parameters.get('search') ?? '';
    this.flame.zoom = parameters.get('zoom') ?? '';
    const name = parameters.get('function');
    const frame = name === null ? -1 : this.stacks.frames.findIndex((known) => known.name === name);
    if (frame >= 0) this.#showChosen(frame);
    else this.below.replaceChildren();
  }

  #changeView() {
    this.#show();
    this.below.replaceChildren();
    remember({ view: this.view.value, zoom: '', function: '' });
  }

  #show() {
    const { subject } = this;
    this.stacks = viewOf(subject.stacks, this.view.value);
    this.flame.show({
      stacks: this.stacks,
      colors: subject.colorsOf(this.stacks),
      describe: (node) => subject.describe(this.stacks, node),
      label: `${subject.label}, ${VIEWS[this.view.selectedIndex][1].toLowerCase()}`,
    });
    this.flame.chosen = -1;
    // The table of inverted stacks is the same, and all costs are in the original ones.
    this.table.show(subject.table(this.view.value === 'inverted' ? subject.stacks : this.stacks));
  }

  /**
   * Chooses a function: marks it in the table and the flame graph, and shows what calls it and what it calls.
   * @param {number} frame
   * @param {{replace?: boolean}} [options]
   */
  choose(frame, options) {
    remember({ function: this.stacks.frames[frame].name }, options);
    this.#showChosen(frame);
  }

  /** @param {number} frame */
  async #showChosen(frame) {
    this.flame.chosen = frame;
    this.table.choose(String(frame));
    const stacks = this.view.value === 'inverted' ? this.subject.stacks : this.stacks;
    const chosen = stacks.frames[frame];
    const about = element('div', {});
    const sides = [
      this.#side('Callers', callersOf(stacks, frame), `callers of ${chosen.label}`),
      this.#side('Callees', calleesOf(stacks, frame), `callees of ${chosen.label}`),
    ];
    this.below.replaceChildren(
      element('h2', {}, element('code', {}, chosen.label)),
      ...(chosen.name === chosen.label ? [] : [element('p', { class: 'soft name' }, chosen.name)]),
      element('div', { class: 'halves' }, ...sides.map(({ section }) => section)),
      about,
    );
    for (const { show } of sides) show();
    const more = await this.subject.about?.(chosen);
    if (more) about.replaceWith(more);
  }

  /**
   * @param {string} title
   * @param {Stacks} stacks
   * @param {string} label
   */
  #side(title, stacks, label) {
    const flame = new FlameGraph();
    flame.classList.add('compact');
    const colors = this.subject.colorsOf(stacks);
    const show = () => flame.show({ stacks, colors, describe: (node) => this.subject.describe(stacks, node), label });
    return { section: element('section', {}, element('h3', {}, title), flame), show };
  }
}

/**
 * Returns the details of an event of a component.
 * @param {Event} event
 */
function detailOf(event) {
  return /** @type {CustomEvent} */ (event).detail;
}

/**
 * @param {Stacks} stacks
 * @param {string} view
 */
function viewOf(stacks, view) {
  if (view === 'inverted') return invert(stacks);
  if (view === 'module' || view === 'file') return groupBy(stacks, view);
  return stacks;
}
