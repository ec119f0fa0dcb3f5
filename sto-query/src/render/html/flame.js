'use strict';
// Differential flame graphs: one for each `figure.flame`, drawn from the JSON in it. Names come from
// profiles, so they only ever become text nodes and attribute values.
{
  const ROW = 20; // pixels
  const MIN_WIDTH = 0.5; // pixels
  const CHARACTER = 6.7; // pixels that a character of a name takes, see `.frame text`
  const FULL_COLOR = 2; // times as much, or as little

  /** Turns the columns of the page's data into frames; the first stands for everything. */
  function framesOf(data) {
    const all = { name: 'all', module: '', depth: -1, callees: [], samples: data.all };
    const frames = [all];
    const callers = [all];
    data.depth.forEach((depth, ix) => {
      const [name, module] = data.functions[data.function[ix]];
      const caller = callers[depth];
      const frame = { name, module, depth, caller, callees: [] };
      frame.samples = { baseline: data.baseline[ix], candidate: data.candidate[ix] };
      caller.callees.push(frame);
      callers[depth + 1] = frame;
      frames.push(frame);
    });
    const pale = data.pale_cost;
    for (const frame of frames) {
      const { baseline, candidate } = frame.samples;
      frame.cost = {
        baseline: baseline * data.baseline_cost,
        candidate: candidate * data.candidate_cost,
      };
      const ratio = (frame.cost.candidate + pale) / (frame.cost.baseline + pale);
      const step = Math.round((5 * Math.log(ratio)) / Math.log(FULL_COLOR));
      frame.color = step > 0 ? `w${Math.min(step, 5)}` : step < 0 ? `b${Math.min(-step, 5)}` : 'n';
    }
    // Callers stand before what they call, so a frame's own start is known when it hands it on.
    all.start = { baseline: 0, candidate: 0 };
    for (const frame of frames) {
      const next = { ...frame.start };
      for (const callee of frame.callees) {
        callee.start = { ...next };
        next.baseline += callee.cost.baseline;
        next.candidate += callee.cost.candidate;
      }
    }
    return frames;
  }

  const percent = (cost) => `${(100 * cost).toFixed(cost < 0.1 ? 2 : 1)}%`;

  function change(baseline, candidate) {
    if (baseline === 0) return candidate === 0 ? 'none' : 'new';
    const ratio = candidate / baseline;
    if (ratio === 0) return 'gone';
    if (ratio >= 2) return `${ratio.toFixed(1)}x`;
    return `${ratio < 1 ? '−' : '+'}${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;
  }

  const count = (number) => number.toLocaleString('en');

  const inRuns = (samples, runs) => (runs === 1 ? count(samples) : `${count(samples)} in ${runs} runs`);

  function svg(name, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  function fitting(name, width) {
    const room = Math.floor((width - 6) / CHARACTER);
    if (room < 3) return '';
    return name.length <= room ? name : `…${name.slice(1 - room)}`;
  }

  function flameGraph(figure) {
    const data = JSON.parse(figure.querySelector('script').textContent);
    const frames = framesOf(data);
    const all = frames[0];
    const search = figure.querySelector('input');
    const widths = figure.querySelector('select');
    const status = figure.querySelector('.status');
    const place = figure.querySelector('.drawing');
    const picture = svg('svg', { role: 'tree', 'aria-label': 'Differential flame graph' });
    const elements = new Map();
    const frameOf = new WeakMap();
    let shown = all; // the frame that takes the whole width
    let current = all; // the frame that keys act on
    let matches = new Set();

    const side = () => widths.value;

    const difference = ({ baseline, candidate }) =>
      `${percent(baseline)} → ${percent(candidate)} of ${data.unit} (${change(baseline, candidate)})`;

    function describe({ name, module, cost, samples }) {
      const place = module === '' ? '' : ` [${module}]`;
      const [baseline, candidate] = ['baseline', 'candidate'].map((side, ix) =>
        inRuns(samples[side], data.runs[ix]),
      );
      return `${name}${place}: ${difference(cost)}, ${baseline} → ${candidate} samples`;
    }

    /** What the line above the graph says when no frame is pointed at. */
    function summary() {
      if (search.value === '') return describe(current);
      const cost = { baseline: 0, candidate: 0 };
      // In a recursion, the outermost match has the cost of all others.
      const add = (frame) => {
        if (matches.has(frame)) {
          cost.baseline += frame.cost.baseline;
          cost.candidate += frame.cost.candidate;
        } else {
          open.push(...frame.callees);
        }
      };
      const open = [all];
      while (open.length > 0) add(open.pop());
      if (matches.size === 0) return `No name has “${search.value}” in it.`;
      return `Stacks with “${search.value}”: ${difference(cost)}`;
    }

    function element(frame, x, width, level) {
      const group = svg('g', {
        class: `frame ${frame.color}`,
        role: 'treeitem',
        tabindex: frame === current ? 0 : -1,
        'aria-level': frame.depth + 2,
        'aria-label': describe(frame),
      });
      if (matches.has(frame)) group.classList.add('match');
      if (frame !== shown && frame.depth < shown.depth) group.classList.add('caller');
      const y = level * ROW;
      group.append(svg('rect', { x, y, width: Math.max(width - 1, MIN_WIDTH), height: ROW - 1 }));
      const label = fitting(frame.name, width);
      if (label !== '') {
        const text = svg('text', { x: x + 4, y: y + 14 });
        text.textContent = label;
        group.append(text);
      }
      const title = svg('title', {});
      title.textContent = describe(frame);
      group.append(title);
      elements.set(frame, group);
      frameOf.set(group, frame);
      return group;
    }

    function draw() {
      // A stack that costs nothing on this side has no width.
      while (shown.cost[side()] === 0 && shown !== all) shown = shown.caller;
      const width = Math.max(place.clientWidth, 200);
      const scale = width / shown.cost[side()];
      const hadFocus = picture.contains(document.activeElement);
      elements.clear();
      const drawn = [];
      for (let frame = shown.caller; frame; frame = frame.caller) {
        drawn.unshift(element(frame, 0, width, frame.depth + 1));
      }
      let levels = 0;
      const open = [shown];
      while (open.length > 0) {
        const frame = open.pop();
        const own = frame.cost[side()] * scale;
        if (own < MIN_WIDTH) continue;
        const x = (frame.start[side()] - shown.start[side()]) * scale;
        drawn.push(element(frame, x, own, frame.depth + 1));
        levels = Math.max(levels, frame.depth + 2);
        open.push(...frame.callees);
      }
      picture.setAttribute('viewBox', `0 0 ${width} ${levels * ROW}`);
      picture.classList.toggle('searching', matches.size > 0);
      picture.replaceChildren(...drawn);
      if (!elements.has(current)) current = shown;
      elements.get(current).setAttribute('tabindex', 0);
      if (hadFocus) elements.get(current).focus();
      status.textContent = summary();
    }

    function moveTo(frame) {
      const target = elements.get(frame);
      if (!target) return;
      elements.get(current).setAttribute('tabindex', -1);
      current = frame;
      target.setAttribute('tabindex', 0);
      target.focus();
    }

    function show(frame) {
      shown = frame;
      current = frame;
      draw();
    }

    const isDrawn = (frame) => elements.has(frame);
    const widest = (a, b) => (b.cost[side()] > a.cost[side()] ? b : a);

    const keys = {
      ArrowUp: () => current.caller && moveTo(current.caller),
      ArrowDown: () => {
        const callees = current.callees.filter(isDrawn);
        if (callees.length > 0) moveTo(callees.reduce(widest));
      },
      ArrowLeft: () => moveBeside(-1),
      ArrowRight: () => moveBeside(1),
      Enter: () => show(current),
      ' ': () => show(current),
      Escape: () => show(all),
    };

    function moveBeside(step) {
      const siblings = (current.caller?.callees ?? []).filter(isDrawn);
      const sibling = siblings[siblings.indexOf(current) + step];
      if (sibling) moveTo(sibling);
    }

    function find() {
      const part = search.value.toLowerCase();
      const isMatch = (frame) => frame !== all && frame.name.toLowerCase().includes(part);
      matches = new Set(part === '' ? [] : frames.filter(isMatch));
      draw();
    }

    const framePointedAt = (event) => frameOf.get(event.target.closest('.frame'));

    picture.addEventListener('click', (event) => {
      const frame = framePointedAt(event);
      if (frame) show(frame);
    });
    picture.addEventListener('keydown', (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    for (const type of ['pointerover', 'focusin']) {
      picture.addEventListener(type, (event) => {
        const frame = framePointedAt(event);
        if (frame) status.textContent = describe(frame);
      });
    }
    picture.addEventListener('pointerleave', () => {
      status.textContent = summary();
    });
    search.addEventListener('input', find);
    widths.addEventListener('change', draw);
    figure.querySelector('button').addEventListener('click', () => {
      search.value = '';
      matches = new Set();
      show(all);
    });

    figure.querySelector('.without-script').remove();
    figure.querySelector('.tools').hidden = false;
    place.append(picture);
    let width = 0;
    const fit = () => {
      if (place.clientWidth !== width) {
        width = place.clientWidth;
        draw();
      }
    };
    fit();
    // What an observer changes at once may call it again without end, so it waits for its turn.
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);

    return (name) => {
      search.value = name;
      shown = all;
      find();
    };
  }

  const searchIn = new Map();
  for (const figure of document.querySelectorAll('figure.flame')) {
    searchIn.set(`#${figure.id}`, flameGraph(figure));
  }
  for (const link of document.querySelectorAll('a[data-search]')) {
    link.addEventListener('click', () => searchIn.get(link.hash)(link.dataset.search));
  }
}
