'use strict';
// The functions or libraries that keep the most cores busy over all programs, and the cores that a part less would save.
import { ask } from '../ask.js';
import { dataTable } from '../components/data_table.js';
import { choice, numberField, options } from '../components/fields.js';
import { Part } from '../components/part.js';
import { element, svg } from '../dom.js';
import { duration, rounded } from '../components/measures.js';
import { counted, percent } from '../components/numbers.js';
import { Problem } from '../problem.js';
import { currentAddress, linkTo, remember } from '../shell/router.js';

/**
 * A number of cores with its interval.
 * @typedef {{value: number, low: number | null, high: number | null}} Cores
 */

/**
 * @typedef {object} Saving
 * @property {string | null} function
 * @property {string} module
 * @property {Cores} self
 * @property {Cores} total
 * @property {Cores} saved
 * @property {number} share
 * @property {{executable: string, cores: number}[]} programs
 */

/**
 * The answer to the question `savings`.
 * @typedef {object} Savings
 * @property {'self' | 'total'} order
 * @property {number} less
 * @property {Cores} cores
 * @property {{executable: string, runs: number, hosts: number | null, wall_seconds: number, cpu_seconds: number, cores: Cores}[]} programs
 * @property {Saving[]} savings
 * @property {number} omitted
 * @property {{without_cpu_time: number, without_duration: number}} left_out
 */

const LIMIT = 50; // rows
const PROGRAMS = 3; // named in a row
const DAY = 86_400; // seconds

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/savings',
  title: 'Savings',
  async render(main, address, signal) {
    const labels = await ask('labels', {}, signal);
    const form = element('form', { class: 'tools', 'aria-label': 'What is shown', submit: (event) => event.preventDefault() });
    const result = new Part(signal);
    main.append(
      element('h1', {}, this.title),
      element('p', { class: 'soft' }, 'Cores are processor time divided by wall time: what one running instance of each program keeps busy, on average over all runs.'),
      form,
      result.element,
    );
    await restore(address);
    return { restore: (address) => (restore(address), true) };

    /** @param {import('../shell/router.js').Address} address */
    function restore({ parameters }) {
      form.replaceChildren(...fields(labels, parameters, change));
      return result.show((signal) => shown(parameters, signal));
    }

    /** @param {Record<string, string>} changes */
    function change(changes) {
      remember(changes);
      const { parameters } = currentAddress();
      result.show((signal) => shown(parameters, signal));
    }
  },
};

/**
 * @param {{executables: object, benchmarks: object}} labels
 * @param {URLSearchParams} parameters
 * @param {(changes: Record<string, string>) => void} change
 */
function fields({ executables, benchmarks }, parameters, change) {
  const days = { 1: 'last day', 7: 'last 7 days', 30: 'last 30 days', 365: 'last year' };
  return [
    choice('Of', options(['', 'modules'], parameters.get('of'), 'functions', { modules: 'libraries' }), (of) => change({ of })),
    choice('By', options(['', 'total'], parameters.get('order'), 'self cost', { total: 'total cost' }), (order) => change({ order })),
    numberField('If each took', partOf(parameters) * 100, { min: 1, max: 100, unit: '% less' }, (less) => change({ less: String(less) })),
    choice('Program', options(['', ...Object.keys(executables)], parameters.get('program'), 'all'), (program) => change({ program })),
    choice('Benchmark', options(['', ...Object.keys(benchmarks)], parameters.get('benchmark'), 'all'), (benchmark) => change({ benchmark })),
    choice('Recorded', options(['', ...Object.keys(days)], parameters.get('days'), 'any time', days), (days) => change({ days })),
  ];
}

/** @param {URLSearchParams} parameters */
function partOf(parameters) {
  const percent = Number(parameters.get('less') ?? 10);
  return percent > 0 && percent <= 100 ? percent / 100 : 0.1;
}

/**
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} signal
 */
async function shown(parameters, signal) {
  const days = Number(parameters.get('days'));
  const benchmark = parameters.get('benchmark');
  const request = {
    runs: {
      executable: parameters.get('program'),
      benchmarks: benchmark ? [benchmark] : [],
      // Whole minutes, so that the server can answer from its cache.
      since: days > 0 ? Math.floor(Date.now() / 60_000) * 60 - days * DAY : null,
    },
    options: { of: parameters.get('of') ?? 'functions', order: parameters.get('order') ?? 'self', less: partOf(parameters), limit: LIMIT },
  };
  try {
    return content(await ask('savings', request, signal));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return [element('p', {}, 'No run matches these filters.')];
    throw error;
  }
}

/** @param {Savings} found */
function content(found) {
  const { without_cpu_time: cpu, without_duration: wall } = found.left_out;
  const leftOut = [cpu > 0 && `${counted(cpu, 'run')} without processor time`, wall > 0 && `${counted(wall, 'run')} of unknown duration`].filter(Boolean);
  const note = leftOut.length > 0 && element('p', { class: 'warnings' }, `Left out: ${leftOut.join(' and ')}.`);
  if (found.programs.length === 0) return [note, element('p', {}, 'No run measured processor time.')];
  return [
    element('p', { class: 'total' }, element('b', {}, `${rounded(found.cores.value)} cores`), ` in ${counted(found.programs.length, 'program')}, ${interval(found.cores)}`),
    note,
    savings(found),
    found.omitted > 0 && element('p', { class: 'soft' }, `${counted(found.omitted, 'more row')} not shown.`),
    programs(found),
  ];
}

/** @param {Cores} cores */
function interval({ low, high }) {
  return low === null || high === null ? 'without an interval, as a program has one run only' : `95 % interval ${rounded(low)} to ${rounded(high)}`;
}

/** @param {Savings} found */
function savings({ savings: rows, order, less }) {
  const most = Math.max(...rows.map(({ saved }) => saved.high ?? saved.value));
  return dataTable(
    [
      { title: rows.some((row) => row.function !== null) ? 'Function' : 'Library', isHead: true, cell: name, key: (row) => row.function ?? row.module },
      { title: 'Saved', isNumber: true, cell: ({ saved }) => rounded(saved.value), key: ({ saved }) => saved.value, about: `Cores that ${percent(less)} less of the ${order} cost saves` },
      { title: 'Interval', cell: ({ saved }) => bar(saved, most), about: '95 % interval of the saved cores' },
      { title: 'Self', isNumber: true, cell: (row) => rounded(row.self.value), key: (row) => row.self.value, about: 'Cores that run the code itself' },
      { title: 'Total', isNumber: true, cell: ({ total }) => rounded(total.value), key: ({ total }) => total.value, about: 'Cores that run the code or what it calls' },
      { title: 'Share', isNumber: true, cell: ({ share }) => percent(share), key: ({ share }) => share, about: `Share of all cores, of ${order} cost` },
      { title: 'Programs', cell: usedBy },
    ],
    rows,
    { caption: 'Savings, largest first', sort: 'Saved' },
  );
}

/** @param {Saving} row */
function name({ function: name, module, programs }) {
  if (name === null) return element('span', { class: 'name' }, module || 'unknown');
  const link = linkTo('/time', { program: programs[0]?.executable, function: name });
  return element('span', {}, element('a', { class: 'name', href: link }, name), element('small', {}, ` ${module}`));
}

/** @param {Saving} row */
function usedBy({ programs }) {
  const named = programs.slice(0, PROGRAMS).map(({ executable, cores }) => `${executable} ${rounded(cores)}`);
  return [...named, programs.length > PROGRAMS && `${programs.length - PROGRAMS} more`].filter(Boolean).join(', ');
}

/**
 * Draws a number with its interval, from 0 to the largest number of the table.
 * @param {Cores} cores
 * @param {number} most
 */
function bar(cores, most) {
  const part = (/** @type {number} */ value) => `${(100 * value) / (most || 1)}%`;
  const { value, low, high } = cores;
  const isKnown = low !== null && high !== null;
  return svg(
    'svg',
    { class: 'interval', width: 120, height: 14, role: 'img', 'aria-label': isKnown ? `${rounded(low)} to ${rounded(high)}` : 'unknown' },
    svg('title', {}, interval(cores)),
    svg('rect', { class: 'value', width: part(value), y: 3, height: 8 }),
    isKnown && svg('line', { x1: part(low), x2: part(high), y1: 7, y2: 7 }),
    ...(isKnown ? [low, high].map((end) => svg('line', { x1: part(end), x2: part(end), y1: 2, y2: 12 })) : []),
  );
}

/** @param {Savings} found */
function programs({ programs: rows }) {
  return element(
    'section',
    {},
    element('h2', {}, 'Programs'),
    dataTable(
      [
        { title: 'Program', isHead: true, cell: ({ executable }) => element('a', { href: linkTo('/builds', { program: executable }) }, executable), key: ({ executable }) => executable },
        { title: 'Cores', isNumber: true, cell: ({ cores }) => rounded(cores.value), key: ({ cores }) => cores.value },
        { title: 'Interval', isNumber: true, cell: ({ cores: { low, high } }) => (low === null || high === null ? 'one run only' : `${rounded(low)} to ${rounded(high)}`) },
        { title: 'Processor time', isNumber: true, cell: (row) => duration(row.cpu_seconds), key: (row) => row.cpu_seconds },
        { title: 'Wall time', isNumber: true, cell: (row) => duration(row.wall_seconds), key: (row) => row.wall_seconds },
        { title: 'Compared', isNumber: true, cell: ({ runs, hosts }) => (hosts === null ? counted(runs, 'run') : `${counted(hosts, 'host')} with ${counted(runs, 'run')}`), about: 'What the interval is computed from' },
      ],
      rows,
      { caption: 'Programs, most cores first', sort: 'Cores' },
    ),
  );
}
