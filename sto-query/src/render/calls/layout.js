'use strict';
// Layout of a thread's records: short ones are widened, and all of them fit in the window.
const layout = (() => {
  const GAP = 2; // minimum width of a gap in pixels
  // Minimum width of a glyph in pixels, maximum number of glyphs of an expression that get it, and maximum part of the
  // row that they take. The first that fits is used: all stacks are visible in any row that has a pixel for each.
  const ALL = Infinity;
  const WIDTHS = [[4, ALL, 0.5], [3, ALL, 0.5], [2, ALL, 0.5], [1, ALL, 1], [1, 8, 0.5], [1, 3, 0.5], [1, 1, 0.8]];

  /**
   * Returns the positions of ascending times within the width, each at least `least` after the previous one, and as
   * close to their positions on a linear scale as possible: the least sum of squared distances, by pooling neighbours
   * that are out of order (isotonic regression).
   */
  function positions(even, least, width) {
    const count = even.length;
    const before = new Float64Array(count);
    for (let ix = 1; ix < count; ix += 1) before[ix] = before[ix - 1] + least[ix];
    const sums = [];
    const counts = [];
    for (let ix = 0; ix < count; ix += 1) {
      let sum = even[ix] - before[ix];
      let pooled = 1;
      while (sums.length > 0 && sums.at(-1) / counts.at(-1) >= sum / pooled) {
        sum += sums.pop();
        pooled += counts.pop();
      }
      sums.push(sum);
      counts.push(pooled);
    }
    const placed = new Float64Array(count);
    const most = Math.max(0, width - before[count - 1]);
    let ix = 0;
    sums.forEach((sum, block) => {
      const at = Math.min(Math.max(sum / counts[block], 0), most);
      for (let left = counts[block]; left > 0; left -= 1, ix += 1) placed[ix] = at + before[ix];
    });
    return placed;
  }

  /**
   * Returns the widths of calls that share a width in proportion to their durations, none narrower than a glyph for each
   * of its leaves. Time outside of them keeps its part. If there is not enough room, the minimum is one glyph, and the
   * shortest calls have no width.
   */
  function shares(calls, whole, width, glyph) {
    const sum = (of) => calls.reduce((total, call) => total + of(call), 0);
    const fits = sum(leavesOf) * glyph <= width + 1e-6;
    const least = (call) => (fits ? leavesOf(call) * glyph : glyph);
    const widths = new Map(calls.map((call) => [call, 0]));
    const longest = [...calls].sort((a, b) => b.duration - a.duration);
    const shown = fits ? calls : longest.slice(0, Math.max(1, Math.floor((width + 1e-6) / glyph)));
    let room = width;
    let time = Math.max(0, whole - sum((call) => call.duration));
    for (const call of shown) time += call.duration;
    // Narrowest first: calls that would be too narrow get the minimum, and the others share the rest.
    const free = [...shown].sort((a, b) => b.duration / least(b) - a.duration / least(a));
    while (free.length > 0) {
      const call = free.at(-1);
      if (time > 0 && (call.duration / time) * room >= least(call)) break;
      widths.set(call, Math.min(least(call), room));
      room -= widths.get(call);
      time -= call.duration;
      free.pop();
    }
    for (const call of free) widths.set(call, (call.duration / time) * room);
    return widths;
  }

  const leaves = (calls) => calls.reduce((sum, call) => sum + leavesOf(call), 0);
  const leavesOf = (call) => (call.leaves ??= Math.max(1, leaves(call.called)));

  /** Returns the borders between records, their callers, and gaps, ordered by time. */
  function borders(thread, view, [glyph, most]) {
    const times = [view.from];
    const least = [0];
    const index = new Map();
    const border = (time, pixels) => {
      times.push(Math.min(Math.max(time, view.from), view.to));
      least.push(pixels);
      return times.length - 1;
    };
    function visit(items, last = null) {
      for (const item of items) {
        if (item.end < view.from || item.begin > view.to) continue;
        const made = item.stacks ? model.opened(item, view) : null;
        if (made) {
          last = visit(made, last);
          continue;
        }
        const isGap = last !== null && item.begin - last > item.gap;
        const begin = border(item.begin, isGap ? GAP : 0);
        if (item.stacks) {
          const end = border(item.end, Math.min(leaves(item.roots), most) * glyph + 2);
          index.set(item, [begin, end]);
        } else {
          visit(item.items);
          // If callees are visible, they determine the width.
          const shown = times.length > begin + 1;
          index.set(item, [begin, border(item.end, shown ? 0 : glyph)]);
        }
        last = item.end;
      }
      return last;
    }
    visit(thread.outermost);
    border(view.to, 0);
    return { times, least, index };
  }

  /** Drops the minimum widths of the shortest until the others have room. */
  function afford(times, least, room) {
    const order = least.map((_, ix) => ix).filter((ix) => least[ix] > 0);
    order.sort((a, b) => times[a] - times[a - 1] - (times[b] - times[b - 1]) || a - b);
    let sum = least.reduce((a, b) => a + b, 0);
    for (const ix of order) {
      if (sum <= room) break;
      sum -= least[ix];
      least[ix] = 0;
    }
  }

  /** A thread in the visible time: the positions of times, and the boxes to draw. */
  function lay(thread, view, width) {
    const sum = (list) => list.reduce((a, b) => a + b, 0);
    let chosen;
    let found;
    for (chosen of WIDTHS) {
      found = borders(thread, view, chosen);
      if (sum(found.least) <= width * chosen[2]) break;
    }
    const { times, least, index } = found;
    const [glyph, , part] = chosen;
    afford(times, least, width * part);
    const scale = width / Math.max(1, view.to - view.from);
    const at = positions(times.map((time) => (time - view.from) * scale), least, width);
    const laid = { thread, view, times, at, boxes: [], frames: [], glyph, tooNarrow: 0, width };
    for (const [item, [begin, end]] of index) {
      const [x, right] = [at[begin], at[end]];
      if (!item.stacks) {
        laid.boxes.push({ item, stack: item.stack, level: item.depth, x, width: right - x });
        if (right - x < 1) laid.tooNarrow += 1;
        continue;
      }
      const frame = { item, x, width: right - x, level: item.depth, height: 1, cut: item.begin < view.from || item.end > view.to };
      laid.frames.push(frame);
      const inset = frame.width > 4 ? 1 : 0;
      fill(laid, frame, item.roots, item.end - item.begin, x + inset, frame.width - 2 * inset, item.depth);
    }
    laid.boxes.sort((a, b) => a.level - b.level || a.x - b.x);
    laid.levels = [];
    for (const box of laid.boxes) (laid.levels[box.level] ??= []).push(box);
    return laid;
  }

  function fill(laid, frame, calls, whole, left, width, level) {
    if (calls.length === 0) return;
    frame.height = Math.max(frame.height, level - frame.level + 1);
    for (const [call, wide] of shares(calls, whole, width, laid.glyph)) {
      if (wide <= 0) {
        laid.tooNarrow += 1 + below(call);
        continue;
      }
      laid.boxes.push({ item: frame.item, call, stack: call.stack, level, x: left, width: wide });
      fill(laid, frame, call.called, call.duration, left, wide, level + 1);
      left += wide;
    }
  }

  const below = (call) => call.called.reduce((sum, called) => sum + 1 + below(called), 0);

  /** Returns the first index of an ascending list at which it is not below a value. */
  function lower(list, value, of = (element) => element) {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (of(list[middle]) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Interpolates the position of a value between two borders. */
  function between(from, to, right, value) {
    const left = right - 1;
    const part = from[right] > from[left] ? (value - from[left]) / (from[right] - from[left]) : 0;
    return to[left] + part * (to[right] - to[left]);
  }

  /** Returns the position of a time; of several borders at that time, the first or the last. */
  function positionOf({ times, at }, time, last = false) {
    const first = lower(times, time);
    if (first >= times.length) return at[at.length - 1];
    if (times[first] > time) return first === 0 ? at[0] : between(times, at, first, time);
    let ix = first;
    while (last && ix + 1 < times.length && times[ix + 1] === time) ix += 1;
    return at[ix];
  }

  /** Returns the time at a position. */
  function timeOf({ times, at }, x) {
    const right = lower(at, x);
    if (right === 0) return times[0];
    if (right >= at.length) return times[times.length - 1];
    return between(at, times, right, x);
  }

  /** Returns the box at a position, if any: the last one of its level that begins before it. */
  function boxAt(laid, x, level) {
    const boxes = laid.levels[level] ?? [];
    let ix = lower(boxes, x + 1e-9, (box) => box.x) - 1;
    for (let tries = 0; ix >= 0 && tries < 4; ix -= 1, tries += 1) {
      if (x < boxes[ix].x + Math.max(boxes[ix].width, 1)) return boxes[ix];
    }
    return null;
  }

  return { lay, positionOf, timeOf, boxAt };
})();
