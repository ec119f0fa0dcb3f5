'use strict';
// The shell: renders the screen of the address, and keeps header, keys and palette.
import { element } from './dom.js';
import { Problem } from './problem.js';
import { screens } from './screens/index.js';
import { addUsualCommands } from './shell/commands.js';
import { fillHeader, markCurrent, setTitle } from './shell/header.js';
import { listenToKeys, setKeys, showKeys } from './shell/keys.js';
import { openPalette } from './shell/palette.js';
import { startRouter } from './shell/router.js';
import { applyTheme } from './shell/theme.js';

/** @typedef {import('./shell/router.js').Address} Address */
/** @typedef {import('./shell/router.js').Drawn} Drawn */
/** @typedef {import('./shell/router.js').Screen} Screen */

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
/** @type {{screen: Screen, drawn: Drawn | void, loading: AbortController} | null} */
let shown = null;

/**
 * @param {Address} address
 * @param {boolean} isBack Whether the user went back or forward.
 */
function show(address, isBack) {
  const screen = screenOf(address);
  if (isBack && shown?.screen === screen && shown.drawn?.restore?.(address)) return;
  shown?.loading.abort();
  shown?.drawn?.leave?.();
  if (shown) beginScreen();
  render(screen, address);
}

/** Takes readers to the beginning of another screen, as a new page does. */
function beginScreen() {
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** @param {Address} address */
function screenOf({ path }) {
  return screens.find((screen) => screen.path === path) ?? screens[0];
}

/**
 * @param {Screen} screen
 * @param {Address} address
 */
async function render(screen, address) {
  const loading = new AbortController();
  const state = (shown = { screen, drawn: /** @type {Drawn | void} */ (undefined), loading });
  const content = element('div', { class: 'screen' });
  markCurrent(screen);
  setTitle(screen.title);
  main.setAttribute('aria-busy', 'true');
  main.replaceChildren(content);
  try {
    state.drawn = await screen.render(content, address, loading.signal);
  } catch (error) {
    if (!loading.signal.aborted) content.replaceChildren(problem(error));
  }
  if (shown === state) main.removeAttribute('aria-busy');
}

/**
 * Describes an error on the page.
 * @param {unknown} error
 */
function problem(error) {
  const title = error instanceof Problem ? error.title : 'Error of the page';
  const detail = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Problem)) console.error(error);
  return element('section', { class: 'problem', role: 'alert' }, element('h1', {}, title), element('p', {}, detail));
}

applyTheme();
fillHeader(screens);
listenToKeys();
setKeys('Everywhere', [
  { key: 'Ctrl+k', does: 'go to a build, function or screen', run: openPalette },
  { key: '?', does: 'show keys', run: showKeys },
  { key: 'Escape', does: 'close a dialog' },
]);
addUsualCommands(screens);
startRouter((path) => path === '/' || screens.some((screen) => screen.path === path), show);
