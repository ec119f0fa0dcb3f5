'use strict';
// A function, or a whole program, over its builds: a plot with level shifts, and tables of both.
import { ask } from '../ask.js';
import { formatRuns } from '../build_ref.js';
import { dataTable } from '../components/data_table.js';
import { choice, options, textField } from '../components/fields.js';
import { linePlot } from '../components/line_plot.js';
import { Part } from '../components/part.js';
import { element } from '../dom.js';
import { minute } from '../components/measures.js';
import { change as ratioOf, counted, grouped, percent, probability, quantity } from '../components/numbers.js';
import { setTitle } from '../shell/header.js';
import { currentAddress, linkTo, remember } from '../shell/router.js';

/** @typedef {import('./builds.js').Build} Build */
/** @typedef {import('../shell/router.js').Address} Address */

/**
 * An observation of the question `series`.
 * @typedef {object} Point
 * @property {string} build
 * @property {string} profile
 * @property {string | null} recorded
 * @property {number} samples
 * @property {number} share
 * @property {number} cost
 * @property {number | null} mean
 * @property {number | null} low
 * @property {number | null} high
 */

/**
 * The answer to the question `series`.
 * @typedef {object} Series
 * @property {{executable: string, benchmark: string | null, runs: number, sample_type: {event: string, unit: string}}} history
 * @property {{function: string, module: string}[]} functions
 * @property {'share' | 'cost'} observed
 * @property {Point[]} points
 * @property {{at: number, before: number, after: number, p: number, runs: number, build: string}[]} changes
 */

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/time',
  title: 'Over time',
  async render(main, address, signal) {
    const labels = await ask('labels', {}, signal);
    const form = element('form', { class: 'tools', 'aria-label': 'What is shown', submit: (event) => event.preventDefault() });
    const names = element('datalist', { id: 'functions' });
    const result = new Part(signal);
    main.append(element('h1', {}, this.title), form, names, result.element);
    await restore(address);
    return { restore: (address) => (restore(address), true) };

    /** @param {Address} address */
    function restore({ parameters }) {
      form.replaceChildren(...fields(labels, parameters, names, change));
      return show(parameters);
    }

    /** @param {Record<string, string>} changes */
    function change(changes) {
      remember(changes);
      const { parameters } = currentAddress();
      if (!('function' in changes)) form.replaceChildren(...fields(labels, parameters, names, change));
      // The share of a whole program is always 100 %.
      form.querySelector('.observed')?.toggleAttribute('hidden', !parameters.get('function'));
      show(parameters);
    }

    /** @param {URLSearchParams} parameters */
    function show(parameters) {
      return result.show((signal) => shown(parameters, Object.keys(labels.executables), signal));
    }
  },
};

/**
 * @param {{executables: object, benchmarks: object}} labels
 * @param {URLSearchParams} parameters
 * @param {HTMLDataListElement} names Filled with functions while the user types.
 * @param {(changes: Record<string, string>) => void} change
 */
function fields({ executables, benchmarks }, parameters, names, change) {
  const programs = Object.keys(executables);
  const program = parameters.get('program') ?? programs[0];
  const name = textField('Function', parameters.get('function') ?? '', (name) => change({ function: name }), 'the whole program');
  name.addEventListener('input', (event) => suggest(/** @type {HTMLInputElement} */ (event.target).value, program, names));
  name.querySelector('input')?.setAttribute('list', names.id);
  const observed = choice('Show', options(['', 'cost'], parameters.get('observed'), 'share of all samples', { cost: 'cost of a run' }), (observed) => change({ observed }));
  observed.classList.add('observed');
  observed.hidden = !parameters.get('function');
  return [
    choice('Program', options(programs, program), (program) => change({ program })),
    choice('Benchmark', options(['', ...Object.keys(benchmarks)], parameters.get('benchmark'), 'the only one'), (benchmark) => change({ benchmark })),
    name,
    observed,
    choice('Points', options(['', 'run'], parameters.get('by'), 'builds', { run: 'runs' }), (by) => change({ by })),
  ];
}

/**
 * @param {string} text
 * @param {string} program
 * @param {HTMLDataListElement} names
 */
async function suggest(text, program, names) {
  if (text.length < 2) return;
  const { found } = await ask('search', { text, kinds: ['function'], executable: program, limit: 12 }).catch(() => ({ found: [] }));
  names.replaceChildren(...found.map((/** @type {{name: string}} */ { name }) => element('option', { value: name })));
}

/**
 * @param {URLSearchParams} parameters
 * @param {string[]} programs
 * @param {AbortSignal} signal
 */
async function shown(parameters, programs, signal) {
  if (programs.length === 0) return [element('p', {}, 'Nothing is stored yet.')];
  const executable = parameters.get('program') ?? programs[0];
  const name = parameters.get('function') ?? '';
  const benchmark = parameters.get('benchmark');
  const history = { executable, benchmarks: benchmark ? [benchmark] : [], event: parameters.get('event') };
  const observed = name === '' ? 'cost' : (parameters.get('observed') ?? 'share');
  const request = { function: name, history, observed, by: parameters.get('by') ?? 'build' };
  const [series, { builds }] = await Promise.all([ask('series', request, signal), ask('builds', { executable, benchmarks: history.benchmarks }, signal)]);
  const subject = name === '' ? executable : `${name} in ${executable}`;
  setTitle('Over time', subject);
  return content(series, new Map(builds.map((/** @type {Build} */ build) => [build.version, build])), subject);
}

/**
 * @param {Series} series
 * @param {Map<string, Build>} builds By version.
 * @param {string} subject
 */
function content(series, builds, subject) {
  const { history, points, changes, functions, observed } = series;
  const { event, unit } = history.sample_type;
  const format = (/** @type {number} */ value) => (observed === 'share' ? percent(value) : quantity(value, unit));
  const number = (/** @type {Point} */ point) => (observed === 'share' ? point.share : point.cost);
  const links = points.map((_, ix) => comparison(points, ix, builds));
  const plot = linePlot({
    title: `${subject} over time; arrow keys go from point to point, Enter compares with the build before`,
    format,
    shifts: changes,
    points: points.map((point, ix) => ({
      value: number(point),
      name: point.build,
      low: point.low,
      high: point.high,
      link: links[ix],
      isMarked: (point.low !== null && number(point) < point.low) || (point.high !== null && number(point) > point.high),
      about: described(point, format(number(point)), builds.get(point.build), format),
    })),
  });
  const what = observed === 'share' ? `Share of ${event}` : `Cost of a run in ${event}`;
  const matched = functions.length > 1 ? ` ${counted(functions.length, 'function')} match: ${functions.slice(0, 5).map((found) => found.function).join(', ')}${functions.length > 5 ? ', …' : ''}.` : '';
  return [
    element('h2', {}, subject),
    element('p', { class: 'soft' }, `${what}, ${counted(history.runs, 'run')}${history.benchmark ? ` of ${history.benchmark}` : ''}, oldest first. The shaded range is expected from the observations before.${matched}`),
    plot,
    shiftTable(changes, points, builds, format),
    pointTable(points, links, builds, format, number),
  ];
}

/**
 * Describes a point in a sentence.
 * @param {Point} point
 * @param {string} value
 * @param {Build | undefined} build
 * @param {(value: number) => string} format
 */
function described({ build: version, recorded, low, high }, value, build, format) {
  const expected = low !== null && high !== null ? `, expected ${format(low)} to ${format(high)}` : '';
  const subject = build?.commit ? `. ${build.commit.hash.slice(0, 8)} ${build.commit.subject}` : '';
  return `${version}, ${minute(recorded)}: ${value}${expected}${subject}`;
}

/**
 * Returns a link to the comparison of a point's build with the build before; the first point is only shown.
 * @param {Point[]} points
 * @param {number} ix
 * @param {Map<string, Build>} builds
 */
function comparison(points, ix, builds) {
  const before = points.slice(0, ix).findLast(({ build }) => build !== points[ix].build);
  const candidate = idsOf(points[ix].build, builds);
  return before ? linkTo('/compare', { baseline: idsOf(before.build, builds), candidate }) : linkTo('/profile', { build: candidate });
}

/**
 * @param {string} version
 * @param {Map<string, Build>} builds
 */
function idsOf(version, builds) {
  return formatRuns((builds.get(version)?.profiles ?? []).map(({ id }) => id));
}

/**
 * @param {Series['changes']} changes
 * @param {Point[]} points
 * @param {Map<string, Build>} builds
 * @param {(value: number) => string} format
 */
function shiftTable(changes, points, builds, format) {
  if (changes.length === 0) return element('p', {}, 'The level did not shift.');
  const table = dataTable(
    [
      { title: 'Since', isHead: true, cell: ({ at, build }) => element('a', { class: 'name', href: comparison(points, at, builds) }, build) },
      ...(hasCommits(builds) ? [{ title: 'Commit', cell: (/** @type {Series['changes'][number]} */ { build }) => commitOf(builds.get(build)) }] : []),
      { title: 'Before', isNumber: true, cell: ({ before }) => format(before) },
      { title: 'After', isNumber: true, cell: ({ after }) => format(after) },
      { title: 'Change', isNumber: true, cell: ({ before, after }) => changed(before, after) },
      { title: 'p', isNumber: true, cell: ({ p }) => probability(p), about: 'Probability of such a shift if nothing had changed' },
      { title: 'Rests on', isNumber: true, cell: ({ runs }) => counted(runs, 'run') },
    ],
    changes,
    { caption: 'Level shifts' },
  );
  return element('section', {}, element('h3', {}, counted(changes.length, 'level shift')), table);
}

/**
 * @param {number} before
 * @param {number} after
 */
function changed(before, after) {
  const isMore = after > before;
  return element('span', { class: isMore ? 'worse' : 'better' }, `${isMore ? '▲' : '▼'} ${ratioOf(before, after)}`);
}

/** @param {Map<string, Build>} builds */
function hasCommits(builds) {
  return [...builds.values()].some(({ commit }) => commit);
}

/** @param {Build | undefined} build */
function commitOf(build) {
  return build?.commit && element('span', {}, element('code', {}, build.commit.hash.slice(0, 8)), ` ${build.commit.subject}`);
}

/**
 * @param {Point[]} points
 * @param {string[]} links
 * @param {Map<string, Build>} builds
 * @param {(value: number) => string} format
 * @param {(point: Point) => number} number
 */
function pointTable(points, links, builds, format, number) {
  const rows = points.map((point, ix) => ({ point, link: links[ix] })).reverse();
  const table = dataTable(
    [
      { title: 'Build', isHead: true, cell: ({ point, link }) => element('a', { class: 'name', href: link }, point.build) },
      { title: 'Recorded', cell: ({ point }) => minute(point.recorded) },
      ...(hasCommits(builds) ? [{ title: 'Commit', cell: (/** @type {{point: Point}} */ { point }) => commitOf(builds.get(point.build)) }] : []),
      { title: 'Value', isNumber: true, cell: ({ point }) => format(number(point)) },
      { title: 'Expected', isNumber: true, cell: ({ point: { low, high } }) => low !== null && high !== null && `${format(low)} to ${format(high)}` },
      { title: 'Samples', isNumber: true, cell: ({ point }) => grouped(point.samples) },
    ],
    rows,
    { caption: 'All points, newest first' },
  );
  return element('details', {}, element('summary', {}, `All ${counted(points.length, 'point')}`), table);
}
