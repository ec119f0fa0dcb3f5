'use strict';
// Commands of the palette that every screen has: the screens, and all names in the store.
import { ask } from '../ask.js';
import { addCommands, matching } from './palette.js';
import { go, linkTo } from './router.js';

/** @typedef {import('./palette.js').Command} Command */

/**
 * A name that the question `search` found.
 * @typedef {{kind: string, name: string, module: string, build: string, executables: string[]}} Found
 */

const NEWEST = 10; // builds shown before a text is typed

/** @param {readonly import('./router.js').Screen[]} screens */
export function addUsualCommands(screens) {
  addCommands((text) => matching(text, screens.map((screen) => ({ kind: 'screen', name: screen.title, run: () => go(linkTo(screen.path)) }))));
  const kinds = Object.keys(LINKS).filter((kind) => screens.some(({ path }) => path === LINKS[kind].path));
  addCommands((text, signal) => (text === '' ? newestBuilds(signal) : named(text, ['build', ...kinds], signal)));
}

/** @param {AbortSignal} signal */
async function newestBuilds(signal) {
  const { builds } = await ask('builds', { limit: NEWEST }, signal);
  return builds.map((/** @type {{executable: string, version: string}} */ { executable, version }) => buildCommand(executable, version, version));
}

/**
 * @param {string} text
 * @param {string[]} kinds
 * @param {AbortSignal} signal
 * @returns {Promise<Command[]>}
 */
async function named(text, kinds, signal) {
  /** @type {{found: Found[]}} */
  const { found } = await ask('search', { text, kinds }, signal);
  return found.flatMap((one) => (one.kind === 'build' ? one.executables.map((executable) => buildCommand(executable, one.name, one.build)) : [commandOf(one)]));
}

/**
 * @param {string} executable
 * @param {string} name Its version, or a tag.
 * @param {string} version
 * @returns {Command}
 */
function buildCommand(executable, name, version) {
  return { kind: 'build', name: `${executable} ${name}`, run: () => go(linkTo('/profile', { build: `${executable}@${version}` })) };
}

/** @type {Record<string, {path: string, parameters: (found: Found) => Record<string, string>}>} Where a name leads, by its kind. */
const LINKS = {
  program: { path: '/builds', parameters: ({ name }) => ({ program: name }) },
  benchmark: { path: '/builds', parameters: ({ name }) => ({ benchmark: name }) },
  label: { path: '/builds', parameters: ({ name }) => ({ label: name }) },
  function: { path: '/time', parameters: ({ name, executables }) => ({ program: executables[0], function: name }) },
};

/**
 * @param {Found} found
 * @returns {Command}
 */
function commandOf(found) {
  const { kind, name, executables } = found;
  const where = kind === 'function' ? `function in ${executables.length > 1 ? `${executables.length} programs` : executables[0]}` : kind;
  const { path, parameters } = LINKS[kind];
  return { kind: where, name, run: () => go(linkTo(path, parameters(found))) };
}
