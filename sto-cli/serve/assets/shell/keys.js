'use strict';
// Keys of the whole page. Components handle their own keys first, and stop those that they use.
import { element } from '../dom.js';

/**
 * @typedef {object} Key
 * @property {string} key As in `KeyboardEvent.key`; `Ctrl+` before it stands for Control or Command.
 * @property {string} does What it does, for the list of keys.
 * @property {() => void} [run] Missing if a component handles the key.
 */

/** @type {Map<string, Key[]>} */
const groups = new Map();

/**
 * Adds keys to the list, or replaces those of the same heading. No keys remove the heading.
 * @param {string} heading
 * @param {Key[]} keys
 */
export function setKeys(heading, keys) {
  if (keys.length === 0) groups.delete(heading);
  else groups.set(heading, keys);
}

/** @param {EventTarget | null} target */
export function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}

/** Starts to listen. */
export function listenToKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const isCtrl = event.ctrlKey || event.metaKey;
    if (!isCtrl && (isTyping(event.target) || document.querySelector('dialog[open]'))) return;
    const pressed = isCtrl ? `Ctrl+${event.key.toLowerCase()}` : event.key;
    const found = [...groups.values()].flat().find(({ key, run }) => run && key === pressed);
    if (!found) return;
    event.preventDefault();
    found.run?.();
  });
}

/** Shows all keys in a dialog. */
export function showKeys() {
  const lists = [...groups].map(([heading, keys]) =>
    element('section', {}, element('h3', {}, heading), element('dl', {}, ...keys.flatMap(keyEntry))),
  );
  const close = element('button', { type: 'button', click: () => dialog.close() }, 'Close');
  const dialog = element('dialog', { class: 'keys', 'aria-label': 'Keys' }, element('h2', {}, 'Keys'), ...lists, close);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {Key} key */
function keyEntry({ key, does }) {
  return [element('dt', {}, element('kbd', {}, key)), element('dd', {}, does)];
}
