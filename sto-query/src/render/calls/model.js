'use strict';
// The records of a run, as the page's data has them, and what a thread did at a time.
const model = (() => {
  const data = JSON.parse(document.querySelector('#data').textContent);
  const { functions, parents, of } = data;

  /** The stacks of an expression as trees: what each called is below it. */
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

  /** Numbers of 7 bits a byte, the lowest first, in base64. */
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
   * Records as long calls and expressions in one another, and all of them in one list: those of a thread, or of an
   * expression, within which their begins and depths are.
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

  /** What an expression is made of, as far as that is on the page. */
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
  /** The same where a part of the time is shown of which the expression is half, or more: it is then zoomed in on. */
  const opened = (expression, { from, to }) => (2 * (expression.end - expression.begin) >= to - from ? within(expression) : null);

  const name = (stack) => functions[of[stack]];

  /** The functions of a stack, root first. */
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
   * What a thread did from one time to another: time in long calls by themselves, in expressions and in no call, each
   * exact. Of an expression that lies partly between the two times this is what it is made of, where that is known; else
   * `share` is the part of it that does.
   */
  function during(thread, from, to) {
    const sums = new Map();
    const add = (key, time, about) => {
      if (time <= 0) return;
      const sum = sums.get(key) ?? { ...about, time: 0 };
      sum.time += time;
      sums.set(key, sum);
    };
    /** Adds what there is of records, and gives the time that they cover. */
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

  /** When a thread's records have a function: spans of time, those closer than this as one; and what they took. */
  function appearances(thread, wanted, closer) {
    const spans = [];
    const found = { spans, calls: 0, duration: 0, records: 0, long: [] };
    for (const item of thread.all) {
      const stacks = (item.stacks ?? [item]).filter(({ stack }) => of[stack] === wanted);
      if (stacks.length === 0) continue;
      found.records += stacks.length;
      for (const stack of stacks) {
        found.calls += stack.calls ?? 1;
        // Of recursive calls the outermost has all the time.
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
