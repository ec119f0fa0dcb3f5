'use strict';
// Addresses of screens. All state that a link should reproduce is in the address.
import { addressOf, hrefOf } from '../host/address.js';

/**
 * The address of a screen.
 * @typedef {object} Address
 * @property {string} path Path of the screen, such as `/profile`.
 * @property {URLSearchParams} parameters
 */

/**
 * What a screen leaves behind when it is drawn.
 * @typedef {object} Drawn
 * @property {(address: Address) => boolean} [restore] Shows another state of the same screen when the user goes back or
 *   forward; returns `false` if the screen must be rendered anew.
 * @property {() => void} [leave] Called before another screen is rendered.
 */

/**
 * A screen.
 * @typedef {object} Screen
 * @property {string} path The server lists it, too, in `pages/mod.rs`.
 * @property {string} title Shown in the navigation.
 * @property {boolean} [isHidden] Whether the navigation leaves it out.
 * @property {(main: HTMLElement, address: Address, signal: AbortSignal) => Promise<Drawn | void>} render Fills an empty
 *   element. The signal is aborted when the user goes elsewhere.
 */

/** @returns {Address} */
export function currentAddress() {
  return parse(addressOf(location));
}

/**
 * @param {string} address
 * @returns {Address}
 */
function parse(address) {
  const { pathname, searchParams } = new URL(address, location.origin);
  return { path: pathname, parameters: searchParams };
}

/**
 * Returns a link to a screen. Parameters that are empty or missing are left out; lists become repeated parameters.
 * @param {string} path
 * @param {Record<string, string | number | string[] | null | undefined>} [parameters]
 */
export function linkTo(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== '' && one !== null && one !== undefined) query.append(key, String(one));
    }
  }
  return written(path, query);
}

/**
 * @param {string} path
 * @param {URLSearchParams} query
 */
function written(path, query) {
  // Commas and slashes need no escapes in a query.
  const text = query.toString().replaceAll('%2C', ',').replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%40', '@');
  return hrefOf(text === '' ? path : `${path}?${text}`);
}

/** @type {(address: Address, isBack: boolean) => void} */
let render = () => {};

/**
 * Listens to links and to the back button.
 * @param {(path: string) => boolean} isScreen
 * @param {(address: Address, isBack: boolean) => void} show Renders the screen of an address.
 */
export function startRouter(isScreen, show) {
  render = show;
  addEventListener('popstate', () => show(currentAddress(), true));
  document.addEventListener('click', (event) => {
    const url = clickedLink(event);
    if (!url || url.origin !== location.origin || !isScreen(parse(addressOf(url)).path)) return;
    event.preventDefault();
    go(hrefOf(addressOf(url)));
  });
  show(currentAddress(), false);
}

/**
 * Goes to a link as made by `linkTo`.
 * @param {string} link
 */
export function go(link) {
  history.pushState(null, '', link);
  render(currentAddress(), false);
}

/**
 * Returns the address of a link that was clicked to be opened in this window.
 * @param {MouseEvent} event
 */
function clickedLink(event) {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!isPlain || event.defaultPrevented || !link?.href || link.target || link.hasAttribute('download')) return null;
  // A link such as `#main` leads to a place of the same screen.
  return link.getAttribute('href')?.match(/^#(?!\/)/) ? null : new URL(link.href);
}

/**
 * Changes parameters of the address in place, as a new entry of the history, without rendering: the screen shows the
 * state already. Empty values remove a parameter.
 * @param {Record<string, string | string[] | null | undefined>} changes
 * @param {{replace?: boolean}} [options] `replace` overwrites the newest entry instead, as is right while typing.
 */
export function remember(changes, { replace = false } = {}) {
  const { path, parameters } = currentAddress();
  for (const [key, value] of Object.entries(changes)) {
    parameters.delete(key);
    for (const one of Array.isArray(value) ? value : [value]) if (one) parameters.append(key, one);
  }
  const link = written(path, parameters);
  if (link === hrefOf(addressOf(location))) return;
  if (replace) history.replaceState(null, '', link);
  else history.pushState(null, '', link);
}
