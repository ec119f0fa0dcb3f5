// What a reader sees of the page of a run over time, and what becomes of it as a window is chosen.
async function facts() {
  const page = iframe.contentDocument;
  const { PointerEvent, KeyboardEvent, Event, Element } = iframe.contentWindow;
  // No pointer is down that could be captured.
  Element.prototype.setPointerCapture = () => {};
  const plot = page.querySelector('#plot');
  const brush = plot.querySelector('.brush');
  const figure = page.querySelector('figure.flame');
  await drawn(figure);

  async function settled() {
    for (let turns = 0; turns < 6; turns += 1) await turn();
  }

  async function shown() {
    await settled();
    const rows = [...page.querySelectorAll('table.top tbody tr')];
    const map = [...plot.querySelectorAll('.map')].find((map) => map.getClientRects().length > 0);
    const { scrollWidth, clientWidth } = page.documentElement;
    return {
      heading: page.querySelector('#window h2').textContent,
      status: page.querySelector('#window p[role=status]').textContent,
      top: rows.map((row) => [...row.children].map((cell) => cell.textContent)),
      names: texts(map, '.names li'),
      cells: [...map.querySelectorAll('.heat path')].map((path) => path.getAttribute('class')),
      frames: graphOf(figure).frames,
      overflow: scrollWidth - clientWidth,
      edges: [...brush.querySelectorAll('.edge')].map((edge) => edge.getAttribute('aria-valuetext')),
    };
  }

  async function drag(from, to) {
    const { left, top, width } = brush.getBoundingClientRect();
    const at = (type, part, target) =>
      target.dispatchEvent(
        new PointerEvent(type, { clientX: left + part * width, clientY: top + 60, pointerId: 1, button: 0, bubbles: true, cancelable: true }),
      );
    at('pointerdown', from, brush);
    at('pointermove', (from + to) / 2, brush);
    at('pointermove', to, brush);
    at('pointerup', to, brush);
    return shown();
  }

  async function press(target, key, shiftKey = false) {
    target.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true }));
    return shown();
  }

  const seen = {
    title: page.title,
    metrics: texts(plot, '.metric .name'),
    ranges: texts(plot, '.metric .range span'),
    choices: texts(page, '.choice label'),
    times: texts(plot, '.axis text'),
    phases: plot.querySelectorAll('.phases line').length,
    all: await shown(),
    smuggled: smuggle(page),
  };
  const { left, top, width } = brush.getBoundingClientRect();
  const over = plot.querySelector('.map .heat').getBoundingClientRect().top - top + 10;
  brush.dispatchEvent(new PointerEvent('pointermove', { clientX: left + width / 2, clientY: top + over, pointerId: 1 }));
  seen.pointed = page.querySelector('.pointed').textContent;
  seen.dragged = await drag(0.02, 0.2);
  seen.moved = await drag(0.1, 0.9);
  const edges = [...brush.querySelectorAll('.edge')];
  seen.narrowed = await press(edges[0], 'ArrowRight', true);
  seen.widened = await press(edges[0], 'Home');
  seen.escaped = await press(page.body, 'Escape');
  const inputs = [...page.querySelectorAll('#window .ends input')];
  inputs[0].value = '3.1';
  inputs[1].value = '3.3';
  inputs[1].dispatchEvent(new Event('change', { bubbles: true }));
  seen.idle = await shown();
  seen.clicked = await drag(0.5, 0.5);
  const phase = [...page.querySelectorAll('.ends button')].find((button) => button.textContent === 'Phase 10');
  phase?.click();
  seen.phase = await shown();
  const threads = [...page.querySelectorAll('.choice label')].find((label) => label.textContent.includes('threads'));
  threads?.querySelector('input').click();
  seen.threads = await shown();

  // A pattern of two points, one moved, one more that is taken away, and one written.
  page.querySelector('#pattern').open = true;
  await settled();
  const picture = plot.querySelector('svg.pattern');
  const line = picture.getBoundingClientRect();
  const pointer = (type, x, y) =>
    picture.dispatchEvent(
      new PointerEvent(type, { clientX: line.left + x * line.width, clientY: line.top + y * line.height, pointerId: 1, button: 0 }),
    );
  const click = (x, y) => ['pointerdown', 'pointerup'].forEach((type) => pointer(type, x, y));
  click(0.5, 0);
  click(0.25, 1);
  click(0.75, 0.5);
  click(0.75, 0.5);
  pointer('pointerdown', 0.5, 0);
  pointer('pointermove', 1, 0.5);
  pointer('pointerup', 1, 0.5);
  const option = page.querySelector('#pattern code');
  seen.drawn = [option.textContent, picture.querySelector('.dots').getAttribute('d')];
  const field = page.querySelector('#pattern input');
  field.value = '1:2,0.5:3';
  field.dispatchEvent(new Event('change'));
  seen.refused = [field.validationMessage, option.textContent];
  field.value = '0.5:3,1:2';
  field.dispatchEvent(new Event('change'));
  seen.written = [field.validationMessage, option.textContent];

  const heights = () => ['.line', '.pattern'].map((name) => plot.querySelector(`.metric ${name}`).getBoundingClientRect().height);
  const enlarge = plot.querySelector('.metric .name input');
  seen.enlarged = [enlarge.tabIndex, heights()];
  enlarge.click();
  seen.enlarged.push(heights());
  return seen;
}
