'use strict';
// Files that are made in the browser.
import { element } from './dom.js';

/**
 * Saves a file on the user's machine.
 * @param {string} name
 * @param {Blob} blob
 */
export function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
