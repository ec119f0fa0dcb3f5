'use strict';
// The records of a run from the page's data, and what a thread did at a given time.
const model = (() => {
  const data = JSON.parse(document.querySelector('#data').textContent);
  const { functions, parents, of } = data;

  /** Returns the stacks of an expression as trees, callees below their callers. */
  function trees(stacks, caller) {
    const known = new Map(stacks.map((stack) => [stack.stack, stack]));
    const roots = [];
    for (const called of stacks) {
      let above = parents[called.stack];
      while (above >= 0 && above !== caller && !known.has(above)) above = parents[above];
      const parent = known.get(above);
      called.caller = parent ?? null;
      (parent ? parent.called : roots).push(called);
    }
    return roots;
  }

  /** Decodes base64 of varints (LEB128). */
  function unpacked(text) {
    const bytes = atob(text);
    const numbers = [];
    let [number, factor] = [0, 1];
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes.charCodeAt(at);
      number += (byte & 127) * factor;
      factor *= 128;
      if (byte < 128) {
        numbers.push(number);
        [number, factor] = [0, 1];
      }
    }
    return numbers;
  }

  /**
   * Decodes the records of a thread as nested calls and expressions, and as a list. For the records within an
   * expression, begins and depths are relative to it.
   */
  function decode({ records, gap, zooms }, thread, expression = null) {
    const numbers = unpacked(records);
    const all = [];
    const outermost = [];
    const open = [];
    const [outer, lowest] = [expression?.caller ?? null, expression?.depth ?? 0];
    let begin = expression?.begin ?? 0;
    for (let at = 0; at < numbers.length; ) {
      const [count, depth, since, length] = numbers.slice(at, at + 4);
      at += 4;
      begin += since;
      open.length = Math.min(open.length, depth);
      const caller = open.at(-1) ?? null;
      const item = { thread, depth: lowest + depth, begin, end: begin + length, caller: caller ?? outer, items: [], gap };
      if (count === 0) {
        item.stack = numbers[at];
        at += 1;
        open.push(item);
      } else {
        item.stacks = [];
        for (let ix = 0; ix < count; ix += 1, at += 3) {
          item.stacks.push({ stack: numbers[at], calls: numbers[at + 1], duration: numbers[at + 2], called: [] });
        }
        item.roots = trees(item.stacks, item.caller ? item.caller.stack : -1);
      }
      (caller ? caller.items : outermost).push(item);
      all.push(item);
    }
    for (const [ix, zoom] of zooms) all[ix].zoom = data.zooms[zoom];
    return { all, outermost };
  }
  const threads = data.threads.map((thread, ix) => ({ ...thread, ix, ...decode(thread, ix) }));

  const heightOf = (roots) => roots.reduce((most, root) => Math.max(most, 1 + heightOf(root.called)), 0);
  const levelsOf = (items) => items.reduce((most, item) => Math.max(most, item.depth + (item.stacks ? heightOf(item.roots) : 1)), 1);
  for (const thread of threads) {
    thread.levels = levelsOf(thread.all);
    const own = thread.all.flatMap((item) => (item.stacks ? item.stacks.map(({ stack }) => of[stack]) : [of[item.stack]]));
    thread.functions = new Set([...own, ...thread.also]);
  }

  /** Returns the content of an expression, if the page has it. */
  function within(expression) {
    if (!expression.zoom) return null;
    if (!expression.made) {
      const { all, outermost } = decode(expression.zoom, expression.thread, expression);
      expression.made = outermost;
      const thread = threads[expression.thread];
      thread.levels = Math.max(thread.levels, levelsOf(all));
    }
    return expression.made;
  }
  /** Like `within`, if the expression covers at least half of the visible time and is therefore zoomed into. */
  const opened = (expression, { from, to }) => (2 * (expression.end - expression.begin) >= to - from ? within(expression) : null);

  const name = (stack) => functions[of[stack]];

  /** Returns the functions of a stack, root first. */
  function path(stack) {
    const names = [];
    for (let node = stack; node >= 0; node = parents[node]) names.unshift(name(node));
    return names;
  }

  function isCalledBy(stack, wanted) {
    for (let node = parents[stack]; node >= 0; node = parents[node]) if (of[node] === wanted) return true;
    return false;
  }

  /**
   * Returns the exact time that a thread spent in long calls (self), in expressions and in no call between two times.
   * An expression that is partly within is replaced by its content if known; otherwise `share` is the part within.
   */
  function during(thread, from, to) {
    const sums = new Map();
    const add = (key, time, about) => {
      if (time <= 0) return;
      const sum = sums.get(key) ?? { ...about, time: 0 };
      sum.time += time;
      sums.set(key, sum);
    };
    /** Adds records, and returns the time that they cover. */
    function visit(items) {
      let covered = 0;
      for (const item of items) {
        const time = Math.min(item.end, to) - Math.max(item.begin, from);
        if (time <= 0) continue;
        const made = time < item.end - item.begin && item.stacks ? within(item) : null;
        if (made) {
          covered += visit(made);
          continue;
        }
        covered += time;
        if (item.stacks) add(item, time, { item, share: time / (item.end - item.begin) });
        else add(item.stack, time - visit(item.items), { item, stack: item.stack });
      }
      return covered;
    }
    add(null, to - from - visit(thread.outermost), {});
    return [...sums.values()].sort((a, b) => b.time - a.time);
  }

  /** Returns the spans of time in which a thread's records have a function, merged if they are closer than this, and their duration. */
  function appearances(thread, wanted, closer) {
    const spans = [];
    const found = { spans, calls: 0, duration: 0, records: 0, long: [] };
    for (const item of thread.all) {
      const stacks = (item.stacks ?? [item]).filter(({ stack }) => of[stack] === wanted);
      if (stacks.length === 0) continue;
      found.records += stacks.length;
      for (const stack of stacks) {
        found.calls += stack.calls ?? 1;
        // The time of the outermost recursive call includes that of the others.
        if (!isCalledBy(stack.stack, wanted)) found.duration += stack.duration ?? item.end - item.begin;
      }
      if (!item.stacks) found.long.push(item);
      const last = spans.at(-1);
      if (last && item.begin - last[1] <= closer) last[1] = Math.max(last[1], item.end);
      else spans.push([item.begin, item.end]);
    }
    found.long.sort((a, b) => b.end - b.begin - (a.end - a.begin));
    return found;
  }

  const call = ([thread, stack, begin, length]) => ({ thread, stack, begin, end: begin + length });
  const outliers = data.outliers.map(([outlier, meanwhile]) => {
    const others = [];
    for (let at = 0; at < meanwhile.length; at += 3) {
      others.push({ thread: meanwhile[at], stack: meanwhile[at + 1], time: meanwhile[at + 2] });
    }
    return { ...call(outlier), typical: outlier[4], calls: outlier[5], meanwhile: others };
  });
  const waits = data.waits.map((wait) => ({ ...call(wait), by: wait.length > 4 ? call(wait.slice(4)) : null }));

  const { from, to, command, without } = data;
  return { from, to, command, without, functions, of, parents, threads, outliers, waits, opened, name, path, during, appearances };
})();
