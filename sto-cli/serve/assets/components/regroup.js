'use strict';
// Other views of the same stacks: inverted, of one function's callers and callees, by module or file.
import { NONE, Stacks } from './stacks.js';

/** @typedef {import('./stacks.js').Frame} Frame */

/** Stacks that cost less than this share of the whole are left out of inverted views. */
const MIN_SHARE = 0.0001;

/** Builds stacks node by node. */
class Builder {
  /** @param {readonly Frame[]} frames */
  constructor(frames) {
    this.frames = frames;
    /** @type {number[]} */
    this.parent = [];
    /** @type {number[]} */
    this.frame = [];
    /** @type {number[]} */
    this.self = [];
    /** @type {number[]} */
    this.other = [];
    /** @type {Map<number, number>} */
    this.known = new Map();
  }

  /**
   * Returns the callee of a node with this frame, and adds it first if it is missing.
   * @param {number} caller `NONE` for the outermost.
   * @param {number} frame
   */
  callee(caller, frame) {
    const key = (caller === NONE ? 0 : caller + 1) * this.frames.length + frame;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const node = this.parent.length;
    this.known.set(key, node);
    this.parent.push(caller);
    this.frame.push(frame);
    this.self.push(0);
    this.other.push(0);
    return node;
  }

  /**
   * @param {number} node
   * @param {number} cost
   * @param {number} other
   */
  add(node, cost, other) {
    this.self[node] += cost;
    this.other[node] += other;
  }

  /** @param {boolean} hasOther */
  build(hasOther) {
    return new Stacks(this.frames, {
      parent: Uint32Array.from(this.parent),
      frame: Uint32Array.from(this.frame),
      self: Float64Array.from(this.self),
      other: hasOther ? Float64Array.from(this.other) : undefined,
    });
  }
}

/**
 * Returns stacks with their callers below them, for all that has a cost of its own.
 * @param {Stacks} stacks
 */
export function invert(stacks) {
  const nodes = [];
  for (let node = 1; node < stacks.count; node += 1) if (stacks.self[node] > 0 || stacks.other?.[node]) nodes.push(node);
  return withCallers(stacks, nodes, stacks.self, stacks.other);
}

/**
 * Returns the callers of a frame, each below its callee.
 * @param {Stacks} stacks
 * @param {number} frame
 */
export function callersOf(stacks, frame) {
  return withCallers(stacks, stacks.outermost(frame), stacks.total, stacks.otherTotal);
}

/**
 * @param {Stacks} stacks
 * @param {number[]} nodes
 * @param {Float64Array} costs Costs of these nodes.
 * @param {Float64Array | null} others
 */
function withCallers(stacks, nodes, costs, others) {
  const built = new Builder(stacks.frames);
  const minCost = stacks.whole * MIN_SHARE;
  const waiting = [{ place: NONE, nodes, at: Uint32Array.from(nodes) }];
  for (let group = waiting.pop(); group; group = waiting.pop()) {
    for (const next of groupByFrame(stacks, group.nodes, group.at)) {
      let cost = 0;
      let other = 0;
      for (const node of next.nodes) {
        cost += costs[node];
        other += others?.[node] ?? 0;
      }
      // What is not told apart any more is the cost of the callee by itself.
      if (cost + other < minCost) continue;
      const place = built.callee(group.place, next.frame);
      built.add(place, cost, other);
      if (group.place !== NONE) built.add(group.place, -cost, -other);
      waiting.push({ place, nodes: next.nodes, at: next.at.map((at) => stacks.parent[at]) });
    }
  }
  return built.build(others !== null);
}

/**
 * Groups nodes by the frame of the caller that the walk is at.
 * @param {Stacks} stacks
 * @param {number[]} nodes
 * @param {Uint32Array} at For each node, itself or one of its callers.
 */
function groupByFrame(stacks, nodes, at) {
  /** @type {Map<number, {frame: number, nodes: number[], places: number[]}>} */
  const groups = new Map();
  for (let ix = 0; ix < nodes.length; ix += 1) {
    if (at[ix] === 0) continue;
    const frame = stacks.frame[at[ix]];
    let group = groups.get(frame);
    if (!group) groups.set(frame, (group = { frame, nodes: [], places: [] }));
    group.nodes.push(nodes[ix]);
    group.places.push(at[ix]);
  }
  return [...groups.values()].map((group) => ({ frame: group.frame, nodes: group.nodes, at: Uint32Array.from(group.places) }));
}

/**
 * Returns what a frame calls, of all its stacks together.
 * @param {Stacks} stacks
 * @param {number} frame
 */
export function calleesOf(stacks, frame) {
  const built = new Builder(stacks.frames);
  const places = new Uint32Array(stacks.count);
  for (const root of stacks.outermost(frame)) {
    for (let node = root; node < root + stacks.size[root]; node += 1) {
      places[node] = built.callee(node === root ? NONE : places[stacks.parent[node]], stacks.frame[node]);
      built.add(places[node], stacks.self[node], stacks.other?.[node] ?? 0);
    }
  }
  return built.build(stacks.other !== null);
}

/**
 * Returns stacks of modules or files instead of functions; calls within one are one node.
 * @param {Stacks} stacks
 * @param {'module' | 'file'} by
 */
export function groupBy(stacks, by) {
  /** @type {Map<string, number>} */
  const groups = new Map();
  const groupOf = stacks.frames.map((frame) => {
    const name = frame[by] || 'unknown';
    if (!groups.has(name)) groups.set(name, groups.size);
    return /** @type {number} */ (groups.get(name));
  });
  const frames = [...groups.keys()].map((name) => ({ name, label: name.slice(name.lastIndexOf('/') + 1), module: '', file: '', kind: by }));
  const built = new Builder(frames);
  const places = new Uint32Array(stacks.count);
  places[0] = NONE;
  for (let node = 1; node < stacks.count; node += 1) {
    const caller = places[stacks.parent[node]];
    const group = groupOf[stacks.frame[node]];
    const isSame = caller !== NONE && built.frame[caller] === group;
    places[node] = isSame ? caller : built.callee(caller, group);
    built.add(places[node], stacks.self[node], stacks.other?.[node] ?? 0);
  }
  return built.build(stacks.other !== null);
}
