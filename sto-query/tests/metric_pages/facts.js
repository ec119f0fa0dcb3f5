// What a reader sees of a page of metrics, and what finding and pinning do.
async function facts() {
  const page = iframe.contentDocument;
  const { Event } = iframe.contentWindow;
  const { scrollWidth, clientWidth } = page.documentElement;
  const width = (selector) => page.querySelector(selector)?.getBoundingClientRect().width;
  const seen = {
    title: page.title,
    names: texts(page, '.metrics .metric .names > :first-child'),
    borders: [...page.querySelectorAll('#target line')].map((line) => line.getAttribute('x1')),
    target: width('.metrics use'),
    doubtful: page.querySelectorAll('.path .doubt').length,
    path: width('.path polyline'),
    overflow: scrollWidth - clientWidth,
    smuggled: smuggle(page),
  };
  const find = page.querySelector('.find input');
  if (!find) return seen;
  const names = (list) => texts(page, `${list} .metric:not([hidden]) .names > :first-child`);
  const write = (part) => {
    find.value = part;
    find.dispatchEvent(new Event('input', { bubbles: true }));
    return names('.metrics');
  };
  seen.found = write('OIS');
  seen.by_other_name = write('again');
  seen.status = page.querySelector('.find [role=status]').textContent;
  write('');
  const boxes = [...page.querySelectorAll('.metrics .pin input')];
  boxes[2]?.click();
  boxes[0].click();
  seen.pinned = names('.pinned');
  boxes[0].click();
  seen.unpinned = [names('.pinned'), names('.metrics')];
  return seen;
}
