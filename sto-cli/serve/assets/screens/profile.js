'use strict';
// One selection of profiles: a flame graph, a table, callers and callees, and source lines.
import { ask } from '../ask.js';
import { parseBuildRef, formatRuns } from '../build_ref.js';
import { askColumns } from '../columns.js';
import { buildChoices, buildField } from '../components/builds_choice.js';
import { Explorer } from '../components/explorer.js';
import { counted, percent, quantity } from '../components/numbers.js';
import { colorOfKind } from '../components/palette.js';
import { sourceLines } from '../components/source_lines.js';
import { Stacks } from '../components/stacks.js';
import { element, later } from '../dom.js';
import { setTitle } from '../shell/header.js';
import { currentAddress, go, linkTo, remember } from '../shell/router.js';
import { downloads } from '../components/downloads.js';
import { filterFields, filterOf, FILTERS } from '../components/filters.js';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/profile',
  title: 'Profile',
  async render(main, { parameters }, signal) {
    const build = parameters.get('build') ?? '';
    const asking = buildChoices(signal);
    // If the profiles cannot be shown, that error is the one to tell.
    asking.catch(() => {});
    if (build === '') {
      main.append(element('h1', {}, 'Profile'), buildField('Build', await asking, '', '', openBuild));
      return;
    }
    const profile = await loadProfile(build, parameters, signal);
    // An address with ids means the same on every machine.
    remember({ build: formatRuns(profile.header.profiles) }, { replace: true });
    const known = currentAddress().parameters;
    const explorer = new Explorer(subjectOf(profile));
    setTitle('Profile', profile.name);
    main.append(...parts(profile, parameters, asking, explorer));
    explorer.restore(parameters);
    return { restore: (address) => restore(explorer, known, address.parameters), leave: () => explorer.leave() };
  },
};

/** @param {string} build */
const openBuild = (build) => go(linkTo('/profile', { build }));

/**
 * Shows another state of the same stacks; other stacks must be loaded.
 * @param {Explorer} explorer
 * @param {URLSearchParams} before
 * @param {URLSearchParams} after
 */
function restore(explorer, before, after) {
  const isSame = ['build', ...FILTERS].every((key) => before.get(key) === after.get(key));
  if (isSame) explorer.restore(after);
  return isSame;
}

/**
 * @param {string} build
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} signal
 */
async function loadProfile(build, parameters, signal) {
  const named = parseBuildRef(build);
  const { filter, by } = filterOf(parameters);
  const { header, columns } = await askColumns('flame', { named, filter, stacks: { by } }, signal);
  const frames = header.frames.map((/** @type {any} */ frame, /** @type {number} */ ix) => frameOf(frame, header.short_names[ix]));
  const stacks = new Stacks(frames, /** @type {any} */ (columns));
  const unit = header.sample_type?.unit ?? 'samples';
  return { named, filter, header, stacks, unit, name: `${header.executable} ${header.build}` };
}

/** @typedef {Awaited<ReturnType<typeof loadProfile>>} Profile */

/**
 * @param {{function: string, module: string, file: string, kind: string}} frame
 * @param {string} label
 */
function frameOf({ function: name, module, file, kind }, label) {
  return { name, label, module, file, kind };
}

/**
 * @param {Profile} profile
 * @returns {import('../components/explorer.js').Subject}
 */
function subjectOf(profile) {
  return {
    stacks: profile.stacks,
    label: `Flame graph of ${profile.name}`,
    colorsOf: (stacks) => Uint8Array.from(stacks.frames, colorOfKind),
    describe: (stacks, node) => describe(stacks, node, profile),
    table: (stacks) => tableOf(stacks, profile),
    about: (frame) => sourceLines(frame, profile.named, profile.filter, profile.unit),
  };
}

/**
 * @param {Stacks} stacks
 * @param {number} node
 * @param {Profile} profile
 */
function describe(stacks, node, { unit, stacks: { whole } }) {
  const frame = stacks.frameOf(node);
  const total = `${quantity(stacks.total[node], unit)} (${percent(stacks.total[node] / whole)})`;
  if (frame === null) return `all: ${total}`;
  const place = [frame.module, frame.file].filter(Boolean).join(', ');
  const self = `${quantity(stacks.self[node], unit)} (${percent(stacks.self[node] / whole)})`;
  return `${frame.name}${place && ` [${place}]`}: total ${total}, self ${self}`;
}

/**
 * @param {Stacks} stacks
 * @param {Profile} profile
 * @returns {import('../components/table.js').TableContent<{frame: number, self: number, total: number}>}
 */
function tableOf(stacks, { name }) {
  const costs = stacks.frameCosts();
  const rows = stacks.frames.map((_, frame) => ({ frame, self: costs.self[frame], total: costs.total[frame] }));
  const share = (/** @type {number} */ cost) => percent(cost / stacks.whole);
  const frameOfRow = (/** @type {{frame: number}} */ row) => stacks.frames[row.frame];
  const hasModules = new Set(stacks.frames.map(({ module }) => module)).size > 1;
  /** @type {import('../components/table.js').Column<{frame: number, self: number, total: number}>[]} */
  const columns = [
    { title: 'Self', width: '4.5rem', isNumber: true, order: ({ self }) => self, cell: ({ self }) => share(self), about: 'cost of its own code' },
    { title: 'Total', width: '4.5rem', isNumber: true, order: ({ total }) => total, cell: ({ total }) => share(total), about: 'cost with all that it calls' },
    { title: 'Name', width: 'minmax(8rem, 3fr)', order: (row) => frameOfRow(row).label, cell: (row) => named(frameOfRow(row)) },
    { title: 'Module', width: 'minmax(4rem, 1fr)', isExtra: true, order: (row) => frameOfRow(row).module, cell: (row) => frameOfRow(row).module },
  ];
  return {
    label: `Functions of ${name}`,
    noun: 'name',
    rows: rows.filter(({ total }) => total > 0),
    key: ({ frame }) => String(frame),
    text: (row) => `${frameOfRow(row).name} ${frameOfRow(row).label} ${frameOfRow(row).module}`,
    columns: hasModules ? columns : columns.slice(0, 3),
  };
}

/** @param {import('../components/stacks.js').Frame} frame */
function named(frame) {
  return element('span', { class: 'name', title: frame.name }, frame.label);
}

/**
 * @param {Profile} profile
 * @param {URLSearchParams} parameters
 * @param {Promise<import('../components/builds_choice.js').Choice[]>} choices
 * @param {Explorer} explorer
 */
function parts(profile, parameters, choices, explorer) {
  const { header, unit, stacks } = profile;
  const build = formatRuns(header.profiles);
  const facts = [
    counted(header.profiles.length, 'run'),
    counted(header.samples, 'sample'),
    header.sample_type && `${quantity(header.value, unit)} of ${header.sample_type.event}`,
    counted(stacks.count - 1, 'stack'),
  ];
  return [
    element(
      'div',
      { class: 'heading' },
      element('h1', {}, profile.name),
      element('p', { class: 'soft' }, facts.filter(Boolean).join(' · ')),
      element('a', { href: linkTo('/compare', { candidate: build }) }, 'Compare with another build'),
      downloads(profile.name, { runs: header.profiles, event: parameters.get('event') }),
    ),
    ...(header.incomplete > 0.05 ? [element('p', { class: 'warnings' }, `${percent(header.incomplete)} of the samples lack some or all callers.`)] : []),
    element(
      'div',
      { class: 'tools' },
      later(choices.then((known) => [buildField('Build', known, build, profile.name, openBuild)])),
      later(filterFields(profile.named, parameters, '/profile')),
      explorer.viewField,
    ),
    explorer.element,
  ];
}
