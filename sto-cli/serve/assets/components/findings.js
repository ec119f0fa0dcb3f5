'use strict';
// The findings of a comparison with their evidence.
import { element } from '../dom.js';
import { dots } from './dots.js';
import { percent, probability, ratio } from './numbers.js';

/** Signs and words, because colours alone tell nothing to some readers. */
const KINDS = /** @type {Record<string, [string, string, string]>} */ ({
  regression: ['▲', 'costs more', 'worse'],
  new: ['▲', 'new', 'worse'],
  improvement: ['▼', 'costs less', 'better'],
  gone: ['▼', 'gone', 'better'],
  moved: ['↔', 'moved', 'unsure'],
  replaced: ['↔', 'replaced', 'unsure'],
});

const VERDICTS = /** @type {Record<string, [string, string]>} */ ({
  regression: ['▲ Regression', 'worse'],
  clean: ['✓ No regression found', 'better'],
  insufficient: ['? Not enough data', 'unsure'],
});

/** @param {any} comparison */
export function verdict({ verdict: name, reason, weak }) {
  const [title, type] = VERDICTS[name] ?? [name, ''];
  return element(
    'p',
    { class: 'verdict' },
    element('strong', { class: type }, title),
    ' ',
    weak && element('span', { class: 'weak' }, 'weak evidence'),
    ` ${reason}`,
  );
}

/**
 * @param {any} comparison
 * @param {(name: string, module: string) => void} choose Called with the function of a finding.
 */
export function findings({ findings: found, reason }, choose) {
  const items = found.map((/** @type {any} */ finding) =>
    // The reason of the verdict is not repeated.
    element('li', {}, element('details', { open: found.length <= 3 }, ...findingParts({ ...finding, reason: finding.reason === reason ? '' : finding.reason }, choose))),
  );
  return element('section', {}, element('h2', {}, `Findings (${found.length})`), element('ol', { class: 'findings' }, ...items));
}

/**
 * @param {any} finding
 * @param {(name: string, module: string) => void} choose
 */
function findingParts(finding, choose) {
  const { function: name, module, file, line, kind, reason, runs, weak } = finding;
  const [sign, word, type] = KINDS[kind] ?? ['', kind, ''];
  const place = [module, file && `${file}${line ? `:${line}` : ''}`].filter(Boolean).join(', ');
  const costs = (/** @type {any[]} */ side) => side.map(({ cost }) => cost);
  return [
    element('summary', {}, element('strong', { class: type }, `${sign} ${word} `), element('code', {}, name), ' ', weak && element('span', { class: 'weak' }, 'weak evidence')),
    element('p', { class: 'soft' }, place, ' ', element('button', { type: 'button', click: () => choose(name, module) }, 'Show in the flame graph')),
    reason === '' ? '' : element('p', {}, reason),
    element(
      'div',
      { class: 'evidence' },
      element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Costs of ${name}` }, changeTable(finding)),
      dots([['baseline', costs(runs.baseline)], ['candidate', costs(runs.candidate)]], percent, 'Cost in each run, as a share of the mean cost of a baseline run'),
    ),
    ...paths(finding.call_paths, finding.more_call_paths),
  ];
}

/** @param {any} finding */
function changeTable(finding) {
  const heads = ['', 'Baseline', 'Candidate', 'Change', '95 % interval', 'q'];
  const rows = [['Self', finding.self], ['Total', finding.total]].map(([title, cost]) => {
    const interval = cost.change_low === null ? '–' : `${ratio(cost.change_low)} to ${ratio(cost.change_high)}`;
    const cells = [percent(cost.baseline_share), percent(cost.candidate_share), ratio(cost.change), interval, probability(cost.q)];
    return element('tr', {}, element('th', { scope: 'row' }, title), ...cells.map((cell) => element('td', { class: 'number' }, cell)));
  });
  return element(
    'table',
    {},
    element('caption', { class: 'hidden-text' }, `Costs of ${finding.function}`),
    element('thead', {}, element('tr', {}, ...heads.map((head) => (head ? element('th', { class: 'number', scope: 'col' }, head) : element('td'))))),
    element('tbody', {}, ...rows),
  );
}

/**
 * @param {any[]} callPaths
 * @param {number} more
 */
function paths(callPaths, more) {
  if (callPaths.length === 0) return [];
  const items = callPaths.map(({ stack, baseline_share, candidate_share }) =>
    element('li', {}, `${percent(baseline_share)} → ${percent(candidate_share)}: `, element('code', {}, stack.map((/** @type {any} */ frame) => frame.function).join(' › '))),
  );
  if (more > 0) items.push(element('li', { class: 'soft' }, `and ${more} more`));
  return [element('h3', {}, 'Call paths'), element('ul', { class: 'paths' }, ...items)];
}
