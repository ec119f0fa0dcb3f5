'use strict';
// Dark and light: as the system says, unless the user chooses.

const KEY = 'sto-theme';
/** @typedef {'auto' | 'light' | 'dark'} Theme */

/** @returns {Theme} */
export function theme() {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
  localStorage.setItem(KEY, chosen);
  applyTheme();
}

/** Applies the chosen theme, and tells drawings about it by an event of the window. */
export function applyTheme() {
  document.documentElement.dataset.theme = theme();
  dispatchEvent(new CustomEvent('sto-theme'));
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new CustomEvent('sto-theme')));
