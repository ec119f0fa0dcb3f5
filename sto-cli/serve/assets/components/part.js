'use strict';
// A part of a screen that is loaded again when its options change.
import { element } from '../dom.js';
import { Problem } from '../problem.js';

/** @typedef {import('../dom.js').Content} Content */

/** Only the newest content is shown; an error is shown instead of it. */
export class Part {
  /** @param {AbortSignal} signal Of the screen. */
  constructor(signal) {
    this.element = element('div', { class: 'screen' });
    this.loading = new AbortController();
    signal.addEventListener('abort', () => this.loading.abort());
  }

  /** @param {(signal: AbortSignal) => Promise<Content[]>} load */
  async show(load) {
    this.loading.abort();
    const { signal } = (this.loading = new AbortController());
    this.element.setAttribute('aria-busy', 'true');
    const content = await load(signal).catch((error) => [problem(error)]);
    if (signal.aborted) return;
    this.element.removeAttribute('aria-busy');
    this.element.replaceChildren(...content.flatMap((part) => (part instanceof Node ? [part] : [])));
  }
}

/** @param {unknown} error */
function problem(error) {
  const detail = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Problem)) console.error(error);
  return element('p', { class: 'problem', role: 'alert' }, detail);
}
