'use strict';
// Inside a run: its timeline, and the calls of its threads. Both are the pages that `sto timeline` and `sto calls` write.
import { ask } from '../ask.js';
import { formatRuns, parseBuildRef } from '../build_ref.js';
import { dataTable } from '../components/data_table.js';
import { choice, options } from '../components/fields.js';
import { minute } from '../components/measures.js';
import { grouped } from '../components/numbers.js';
import { Part } from '../components/part.js';
import { element } from '../dom.js';
import { setTitle } from '../shell/header.js';
import { currentAddress, linkTo, remember } from '../shell/router.js';

/** @typedef {import('./builds.js').Build} Build */

const BUILDS = 100; // newest builds whose runs are listed

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/run',
  title: 'Inside a run',
  async render(main, address, signal) {
    const result = new Part(signal);
    const heading = element('h1', {}, this.title);
    main.append(heading, result.element);
    await restore(address);
    return { restore: (address) => (restore(address), true) };

    /** @param {import('../shell/router.js').Address} address */
    function restore({ parameters }) {
      return result.show((signal) => (parameters.has('build') ? run(parameters, heading, signal) : runs(signal)));
    }
  },
};

/**
 * Lists runs that can be looked into.
 * @param {AbortSignal} signal
 */
async function runs(signal) {
  /** @type {{builds: Build[]}} */
  const { builds } = await ask('builds', { limit: BUILDS }, signal);
  const runs = builds.flatMap(({ executable, version, profiles }) => profiles.map((run) => ({ ...run, executable, version })));
  const sliced = runs.filter(({ slices_bytes }) => slices_bytes > 0);
  if (sliced.length === 0) {
    return [element('p', {}, 'No run of this store keeps its course over time. ', element('code', {}, 'sto ingest --slices 1000'), ' does.')];
  }
  return [
    element('p', {}, 'Choose a run:'),
    dataTable(
      [
        { title: 'Run', isHead: true, cell: ({ id }) => element('a', { class: 'name', href: linkTo('/run', { build: formatRuns([id]) }) }, id.slice(0, 8)) },
        { title: 'Program', cell: ({ executable }) => executable, key: ({ executable }) => executable },
        { title: 'Build', cell: ({ version }) => version, key: ({ version }) => version },
        { title: 'Benchmark', cell: ({ benchmark }) => benchmark },
        { title: 'Recorded', cell: ({ recorded }) => minute(recorded), key: ({ recorded }) => recorded ?? '' },
        { title: 'Format', cell: ({ format }) => format },
        { title: 'Samples', isNumber: true, cell: ({ samples }) => grouped(samples), key: ({ samples }) => samples },
      ],
      sliced,
      { caption: 'Runs with a course over time, newest first' },
    ),
  ];
}

/**
 * @param {URLSearchParams} parameters
 * @param {HTMLElement} heading
 * @param {AbortSignal} signal
 */
async function run(parameters, heading, signal) {
  const build = parameters.get('build') ?? '';
  const shown = await ask('show', { named: parseBuildRef(build) }, signal);
  const { executable, version, profiles } = shown;
  const hasCalls = profiles.some((/** @type {{calls_over_time?: object | null}} */ profile) => profile.calls_over_time);
  const view = parameters.get('view') ?? 'timeline';
  setTitle('Inside a run', `${executable} ${version}`);
  heading.textContent = `Inside ${executable} ${version}`;
  const change = (/** @type {Record<string, string>} */ changes) => {
    remember(changes);
    // The back button leads to the address of this screen, not of the frame.
    frame.contentWindow?.location.replace(addressOf(currentAddress().parameters));
  };
  const frame = element('iframe', { class: 'page', title: `${executable} ${version} over time`, src: addressOf(parameters), load: () => fit(frame) });
  const events = [...new Set(profiles.flatMap((/** @type {{events: {event: string}[]}} */ { events }) => events.map(({ event }) => event)))];
  return [
    element(
      'form',
      { class: 'tools', 'aria-label': 'What is shown' },
      element('a', { href: linkTo('/profile', { build }) }, 'Profile'),
      hasCalls && choice('View', options(['', 'calls'], view, 'timeline', { calls: 'calls of threads' }), (view) => change({ view })),
      events.length > 1 && choice('Event', options(['', ...events], parameters.get('event'), 'the usual'), (event) => change({ event })),
    ),
    frame,
  ];
}

/** @param {URLSearchParams} parameters */
function addressOf(parameters) {
  const page = parameters.get('view') === 'calls' ? 'calls' : 'timeline';
  const window = parameters.get('window');
  return linkTo(`/pages/${page}`, { build: parameters.get('build'), event: parameters.get('event') }) + (window ? `#${window}` : '');
}

/**
 * Gives a page the height of its content and the colours of this one, and keeps its window of time in the address.
 * @param {HTMLIFrameElement} frame
 */
function fit(frame) {
  const root = frame.contentDocument?.documentElement;
  const page = frame.contentWindow;
  if (!root || !page) return;
  page.addEventListener('hashchange', () => remember({ window: page.location.hash.slice(1) }, { replace: true }));
  // This screen has the heading already.
  root.querySelector('h1')?.setAttribute('hidden', '');
  root.style.colorScheme = getComputedStyle(document.documentElement).colorScheme;
  const resize = () => (frame.style.height = `${root.scrollHeight}px`);
  new ResizeObserver(resize).observe(root);
  resize();
}
