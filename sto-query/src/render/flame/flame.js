'use strict';
// Adds search, zoom and keyboard navigation to flame graphs. Names come from
// profiles, so they are only used as text and values of attributes.
{
  const DRAWN = 1200; // pixels that all is wide as it was drawn
  const ROW = 20; // pixels
  const MIN_WIDTH = 0.5; // pixels
  const CHARACTER = 6.7; // pixels that a character of a name takes, see `.frames text`

  /** Returns the end of a path, or the start of the function's own name, that fits into a box. */
  function fitting(name, width) {
    const room = Math.floor((width - 6) / CHARACTER);
    if (name.length <= room) return name;
    if (room < 5) return '';
    const parts = Array.from(name.matchAll(/(::|[./])(?=[\p{L}\p{N}_(])/gu), (mark) => [mark[1], name.slice(mark.index + mark[1].length)]);
    const inner = parts.map(([mark, rest]) => `…${mark === '::' ? mark : ''}${rest}`);
    return inner.find((label) => label.length <= room) ?? `${(parts.at(-1)?.[1] ?? name).slice(0, room - 1)}…`;
  }

  const percent = (cost) => `${(100 * cost).toFixed(cost < 0.1 ? 2 : 1)}%`;

  function change(baseline, candidate) {
    if (baseline === 0) return candidate === 0 ? 'none' : 'new';
    const ratio = candidate / baseline;
    if (ratio === 0) return 'gone';
    if (ratio >= 2) return `${ratio.toFixed(1)}x`;
    return `${ratio < 1 ? '−' : '+'}${Math.abs(100 * (ratio - 1)).toFixed(1)}%`;
  }

  /** Returns the frames of a picture, each after its caller; the first is the whole. */
  function framesOf(boxes) {
    const callers = [];
    const frames = Array.from(boxes.children, (group) => {
      const [title, rect, text] = group.children;
      const number = (attribute) => Number(rect.getAttribute(attribute));
      const y = number('y');
      const depth = y / ROW;
      const [x, width] = (group.dataset.other ?? '0 0').split(' ').map(Number);
      const about = title.textContent;
      const fullName = about.slice(0, about.lastIndexOf(' ('));
      const label = group.dataset.label ?? fullName;
      const frame = {
        group, rect, text, about, label, y, callees: [],
        caller: callers[depth - 1],
        // The module after the name is not searched.
        names: [fullName.replace(/ \[[^\]]*\]$/, ''), label].map((name) => name.toLowerCase()),
        sides: [{ x: number('x'), width: number('width') }, { x, width }],
      };
      group.setAttribute('role', 'treeitem');
      group.setAttribute('aria-level', depth + 1);
      group.setAttribute('aria-label', about);
      group.setAttribute('tabindex', -1);
      frame.caller?.callees.push(frame);
      callers[depth] = frame;
      return frame;
    });
    frames.forEach((frame, ix) => (frame.ix = ix));
    for (const frame of [...frames].reverse()) frame.end = frame.callees.at(-1)?.end ?? frame.ix + 1;
    return frames;
  }

  /** Adds tools above a picture. `resize` fits it to the available width, and returns the width. */
  function flameGraph(figure, boxes, tools, resize) {
    let frames;
    let frameOf;
    let all;
    const { drawn, other, unit } = figure.dataset;
    const costs = figure.dataset.costs?.split(' ').map(Number);
    let side = 0;
    let shown; // the frame that takes the whole width
    let current; // the frame that keys act on
    let matches = new Set();
    function read() {
      frames = framesOf(boxes);
      frameOf = new Map(frames.map((frame) => [frame.group, frame]));
      shown = current = all = frames[0];
    }
    read();

    const search = element('input', { type: 'search', spellcheck: 'false', autocomplete: 'off', placeholder: 'part of a name' });
    const reset = element('button', { type: 'button' }, 'Show all');
    const status = element('p', { class: 'status', role: 'status' });
    const bar = element('div', { class: 'tools' }, element('label', {}, 'Search ', search));
    tools.append(bar, status);
    if (other) {
      const widths = element('select', {}, ...[drawn, other].map((name, ix) => element('option', { value: ix }, `cost in the ${name}`)));
      widths.addEventListener('change', () => {
        side = Number(widths.value);
        draw();
      });
      bar.append(element('label', {}, 'Widths ', widths));
    }
    if (figure.querySelector('.n')) {
      const colors = element('input', { type: 'checkbox' });
      colors.checked = figure.classList.contains('colorblind');
      colors.addEventListener('change', () => figure.classList.toggle('colorblind', colors.checked));
      bar.append(element('label', {}, colors, ' Orange, not red'));
    }
    bar.append(reset);

    /** Text of the line above the graph if no frame is hovered. */
    function summary() {
      if (search.value === '') return current.about;
      if (matches.size === 0) return `No name has “${search.value}” in it.`;
      const widths = [0, 0];
      // In a recursion, the cost of the outermost match includes the others.
      for (let ix = 0; ix < frames.length; ) {
        const { sides, end } = frames[ix];
        const isMatch = matches.has(frames[ix]);
        if (isMatch) sides.forEach(({ width }, at) => (widths[at] += width / DRAWN));
        ix = isMatch ? end : ix + 1;
      }
      const found = `Stacks with “${search.value}”: `;
      if (!costs) return `${found}${percent(widths[0])} of all that is drawn`;
      const [candidate, baseline] = costs.map((cost, at) => cost * widths[at]);
      return `${found}${percent(baseline)} → ${percent(candidate)} of ${unit} (${change(baseline, candidate)})`;
    }

    function draw() {
      // A stack without a cost on this side has no width.
      while (shown.sides[side].width === 0 && shown !== all) shown = shown.caller;
      const room = resize();
      const scale = room / shown.sides[side].width;
      const callers = new Set();
      for (let frame = shown.caller; frame; frame = frame.caller) callers.add(frame);
      for (const frame of frames) {
        const isCaller = callers.has(frame);
        const width = isCaller ? room : frame.sides[side].width * scale;
        const isIn = frame.ix >= shown.ix && frame.ix < shown.end && width >= MIN_WIDTH;
        frame.isDrawn = isCaller || isIn;
        frame.group.toggleAttribute('hidden', !frame.isDrawn);
        if (!frame.isDrawn) continue;
        const x = isCaller ? 0 : (frame.sides[side].x - shown.sides[side].x) * scale;
        frame.rect.setAttribute('x', x);
        frame.rect.setAttribute('width', width);
        frame.group.classList.toggle('caller', isCaller);
        frame.group.classList.toggle('match', matches.has(frame));
        const label = fitting(frame.label, width);
        if (label !== '' && !frame.text) {
          frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
          frame.text.setAttribute('y', frame.y + 14);
          frame.group.append(frame.text);
        }
        frame.text?.setAttribute('x', x + 4);
        if (frame.text) frame.text.textContent = label;
      }
      boxes.classList.toggle('searching', matches.size > 0);
      const hadFocus = boxes.contains(document.activeElement);
      if (!current.isDrawn) moveTo(shown, hadFocus);
      else moveTo(current, hadFocus);
      status.textContent = summary();
    }

    function moveTo(frame, withFocus) {
      current.group.setAttribute('tabindex', -1);
      current = frame;
      current.group.setAttribute('tabindex', 0);
      if (withFocus) current.group.focus();
    }

    function show(frame) {
      shown = frame;
      moveTo(frame, false);
      draw();
    }

    const isDrawn = (frame) => frame.isDrawn;
    const widest = (a, b) => (b.sides[side].width > a.sides[side].width ? b : a);
    const beside = (step) => {
      const siblings = (current.caller?.callees ?? []).filter(isDrawn);
      const sibling = siblings[siblings.indexOf(current) + step];
      if (sibling) moveTo(sibling, true);
    };
    const keys = {
      ArrowUp: () => current.caller && moveTo(current.caller, true),
      ArrowDown: () => {
        const callees = current.callees.filter(isDrawn);
        if (callees.length > 0) moveTo(callees.reduce(widest), true);
      },
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      Enter: () => show(current),
      ' ': () => show(current),
      Escape: () => show(all),
    };

    function find() {
      const part = search.value.toLowerCase();
      const isMatch = (frame) => frame !== all && frame.names.some((name) => name.includes(part));
      matches = new Set(part === '' ? [] : frames.filter(isMatch));
      draw();
    }

    const framePointedAt = (event) => frameOf.get(event.target.closest('.frames > g'));
    boxes.addEventListener('click', (event) => {
      const frame = framePointedAt(event);
      if (frame) show(frame);
    });
    boxes.addEventListener('keydown', (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    for (const type of ['pointerover', 'focusin']) {
      boxes.addEventListener(type, (event) => {
        const frame = framePointedAt(event);
        if (frame) status.textContent = frame.about;
      });
    }
    boxes.addEventListener('pointerleave', () => {
      status.textContent = summary();
    });
    search.addEventListener('input', find);
    reset.addEventListener('click', () => {
      search.value = '';
      matches = new Set();
      show(all);
    });
    // Another script has replaced the frames.
    figure.addEventListener('redrawn', () => {
      read();
      find();
    });
    boxes.setAttribute('role', 'tree');
    boxes.setAttribute('aria-label', 'Flame graph');
    draw();
    return {
      draw,
      find(name) {
        search.value = name;
        shown = all;
        find();
      },
    };
  }

  /** A standalone file has its title and tools in HTML, which wraps. */
  function alone(svg) {
    const [title, notes] = svg.querySelectorAll('.title, .notes');
    const boxes = svg.querySelector('.frames');
    const height = Number(svg.getAttribute('height')) - Number(/ (\d+)\)/.exec(boxes.getAttribute('transform'))[1]);
    const head = element('div', { class: 'head' }, element('h1', {}, title.textContent), element('p', {}, notes.textContent));
    const room = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
    room.setAttribute('width', '100%');
    room.setAttribute('height', 400);
    room.append(head);
    title.replaceWith(room);
    notes.remove();
    svg.setAttribute('width', '100%');
    const { draw } = flameGraph(svg, boxes, head, () => {
      const width = Math.max(svg.clientWidth, 200);
      svg.setAttribute('viewBox', `0 0 ${width} ${svg.getAttribute('height')}`);
      const top = Math.ceil(head.getBoundingClientRect().height);
      boxes.setAttribute('transform', `translate(0 ${top})`);
      room.setAttribute('height', top);
      svg.setAttribute('height', top + height);
      svg.setAttribute('viewBox', `0 0 ${width} ${top + height}`);
      return width;
    });
    addEventListener('resize', draw);
  }

  const graphs = new Map();
  for (const figure of document.querySelectorAll('figure.flame')) {
    const picture = figure.querySelector('.boxes');
    const tools = element('div', {});
    figure.prepend(tools);
    let width;
    const graph = flameGraph(figure, picture.querySelector('.frames'), tools, () => {
      width = picture.clientWidth;
      const room = Math.max(width, 200);
      picture.setAttribute('viewBox', `0 0 ${room} ${picture.viewBox.baseVal.height}`);
      return room;
    });
    graphs.set(`#${figure.id}`, graph);
    // Changes made directly within an observer could trigger it endlessly, so they are deferred.
    const fit = () => picture.clientWidth !== width && graph.draw();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(picture);
  }
  for (const link of document.querySelectorAll('a[data-search]')) {
    link.addEventListener('click', () => graphs.get(link.hash).find(link.dataset.search));
  }
  if (document.documentElement.matches('svg.alone')) alone(document.documentElement);
}
