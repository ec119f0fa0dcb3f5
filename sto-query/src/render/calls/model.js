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

  /** A thread's records as long calls and expressions in one another, and all of them in one list. */
  function decode(thread, ix) {
    const { records } = thread;
    const all = [];
    const outermost = [];
    const open = [];
    let begin = 0;
    for (let at = 0; at < records.length; ) {
      const [count, depth, since, length] = records.slice(at, at + 4);
      at += 4;
      begin += since;
      open.length = Math.min(open.length, depth);
      const caller = open.at(-1) ?? null;
      const item = { thread: ix, depth, begin, end: begin + length, caller, items: [] };
      if (count === 0) {
        item.stack = records[at];
        at += 1;
        open.push(item);
      } else {
        item.stacks = [];
        for (let ix = 0; ix < count; ix += 1, at += 3) {
          item.stacks.push({ stack: records[at], calls: records[at + 1], duration: records[at + 2], called: [] });
        }
        item.roots = trees(item.stacks, caller ? caller.stack : -1);
      }
      (caller ? caller.items : outermost).push(item);
      all.push(item);
    }
    return { ...thread, ix, records: null, all, outermost };
  }
  const threads = data.threads.map(decode);

  const heightOf = (roots) => roots.reduce((most, root) => Math.max(most, 1 + heightOf(root.called)), 0);
  for (const thread of threads) {
    const levels = thread.all.map((item) => item.depth + (item.stacks ? heightOf(item.roots) : 1));
    thread.levels = levels.reduce((a, b) => Math.max(a, b), 1);
    const own = thread.all.flatMap((item) => (item.stacks ? item.stacks.map(({ stack }) => of[stack]) : [of[item.stack]]));
    thread.functions = new Set([...own, ...thread.also]);
  }

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
   * exact. Of expressions, `share` is the part of them that lies between the two times.
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

  return { from: data.from, to: data.to, functions, of, parents, threads, outliers, waits, name, path, during, appearances };
})();
