// What a reader sees of the page of a build's profiles, and what becomes of it as an event and an order are chosen.
async function facts() {
  const page = iframe.contentDocument;
  const { Event, MouseEvent } = iframe.contentWindow;
  const figures = [...page.querySelectorAll('figure.flame')];
  for (const figure of figures) await drawn(figure);
  const click = (element) => element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
  const isShown = (element) => element.getClientRects().length > 0;
  const events = () => [...page.querySelectorAll('.event h2')].filter(isShown).map((head) => head.textContent);
  const names = () => texts(page.querySelector('.functions tbody'), 'a');
  const seen = {
    title: page.title,
    choices: texts(page, '.choice option'),
    shown: [events()],
    bySelf: names(),
    first: texts(page.querySelector('.functions tbody tr'), 'td'),
    images: page.querySelectorAll('img, b').length,
    smuggled: smuggle(page),
  };
  click(page.querySelector('.functions tbody a'));
  const frames = graphOf(figures[0]).frames.filter((frame) => frame.match);
  seen.found = frames.map((frame) => frame.label.split(' (')[0]);
  seen.status = graphOf(figures[0]).status;
  click(page.querySelectorAll('.functions th button')[1]);
  seen.byTotal = names();
  const choice = page.querySelector('.choice select');
  choice.value = '1';
  choice.dispatchEvent(new Event('change'));
  for (let turns = 0; turns < 6; turns += 1) await turn();
  seen.shown.push(events());
  seen.drawn = graphOf(figures[1]).frames.map((frame) => frame.label.split(' (')[0]);
  const { scrollWidth, clientWidth } = page.documentElement;
  seen.overflow = scrollWidth - clientWidth;
  return seen;
}
