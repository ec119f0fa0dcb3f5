'use strict';
// Two selections of profiles: the verdict, findings with evidence, and stacks in the colours of the test.
import { formatRuns, parseBuildRef } from '../build_ref.js';
import { askColumns } from '../columns.js';
import { buildChoices, buildField } from '../components/builds_choice.js';
import { Explorer } from '../components/explorer.js';
import { filterFields, filterOf, FILTERS } from '../components/filters.js';
import { findings, verdict } from '../components/findings.js';
import { change, counted, grouped, percent, probability, quantity, ratio } from '../components/numbers.js';
import { colorOfChange } from '../components/palette.js';
import { Stacks } from '../components/stacks.js';
import { element, later } from '../dom.js';
import { setTitle } from '../shell/header.js';
import { currentAddress, go, linkTo, remember } from '../shell/router.js';

/** @typedef {import('../components/stacks.js').Frame} Frame */
/** @typedef {Awaited<ReturnType<typeof loadDifference>>} Difference */

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/compare',
  title: 'Compare',
  async render(main, { parameters }, signal) {
    const asking = buildChoices(signal);
    // If the profiles cannot be shown, that error is the one to tell.
    asking.catch(() => {});
    const sides = ['baseline', 'candidate'].map((side) => parameters.get(side) ?? '');
    if (sides.includes('')) {
      main.append(element('h1', {}, 'Compare'), sideFields(await asking, parameters, sides, ['', '']));
      return;
    }
    const difference = await loadDifference(sides, parameters, signal);
    remember({ baseline: difference.sides[0].link, candidate: difference.sides[1].link }, { replace: true });
    const known = currentAddress().parameters;
    const explorer = new Explorer(subjectOf(difference, parameters.has('all')));
    setTitle('Compare', difference.sides.map(({ name }) => name).join(' and '));
    main.append(...parts(difference, parameters, asking, explorer));
    explorer.restore(parameters);
    const keys = ['baseline', 'candidate', 'widths', 'all', ...FILTERS];
    const restore = (/** @type {import('../shell/router.js').Address} */ { parameters: wanted }) => {
      const isSame = keys.every((key) => wanted.get(key) === known.get(key));
      if (isSame) explorer.restore(wanted);
      return isSame;
    };
    return { restore, leave: () => explorer.leave() };
  },
};

/**
 * @param {string[]} builds
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} signal
 */
async function loadDifference(builds, parameters, signal) {
  const { filter, by } = filterOf(parameters);
  const [baseline, candidate] = builds.map(parseBuildRef);
  const { header, columns } = await askColumns('diff', { baseline, candidate, filter, stacks: { by } }, signal);
  const { comparison } = header;
  const tests = new Map(comparison.functions.map((/** @type {any} */ test) => [keyOf(test.function, test.module), test]));
  const frames = header.functions.map((/** @type {any} */ { function: name, module }, /** @type {number} */ ix) => {
    const file = tests.get(keyOf(name, module))?.file ?? '';
    return { name, label: header.short_names[ix], module, file, kind: '' };
  });
  const isByBaseline = parameters.get('widths') === 'baseline';
  return {
    comparison,
    tests,
    stacks: stacksOf(frames, header, columns, isByBaseline),
    isByBaseline,
    outliers: header.new_outliers,
    unit: comparison.sample_type?.unit ?? 'samples',
    /** Cost of a mean run of the baseline, which costs are multiples of. */
    run: comparison.baseline.value / Math.max(comparison.baseline.runs, 1),
    sides: [comparison.baseline, comparison.candidate].map(sideOf),
  };
}

/**
 * @param {string} name
 * @param {string} module
 */
const keyOf = (name, module) => `${name}\0${module}`;

/** @param {any} side */
function sideOf(side) {
  const link = formatRuns(side.profiles.map((/** @type {any} */ { profile }) => profile));
  return { ...side, link, name: `${side.executable} ${side.build}` };
}

/**
 * Returns the stacks with normalised costs, drawn as wide as on one side.
 * @param {Frame[]} frames
 * @param {any} header
 * @param {any} columns
 * @param {boolean} isByBaseline
 */
function stacksOf(frames, header, columns, isByBaseline) {
  const baseline = columns.baseline_self.map((/** @type {number} */ samples) => samples * header.baseline_cost);
  const candidate = columns.candidate_self.map((/** @type {number} */ samples) => samples * header.candidate_cost);
  const [self, other] = isByBaseline ? [baseline, candidate] : [candidate, baseline];
  return new Stacks(frames, { parent: columns.parent, frame: columns.function, self, other });
}

/**
 * @param {Difference} difference
 * @param {boolean} isAll Whether the table has functions that did not change.
 * @returns {import('../components/explorer.js').Subject}
 */
function subjectOf(difference, isAll) {
  const { stacks, sides } = difference;
  return {
    stacks,
    label: `Changes from ${sides[0].name} to ${sides[1].name}`,
    colorsOf: (shown) => Uint8Array.from(shown.frames, (frame) => colorOfChange(stepOf(testOf(difference, frame), difference))),
    describe: (shown, node) => describe(shown, node, difference),
    table: (shown) => tableOf(shown, difference, isAll),
  };
}

/**
 * @param {Difference} difference
 * @param {Frame} frame
 */
function testOf({ tests }, { name, module }) {
  return tests.get(keyOf(name, module));
}

/**
 * Whether the test finds a change that is large enough to count.
 * @param {any} test
 * @param {Difference} difference
 */
function isChanged(test, { comparison: { thresholds } }) {
  if (!test || test.total.q === null || test.total.q > thresholds.alpha) return false;
  return test.total.change === null || Math.abs(test.total.change - 1) >= thresholds.min_effect;
}

/**
 * Returns the step of a colour: none unless the test finds a change, and the last one if the cost doubled or halved.
 * @param {any} test
 * @param {Difference} difference
 */
function stepOf(test, difference) {
  if (!isChanged(test, difference)) return 0;
  const { change: factor, baseline_cost, candidate_cost } = test.total;
  const doublings = factor > 0 ? Math.log2(factor) : candidate_cost > baseline_cost ? 1 : -1;
  return Math.sign(doublings) * Math.ceil(5 * Math.min(Math.abs(doublings), 1));
}

/**
 * @param {Stacks} stacks
 * @param {number} node
 * @param {Difference} difference
 */
function describe(stacks, node, difference) {
  const { isByBaseline, unit, run } = difference;
  const costs = [stacks.otherTotal?.[node] ?? 0, stacks.total[node]];
  const [before, after] = isByBaseline ? costs.reverse() : costs;
  const [all, allAfter] = wholes(stacks, difference);
  const frame = stacks.frameOf(node);
  const cost = `${quantity(before * run, unit)} → ${quantity(after * run, unit)} a run (${change(before, after)}), ${percent(before / all)} → ${percent(after / allAfter)}`;
  if (frame === null) return `all: ${cost}`;
  const test = testOf(difference, frame);
  const tested = test ? `. Function in all stacks: ${ratio(test.total.change)}, q = ${probability(test.total.q)}${isChanged(test, difference) ? '' : ', not a finding'}` : '';
  return `${frame.name}${frame.module && ` [${frame.module}]`}: ${cost}${tested}`;
}

/**
 * A function, or a module or file, and its total cost on both sides in mean runs of the baseline.
 * @typedef {{frame: number, shown: Frame, test: any, before: number, after: number}} Row
 */

/**
 * @param {Stacks} stacks
 * @param {Difference} difference
 * @param {boolean} isAll
 * @returns {import('../components/table.js').TableContent<Row>}
 */
function tableOf(stacks, difference, isAll) {
  const { total, other } = stacks.frameCosts();
  const [before, after] = difference.isByBaseline ? [total, other] : [other, total];
  const rows = stacks.frames.map((shown, frame) => ({ frame, shown, test: testOf(difference, shown), before: before[frame], after: after[frame] }));
  // Modules and files are not tested.
  const isTested = stacks.frames === difference.stacks.frames;
  const effect = (/** @type {Row} */ row) => Math.abs(row.after - row.before);
  const share = (/** @type {number} */ cost, /** @type {number} */ ix) => percent(cost / wholes(stacks, difference)[ix]);
  return {
    label: 'Costs of both sides',
    noun: isTested ? 'function' : 'name',
    rows: rows.filter((row) => (isTested && !isAll ? isChanged(row.test, difference) : row.before + row.after > 0)),
    key: ({ frame }) => String(frame),
    text: ({ shown }) => `${shown.name} ${shown.label} ${shown.module}`,
    columns: [
      { title: 'Total', width: '5rem', isNumber: true, order: effect, cell: (row) => changeCell(row, difference), about: 'change of the cost with all that it calls; sorted by the difference' },
      { title: 'q', width: '4.5rem', isNumber: true, order: ({ test }) => -(test?.total.q ?? 2), cell: ({ test }) => probability(test?.total.q), about: 'share of false findings among functions with a q as low' },
      { title: 'Name', width: 'minmax(8rem, 3fr)', order: ({ shown }) => shown.label, cell: ({ shown }) => element('span', { class: 'name', title: shown.name }, shown.label) },
      { title: 'Before', width: '4.2rem', isNumber: true, isExtra: true, order: (row) => row.before, cell: (row) => share(row.before, 0), about: 'share of the baseline' },
      { title: 'After', width: '4.2rem', isNumber: true, isExtra: true, order: (row) => row.after, cell: (row) => share(row.after, 1), about: 'share of the candidate' },
    ],
  };
}

/**
 * Returns the cost of the whole before and after.
 * @param {Stacks} stacks
 * @param {Difference} difference
 */
function wholes(stacks, { isByBaseline }) {
  const costs = [stacks.otherTotal?.[0] ?? 0, stacks.whole];
  return isByBaseline ? costs.reverse() : costs;
}

/**
 * @param {Row} row
 * @param {Difference} difference
 */
function changeCell({ test, before, after }, difference) {
  const step = stepOf(test, difference);
  const type = step > 0 ? 'worse' : step < 0 ? 'better' : '';
  const sign = step > 0 ? '▲ ' : step < 0 ? '▼ ' : '';
  return element('span', { class: type }, sign + (test?.total.change ? ratio(test.total.change) : change(before, after)));
}

/**
 * @param {Difference} difference
 * @param {URLSearchParams} parameters
 * @param {Promise<import('../components/builds_choice.js').Choice[]>} choices
 * @param {Explorer} explorer
 */
function parts(difference, parameters, choices, explorer) {
  const { comparison, sides, outliers, stacks } = difference;
  const choose = (/** @type {string} */ name, /** @type {string} */ module) => {
    const frame = stacks.frames.findIndex((known) => known.name === name && known.module === module);
    if (frame >= 0) explorer.choose(frame);
    explorer.element.scrollIntoView();
  };
  const warnings = [...comparison.warnings, outliers].filter(Boolean).map((/** @type {string} */ warning) => element('li', {}, warning));
  return [
    element('h1', {}, `${sides[0].name} → ${sides[1].name}`),
    verdict(comparison),
    later(choices.then((known) => [sideFields(known, parameters, sides.map(({ link }) => link), sides.map(({ name }) => name))])),
    element('div', { class: 'halves' }, ...sides.map(sidePanel)),
    command(sides, parameters),
    warnings.length > 0 && element('ul', { class: 'warnings' }, ...warnings),
    findings(comparison, choose),
    element('h2', {}, 'Stacks'),
    element('div', { class: 'tools' }, explorer.viewField, ...switches(difference, parameters), later(filterFields(parseBuildRef(sides[1].link), parameters, '/compare'))),
    legend(difference),
    explorer.element,
  ].filter((part) => part !== false);
}

/**
 * @param {Difference} difference
 * @param {URLSearchParams} parameters
 */
function switches(difference, parameters) {
  const { comparison, isByBaseline } = difference;
  const hidden = comparison.functions.filter((/** @type {any} */ test) => !isChanged(test, difference)).length;
  const change = (/** @type {string} */ key, /** @type {string} */ value) => go(linkTo('/compare', { ...Object.fromEntries(currentAddress().parameters), [key]: value }));
  const all = element('input', { type: 'checkbox', checked: parameters.has('all'), change: () => change('all', all.checked ? '1' : '') });
  const widths = element(
    'select',
    { change: () => change('widths', widths.value) },
    element('option', { value: '' }, 'cost in the candidate'),
    element('option', { value: 'baseline', selected: isByBaseline }, 'cost in the baseline'),
  );
  return [
    element('label', { class: 'field' }, 'Widths ', widths),
    element('label', {}, all, ` Show ${counted(hidden, 'function')} that the test finds unchanged`),
  ];
}

/** @param {Difference} difference */
function legend({ comparison: { thresholds, statistics } }) {
  const { method, candidate_cost } = statistics.normalisation;
  return element(
    'p',
    { class: 'soft' },
    `Orange boxes (▲ in the table) cost more and blue ones (▼) less, by the test of the function: q at most ${thresholds.alpha} and a change of at least ${percent(thresholds.min_effect)}; grey ones are not told apart from noise. The strongest colours are of costs that doubled or halved. `,
    `Costs are normalised (${method}): a run of the candidate costs ${candidate_cost.toFixed(2)} times one of the baseline, so that a share that merely shifts is no change.`,
  );
}

/**
 * Returns fields to choose both sides, and a button that swaps them.
 * @param {import('../components/builds_choice.js').Choice[]} choices
 * @param {URLSearchParams} parameters
 * @param {string[]} links
 * @param {string[]} names
 */
function sideFields(choices, parameters, links, names) {
  const chosen = { ...Object.fromEntries(parameters), baseline: links[0], candidate: links[1], zoom: '', function: '' };
  const open = (/** @type {object} */ changes) => go(linkTo('/compare', { ...chosen, ...changes }));
  return element(
    'div',
    { class: 'tools' },
    buildField('Baseline', choices, links[0], names[0], (baseline) => open({ baseline })),
    buildField('Candidate', choices, links[1], names[1], (candidate) => open({ candidate })),
    element('button', { type: 'button', click: () => open({ baseline: links[1], candidate: links[0] }) }, 'Swap'),
  );
}

/**
 * @param {any} side
 * @param {number} ix
 */
function sidePanel(side, ix) {
  const facts = {
    Runs: grouped(side.runs),
    Samples: grouped(side.samples),
    Recorded: [...new Set([side.first_recorded, side.last_recorded])].filter(Boolean).join(' to ') || 'unknown',
    Host: side.hosts.join(', ') || 'unknown',
    Revision: side.revision,
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  return element(
    'section',
    { class: 'panel' },
    element('h2', {}, `${ix === 0 ? 'Baseline' : 'Candidate'}: ${side.name}`),
    element('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])),
    element('a', { href: linkTo('/profile', { build: side.link }) }, `Open ${side.build} alone`),
  );
}

/**
 * Returns the command that comes to the same findings.
 * @param {any[]} sides
 * @param {URLSearchParams} parameters
 */
function command(sides, parameters) {
  const event = parameters.get('event');
  const words = ['sto', 'find-regressions', ...(event ? ['--event', event] : []), ...sides.map(({ executable, build }) => `${executable}@${build}`)];
  const line = words.map(quoted).join(' ');
  const copy = element('button', { type: 'button', click: () => navigator.clipboard.writeText(line) }, 'Copy');
  return element('p', {}, 'The same in a terminal: ', element('code', {}, line), ' ', copy);
}

/** @param {string} word */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
