'use strict';
// Addresses of screens, such as `/profile?build=v2`, are the fragments of the page's own: it is one file on any server.

/**
 * Returns the address of a screen.
 * @param {URL | Location} url
 */
export const addressOf = (url) => url.hash.slice(1) || '/';

/**
 * Returns a link to an address.
 * @param {string} address
 */
export const hrefOf = (address) => `#${address}`;
