// What a reader sees of the page of suspects.
function plotOf(figure) {
  const series = figure.querySelector('.series');
  const place = series.getBoundingClientRect();
  const dots = [...series.querySelectorAll('circle')].map((dot) => dot.getBoundingClientRect());
  return {
    width: place.width,
    dots: dots.length,
    outside: dots.filter((dot) => dot.left < place.left || dot.right > place.right).length,
    judged: series.querySelectorAll('circle.marked').length,
    band: series.querySelector('.band').getBoundingClientRect().width,
    tooltip: series.querySelector('circle.marked title')?.textContent,
  };
}

// Frames of libraries, folded into a line.
function foldOf(fold) {
  const summary = fold.querySelector('summary');
  const page = fold.ownerDocument.documentElement;
  const shown = () =>
    [...fold.querySelectorAll('code')]
      .filter((name) => name.getClientRects().length > 0)
      .map((name) => name.textContent);
  const seen = { text: summary.textContent, folded: shown() };
  summary.click();
  seen.unfolded = shown();
  seen.overflow = page.scrollWidth - page.clientWidth;
  summary.click();
  return seen;
}

function suspectOf(article) {
  const traces = [...article.querySelectorAll('details.traces')].map((details) => {
    const height = () => details.getBoundingClientRect().height;
    const folded = height();
    details.querySelector('summary').click();
    const unfolded = height();
    const folds = [...details.querySelectorAll('details.folded')].map(foldOf);
    details.querySelector('summary').click();
    return { names: texts(details, 'tbody code'), folded, unfolded, folds };
  });
  return { heading: article.querySelector('h4').textContent, traces };
}

async function facts() {
  const page = iframe.contentDocument;
  const figure = page.querySelector('figure.flame');
  await drawn(figure);
  const seen = {
    title: page.title,
    rows: texts(page, 'tr[data-suspect] code'),
    plots: [...page.querySelectorAll('figure.plot')].map(plotOf),
    suspects: [...page.querySelectorAll('article')].map(suspectOf),
    scripts: page.querySelectorAll('script').length,
    images: page.querySelectorAll('img, object, embed, iframe, link').length,
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    graph: graphOf(figure),
  };

  const press = (key) =>
    page.activeElement.dispatchEvent(
      new iframe.contentWindow.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
    );
  const shown = () => [...page.querySelectorAll('article:not([hidden])')];
  seen.walk = [];
  for (const key of ['j', 'j', 'k']) {
    press(key);
    seen.walk.push(page.activeElement.id);
  }
  press('o');
  seen.opened_by_key = page.querySelector('#suspect-1 details.traces').open;

  press('/');
  page.activeElement.value = 'CONN';
  page.activeElement.dispatchEvent(new Event('input'));
  seen.searched = shown().map((article) => article.querySelector('h4').textContent);
  press('Escape');
  seen.all_again = shown().length;

  page.querySelector('a[data-search]').click();
  seen.found = graphOf(figure);
  seen.smuggled = smuggle(page);
  return seen;
}
