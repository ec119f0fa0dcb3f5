'use strict';
// Stacks as typed arrays, laid out once for drawing.
//
// Node 0 is the whole. The others are in the order of a walk that visits a caller before its callees, so the stacks below
// a node are the `size` nodes from it on, and in each row of a drawing the nodes are in the order of their places.

/** The caller of a node without one. */
export const NONE = 0xffffffff;

/**
 * A function, module or file that nodes are named after.
 * @typedef {object} Frame
 * @property {string} name Its full name.
 * @property {string} label Its short name.
 * @property {string} module
 * @property {string} file
 * @property {string} kind
 */

export class Stacks {
  /**
   * @param {readonly Frame[]} frames
   * @param {{parent: Uint32Array, frame: Uint32Array, self: Float64Array, other?: Float64Array}} columns Callers come
   *   before their callees. `other` is the self cost of the other side of a comparison.
   */
  constructor(frames, { parent, frame, self, other }) {
    const count = parent.length + 1;
    this.count = count;
    this.frames = frames;
    const places = placesOf(parent);
    this.size = places.size;
    this.parent = new Uint32Array(count);
    this.frame = new Uint32Array(count);
    this.self = new Float64Array(count);
    this.other = other ? new Float64Array(count) : null;
    this.parent[0] = NONE;
    this.frame[0] = NONE;
    for (let ix = 1; ix < count; ix += 1) {
      const place = places.place[ix];
      const caller = parent[ix - 1];
      this.parent[place] = caller === NONE ? 0 : places.place[caller + 1];
      this.frame[place] = frame[ix - 1];
      this.self[place] = self[ix - 1];
      if (this.other && other) this.other[place] = other[ix - 1];
    }
    this.total = this.#totals(this.self);
    this.otherTotal = this.other ? this.#totals(this.other) : null;
    this.depth = this.#depths();
    /** Where each node begins, in the unit of costs. */
    this.start = this.#starts();
    /** The nodes of row `d` are `inRows` from `rowStart[d]` to `rowStart[d + 1]`. */
    this.rowStart = this.#rowStarts();
    this.inRows = this.#nodesInRows();
    /** `start` and `total` in the order of rows, because a picture reads a row from left to right. */
    this.startInRows = permuted(this.start, this.inRows);
    this.totalInRows = permuted(this.total, this.inRows);
    /** @type {Float64Array | null} */
    this.hashes = null;
  }

  /** The cost of the whole. */
  get whole() {
    return this.total[0];
  }

  /** @param {Float64Array} self */
  #totals(self) {
    const total = self.slice();
    for (let node = this.count - 1; node > 0; node -= 1) total[this.parent[node]] += total[node];
    return total;
  }

  #depths() {
    const depth = new Uint32Array(this.count);
    for (let node = 1; node < this.count; node += 1) depth[node] = depth[this.parent[node]] + 1;
    return depth;
  }

  #starts() {
    const start = new Float64Array(this.count);
    const next = new Float64Array(this.count);
    for (let node = 1; node < this.count; node += 1) {
      const caller = this.parent[node];
      start[node] = next[node] = next[caller];
      next[caller] += this.total[node];
    }
    return start;
  }

  #rowStarts() {
    const rows = this.depth.reduce((most, depth) => Math.max(most, depth), 0) + 1;
    const starts = new Uint32Array(rows + 1);
    for (const depth of this.depth) starts[depth + 1] += 1;
    for (let row = 0; row < rows; row += 1) starts[row + 1] += starts[row];
    return starts;
  }

  #nodesInRows() {
    const free = this.rowStart.slice();
    const nodes = new Uint32Array(this.count);
    for (let node = 0; node < this.count; node += 1) nodes[free[this.depth[node]]++] = node;
    return nodes;
  }

  /**
   * Returns the first index in `inRows` of the row's nodes that end after a place.
   * @param {number} row
   * @param {number} place In the unit of costs.
   */
  firstEndingAfter(row, place) {
    let low = this.rowStart[row];
    let high = this.rowStart[row + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.startInRows[middle] + this.totalInRows[middle] > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /**
   * Returns the first index in `inRows`, from one of the row on, of the nodes that begin at or after a place.
   * @param {number} row
   * @param {number} from
   * @param {number} place
   */
  firstStartingAt(row, from, place) {
    let low = from;
    let high = this.rowStart[row + 1];
    // Most runs of small nodes are short.
    for (let step = 1; low + step < high; step *= 2) {
      if (this.startInRows[low + step] >= place) {
        high = low + step;
        break;
      }
      low += step;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.startInRows[middle] >= place) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /**
   * Returns the callees of a node that have a cost, in their order.
   * @param {number} node
   */
  callees(node) {
    const found = [];
    for (let at = node + 1; at < node + this.size[node]; at += this.size[at]) if (this.total[at] > 0) found.push(at);
    return found;
  }

  /**
   * Returns the callers of a node, the nearest first. The whole is the last.
   * @param {number} node
   */
  callers(node) {
    const found = [];
    for (let at = this.parent[node]; at !== NONE; at = this.parent[at]) found.push(at);
    return found;
  }

  /**
   * Returns the frame of a node, `null` for the whole.
   * @param {number} node
   */
  frameOf(node) {
    return node === 0 ? null : this.frames[this.frame[node]];
  }

  /**
   * Returns the row of the deepest node at or below a node.
   * @param {number} node
   */
  lastRow(node) {
    let last = this.depth[node];
    for (let at = node; at < node + this.size[node]; at += 1) if (this.depth[at] > last && this.total[at] > 0) last = this.depth[at];
    return last;
  }

  /**
   * Adds up the nodes whose frames match. In a recursion, the outermost match includes the others.
   * @param {Uint8Array} matches 1 for each frame that matches.
   * @returns {{nodes: number, cost: number, other: number}}
   */
  sumOf(matches) {
    const sum = { nodes: 0, cost: 0, other: 0 };
    for (let node = 1, end = 0; node < this.count; node += 1) {
      if (!matches[this.frame[node]]) continue;
      sum.nodes += 1;
      if (node < end) continue;
      end = node + this.size[node];
      sum.cost += this.total[node];
      sum.other += this.otherTotal?.[node] ?? 0;
    }
    return sum;
  }

  /**
   * Returns the outermost nodes of a frame.
   * @param {number} frame
   */
  outermost(frame) {
    const found = [];
    for (let node = 1; node < this.count; node += 1) {
      if (this.frame[node] !== frame) continue;
      found.push(node);
      node += this.size[node] - 1;
    }
    return found;
  }

  /** Returns self and total cost of each frame, and the total of the other side; a recursion counts once. */
  frameCosts() {
    const self = new Float64Array(this.frames.length);
    const total = new Float64Array(this.frames.length);
    const other = new Float64Array(this.frames.length);
    const end = new Uint32Array(this.frames.length);
    for (let node = 1; node < this.count; node += 1) {
      const frame = this.frame[node];
      self[frame] += this.self[node];
      if (node < end[frame]) continue;
      total[frame] += this.total[node];
      other[frame] += this.otherTotal?.[node] ?? 0;
      end[frame] = node + this.size[node];
    }
    return { self, total, other };
  }

  /**
   * Returns the address of a stack, which depends only on the names in it.
   * @param {number} node
   */
  keyOf(node) {
    const path = [node, ...this.callers(node)].reverse();
    return path.reduce((key, at) => this.#extendKey(key, at), 0).toString(36);
  }

  /**
   * Returns the node with an address, 0 if there is none.
   * @param {string} key
   */
  nodeOf(key) {
    const wanted = Number.parseInt(key, 36);
    const keys = new Float64Array(this.count);
    for (let node = 1; node < this.count; node += 1) {
      keys[node] = this.#extendKey(keys[this.parent[node]], node);
      if (keys[node] === wanted) return node;
    }
    return 0;
  }

  /**
   * @param {number} key Address of the caller.
   * @param {number} node
   */
  #extendKey(key, node) {
    if (node === 0) return 0;
    this.hashes ??= Float64Array.from(this.frames, ({ name, module }) => hashText(`${name}\0${module}`));
    return (key * 31 + this.hashes[this.frame[node]]) % HASH_PRIME;
  }
}

// Products with 31 stay below 2^53.
const HASH_PRIME = 281474976710597;

/** @param {string} text */
function hashText(text) {
  let hash = 7;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) % HASH_PRIME;
  return hash;
}

/**
 * @param {Float64Array} values
 * @param {Uint32Array} order Indices of the values.
 */
function permuted(values, order) {
  const result = new Float64Array(order.length);
  for (let ix = 0; ix < order.length; ix += 1) result[ix] = values[order[ix]];
  return result;
}

/**
 * Returns the number of nodes at and below each node, and its place in the order of a walk. The whole is node 0, and the
 * others follow.
 * @param {Uint32Array} parent
 */
function placesOf(parent) {
  const count = parent.length + 1;
  const size = new Uint32Array(count).fill(1);
  const callerOf = (/** @type {number} */ ix) => (parent[ix - 1] === NONE ? 0 : parent[ix - 1] + 1);
  for (let ix = count - 1; ix > 0; ix -= 1) size[callerOf(ix)] += size[ix];
  const place = new Uint32Array(count);
  const next = new Uint32Array(count);
  next[0] = 1;
  for (let ix = 1; ix < count; ix += 1) {
    const caller = callerOf(ix);
    place[ix] = next[caller];
    next[caller] += size[ix];
    next[ix] = place[ix] + 1;
  }
  const placedSize = new Uint32Array(count);
  for (let ix = 0; ix < count; ix += 1) placedSize[place[ix]] = size[ix];
  return { place, size: placedSize };
}
