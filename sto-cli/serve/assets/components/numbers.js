'use strict';
// Numbers as people read them.

/** @param {number} share From 0 to 1. */
export function percent(share) {
  if (!Number.isFinite(share)) return '–';
  const value = 100 * share;
  if (value === 0 || value === 100) return `${value} %`;
  return `${value.toFixed(value < 10 ? 2 : 1)} %`;
}

/** @type {Record<string, [number, string][]>} Factors with their units, the largest first. */
const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};

/**
 * @param {number} value
 * @param {string} unit As in sample types, such as `ns`, `bytes` or `samples`.
 */
export function quantity(value, unit) {
  const scales = SCALES[unit];
  if (!scales) return `${Number.isInteger(value) ? grouped(value) : value.toPrecision(3)} ${unit}`;
  const [factor, name] = scales.find(([least]) => Math.abs(value) >= least) ?? scales[scales.length - 1];
  if (value === 0) return '0';
  const scaled = value / factor;
  return `${scaled >= 100 ? grouped(Math.round(scaled)) : Number(scaled.toPrecision(3))} ${name}`;
}

/**
 * Describes a change with a sign and a word, not only by a colour.
 * @param {number} before
 * @param {number} after
 */
export function change(before, after) {
  if (before === 0) return after === 0 ? 'none' : 'new';
  return ratio(after / before);
}

/** @param {number | null | undefined} factor */
export function ratio(factor) {
  if (factor === null || factor === undefined || !Number.isFinite(factor)) return '–';
  if (factor === 0) return 'gone';
  if (factor >= 2) return `×${factor.toFixed(1)}`;
  return `${factor < 1 ? '−' : '+'}${Math.abs(100 * (factor - 1)).toFixed(1)} %`;
}

/** @param {number | null | undefined} p A probability. */
export function probability(p) {
  if (p === null || p === undefined) return '–';
  if (p >= 0.001) return p.toFixed(3);
  return p === 0 ? '0' : p.toExponential(0).replace('e-', '·10⁻').replace(/\d+$/, (digits) => [...digits].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join(''));
}

/** @param {number} number */
export function grouped(number) {
  return number.toLocaleString('en').replaceAll(',', '\u202f');
}

/**
 * @param {number} number
 * @param {string} noun In the singular.
 */
export function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}
