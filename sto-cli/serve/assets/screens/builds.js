'use strict';
// The builds of a store: filters, and a table with the runs of each build and its verdict against the build before.
import { ask } from '../ask.js';
import { formatRuns } from '../build_ref.js';
import { dataTable } from '../components/data_table.js';
import { choice, options, textField } from '../components/fields.js';
import { Part } from '../components/part.js';
import { element } from '../dom.js';
import { minute, rounded } from '../components/measures.js';
import { counted, grouped, percent, quantity } from '../components/numbers.js';
import { Problem } from '../problem.js';
import { currentAddress, linkTo, remember } from '../shell/router.js';

/** @typedef {import('../shell/router.js').Address} Address */

/**
 * Changes parameters of the address.
 * @typedef {(changes: Record<string, string | string[]>) => void} Change
 */

/**
 * A run, as the library lists it.
 * @typedef {object} Run
 * @property {string} id
 * @property {string | null} recorded
 * @property {string} format
 * @property {string | null} benchmark
 * @property {Record<string, string>} labels
 * @property {Record<string, number>} metrics
 * @property {{event: string, unit: string}[]} events
 * @property {number} samples
 * @property {Record<'unresolved' | 'truncated' | 'without_stack' | 'lost', number>} quality
 * @property {number} own_bytes
 * @property {number} slices_bytes
 */

/**
 * A build with its runs, newest first.
 * @typedef {object} Build
 * @property {string} executable
 * @property {string} version
 * @property {string | null} revision
 * @property {{hash: string, parents: string[], author_time: number, subject: string} | undefined} commit
 * @property {string[] | undefined} tags
 * @property {Run[]} profiles
 * @property {{samples: number, own_bytes: number}} totals
 */

const PAGE = 50; // builds
const NAMES = 6; // of code, above the builds

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/builds',
  title: 'Builds',
  async render(main, address, signal) {
    const labels = await ask('labels', {}, signal);
    const form = element('form', { class: 'tools', role: 'search', 'aria-label': 'Filters', submit: (event) => event.preventDefault() });
    const list = new Part(signal);
    let verdicts = new Verdicts([], signal);
    main.append(element('h1', {}, this.title), form, list.element);
    await restore(address);
    return { restore: (address) => (restore(address), true), leave: () => verdicts.stop() };

    /** @param {Address} address */
    function restore({ parameters }) {
      form.replaceChildren(...filters(labels, parameters, change));
      return show(parameters);
    }

    /** @type {Change} */
    function change(changes) {
      remember({ offset: null, ...changes });
      const { parameters } = currentAddress();
      // The field for text keeps the focus.
      if (!('text' in changes)) form.replaceChildren(...filters(labels, parameters, change));
      show(parameters);
    }

    /** @param {URLSearchParams} parameters */
    function show(parameters) {
      verdicts.stop();
      return list.show(async (signal) => {
        const isByGit = parameters.get('order') === 'git';
        const offset = Number(parameters.get('offset')) || 0;
        const [found, code] = await Promise.all([listed(parameters, isByGit, offset, signal), codeNamed(parameters, signal)]);
        if (!found) return [code, nothing(labels)];
        const ordered = isByGit ? byHistory(found.builds) : newestFirst(found.builds);
        const first = isByGit ? offset : 0;
        verdicts = new Verdicts(ordered, signal);
        const count = isByGit ? ordered.length : offset + ordered.length + found.more;
        return [code, table(ordered.slice(first, first + PAGE), verdicts), pages(parameters, offset, count)];
      });
    }
  },
};

/**
 * @param {URLSearchParams} parameters
 * @param {boolean} isByGit Commits are ordered here, which takes all builds.
 * @param {number} offset
 * @param {AbortSignal} signal
 * @returns {Promise<{builds: Build[], more: number} | null>} `null` if no run matches.
 */
async function listed(parameters, isByGit, offset, signal) {
  const request = {
    executable: parameters.get('program'),
    benchmarks: parameters.getAll('benchmark'),
    labels: Object.fromEntries(parameters.getAll('label').map((label) => split(label))),
    text: parameters.get('text'),
    // The build before the last one of a page is compared with it.
    ...(isByGit ? {} : { offset, limit: PAGE + 1 }),
  };
  try {
    return await ask('builds', request, signal);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/**
 * Lists functions, modules and source files whose names have the searched text.
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} signal
 */
async function codeNamed(parameters, signal) {
  const text = parameters.get('text');
  if (!text) return null;
  const request = { text, kinds: ['function', 'module', 'file'], executable: parameters.get('program'), limit: NAMES };
  /** @type {{found: {kind: string, name: string, executables: string[]}[], more: number}} */
  const { found, more } = await ask('search', request, signal);
  if (found.length === 0) return null;
  const items = found.map(({ kind, name, executables }) => {
    const link = linkTo('/time', { program: executables[0], function: name });
    const shown = kind === 'function' ? element('a', { class: 'name', href: link }, name) : element('span', { class: 'name' }, name);
    return element('li', {}, shown, element('small', {}, ` ${kind} of ${executables.join(', ')}`));
  });
  return element('section', { class: 'panel', 'aria-label': 'Code with this name' }, element('ul', { class: 'names' }, ...items), more > 0 && element('small', {}, `${counted(more, 'more name')}; Ctrl+K finds them by more of the name.`));
}

/** @param {string} label As `KEY=VALUE`. */
function split(label) {
  const at = label.indexOf('=');
  return [label.slice(0, at), label.slice(at + 1)];
}

/**
 * @param {{executables: object, benchmarks: object, labels: Record<string, object>}} labels
 * @param {URLSearchParams} parameters
 * @param {Change} change
 */
function filters(labels, parameters, change) {
  const values = Object.entries(labels.labels).flatMap(([key, values]) => Object.keys(values).map((value) => `${key}=${value}`));
  const chosen = parameters.getAll('label');
  const removable = chosen.map((label) =>
    element('button', { type: 'button', 'aria-label': `Remove the filter ${label}`, click: () => change({ label: chosen.filter((other) => other !== label) }) }, `${label} ×`),
  );
  return [
    textField('Search', parameters.get('text') ?? '', (text) => change({ text }), 'program, build or benchmark'),
    choice('Program', options(['', ...Object.keys(labels.executables)], parameters.get('program'), 'all'), (program) => change({ program })),
    choice('Benchmark', options(['', ...Object.keys(labels.benchmarks)], parameters.get('benchmark'), 'all'), (benchmark) => change({ benchmark })),
    ...(values.length > 0 ? [choice('Label', options(['', ...values.filter((label) => !chosen.includes(label))], '', 'any'), (label) => change({ label: [...chosen, label] }))] : []),
    ...removable,
    choice('Order', options(['', 'git'], parameters.get('order'), 'by time', { git: 'by commit' }), (order) => change({ order })),
  ];
}

/** @param {{executables: object}} labels */
function nothing({ executables }) {
  const isEmpty = Object.keys(executables).length === 0;
  return isEmpty
    ? element(
        'section',
        { class: 'panel' },
        element('h2', {}, 'Nothing is stored yet'),
        element('p', {}, 'Send a profile: ', element('code', {}, `curl --data-binary @perf.data '${location.origin}/api/v1/profiles?program=demo&build=v1'`)),
      )
    : element('p', {}, 'No run matches these filters.');
}

/**
 * Orders builds by the time of their first run, newest first. As for `@newest`, builds of a program with equal times are
 * ordered by version. Builds without a time come last.
 * @param {Build[]} builds
 */
function newestFirst(builds) {
  /** @param {Build} build */
  const begin = ({ profiles }) => profiles.at(-1)?.recorded ?? '';
  /** @param {string} a @param {string} b */
  const compare = (a, b) => Number(a > b) - Number(a < b);
  return [...builds].sort((a, b) =>
    compare(begin(b), begin(a)) || (begin(a) && (compare(a.executable, b.executable) || compare(b.version, a.version))) || 0);
}

/**
 * Orders builds by their commits, newest first: children before their parents, otherwise by author time. Builds
 * without a commit come last.
 * @param {Build[]} builds
 */
function byHistory(builds) {
  /** @type {Map<string, number>} */
  const times = new Map();
  const oldestFirst = builds.filter(({ commit }) => commit).sort((a, b) => timeOf(a) - timeOf(b));
  const known = new Map(oldestFirst.map((build) => [build.commit?.hash, build]));
  /** @param {Build} build @returns {number} */
  const place = (build) => {
    const { hash = '', parents = [] } = build.commit ?? {};
    const done = times.get(hash);
    if (done !== undefined) return done;
    times.set(hash, timeOf(build));
    const measured = parents.flatMap((parent) => known.get(parent) ?? []);
    const time = Math.max(timeOf(build), ...measured.map((parent) => place(parent) + 1e-3));
    times.set(hash, time);
    return time;
  };
  return [...builds].sort((a, b) => Number(!a.commit) - Number(!b.commit) || (a.commit && b.commit ? place(b) - place(a) : 0));
}

/** @param {Build} build */
function timeOf({ commit }) {
  return commit?.author_time ?? 0;
}

/** @param {{profiles: readonly {id: string}[]}} build */
export function runsOf({ profiles }) {
  return formatRuns(profiles.map(({ id }) => id));
}

/**
 * @param {Build[]} builds
 * @param {Verdicts} verdicts
 */
function table(builds, verdicts) {
  return dataTable(
    [
      { title: 'Build', isHead: true, cell: nameOf },
      { title: 'Program', cell: ({ executable }) => executable },
      { title: 'Recorded', cell: ({ profiles }) => element('span', { class: 'time' }, minute(profiles[0]?.recorded)) },
      { title: 'Runs', cell: runsByBenchmark, isSwitch: true },
      { title: 'Samples', isNumber: true, cell: ({ totals }) => grouped(totals.samples) },
      { title: 'Size', isNumber: true, cell: ({ totals }) => quantity(totals.own_bytes, 'bytes'), about: 'Bytes of the store that only these runs take' },
      { title: 'Quality', cell: ({ profiles }) => quality(profiles) },
      { title: 'Verdict', cell: (build) => verdicts.cell(build), about: 'Against the next older build of the program in this list' },
    ],
    builds,
    { caption: 'Builds, newest first', details: ({ profiles }) => runs(profiles) },
  );
}

/** @param {Build} build */
function nameOf(build) {
  const { version, commit, tags = [], revision } = build;
  return element(
    'span',
    {},
    element('a', { class: 'name', href: linkTo('/profile', { build: runsOf(build) }), title: revision }, version),
    ...tags.map((tag) => element('small', { class: 'tag' }, tag)),
    commit && element('small', { class: 'commit' }, element('code', {}, commit.hash.slice(0, 8)), ` ${commit.subject}`),
  );
}

/** @param {Build} build */
function runsByBenchmark({ profiles }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { benchmark } of profiles) counts.set(benchmark ?? '', (counts.get(benchmark ?? '') ?? 0) + 1);
  return [...counts].map(([benchmark, count]) => (benchmark ? `${grouped(count)} of ${benchmark}` : counted(count, 'run'))).join(', ');
}

/**
 * Says what is wrong with the stacks of runs; nothing if 1 % or less is.
 * @param {readonly Run[]} profiles
 */
function quality(profiles) {
  const samples = profiles.reduce((sum, run) => sum + run.samples, 0) || 1;
  const share = (/** @type {keyof Run['quality']} */ key) => profiles.reduce((sum, run) => sum + run.quality[key] * run.samples, 0) / samples;
  /** @type {[string, number][]} */
  const problems = [
    ['unnamed', share('unresolved')],
    ['cut off', share('truncated')],
    ['without stack', share('without_stack')],
    ['lost', share('lost')],
  ];
  const found = problems.filter(([, part]) => part > 0.01).map(([what, part]) => `${percent(part)} ${what}`);
  return found.length > 0 ? element('span', { class: 'unsure' }, found.join(', ')) : 'good';
}

/** @param {readonly Run[]} profiles */
function runs(profiles) {
  return dataTable(
    [
      { title: 'Run', isHead: true, cell: ({ id }) => element('a', { class: 'name', href: linkTo('/profile', { build: formatRuns([id]) }) }, id.slice(0, 8)) },
      { title: 'Recorded', cell: ({ recorded }) => minute(recorded) },
      { title: 'Benchmark', cell: ({ benchmark }) => benchmark },
      { title: 'Events', cell: ({ events }) => events.map(({ event }) => event).join(', ') },
      { title: 'Labels', cell: ({ labels }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(', ') },
      { title: 'Metrics', cell: ({ metrics }) => Object.entries(metrics).map(([name, value]) => `${name} ${rounded(value)}`).join(', ') },
      { title: 'Samples', isNumber: true, cell: ({ samples }) => grouped(samples) },
      { title: 'Quality', cell: (run) => quality([run]) },
      { title: 'Over time', cell: ({ id, slices_bytes }) => slices_bytes > 0 && element('a', { href: linkTo('/run', { build: formatRuns([id]) }) }, 'look inside') },
    ],
    profiles,
    { caption: 'Runs' },
  );
}

/**
 * @param {URLSearchParams} parameters
 * @param {number} offset
 * @param {number} count
 */
function pages(parameters, offset, count) {
  const to = (/** @type {number} */ offset) => {
    const query = new URLSearchParams(parameters);
    query.set('offset', String(offset));
    return `/builds?${query}`;
  };
  const last = Math.min(offset + PAGE, count);
  return element(
    'nav',
    { class: 'tools', 'aria-label': 'Pages' },
    element('span', { class: 'soft' }, `${grouped(offset + 1)} to ${grouped(last)} of ${counted(count, 'build')}`),
    offset > 0 && element('a', { href: to(Math.max(0, offset - PAGE)), rel: 'prev' }, 'newer builds'),
    last < count && element('a', { href: to(offset + PAGE), rel: 'next' }, 'older builds'),
  );
}

/** @type {Map<string, {verdict: string, reason: string}>} Verdicts by the address of the comparison; content ids never mean something else. */
const known = new Map();

/** Asks for verdicts of builds when they come into view, one after the other. */
class Verdicts {
  /**
   * @param {Build[]} builds Newest first.
   * @param {AbortSignal} signal
   */
  constructor(builds, signal) {
    this.builds = builds;
    this.signal = signal;
    /** @type {Map<Element, Build>} */
    this.waiting = new Map();
    this.asked = Promise.resolve();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) this.#queue(target);
    });
  }

  stop() {
    this.observer.disconnect();
  }

  /** @param {Build} build */
  cell(build) {
    const before = this.#before(build);
    if (!before) return element('span', { class: 'soft' }, 'first');
    const cell = element('span', { class: 'soft judged' }, '…');
    this.waiting.set(cell, build);
    this.observer.observe(cell);
    return cell;
  }

  /** @param {Build} build */
  #before(build) {
    return this.builds.slice(this.builds.indexOf(build) + 1).find(({ executable }) => executable === build.executable);
  }

  /** @param {Element} cell */
  #queue(cell) {
    this.observer.unobserve(cell);
    const build = this.waiting.get(cell);
    const before = build && this.#before(build);
    if (!build || !before) return;
    this.waiting.delete(cell);
    this.asked = this.asked.then(() => this.#show(cell, before, build));
  }

  /**
   * @param {Build} before
   * @param {Build} build
   */
  #ask(before, build) {
    const ids = (/** @type {Build} */ { profiles }) => ({ runs: profiles.map(({ id }) => id) });
    return ask('check', { baseline: { any: ids(before) }, candidate: ids(build) }, this.signal);
  }

  /**
   * @param {Element} cell
   * @param {Build} before
   * @param {Build} build
   */
  async #show(cell, before, build) {
    if (this.signal.aborted) return;
    const link = linkTo('/compare', { baseline: runsOf(before), candidate: runsOf(build) });
    try {
      const { verdict, reason } = known.get(link) ?? (await this.#ask(before, build));
      known.set(link, { verdict, reason });
      cell.replaceChildren(element('a', { class: CLASSES[verdict], href: link, title: `Against ${before.version}: ${reason}` }, WORDS[verdict] ?? verdict));
    } catch (error) {
      if (this.signal.aborted) return;
      cell.replaceChildren(element('span', { title: error instanceof Error ? error.message : '' }, 'not comparable'));
    }
  }
}

/** @type {Record<string, string>} */
const WORDS = { regression: '▲ regression', clean: '✓ clean', insufficient: '? too little data' };
/** @type {Record<string, string>} */
const CLASSES = { regression: 'worse', clean: 'better', insufficient: 'unsure' };
