'use strict';
// Addresses of screens, such as `/profile?build=v2`, are those of the server's pages.

/**
 * Returns the address of a screen.
 * @param {URL | Location} url
 */
export const addressOf = (url) => url.pathname + url.search;

/**
 * Returns a link to an address.
 * @param {string} address
 */
export const hrefOf = (address) => address;
