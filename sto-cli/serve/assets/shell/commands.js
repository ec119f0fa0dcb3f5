'use strict';
// Commands of the palette that every screen has: the screens and the builds.
import { ask } from '../ask.js';
import { formatRuns } from '../build_ref.js';
import { addCommands, matching } from './palette.js';
import { go, linkTo } from './router.js';

/** @typedef {import('./palette.js').Command} Command */

/** @param {readonly import('./router.js').Screen[]} screens */
export function addUsualCommands(screens) {
  addCommands((text) => matching(text, screens.map((screen) => ({ kind: 'screen', name: screen.title, run: () => go(screen.path) }))));
  addCommands(async (text, signal) => matching(text, await buildCommands(signal)));
}

/** @param {AbortSignal} signal */
async function buildCommands(signal) {
  const { builds } = await ask('builds', {}, signal);
  return builds.map(buildCommand);
}

/**
 * @param {{executable: string, version: string, profiles: {id: string}[]}} build
 * @returns {Command}
 */
function buildCommand({ executable, version, profiles }) {
  const link = linkTo('/profile', { build: formatRuns(profiles.map(({ id }) => id)) });
  return { kind: 'build', name: `${executable} ${version}`, run: () => go(link) };
}
