'use strict';
// A plot of numbers over time, in which each point is a link. It has one stop for the Tab key; arrow keys go from point
// to point.
import { element, svg } from '../dom.js';
import { go } from '../shell/router.js';

/**
 * @typedef {object} PlotPoint
 * @property {number} value
 * @property {string} name Short name below the axis.
 * @property {string} about What is said when the point is pointed at.
 * @property {string | null} [link] Where a click leads.
 * @property {number | null} [low] Lower end of the expected range.
 * @property {number | null} [high] Upper end of the expected range.
 * @property {boolean} [isMarked] Whether the point is unusual.
 */

/**
 * A point at which the level changes.
 * @typedef {{at: number, before: number, after: number}} Shift
 */

/**
 * @typedef {object} Plot
 * @property {string} title
 * @property {PlotPoint[]} points
 * @property {Shift[]} [shifts]
 * @property {(value: number) => string} format
 */

const HEIGHT = 320;
const [LEFT, RIGHT, TOP, BOTTOM] = [78, 14, 12, 30];
const LETTERS = 14; // of a name below the axis
const LETTER = 7; // pixels of a letter

/**
 * @param {Plot} plot
 * @returns {HTMLElement}
 */
export function linePlot(plot) {
  const about = element('p', { class: 'pointed', role: 'status' });
  const picture = svg('svg', { class: 'line-plot', height: HEIGHT, role: 'group', 'aria-label': plot.title });
  const figure = element('figure', { class: 'plot' }, picture, about);
  let current = plot.points.length - 1;
  let width = 0;
  new ResizeObserver(() => {
    if (figure.clientWidth === width || figure.clientWidth === 0) return;
    width = figure.clientWidth;
    draw();
  }).observe(figure);
  picture.addEventListener('keydown', (event) => {
    /** @type {Record<string, number>} */
    const targets = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: plot.points.length - 1 };
    const target = targets[event.key];
    if (event.key === 'Enter') open(current);
    else if (target !== undefined) focus(Math.max(0, Math.min(plot.points.length - 1, target)));
    else return;
    event.preventDefault();
  });
  return figure;

  function draw() {
    picture.setAttribute('width', String(width));
    picture.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    const scale = new Scale(plot, width);
    picture.replaceChildren(...axes(plot, scale), ...bands(plot, scale), ...levels(plot, scale), line(plot, scale), ...plot.points.map((point, ix) => dot(point, ix, scale)));
  }

  /**
   * @param {PlotPoint} point
   * @param {number} ix
   * @param {Scale} scale
   */
  function dot(point, ix, scale) {
    const attributes = {
      class: point.isMarked ? 'dot marked' : 'dot', cx: scale.x(ix), cy: scale.y(point.value), r: point.isMarked ? 5 : 4,
      role: point.link ? 'link' : 'img', tabindex: ix === current ? 0 : -1, 'aria-label': point.about,
      click: () => open(ix), focus: () => say(ix), pointerenter: () => say(ix),
    };
    return svg('circle', attributes);
  }

  /** @param {number} ix */
  function say(ix) {
    about.textContent = plot.points[ix].about;
  }

  /** @param {number} ix */
  function open(ix) {
    const { link } = plot.points[ix];
    if (link) go(link);
  }

  /** @param {number} ix */
  function focus(ix) {
    const dots = /** @type {NodeListOf<SVGElement>} */ (picture.querySelectorAll('.dot'));
    dots[current].setAttribute('tabindex', '-1');
    current = ix;
    dots[ix].setAttribute('tabindex', '0');
    dots[ix].focus();
  }
}

/** Converts numbers to pixels. */
class Scale {
  /**
   * @param {Plot} plot
   * @param {number} width
   */
  constructor({ points }, width) {
    this.count = points.length;
    this.width = width;
    this.most = Math.max(...points.map(({ value, high }) => Math.max(value, Number.isFinite(high) ? Number(high) : 0)), 0) || 1;
    const step = 10 ** Math.floor(Math.log10(this.most));
    this.step = [step / 5, step / 2, step].find((step) => this.most / step <= 6) ?? step * 2;
    this.top = Math.ceil(this.most / this.step) * this.step;
  }

  /** @param {number} ix */
  x(ix) {
    const space = this.width - LEFT - RIGHT - 12;
    return LEFT + 6 + (this.count > 1 ? (ix / (this.count - 1)) * space : space / 2);
  }

  /** @param {number} value */
  y(value) {
    return TOP + (1 - Math.min(value, this.top) / this.top) * (HEIGHT - TOP - BOTTOM);
  }

  ticks() {
    return Array.from({ length: Math.round(this.top / this.step) + 1 }, (_, ix) => ix * this.step);
  }
}

/**
 * @param {Plot} plot
 * @param {Scale} scale
 */
function axes({ points, format }, scale) {
  const rows = scale.ticks().flatMap((value) => {
    const y = scale.y(value);
    return [
      svg('line', { class: 'grid', x1: LEFT, x2: scale.width - RIGHT, y1: y, y2: y }),
      svg('text', { x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, format(value)),
    ];
  });
  return [...rows, ...names(points, scale)];
}

/**
 * Writes the names of as many points as there is room for, beginning with the newest.
 * @param {PlotPoint[]} points
 * @param {Scale} scale
 */
function names(points, scale) {
  /** @type {SVGTextElement[]} */
  const written = [];
  let free = scale.width;
  for (const [ix, { name }] of [...points.entries()].reverse()) {
    const text = name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name;
    const room = LETTER * text.length;
    const x = Math.max(Math.min(scale.x(ix), scale.width - room / 2), room / 2);
    if (x + room / 2 > free) continue;
    free = x - room / 2 - 2 * LETTER;
    written.push(svg('text', { x, y: HEIGHT - 8, 'text-anchor': 'middle' }, text));
  }
  return written;
}

/**
 * Draws the ranges that were expected, as far as they are known.
 * @param {Plot} plot
 * @param {Scale} scale
 */
function bands({ points }, scale) {
  const known = points.map(({ low, high }, ix) => ({ ix, low, high })).filter(({ low, high }) => typeof low === 'number' && typeof high === 'number');
  if (known.length < 2) return [];
  const upper = known.map(({ ix, high }) => `${scale.x(ix)},${scale.y(Number(high))}`);
  const lower = known.map(({ ix, low }) => `${scale.x(ix)},${scale.y(Number(low))}`).reverse();
  return [svg('polygon', { class: 'band', points: [...upper, ...lower].join(' ') })];
}

/**
 * Draws the mean of each part between two shifts, and the shifts.
 * @param {Plot} plot
 * @param {Scale} scale
 */
function levels({ points, shifts = [] }, scale) {
  return shifts.flatMap(({ at, before, after }, ix) => {
    const start = scale.x(ix > 0 ? shifts[ix - 1].at : 0);
    const end = scale.x(ix + 1 < shifts.length ? shifts[ix + 1].at - 1 : points.length - 1);
    const x = (scale.x(at) + scale.x(at - 1)) / 2;
    const level = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ value) =>
      svg('line', { class: 'level', x1: from, x2: to, y1: scale.y(value), y2: scale.y(value) });
    const own = [svg('line', { class: 'shift', x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }), level(x, end, after)];
    return ix === 0 ? [level(start, x, before), ...own] : own;
  });
}

/**
 * @param {Plot} plot
 * @param {Scale} scale
 */
function line({ points }, scale) {
  return svg('polyline', { class: 'line', points: points.map(({ value }, ix) => `${scale.x(ix)},${scale.y(value)}`).join(' ') });
}
