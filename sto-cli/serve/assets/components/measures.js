'use strict';
// Times, sizes and numbers of cores as people read them.
import { grouped, quantity } from './numbers.js';

/**
 * Formats a number with three significant digits. Numbers below 0.001 are not told apart.
 * @param {number} number
 */
export function rounded(number) {
  const size = Math.abs(number);
  if (size >= 100 || number === 0) return grouped(Math.round(number));
  return size < 0.001 ? '<0.001' : number.toPrecision(3);
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 120) return quantity(seconds * 1e9, 'ns');
  return seconds < 7200 ? `${rounded(seconds / 60)} min` : `${rounded(seconds / 3600)} h`;
}

/**
 * Formats a time as `2026-11-29 11:22` in UTC.
 * @param {string | number | null | undefined} time In RFC 3339 format, or in seconds since 1970.
 */
export function minute(time) {
  if (time === null || time === undefined) return '';
  const text = typeof time === 'number' ? new Date(time * 1000).toISOString() : time;
  return text.slice(0, 16).replace('T', ' ');
}
