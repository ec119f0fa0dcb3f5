'use strict';
// Fields of forms, each with its label.
import { element } from '../dom.js';

const TYPING = 350; // milliseconds after the last letter until a text counts

/**
 * Creates a choice with its label.
 * @param {string} label
 * @param {HTMLOptionElement[]} options
 * @param {(value: string) => void} choose
 */
export function choice(label, options, choose) {
  return element('label', {}, `${label} `, element('select', { change: (event) => choose(event.target.value) }, ...options));
}

/**
 * Creates options of a choice.
 * @param {readonly string[]} values
 * @param {string | null} chosen
 * @param {string} [empty] Shown for the empty value.
 * @param {Record<string, string>} [names] Shown instead of values.
 */
export function options(values, chosen, empty = '', names = {}) {
  return values.map((value) => element('option', { value, selected: value === (chosen ?? '') }, value === '' ? empty : (names[value] ?? value)));
}

/**
 * Creates a field for text, which counts when the user stops typing.
 * @param {string} label
 * @param {string} value
 * @param {(text: string) => void} change
 * @param {string} [placeholder]
 */
export function textField(label, value, change, placeholder) {
  let timer = 0;
  let last = value;
  const input = element('input', { type: 'search', value, placeholder, spellcheck: 'false', autocomplete: 'off', name: label.toLowerCase(), input: wait, change: done });
  return element('label', {}, `${label} `, input);

  function wait() {
    clearTimeout(timer);
    timer = setTimeout(done, TYPING);
  }

  function done() {
    clearTimeout(timer);
    if (input.value === last || !input.isConnected) return;
    last = input.value;
    change(input.value.trim());
  }
}

/**
 * Creates a field for a number.
 * @param {string} label
 * @param {number} value
 * @param {{min: number, max: number, step?: number, unit?: string}} range
 * @param {(value: number) => void} change
 */
export function numberField(label, value, { min, max, step = 1, unit = '' }, change) {
  const input = element('input', { type: 'number', value, min, max, step, change: () => input.checkValidity() && change(Number(input.value)) });
  return element('label', {}, `${label} `, input, unit && ` ${unit}`);
}
