// What a reader of the page of calls learns from it: by searching, pointing, clicking and keys.
async function facts() {
  const page = iframe.contentDocument;
  const { PointerEvent, KeyboardEvent, MouseEvent, Event, Element } = iframe.contentWindow;
  // No pointer is down that could be captured.
  Element.prototype.setPointerCapture = () => {};
  for (let turns = 0; turns < 100 && !page.documentElement.classList.contains('scripted'); turns += 1) await turn();

  const rows = () => [...page.querySelectorAll('#plot .thread')].filter((row) => !row.hidden);
  const nameOf = (row) => row.querySelector('b').textContent;
  const laneOf = (name) => rows().find((row) => nameOf(row) === name).querySelector('.lane');
  const now = () => page.querySelector('#now p').textContent;

  function pointer(type, name, part, level, kind = 'mouse') {
    const lane = laneOf(name);
    const { left, top, width } = lane.getBoundingClientRect();
    const about = { clientX: left + part * width, clientY: top + 4 + level * 16, pointerId: 1, pointerType: kind, button: 0, bubbles: true, cancelable: true };
    lane.dispatchEvent(new PointerEvent(type, about));
  }
  function point(name, part, level = 0) {
    pointer('pointermove', name, part, level);
    return now();
  }
  function click(name, part, level = 0, kind = 'mouse') {
    pointer('pointerdown', name, part, level, kind);
    pointer('pointerup', name, part, level, kind);
    return pinned();
  }
  function pinned() {
    const others = {};
    const [terms, does] = ['dt', 'dd'].map((kind) => texts(page, `#now dl ${kind}`));
    terms.forEach((term, ix) => (others[term] = does[ix]));
    return { is: now(), path: texts(page, '#now .path').join(), others };
  }
  /** Where the mark of each row is, as parts of its width. */
  function marks() {
    const found = {};
    for (const row of rows()) {
      const mark = row.querySelector('.mark');
      const { width } = row.querySelector('.lane').getBoundingClientRect();
      const [left, length] = [mark.style.left, mark.style.width].map((pixels) => parseFloat(pixels) / width);
      found[nameOf(row)] = mark.hidden ? null : [left, left + length];
    }
    return found;
  }
  function search(text) {
    const field = page.querySelector('#plot input[type="search"]');
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const lines = [...page.querySelectorAll('#found tbody tr')];
    return { threads: rows().map(nameOf), said: texts(page, '#plot .tools output')[0], found: lines.map((line) => [...line.children].map((cell) => cell.textContent.trim())) };
  }
  function press(name, key) {
    laneOf(name).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    return now();
  }
  const time = () => texts(page, '#plot .tools output')[1];
  const escape = () => page.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  const button = (text) => [...page.querySelectorAll('#plot button')].find((button) => button.textContent === text);
  function picture(name) {
    const canvas = laneOf(name).querySelector('canvas');
    return canvas.toDataURL();
  }
  const overflow = () => page.documentElement.scrollWidth - page.documentElement.clientWidth;

  const seen = {
    title: page.title,
    about: page.querySelector('header p').textContent,
    kept: page.querySelector('#kept').textContent,
    threads: rows().map(nameOf),
    legend: texts(page, '#legend li'),
    overflow: overflow(),
    time: time(),
    smuggled: smuggle(page),
  };
  return { ...seen, ...(await asked({ page, rows, nameOf, point, click, pinned, marks, search, press, escape, button, time, pointer, now, overflow, laneOf, picture, Event, MouseEvent })) };
}
