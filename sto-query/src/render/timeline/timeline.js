'use strict';
// Selection of rows, and a time window whose functions and stacks are shown. Names come from profiles, so they
// are only used as text and values of attributes.
{
  const TOP = 20; // functions in the table
  const ROW = 20; // pixels from one row, or level of calls, to the next
  const DRAWN = 1200; // pixels of the flame graph, which flame.js fits into its place
  const LEVELS = 500; // of calls that are drawn
  const PALE = 0.005; // a share that is too small for its change to have full colour
  const MANY = 10; // slices that a large step is

  const data = JSON.parse(document.querySelector('#data').textContent);
  const { slices, parents, labels, short, colors } = data;
  const labelOf = data.of;
  const count = slices.length;
  const plot = document.querySelector('#plot');
  const maps = [...plot.querySelectorAll('.map')];
  const pointed = document.querySelector('.pointed');
  const section = document.querySelector('#window');
  const heading = section.querySelector('h2');
  const table = section.querySelector('table.top');
  const graph = section.querySelector('figure.flame');

  function drawing(name, attributes) {
    const created = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
    return created;
  }

  const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)}%`;

  const timeAt = (border) => data.from + ((data.to - data.from) * border) / count;
  // Enough digits to distinguish slices.
  const digits = Math.max(0, Math.ceil(-Math.log10((data.to - data.from) / count)));
  const seconds = (time) => `${time.toFixed(Math.min(digits, 9))} s`;

  function change(rest, inside) {
    if (rest === 0) return inside === 0 ? '' : 'only here';
    const ratio = inside / rest;
    if (ratio === 0) return 'not here';
    if (ratio >= 2) return `${ratio.toFixed(1)}x`;
    const part = Math.abs(100 * (ratio - 1)).toFixed(1);
    return part === '0.0' ? 'the same' : `${ratio < 1 ? '−' : '+'}${part}%`;
  }

  // Stacks are in preorder: the callees of a stack follow it, up to this index.
  const ends = parents.map((_, stack) => stack + 1);
  for (let stack = parents.length - 1; stack >= 0; stack -= 1) {
    const parent = parents[stack];
    if (parent >= 0) ends[parent] = Math.max(ends[parent], ends[stack]);
  }
  const levels = [];
  parents.forEach((parent, stack) => (levels[stack] = parent < 0 ? 1 : levels[parent] + 1));

  // The window, from the beginning of one slice to the beginning of another, or the end.
  let from = 0;
  let to = count;
  const isAll = () => from === 0 && to === count;

  /** Returns self and total costs of stacks, and their sum, in the window and in the rest. */
  function costs() {
    const sides = [0, 1].map(() => ({ own: new Float64Array(parents.length), total: null, all: 0 }));
    slices.forEach((slice, ix) => {
      const { own } = sides[ix >= from && ix < to ? 0 : 1];
      for (let at = 0; at < slice.length; at += 2) own[slice[at]] += slice[at + 1];
    });
    for (const side of sides) {
      side.total = side.own.slice();
      for (let stack = parents.length - 1; stack >= 0; stack -= 1) {
        if (parents[stack] < 0) side.all += side.total[stack];
        else side.total[parents[stack]] += side.total[stack];
      }
    }
    return sides;
  }

  /** Returns costs of functions, with recursion counted once: the outermost call includes the others. */
  function byFunction({ own, total }) {
    const costs = labels.map(() => ({ own: 0, total: 0 }));
    const countedUntil = labels.map(() => 0);
    labelOf.forEach((label, stack) => {
      costs[label].own += own[stack];
      if (stack < countedUntil[label]) return;
      costs[label].total += total[stack];
      countedUntil[label] = ends[stack];
    });
    return costs;
  }

  function listTop(sides) {
    const [inside, rest] = sides.map(byFunction);
    const [all, allRest] = sides.map((side) => side.all || 1);
    const order = labels.map((_, label) => label).filter((label) => label !== data.others && inside[label].own > 0);
    order.sort((a, b) => inside[b].own - inside[a].own || inside[b].total - inside[a].total || a - b);
    const rows = order.slice(0, TOP).map((label) => {
      const [own, ownRest] = [inside[label].own / all, rest[label].own / allRest];
      const [total, totalRest] = [inside[label].total / all, rest[label].total / allRest];
      const cell = (text, about) => element('td', { class: 'number', 'data-label': about }, text);
      return element(
        'tr',
        {},
        element('th', { scope: 'row' }, element('code', { title: labels[label] }, short[label])),
        cell(percent(own), 'self'),
        cell(percent(ownRest), 'rest'),
        cell(change(ownRest, own), ''),
        cell(percent(total), 'total'),
        cell(percent(totalRest), 'rest'),
      );
    });
    table.tBodies[0].replaceChildren(...rows);
    table.classList.toggle('all', isAll());
  }

  /** Returns the class of a colour for the ratio of shares in the window and in the rest. */
  function colorOf(inside, rest) {
    const step = Math.round(5 * Math.log2((inside + PALE) / (rest + PALE)));
    if (step === 0) return 'n';
    return step < 0 ? `b${Math.min(-step, 5)}` : `w${Math.min(step, 5)}`;
  }

  function drawStacks([inside, rest]) {
    const boxes = graph.querySelector('.frames');
    const picture = graph.querySelector('.boxes');
    const next = [0];
    const all = isAll();
    let deepest = 0;
    const box = (level, [name, label], cost, costRest, fill) => {
      // Without costs, the box of the whole remains.
      const share = inside.all > 0 ? cost / inside.all : 1;
      const shareRest = rest.all > 0 ? costRest / rest.all : 0;
      const x = next[level];
      next[level] = x + share;
      next[level + 1] = x;
      deepest = Math.max(deepest, level);
      const nothing = inside.all === 0 && 'nothing was done in the window';
      const compared = `${percent(share)} of the window, ${percent(shareRest)} of the rest, ${change(shareRest, share)}`;
      const about = nothing || (all ? percent(share) : compared);
      const group = drawing('g', all ? { fill } : { class: colorOf(share, shareRest) });
      group.dataset.label = label;
      const title = drawing('title', {});
      title.textContent = `${name} (${about})`;
      const place = { x: (x * DRAWN).toFixed(3), y: level * ROW, width: (share * DRAWN).toFixed(3), height: ROW - 1 };
      group.append(title, drawing('rect', place));
      return group;
    };
    const groups = [box(0, ['all', 'all'], inside.all, rest.all, '#e1e1e1')];
    parents.forEach((_, stack) => {
      if (inside.total[stack] <= 0 || levels[stack] > LEVELS) return;
      const label = labelOf[stack];
      groups.push(box(levels[stack], [labels[label], short[label]], inside.total[stack], rest.total[stack], colors[label]));
    });
    boxes.replaceChildren(...groups);
    picture.setAttribute('viewBox', `0 0 ${DRAWN} ${(deepest + 1) * ROW}`);
    for (const about of graph.querySelectorAll('.differences')) about.hidden = all;
    graph.dispatchEvent(new Event('redrawn'));
  }

  const begin = element('input', { type: 'number', min: data.from, max: data.to, step: 'any' });
  const end = element('input', { type: 'number', min: data.from, max: data.to, step: 'any' });
  const reset = element('button', { type: 'button' }, 'Show all of the time');
  const status = element('p', { class: 'soft', role: 'status' });
  const borderOf = (time) => ((time - data.from) / (data.to - data.from)) * count;
  const begins = [data.from, ...data.phases, data.to];
  const phases = begins.slice(0, data.phases.length > 0 ? -1 : 0).map((begin, ix) => {
    const button = element('button', { type: 'button' }, `Phase ${ix + 1}`);
    button.addEventListener('click', () => set(borderOf(begin), borderOf(begins[ix + 1])));
    return button;
  });
  section.querySelector('.hint').after(
    element('div', { class: 'ends' }, element('label', {}, 'From ', begin, ' s'), element('label', {}, 'to ', end, ' s'), reset, ...phases),
    status,
  );

  const edge = (about) => element('div', { class: 'edge', role: 'slider', tabindex: 0, 'aria-label': about });
  const edges = [edge('Begin of the window'), edge('End of the window')];
  const rests = [element('div', { class: 'rest' }), element('div', { class: 'rest' })];
  const brush = element('div', { class: 'brush' }, ...rests, ...edges);
  plot.append(brush);

  /** Draws the window. Its content is updated once the window stops moving. */
  function place() {
    const part = (border) => `${(100 * border) / count}%`;
    rests[0].style.left = '0';
    rests[0].style.right = part(count - from);
    rests[1].style.left = part(to);
    rests[1].style.right = '0';
    edges.forEach((edge, ix) => {
      const border = [from, to][ix];
      edge.style.left = part(border);
      edge.setAttribute('aria-valuemin', data.from);
      edge.setAttribute('aria-valuemax', data.to);
      edge.setAttribute('aria-valuenow', timeAt(border));
      edge.setAttribute('aria-valuetext', seconds(timeAt(border)));
    });
    brush.classList.toggle('all', isAll());
    begin.value = timeAt(from).toFixed(digits);
    end.value = timeAt(to).toFixed(digits);
    heading.textContent = isAll()
      ? 'What was done in all of the time'
      : `What was done from ${seconds(timeAt(from))} to ${seconds(timeAt(to))}`;
  }

  /** Keeps the window in the address, so that a link shows the same. */
  function remember() {
    const hash = `#${begin.value}..${end.value}`;
    if (location.hash !== hash && (location.hash || !isAll())) location.replace(hash);
  }

  function draw() {
    remember();
    const sides = costs();
    const [inside, rest] = sides.map((side) => side.all);
    const all = inside + rest;
    const cost = data.unit === 's' ? seconds(inside * data.scale) : `${Math.round(inside * data.scale)} ${data.unit}`;
    status.textContent = isAll() ? '' : `${percent(all > 0 ? inside / all : 0)} of all that was done, in ${percent((to - from) / count)} of the time: ${cost}.`;
    listTop(sides);
    drawStacks(sides);
  }

  let waiting = 0;
  function set(first, last) {
    const ends = [first, last].map((border) => Math.min(Math.max(Math.round(border), 0), count));
    ends.sort((a, b) => a - b);
    [from, to] = ends;
    if (from === to) [from, to] = from === count ? [count - 1, count] : [from, from + 1];
    place();
    clearTimeout(waiting);
    waiting = setTimeout(draw, 60);
  }
  const showAll = () => set(0, count);

  const borderAt = (x) => {
    const { left, width } = brush.getBoundingClientRect();
    return ((x - left) / width) * count;
  };

  /** The current drag: where it began, and the window at that time. */
  let drag = null;
  brush.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || drag) return;
    const edge = edges.indexOf(event.target);
    const border = borderAt(event.clientX);
    const isInside = !isAll() && border >= from && border <= to;
    drag = { id: event.pointerId, edge, border, isInside, before: [from, to], x: event.clientX, hasMoved: false };
    brush.setPointerCapture(event.pointerId);
    // Edges stay under the pointer, and get the focus.
    if (edge >= 0) edges[edge].focus();
    event.preventDefault();
  });
  brush.addEventListener('pointermove', (event) => {
    if (!drag || event.pointerId !== drag.id) {
      point(event);
      return;
    }
    drag.hasMoved ||= Math.abs(event.clientX - drag.x) > 3;
    if (!drag.hasMoved) return;
    const border = borderAt(event.clientX);
    const [first, last] = drag.before;
    if (drag.edge >= 0) set(border, drag.before[1 - drag.edge]);
    else if (drag.isInside) {
      const length = last - first;
      const begin = Math.min(Math.max(Math.round(first + border - drag.border), 0), count - length);
      set(begin, begin + length);
    } else set(Math.min(Math.floor(drag.border), Math.floor(border)), Math.max(Math.ceil(drag.border), Math.ceil(border)));
  });
  brush.addEventListener('pointerup', (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { edge, hasMoved } = drag;
    drag = null;
    if (!hasMoved && edge < 0) showAll();
  });
  // A touch that scrolls the page.
  brush.addEventListener('pointercancel', (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { before } = drag;
    drag = null;
    set(...before);
  });
  brush.addEventListener('pointerleave', () => (pointed.textContent = ''));

  /** Describes the hovered position. */
  function point({ clientX, clientY }) {
    const slice = Math.min(Math.max(Math.floor(borderAt(clientX)), 0), count - 1);
    const time = `at ${seconds(timeAt(slice))}`;
    const map = maps.find((map) => !map.hidden);
    const row = Math.floor((clientY - map.querySelector('.heat').getBoundingClientRect().top) / ROW);
    const name = map.querySelectorAll('.names li')[row];
    if (!name || row < 0) {
      pointed.textContent = time;
      return;
    }
    const below = document.elementsFromPoint(clientX, clientY);
    const cell = below.find((element) => /^h[1-8]$/.test(element.getAttribute('class') ?? ''));
    const level = cell ? Number(cell.getAttribute('class').slice(1)) : 0;
    const shade = document.querySelectorAll('.shades > span');
    const part = (ix) => shade[ix].textContent.trim();
    const cost = level === 0 ? `less than ${part(0)}` : `${part(level - 1)} or more`;
    pointed.textContent = `${name.title} ${time}: ${cost} of ${map.dataset.highest}`;
  }

  edges.forEach((edge, ix) => {
    edge.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? MANY : 1;
      const border = [from, to][ix];
      // The edges cannot cross.
      const [least, most] = ix === 0 ? [0, to - 1] : [from + 1, count];
      const moved = {
        ArrowLeft: border - step,
        ArrowDown: border - step,
        ArrowRight: border + step,
        ArrowUp: border + step,
        PageDown: border - MANY,
        PageUp: border + MANY,
        Home: least,
        End: most,
      }[event.key];
      if (moved === undefined) return;
      event.preventDefault();
      const kept = Math.min(Math.max(moved, least), most);
      if (ix === 0) set(kept, to);
      else set(from, kept);
    });
  });
  addEventListener('keydown', (event) => {
    const isElsewhere = event.target.closest?.('.flame, input[type="search"]');
    if (event.key === 'Escape' && !isElsewhere && !isAll()) showAll();
  });
  for (const input of [begin, end]) {
    input.addEventListener('change', () => {
      const borders = [begin, end].map(({ value }) => borderOf(Number(value)));
      if (borders.every(Number.isFinite)) set(...borders);
    });
  }
  reset.addEventListener('click', showAll);

  function choose(chosen) {
    maps.forEach((map, ix) => (map.hidden = ix !== chosen));
    const highest = document.querySelector('.shades > span:last-child');
    highest.textContent = `and more of ${maps[chosen].dataset.highest}`;
  }
  const choice = document.querySelector('.choice');
  choice.addEventListener('change', (event) => choose(Number(event.target.value)));
  choice.hidden = maps.length < 2;
  document.documentElement.classList.add('scripted');
  choose(Number(choice.querySelector('input:checked')?.value ?? 0));
  const given = location.hash.match(/^#([\d.]+)\.\.([\d.]+)$/);
  if (given) set(borderOf(Number(given[1])), borderOf(Number(given[2])));
  place();
  draw();
}
