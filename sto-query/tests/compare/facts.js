// What a reader sees of the page of comparisons.
function findingOf(article) {
  const points = (side) => article.querySelectorAll(`.runs .${side} circle`).length;
  return {
    heading: article.querySelector('h4').textContent,
    points: { baseline: points('baseline'), candidate: points('candidate') },
    tooltips: texts(article, '.runs circle title'),
    plot: article.querySelector('.runs svg').getBoundingClientRect().width,
    rows: texts(article, '.changes tbody th'),
    callers: texts(article, ':scope details tbody code'),
    folded: !(article.querySelector('details')?.open ?? false),
  };
}

async function facts() {
  const page = iframe.contentDocument;
  const figure = page.querySelector('figure.flame');
  await drawn(figure);
  const seen = {
    title: page.title,
    verdict: page.querySelector('h1').textContent,
    reason: page.querySelector('header .reason').textContent,
    sides: texts(page, '.side h3'),
    builds: texts(page, '.build'),
    warnings: texts(page, '.warnings li'),
    findings: [...page.querySelectorAll('.finding')].map(findingOf),
    scripts: page.querySelectorAll('script').length,
    images: page.querySelectorAll('img, object, embed, iframe, link').length,
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
  };
  if (!figure) return seen;
  seen.graph = graphOf(figure);

  const frame = (name) =>
    [...figure.querySelectorAll(SHOWN)].find((f) => f.getAttribute('aria-label').startsWith(name));
  const press = (key) =>
    page.activeElement.dispatchEvent(
      new iframe.contentWindow.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
    );
  const focused = () => page.activeElement.getAttribute('aria-label');

  const link = page.querySelector('a[data-search]');
  if (link) {
    const name = link.dataset.search;
    link.click();
    seen.found = graphOf(figure);
    frame(name).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    seen.zoomed = graphOf(figure);
    figure.querySelector('button').click();
    seen.reset = graphOf(figure);
  }
  frame('all').focus();
  seen.walk = [];
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowDown', 'Enter']) {
    press(key);
    seen.walk.push(focused());
  }
  seen.entered = graphOf(figure);
  press('Escape');
  seen.left = graphOf(figure);
  const widths = figure.querySelector('select');
  widths.value = '1';
  widths.dispatchEvent(new Event('change'));
  seen.by_baseline = graphOf(figure);

  seen.smuggled = smuggle(page);
  return seen;
}
