'use strict';
// Numbers and times as text.
const words = (() => {
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
  const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
  /** Formats a duration with three digits. */
  function length(ns) {
    let [value, unit] = [ns, 0];
    while (value >= 999.5 && unit < 3) [value, unit] = [value / 1000, unit + 1];
    const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return `${value.toFixed(digits)} ${['ns', 'µs', 'ms', 's'][unit]}`;
  }

  // All points in time have the same unit.
  const [UNIT, DIGITS, unit] = model.to >= 1e9 ? [1e9, 9, 's'] : model.to >= 1e6 ? [1e6, 6, 'ms'] : [1e3, 3, 'µs'];
  /** Formats a point in time, with enough digits to distinguish steps of this size. */
  function written(time, step) {
    const digits = Math.ceil(-Math.log10(step / UNIT) - 1e-9);
    return `${(time / UNIT).toFixed(Math.min(Math.max(digits, 0), DIGITS))} ${unit}`;
  }

  /** Formats a time in seconds with all digits. */
  function exact(ns) {
    const digits = String(ns).padStart(10, '0');
    const part = digits.slice(-9).replace(/0+$/, '');
    return `${digits.slice(0, -9)}${part && '.'}${part}s`;
  }

  return { grouped, counted, percent, length, written, exact };
})();
