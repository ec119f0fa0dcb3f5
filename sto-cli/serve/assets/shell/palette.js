'use strict';
// The command palette: screens, builds and functions by name.
import { element } from '../dom.js';

/**
 * An entry of the palette.
 * @typedef {object} Command
 * @property {string} kind Such as `screen` or `build`.
 * @property {string} name
 * @property {() => void} run
 */

/**
 * Finds commands for a text. Screens can add sources, and remove them when they are left.
 * @typedef {(text: string, signal: AbortSignal) => Promise<Command[]> | Command[]} CommandSource
 */

/** @type {Set<CommandSource>} */
const sources = new Set();
const MAX_SHOWN = 40;

/**
 * Adds a source of commands; the returned function removes it.
 * @param {CommandSource} source
 */
export function addCommands(source) {
  sources.add(source);
  return () => sources.delete(source);
}

/**
 * Returns the commands with a text in their names.
 * @param {string} text
 * @param {Command[]} commands
 */
export function matching(text, commands) {
  return commands.filter(({ name }) => name.toLowerCase().includes(text));
}

/** Opens the palette. */
export function openPalette() {
  const input = element('input', {
    type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'commands', 'aria-label': 'Go to',
    placeholder: 'build, function or screen', autocomplete: 'off', spellcheck: 'false',
  });
  const list = element('ul', { id: 'commands', role: 'listbox', 'aria-label': 'Results' });
  const dialog = element('dialog', { class: 'palette', 'aria-label': 'Go to' }, input, list);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  const choice = new Choice(input, list, dialog);
  input.addEventListener('input', () => choice.find());
  input.addEventListener('keydown', (event) => choice.press(event));
  document.body.append(dialog);
  dialog.showModal();
  choice.find();
}

/** The found commands, one of which is active. */
class Choice {
  /**
   * @param {HTMLInputElement} input
   * @param {HTMLUListElement} list
   * @param {HTMLDialogElement} dialog
   */
  constructor(input, list, dialog) {
    this.input = input;
    this.list = list;
    this.dialog = dialog;
    /** @type {Command[]} */
    this.commands = [];
    this.active = 0;
    this.asking = new AbortController();
  }

  async find() {
    this.asking.abort();
    const { signal } = (this.asking = new AbortController());
    const text = this.input.value.trim().toLowerCase();
    this.active = 0;
    /** @type {Command[][]} What each source found, so that slow ones do not change the order. */
    const found = [...sources].map(() => []);
    const finding = [...sources].map(async (source, ix) => {
      found[ix] = await Promise.resolve(source(text, signal)).catch(() => []);
      if (!signal.aborted) this.#show(found.flat().slice(0, MAX_SHOWN));
    });
    await Promise.all(finding);
    if (!signal.aborted && this.commands.length === 0) this.list.replaceChildren(element('li', { class: 'soft' }, 'Nothing has this name.'));
  }

  /** @param {Command[]} commands */
  #show(commands) {
    this.commands = commands;
    this.list.replaceChildren(
      ...commands.map(({ kind, name }, ix) =>
        element('li', { id: `command-${ix}`, role: 'option', click: () => this.#run(ix) }, element('span', { class: 'name' }, name), element('small', {}, kind)),
      ),
    );
    this.#activate(this.active);
  }

  /** @param {number} ix */
  #activate(ix) {
    this.list.children[this.active]?.removeAttribute('aria-selected');
    this.active = Math.max(0, Math.min(ix, this.commands.length - 1));
    const option = this.commands.length > 0 ? this.list.children[this.active] : null;
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    if (option) this.input.setAttribute('aria-activedescendant', option.id);
    else this.input.removeAttribute('aria-activedescendant');
  }

  /** @param {number} ix */
  #run(ix) {
    const command = this.commands[ix];
    if (!command) return;
    this.dialog.close();
    command.run();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#activate(this.active + 1),
      ArrowUp: () => this.#activate(this.active - 1),
      Enter: () => this.#run(this.active),
    };
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }
}
