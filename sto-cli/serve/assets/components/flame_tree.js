'use strict';
// The tree beside a flame graph's canvas, for keyboards and screen readers. It follows the tree pattern of WAI-ARIA: one
// element has the focus, and the active item moves.
import { element } from '../dom.js';

/** @typedef {import('./stacks.js').Stacks} Stacks */

/** Callees of a node that are items, the most expensive ones. */
const MAX_CALLEES = 100;
/** Callers of the current node that are items, the nearest ones: stacks can be thousands of calls deep. */
const MAX_CALLERS = 50;

let trees = 0;

export class FlameTree {
  /**
   * @param {object} does
   * @param {(node: number) => string} does.describe
   * @param {(node: number) => void} does.move Called when another node becomes current.
   * @param {(node: number) => void} does.zoom
   */
  constructor({ describe, move, zoom }) {
    this.describe = describe;
    this.move = move;
    this.zoom = zoom;
    this.prefix = `stack-${(trees += 1)}-`;
    /** @type {Stacks | null} */
    this.stacks = null;
    this.current = 0;
    /** @type {number[]} The nodes of the items, from above to below. */
    this.order = [];
    /** @type {Set<number>} Nodes whose callees are items. */
    this.open = new Set();
    this.element = element('div', {
      class: 'flame-tree', role: 'tree', tabindex: 0, 'aria-label': 'Stacks',
      keydown: (/** @type {KeyboardEvent} */ event) => this.#press(event),
      focus: () => this.move(this.current),
      blur: () => this.move(this.current),
    });
  }

  /** @param {Stacks} stacks */
  show(stacks) {
    this.stacks = stacks;
    this.open = new Set([0]);
    this.current = 0;
    this.#fill();
  }

  /**
   * Makes a node current without moving the focus.
   * @param {number} node
   */
  goTo(node) {
    this.current = node;
    for (const caller of this.stacks?.callers(node) ?? []) this.open.add(caller);
    this.#fill();
  }

  /**
   * Returns a node's callees that are items: the most expensive ones, in their order.
   * @param {number} node
   */
  #callees(node) {
    const stacks = /** @type {Stacks} */ (this.stacks);
    const callees = stacks.callees(node);
    if (callees.length <= MAX_CALLEES) return callees;
    const kept = [...callees].sort((a, b) => stacks.total[b] - stacks.total[a]).slice(0, MAX_CALLEES);
    const isOnPath = (/** @type {number} */ callee) => callee <= this.current && this.current < callee + stacks.size[callee];
    return [...new Set([...kept, ...callees.filter(isOnPath)])].sort((a, b) => a - b);
  }

  /**
   * Writes the items: of all open nodes on the way to the current one, and below it.
   */
  #fill() {
    const stacks = this.stacks;
    if (!stacks) return;
    /** @type {HTMLElement[]} */
    const items = [];
    this.order = [];
    const add = (/** @type {number} */ node, /** @type {number} */ position, /** @type {number} */ siblings) => {
      this.order.push(node);
      items.push(this.#item(stacks, node, position, siblings));
      if (!this.open.has(node)) return;
      const callees = this.#callees(node);
      callees.forEach((callee, ix) => add(callee, ix + 1, callees.length));
    };
    // Only open nodes around the current one matter: the others would make the tree long.
    const callers = stacks.callers(this.current);
    const around = new Set([this.current, ...callers]);
    for (const node of this.open) if (!around.has(node)) this.open.delete(node);
    add(callers[MAX_CALLERS] ?? 0, 1, 1);
    this.element.replaceChildren(...items);
    this.element.setAttribute('aria-activedescendant', this.prefix + this.current);
  }

  /**
   * @param {Stacks} stacks
   * @param {number} node
   * @param {number} position
   * @param {number} siblings
   */
  #item(stacks, node, position, siblings) {
    const isInner = stacks.size[node] > 1;
    return element(
      'div',
      {
        id: this.prefix + node, role: 'treeitem', 'aria-level': stacks.depth[node] + 1, 'aria-posinset': position,
        'aria-setsize': siblings, 'aria-expanded': isInner ? String(this.open.has(node)) : null,
        'aria-selected': String(node === this.current),
      },
      this.describe(node),
    );
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const stacks = this.stacks;
    if (!stacks || event.ctrlKey || event.metaKey || event.altKey) return;
    const { order } = this;
    const at = order.indexOf(this.current);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#goBy(order[at + 1]),
      ArrowUp: () => this.#goBy(order[at - 1]),
      ArrowRight: () => this.#into(),
      ArrowLeft: () => this.#outOf(),
      Home: () => this.#goBy(order[0]),
      End: () => this.#goBy(order[order.length - 1]),
      Enter: () => this.zoom(this.current),
      ' ': () => this.zoom(this.current),
      Escape: () => this.zoom(0),
    };
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }

  /** @param {number | undefined} node */
  #goBy(node) {
    if (node === undefined) return;
    this.goTo(node);
    this.move(node);
  }

  /** Opens the current node, or goes to its most expensive callee if it is open. */
  #into() {
    const stacks = /** @type {Stacks} */ (this.stacks);
    const callees = this.#callees(this.current);
    if (callees.length === 0) return;
    if (this.open.has(this.current)) {
      this.#goBy(callees[0]);
      return;
    }
    this.open.add(this.current);
    this.goTo(this.current);
    this.move(this.current);
  }

  /** Closes the current node, or goes to its caller if it is closed. */
  #outOf() {
    const stacks = /** @type {Stacks} */ (this.stacks);
    if (this.open.delete(this.current) && this.current !== 0) {
      this.goTo(this.current);
      return;
    }
    if (this.current === 0) this.open.add(0);
    else this.#goBy(stacks.parent[this.current]);
  }
}
