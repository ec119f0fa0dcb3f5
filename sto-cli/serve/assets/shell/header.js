'use strict';
// The header of every screen: what is shown, navigation, and tools.
import { element } from '../dom.js';
import { chooseTheme, theme } from './theme.js';
import { showKeys } from './keys.js';
import { openPalette } from './palette.js';
import { linkTo } from './router.js';

/** @typedef {import('./router.js').Screen} Screen */

/** The program and build that the screen shows. */
const subject = element('span', { class: 'subject name' });

/**
 * Fills the header.
 * @param {readonly Screen[]} screens
 */
export function fillHeader(screens) {
  const links = screens
    .filter((screen) => !screen.isHidden)
    .map((screen) => element('li', {}, element('a', { href: linkTo(screen.path) }, screen.title)));
  const header = /** @type {HTMLElement} */ (document.getElementById('header'));
  header.replaceChildren(
    element('a', { class: 'brand', href: linkTo('/') }, 'sto'),
    subject,
    element('nav', { 'aria-label': 'Screens' }, element('ul', {}, ...links)),
    element('div', { class: 'header-tools' }, paletteButton(), themeSwitch(), keysButton()),
  );
}

function paletteButton() {
  return element('button', { type: 'button', click: openPalette }, 'Go to… ', element('kbd', {}, 'Ctrl K'));
}

function keysButton() {
  return element('button', { type: 'button', 'aria-label': 'Show keys', title: 'Keys', click: showKeys }, '?');
}

function themeSwitch() {
  const options = [
    ['auto', 'System theme'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ];
  const change = (/** @type {{target: HTMLSelectElement}} */ { target }) => chooseTheme(/** @type {any} */ (target.value));
  return element(
    'select',
    { 'aria-label': 'Colours of the page', change },
    ...options.map(([value, label]) => element('option', { value, selected: value === theme() }, label)),
  );
}

/**
 * Marks the link of the current screen.
 * @param {Screen} screen
 */
export function markCurrent(screen) {
  for (const link of document.querySelectorAll('#header nav a')) {
    if (link.getAttribute('href') === linkTo(screen.path)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/**
 * Sets the title of the window, such as `demo v2 – Profile – sto`.
 * @param {string} title
 * @param {string} [shown] The program and build.
 */
export function setTitle(title, shown = '') {
  document.title = [shown, title, 'sto'].filter(Boolean).join(' – ');
  subject.textContent = shown;
}
