'use strict';
// The state of the server: what senders sent and lost, and profiles without symbols.
import { ask } from '../ask.js';
import { call } from '../host/call.js';
import { formatRuns } from '../build_ref.js';
import { dataTable } from '../components/data_table.js';
import { minute, rounded } from '../components/measures.js';
import { counted, grouped, percent, quantity } from '../components/numbers.js';
import { Part } from '../components/part.js';
import { element } from '../dom.js';
import { linkTo } from '../shell/router.js';

/** @typedef {import('./builds.js').Build} Build */

/**
 * What a sender sent and lost.
 * @typedef {object} Sender
 * @property {string} last_seen
 * @property {number} accepted
 * @property {number} bytes
 * @property {number} refused
 * @property {{time: string, count: number, reason: string}[]} reasons
 */

const EVERY = 10_000; // milliseconds from one update to the next
const BUILDS = 100; // newest builds among which those without symbols are listed
const LEAST = 0.01; // share of samples without a name below which nothing is said

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/status',
  title: 'Status',
  async render(main, _address, signal) {
    const senders = new Part(signal);
    const store = new Part(signal);
    main.append(element('h1', {}, this.title), senders.element, store.element);
    const update = () => senders.show(async (signal) => serverState(await (await call('/api/v1/status', { signal })).json()));
    await Promise.all([update(), store.show(storeState)]);
    const timer = setInterval(() => document.visibilityState === 'visible' && !main.contains(document.activeElement) && update(), EVERY);
    return { leave: () => clearInterval(timer) };
  },
};

/** @param {{version: string, read_only: boolean, senders: Record<string, Sender>}} status */
function serverState({ version, read_only: isReadOnly, senders }) {
  const rows = Object.entries(senders).map(([name, sender]) => ({ name, ...sender }));
  const lost = rows.reduce((sum, { refused }) => sum + refused, 0);
  const facts = element('p', { class: 'soft' }, `sto ${version}${isReadOnly ? ', read-only: profiles are refused' : ''}.`);
  if (rows.length === 0) return [facts, element('h2', {}, 'Senders'), element('p', {}, 'Nobody has sent a profile since the server started.')];
  const summary = lost > 0 ? element('p', { class: 'warnings' }, `${counted(lost, 'profile')} refused or stored in part; the reasons are below.`) : element('p', {}, 'Nothing was refused or dropped.');
  return [facts, element('h2', {}, 'Senders'), summary, senderTable(rows)];
}

/** @param {(Sender & {name: string})[]} rows */
function senderTable(rows) {
  return dataTable(
    [
      { title: 'Sender', isHead: true, cell: ({ name }) => name, key: ({ name }) => name },
      { title: 'Last seen', cell: ({ last_seen: time }) => minute(time), key: ({ last_seen: time }) => time },
      { title: 'Stored', isNumber: true, cell: ({ accepted }) => grouped(accepted), key: ({ accepted }) => accepted },
      { title: 'Received', isNumber: true, cell: ({ bytes }) => quantity(bytes, 'bytes'), key: ({ bytes }) => bytes },
      { title: 'Refused or in part', isNumber: true, cell: refused, key: (row) => row.refused },
    ],
    rows,
    { caption: 'Senders', details: ({ reasons }) => reasons.length > 0 && element('ul', { class: 'reasons' }, ...[...reasons].reverse().map(reason)) },
  );
}

/** @param {Sender} sender */
function refused({ refused: count }) {
  return element('span', { class: count > 0 ? 'worse' : null }, grouped(count));
}

/** @param {Sender['reasons'][number]} found */
function reason({ time, count, reason: text }) {
  return element('li', {}, `${minute(time)}, ${counted(count, 'time')}: ${text}`);
}

/** @param {AbortSignal} signal */
async function storeState(signal) {
  /** @type {{builds: Build[], more: number, totals: {profiles: number, samples: number}, file_bytes: number | null, saving: number | null}} */
  const found = await ask('builds', { limit: BUILDS }, signal);
  const { builds, more, totals, file_bytes: size, saving } = found;
  const amount = `${counted(builds.length + more, 'build')} with ${counted(totals.profiles, 'run')} and ${counted(totals.samples, 'sample')}`;
  const room = size ? `, in ${quantity(size, 'bytes')}` : '';
  const ratio = saving && saving > 1 ? `; the recordings were ${rounded(saving)} times as large` : '';
  return [element('h2', {}, 'Store'), element('p', {}, `${amount}${room}${ratio}.`), ...withoutSymbols(builds, signal)];
}

/**
 * Lists builds whose functions have no names.
 * @param {Build[]} builds
 * @param {AbortSignal} signal
 */
function withoutSymbols(builds, signal) {
  const rows = builds.map((build) => ({ build, share: unnamed(build) })).filter(({ share }) => share > LEAST);
  const heading = element('h2', {}, 'Symbols missing');
  if (rows.length === 0) return [heading, element('p', {}, 'Nearly all samples of the newest builds have names of functions.')];
  const table = dataTable(
    [
      { title: 'Build', isHead: true, cell: ({ build }) => element('a', { class: 'name', href: linkTo('/profile', { build: idsOf(build) }) }, build.version) },
      { title: 'Program', cell: ({ build }) => build.executable },
      { title: 'Recorded', cell: ({ build }) => minute(build.profiles[0]?.recorded) },
      { title: 'Unnamed samples', isNumber: true, cell: ({ share }) => percent(share), key: ({ share }) => share },
      { title: 'Modules', cell: ({ build }) => element('button', { type: 'button', click: (event) => nameModules(event.currentTarget, build, signal) }, 'which?') },
    ],
    rows,
    { caption: 'Builds without symbols, newest first' },
  );
  return [heading, element('p', {}, element('code', {}, 'sto symbolize'), ' adds names to stored profiles once the symbols can be found.'), table];
}

/** @param {Build} build */
function unnamed({ profiles }) {
  const samples = profiles.reduce((sum, run) => sum + run.samples, 0);
  return profiles.reduce((sum, run) => sum + run.quality.unresolved * run.samples, 0) / Math.max(samples, 1);
}

/** @param {Build} build */
function idsOf({ profiles }) {
  return formatRuns(profiles.map(({ id }) => id));
}

/**
 * Replaces a button by the modules without symbols.
 * @param {HTMLElement} button
 * @param {Build} build
 * @param {AbortSignal} signal
 */
async function nameModules(button, build, signal) {
  const shown = await ask('show', { named: { runs: build.profiles.map(({ id }) => id) } }, signal).catch(() => null);
  /** @type {{module: string, advice: string}[]} */
  const modules = shown?.profiles.flatMap((/** @type {{unresolved: object[]}} */ { unresolved }) => unresolved) ?? [];
  const said = new Set(modules.map(({ module, advice }) => `${module || 'addresses outside of modules'}: ${advice}`));
  button.replaceWith(element('ul', {}, ...[...said].map((text) => element('li', {}, text))));
}
