'use strict';
// The page of calls: selection and search of rows, hovered calls, and selected times. Names come from profiles, so
// they are only used as text and values of attributes.
{
  const { threads, functions, outliers, waits } = model;
  const { grouped, counted, percent, length, written, exact } = words;
  const HIGHEST = 140; // pixels of a row, where its levels have room in them
  const [LOWEST, USUAL] = [4, 16]; // pixels of a level
  const NEAR = 0.01; // of the view: records this close are one span of time
  const [SPANS, LONG, ROWS, NAMED] = [4, 3, 60, 8]; // that are listed
  const OTHERS = 4; // things that another thread did

  const plot = document.querySelector('#plot');
  const tools = plot.querySelector('.tools');
  const list = plot.querySelector('.rows');

  const button = (text, click, attributes = {}) => element('button', { type: 'button', click, ...attributes }, text);
  const code = (text) => element('code', {}, text);

  // State of the view: visible time and threads, highlighted functions, and the hovered and the selected target.
  const all = { from: model.from, to: Math.max(model.from + 1, model.to) };
  let view = all;
  const views = [];
  const chosen = new Set(threads.map(({ ix }) => ix));
  const pressed = new Set();
  let searched = null;
  let pointed = null;
  let pinned = null;

  const at = (time) => written(time, (view.to - view.from) / 1000);
  const fromTo = ({ from, to }) => (at(from) === at(to) ? `at ${at(from)}` : `${at(from)} to ${at(to)}`);

  const rows = threads.map((thread) => {
    const label = element('small', { class: 'soft' });
    const canvas = element('canvas', { 'aria-hidden': 'true' });
    const marks = Object.fromEntries(['mark', 'cursor', 'chosen'].map((kind) => [kind, element('div', { class: kind, hidden: '' })]));
    const lane = element(
      'div',
      { class: 'lane', tabindex: 0, role: 'application', 'aria-roledescription': 'timeline of calls', 'aria-label': thread.name },
      canvas,
      ...Object.values(marks),
    );
    const ticks = element('div', { class: 'ticks', 'aria-hidden': 'true' });
    const name = element('b', { title: thread.name }, thread.name);
    const row = element('div', { class: 'thread' }, element('div', { class: 'label' }, name, label), lane, ticks);
    list.append(row);
    return { thread, row, lane, canvas, ...marks, ticks, label, height: 0, laid: null };
  });
  const isShown = ({ thread }) => chosen.has(thread.ix) && (!searched || searched.some((wanted) => thread.functions.has(wanted)));

  // ---- Controls

  const search = element('input', { type: 'search', placeholder: 'Function', 'aria-label': 'Show threads that call this function', list: 'names', spellcheck: 'false' });
  const names = element('datalist', { id: 'names' }, ...functions.slice(0, 500).map((name) => element('option', { value: name })));
  const count = element('output', {});
  const back = button('Back', () => views.length > 0 && show(views.pop(), false));
  const whole = button('All of the time', () => show(all));
  const time = element('output', {});
  const boxes = threads.map(({ name, ix }) => element('input', { type: 'checkbox', value: ix, checked: '', id: `thread-${ix}` }));
  const set = (value) => () => {
    for (const box of boxes) box.checked = value;
    choose();
  };
  const items = threads.map(({ name, ix }) => element('li', {}, boxes[ix], ' ', element('label', { for: `thread-${ix}` }, name)));
  const summary = element('summary', {});
  const chooser = element('details', { class: 'choose', change: choose }, summary, button('All', set(true)), ' ', button('None', set(false)), element('ul', {}, ...items));
  tools.append(element('label', {}, 'Search ', search), names, count, whole, back, time, chooser);

  const now = element('section', { id: 'now', 'aria-live': 'polite', 'aria-label': 'What is pointed at' });
  const found = element('section', { id: 'found', 'aria-live': 'polite' });
  const more = element('p', { id: 'more', class: 'opens' });
  tools.after(more, found);
  list.after(now);

  function choose() {
    chosen.clear();
    for (const box of boxes) if (box.checked) chosen.add(Number(box.value));
    refresh();
  }

  search.addEventListener('input', () => {
    const text = search.value.trim().toLowerCase();
    searched = null;
    if (text !== '') {
      const matches = functions.map((_, ix) => ix).filter((ix) => functions[ix].toLowerCase().includes(text));
      // A full name only matches that function.
      const exact = matches.filter((ix) => functions[ix].toLowerCase() === text);
      searched = exact.length > 0 ? exact : matches;
    }
    refresh();
  });

  const legend = document.querySelector('#legend');
  for (const item of legend.querySelectorAll('li')) {
    const number = Number(item.dataset.function);
    const toggle = button('', () => {
      if (!pressed.delete(number)) pressed.add(number);
      toggle.setAttribute('aria-pressed', pressed.has(number));
      refresh();
    }, { 'aria-pressed': 'false', title: 'Let its calls stand out' });
    toggle.append(...item.childNodes);
    item.replaceChildren(toggle);
  }

  // ---- Calls that are not on the page

  /** Whether an expression has more details than its stacks; a single call does not. */
  const hasMore = ({ stacks }) => stacks.length > 1 || stacks[0].calls > 1;

  /** Returns how to show calls that are not on the page. */
  function howToOpen(what, { from, to }) {
    if (model.command.length === 0) return model.without ? [model.without] : [];
    const [before, between, after] = model.command;
    const line = element('code', {}, `${before} ${exact(from)} ${between} ${exact(to)} ${after}`);
    const copy = button('Copy', async () => {
      try {
        await navigator.clipboard.writeText(line.textContent);
        copy.textContent = 'Copied';
      } catch {
        // The user can copy the selection manually.
        getSelection().selectAllChildren(line);
      }
    });
    return [`${what} that are not on this page are opened by `, line, ' ', copy];
  }

  // ---- Drawing

  const marked = () => new Set([...pressed, ...(searched ?? [])]);

  function ticksOf(laid) {
    const least = ((view.to - view.from) / laid.width) * 80;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
    const labels = [];
    let free = 0;
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
      const x = layout.positionOf(laid, time);
      if (x < free || x > laid.width - 30) continue;
      free = x + 60;
      const label = element('span', {}, written(time, step));
      label.style.left = `${(100 * x) / laid.width}%`; // paper may be of another width
      labels.push(label);
    }
    return labels;
  }

  function draw() {
    // Expressions whose content is drawn cannot be hovered themselves.
    const isOpened = (target) => target?.box?.call && model.opened(target.box.item, view);
    if (isOpened(pinned)) pinned = null;
    if (isOpened(pointed)) pointed = null;
    const stands = marked();
    let narrow = 0;
    for (const row of rows) {
      row.row.hidden = !isShown(row);
      if (row.row.hidden) continue;
      const width = row.lane.clientWidth;
      row.laid = layout.lay(row.thread, view, width);
      row.height = Math.min(USUAL, Math.max(LOWEST, Math.floor(HIGHEST / row.thread.levels)));
      picture.draw(row.canvas, row.laid, row.height, stands);
      row.ticks.replaceChildren(...ticksOf(row.laid));
      narrow += row.laid.tooNarrow;
      const { calls, begin, end } = row.thread;
      row.label.textContent = `${counted(calls, 'call')} in ${length(end - begin)}`;
    }
    const shown = rows.filter(isShown).length;
    summary.textContent = `Threads: ${shown} of ${threads.length}`;
    const isAll = view.from === all.from && view.to === all.to;
    whole.disabled = isAll;
    back.disabled = views.length === 0;
    const hidden = narrow > 0 ? `; ${counted(narrow, 'call stack')} too narrow to draw` : '';
    time.textContent = `${isAll ? 'All: ' : ''}${fromTo(view)}${hidden}`;
    const isMissing = ({ item }) => item.end > item.begin && hasMore(item) && !item.zoom;
    const missing = !isAll && rows.some((row) => isShown(row) && row.laid.frames.some(isMissing));
    more.replaceChildren(...(missing ? howToOpen('Calls of this part of the time', view) : []));
    mark();
  }

  /** Redraws, and lists the functions that are highlighted or were searched for. */
  function refresh() {
    draw();
    const wanted = [...marked()].sort((a, b) => a - b);
    count.textContent = searched ? `${counted(searched.length, 'function')}, ${counted(rows.filter(isShown).length, 'thread')}` : '';
    if (wanted.length === 0) {
      found.replaceChildren();
      return;
    }
    const near = (all.to - all.from) * NEAR;
    const lines = rows.filter(isShown).flatMap(({ thread }) =>
      wanted.slice(0, NAMED).filter((number) => thread.functions.has(number)).map((number) => ({ thread, number, ...model.appearances(thread, number, near) })),
    );
    const head = ['Thread', 'Function', 'When', 'Calls', 'Time', 'Longest calls, kept each'];
    const line = ({ thread, number, spans, calls, duration, long }) => {
      const times = spans.slice(0, SPANS).map(([from, to]) => fromTo({ from, to }));
      if (spans.length > SPANS) times.push(`${spans.length - SPANS} more`);
      const calling = long.slice(0, LONG).flatMap((item) => [button(`${length(item.end - item.begin)} at ${at(item.begin)}`, () => reveal(ofBox({ item, stack: item.stack })), { class: 'show' }), ' ']);
      if (long.length > LONG) calling.push(`and ${long.length - LONG} more`);
      const cell = (about, ...content) => element('td', about === '' ? {} : { 'data-label': about }, ...content);
      const number_ = (about, text) => element('td', { class: 'number', 'data-label': about }, text);
      return element(
        'tr',
        {},
        element('th', { scope: 'row' }, thread.name),
        cell('', code(functions[number])),
        cell('when', times.join(', ') || 'too short to be on this page'),
        number_('calls', grouped(calls)),
        number_('time', length(duration)),
        cell('longest', ...(calling.length > 0 ? calling : ['none'])),
      );
    };
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))), element('tbody', {}, ...lines.slice(0, ROWS).map(line)));
    const rest = wanted.length > NAMED ? [element('p', { class: 'soft' }, `${counted(wanted.length - NAMED, 'more function')} not listed.`)] : [];
    if (lines.length > ROWS) rest.push(element('p', { class: 'soft' }, `${counted(lines.length - ROWS, 'more row')} not listed.`));
    found.replaceChildren(...(lines.length > 0 ? [table] : [element('p', {}, 'No thread that is shown calls it.')]), ...rest);
  }

  /** Shows a part of the time. */
  function show(next, remember = true) {
    const from = Math.min(Math.max(Math.round(next.from), all.from), all.to - 1);
    const to = Math.max(Math.min(Math.round(next.to), all.to), from + 1);
    if (from === view.from && to === view.to) return;
    if (remember) views.push(view);
    view = from === all.from && to === all.to ? all : { from, to };
    draw();
  }

  // ---- Hovering

  const ofBox = (box) => ({ thread: box.item.thread, from: box.item.begin, to: box.item.end, box });

  /** Returns the gap between two records, or the self time of a caller, that contains a time. */
  function between(thread, time) {
    let [items, caller, from, to] = [thread.outermost, null, all.from, all.to];
    for (;;) {
      const next = items.find((item) => item.begin <= time && time < item.end);
      if (!next) break;
      const made = next.stacks ? model.opened(next, view) : next.items;
      if (!made) return null;
      [items, caller, from, to] = [made, next.stacks ? caller : next, next.begin, next.end];
    }
    for (const item of items) {
      if (item.end <= time) from = Math.max(from, item.end);
      else if (item.begin > time) to = Math.min(to, item.begin);
    }
    return { thread: thread.ix, from, to, gap: { caller } };
  }

  /** Returns the target at a position of a row. */
  function targetAt(row, x, y) {
    const level = Math.min(Math.floor(y / row.height), row.thread.levels - 1);
    const box = layout.boxAt(row.laid, x, level);
    if (box) return ofBox(box);
    const gap = between(row.thread, layout.timeOf(row.laid, x));
    if (gap) return gap;
    // Below or next to the boxes of an expression: the box above.
    for (let above = level - 1; above >= 0; above -= 1) {
      const box = layout.boxAt(row.laid, x, above);
      if (box) return ofBox(box);
    }
    const frame = row.laid.frames.find((frame) => x >= frame.x && x <= frame.x + frame.width);
    return frame ? { thread: row.thread.ix, from: frame.item.begin, to: frame.item.end, pause: true } : null;
  }

  const thread = ({ name }) => element('b', {}, name);

  /** Describes a target in a sentence, with its path. */
  function about(target) {
    const of = threads[target.thread];
    const { box, gap, call, pause } = target;
    const span = `${fromTo(target)} (${length(target.to - target.from)})`;
    if (gap) {
      const what = gap.caller ? [code(model.name(gap.caller.stack)), ` itself, or in calls too short to be here, ${span}, in `] : [`In no call, ${span}, in `];
      return [[...what, thread(of)], gap.caller ? gap.caller.stack : -1];
    }
    if (pause) return [['Between calls, in an expression, ', `${span}, of `, thread(of)], -1];
    if (call) {
      const usual = call.typical === undefined ? '' : `, usually ${length(call.typical)} (median of ${counted(call.calls, 'call')})`;
      return [[code(model.name(call.stack)), ` took ${length(call.end - call.begin)}${usual}, ${fromTo(target)}, in `, thread(of)], call.stack];
    }
    if (!box.call) return [[code(model.name(box.stack)), ` took ${length(target.to - target.from)}, ${fromTo(target)}, in `, thread(of)], box.stack];
    const { calls, duration } = box.call;
    const share = target.to > target.from ? ` (${percent(duration / (target.to - target.from))})` : '';
    const within = `in an expression, ${span}, of `;
    const together = calls === 1 ? '' : ' together';
    return [[code(model.name(box.stack)), `: ${counted(calls, 'call')} took ${length(duration)}${together}${share}, ${within}`, thread(of)], box.stack];
  }

  /** Describes what a thread did in a span of time. */
  function did(other, target) {
    const whole = target.to - target.from;
    const exact = target.call?.meanwhile?.filter((of) => of.thread === other.ix);
    const parts = exact?.length > 0
      ? exact.map(({ stack, time }) => [stack < 0 ? 'in no call' : code(model.name(stack)), ` ${length(time)} (${percent(time / whole)})`])
      : model.during(other, target.from, target.to).map(({ item, stack, share, time }) => {
          const lasted = ` ${length(time)} (${percent(time / whole)})`;
          if (!item) return ['in no call', lasted];
          if (stack !== undefined) return [code(model.name(stack)), lasted];
          const named = [...new Set(item.stacks.map(({ stack }) => model.name(stack)))];
          const rest = named.length > 3 ? ` and ${named.length - 3} more` : '';
          const part = share < 0.9995 ? `, ${percent(share)} of it` : ', all of it';
          return ['an expression of ', code(named.slice(0, 3).join(', ')), `${rest}${lasted}${part}`];
        });
    const shown = parts.slice(0, OTHERS).flatMap((part, ix) => (ix > 0 ? ['; ', ...part] : part));
    if (parts.length > OTHERS) shown.push(`; ${counted(parts.length - OTHERS, 'more thing')}`);
    return shown.length > 0 ? shown : ['no time passed'];
  }

  function describe() {
    const target = pinned ?? pointed;
    now.classList.toggle('fixed', pinned !== null);
    if (!target) {
      now.replaceChildren(element('p', { class: 'soft' }, 'Point at a call, or walk through them with the arrow keys: the same time is marked in every thread. A click, or Enter, keeps it and says what the others did; a drag, or a double click, shows that part of the time.'));
      return;
    }
    const [sentence, stack] = about(target);
    const path = stack >= 0 ? [element('p', { class: 'path' }, model.path(stack).join(' › '))] : [];
    const rest = [];
    if (pinned) {
      const others = rows.filter((row) => isShown(row) && row.thread.ix !== target.thread);
      const lines = others.flatMap(({ thread }) => [element('dt', { title: thread.name }, thread.name), element('dd', {}, ...did(thread, target))]);
      const expression = target.box?.call && hasMore(target.box.item) ? target.box.item : null;
      if (expression?.zoom) {
        const { calls, each } = expression.zoom;
        const into = each ? `each of the ${grouped(calls)} calls` : `shorter expressions of the ${counted(calls, 'call')}`;
        rest.push(element('p', { class: 'opens' }, `Zooming in shows ${into} that it is made of.`));
      } else if (expression) {
        rest.push(element('p', { class: 'opens' }, ...howToOpen('Its calls', target)));
      }
      // Precedes a possibly long list.
      rest.push(element('p', { class: 'does' }, button('Zoom in', () => show(target)), button('Let go', release)));
      rest.push(element('dl', {}, ...lines));
    }
    now.replaceChildren(element('p', {}, ...sentence), ...path, ...rest);
  }

  function span(mark, laid, from, to) {
    const [begin, end] = [Math.max(from, view.from), Math.min(to, view.to)];
    mark.hidden = begin > end;
    if (mark.hidden) return;
    const left = layout.positionOf(laid, begin);
    const right = layout.positionOf(laid, end, true);
    mark.style.left = `${Math.min(left, laid.width - 2)}px`;
    mark.style.width = `${Math.max(right - left, 2)}px`;
  }

  /** Marks the target, and its time in every row. */
  function mark() {
    const target = pinned ?? pointed;
    plot.classList.toggle('pinned', pinned !== null);
    for (const row of rows) {
      row.mark.hidden = row.cursor.hidden = true;
      if (!target || row.row.hidden || !row.laid) continue;
      span(row.mark, row.laid, target.from, target.to);
      row.mark.dataset.time = `${target.from} ${target.to}`;
      if (row.thread.ix !== target.thread || !target.box) continue;
      const box = row.laid.boxes.find(({ item, stack }) => item === target.box.item && stack === target.box.stack);
      row.cursor.hidden = !box;
      if (!box) continue;
      Object.assign(row.cursor.style, { left: `${box.x}px`, width: `${Math.max(box.width, 3)}px`, top: `${box.level * row.height}px`, height: `${row.height}px` });
    }
    describe();
  }

  function point(target) {
    pointed = target;
    if (!pinned) mark();
  }
  function pin(target) {
    pinned = target;
    mark();
  }
  function release() {
    pinned = null;
    mark();
  }
  /** Pins a target, and shows its duration before and after it as well. */
  function reveal(target) {
    const around = Math.max(target.to - target.from, 1);
    chosen.add(target.thread);
    boxes[target.thread].checked = true;
    show({ from: target.from - around, to: target.to + around });
    pin(target);
    rows[target.thread].row.scrollIntoView({ block: 'center' });
    rows[target.thread].lane.focus({ preventScroll: true });
  }

  // ---- Pointer and keys

  let drag = null;
  for (const row of rows) {
    const { lane } = row;
    const place = ({ clientX, clientY }) => {
      const { left, top } = lane.getBoundingClientRect();
      return [Math.min(Math.max(clientX - left, 0), row.laid.width), clientY - top];
    };
    lane.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || drag) return;
      const [x] = place(event);
      drag = { id: event.pointerId, x, moved: false };
      lane.setPointerCapture(event.pointerId);
    });
    lane.addEventListener('pointermove', (event) => {
      const [x, y] = place(event);
      if (!drag) {
        if (event.pointerType !== 'touch') point(targetAt(row, x, y));
        return;
      }
      if (event.pointerId !== drag.id) return;
      drag.moved ||= Math.abs(x - drag.x) > 4;
      row.chosen.hidden = !drag.moved;
      const [left, right] = [Math.min(x, drag.x), Math.max(x, drag.x)];
      Object.assign(row.chosen.style, { left: `${left}px`, width: `${right - left}px` });
    });
    const end = (event, isDone) => {
      if (!drag || event.pointerId !== drag.id) return;
      const { x: from, moved } = drag;
      drag = null;
      row.chosen.hidden = true;
      if (!isDone) return;
      const [x, y] = place(event);
      const times = [from, x].map((x) => layout.timeOf(row.laid, x)).sort((a, b) => a - b);
      if (moved) show({ from: times[0], to: times[1] });
      else pin(targetAt(row, x, y));
    };
    lane.addEventListener('pointerup', (event) => end(event, true));
    lane.addEventListener('pointercancel', (event) => end(event, false));
    lane.addEventListener('pointerleave', () => point(null));
    lane.addEventListener('dblclick', (event) => {
      const target = targetAt(row, ...place(event));
      if (target) show(target);
    });
    lane.addEventListener('focus', () => {
      if (!pinned && row.laid.boxes.length > 0 && lane.matches(':focus-visible')) point(ofBox(row.laid.boxes[0]));
    });
    lane.addEventListener('keydown', (event) => walk(event, row));
  }

  function walk(event, row) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { boxes, levels } = row.laid;
    const target = pinned ?? pointed;
    const isHere = target?.thread === row.thread.ix && target.box;
    const box = isHere ? boxes.find(({ item, stack }) => item === target.box.item && stack === target.box.stack) : null;
    const beside = (step) => levels[box.level][levels[box.level].indexOf(box) + step];
    const within = (level, x) => (levels[level] ?? []).find((other) => other.x + other.width > x + 1e-6);
    const next = {
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      ArrowUp: () => layout.boxAt(row.laid, box.x + box.width / 2, box.level - 1),
      ArrowDown: () => {
        const below = within(box.level + 1, box.x);
        return below && below.x < box.x + box.width ? below : null;
      },
      Home: () => levels[box.level][0],
      End: () => levels[box.level].at(-1),
    }[event.key];
    if (next) {
      event.preventDefault();
      const found = box ? next() : boxes[0];
      if (!found) return;
      pinned = null;
      point(ofBox(found));
    } else if ((event.key === 'Enter' || event.key === ' ') && target) {
      event.preventDefault();
      pin(target);
    } else if ((event.key === '+' || event.key === 'z') && target) show(target);
    else if (event.key === '-') back.click();
  }

  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.target === search) return;
    if (pinned) release();
    else if (view !== all) show(all);
  });

  // ---- Lists of outliers and waits

  for (const [selector, key, calls] of [['#outliers', 'outlier', outliers], ['#waits', 'wait', waits]]) {
    for (const line of document.querySelectorAll(`${selector} tbody tr`)) {
      const call = calls[Number(line.dataset[key])];
      line.firstElementChild.append(button('Show', () => reveal({ thread: call.thread, from: call.begin, to: call.end, call }), { class: 'show' }));
    }
  }

  // ---- Start

  function redraw() {
    picture.restyle();
    for (const button of legend.querySelectorAll('li button')) {
      button.querySelector('.swatch')?.remove();
      button.prepend(picture.swatch(Number(button.parentElement.dataset.function)));
    }
    draw();
  }
  plot.hidden = false;
  document.documentElement.classList.add('scripted');
  redraw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', redraw);
  addEventListener('afterprint', redraw);
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (list.clientWidth === width) return;
    width = list.clientWidth;
    draw();
  }).observe(list);
}
