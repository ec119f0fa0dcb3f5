'use strict';
// Profiles in addresses: `v2` is a selector as on the command line, and `runs:ID,ID` are content ids. Links that are
// to be shared have ids, which mean the same on every machine that has the profiles.

/** @typedef {import('./ask.js').BuildRef} BuildRef */

const RUNS = 'runs:';

/**
 * @param {string} text Value of a parameter of an address.
 * @returns {BuildRef}
 */
export function parseBuildRef(text) {
  return text.startsWith(RUNS) ? { runs: text.slice(RUNS.length).split(',') } : { selector: text };
}

/**
 * @param {readonly string[]} ids Content ids of profiles.
 * @returns {string} Value of a parameter of an address.
 */
export function formatRuns(ids) {
  return RUNS + ids.join(',');
}
