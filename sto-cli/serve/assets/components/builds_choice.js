'use strict';
// Choosing profiles: each build, and each of its benchmarks, is an option with the ids of its runs.
import { ask } from '../ask.js';
import { formatRuns } from '../build_ref.js';
import { element } from '../dom.js';
import { counted } from './numbers.js';

/** @typedef {{value: string, name: string, about: string}} Choice */

/**
 * Lists the builds of the store, the newest of each program first.
 * @param {AbortSignal} signal
 * @returns {Promise<Choice[]>}
 */
export async function buildChoices(signal) {
  const { builds } = await ask('builds', {}, signal);
  return builds.toReversed().flatMap(choicesOfBuild);
}

/** @param {{executable: string, version: string, profiles: {id: string, benchmark: string | null, recorded: string | null}[]}} build */
function choicesOfBuild({ executable, version, profiles }) {
  const benchmarks = Map.groupBy(profiles, ({ benchmark }) => benchmark);
  return [...benchmarks].map(([benchmark, runs]) => {
    const ids = runs.map(({ id }) => id).sort();
    const recorded = runs.at(-1)?.recorded?.slice(0, 10) ?? '';
    const name = [`${executable} ${version}`, benchmark].filter(Boolean).join(' · ');
    return { value: formatRuns(ids), name, about: [counted(ids.length, 'run'), recorded].filter(Boolean).join(', ') };
  });
}

/**
 * Returns a field to choose one of the builds. A current value that is none of them is an option of its own.
 * @param {string} title
 * @param {Choice[]} choices
 * @param {string} current Value of a parameter of an address.
 * @param {string} currentName Name of the current value.
 * @param {(value: string) => void} choose
 */
export function buildField(title, choices, current, currentName, choose) {
  const isKnown = choices.some(({ value }) => value === current);
  const first = isKnown ? [] : [{ value: current, name: currentName || 'choose a build', about: '' }];
  const options = [...first, ...choices].map(({ value, name, about }) =>
    element('option', { value, selected: value === current }, about ? `${name} (${about})` : name),
  );
  const change = (/** @type {{target: HTMLSelectElement}} */ { target }) => choose(target.value);
  return element('label', { class: 'field' }, `${title} `, element('select', { change }, ...options));
}
