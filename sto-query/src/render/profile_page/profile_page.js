'use strict';
// Shows one event at a time, and sorts functions by self or by total.
{
  const events = [...document.querySelectorAll('.event')];
  if (events.length > 1) {
    const options = events.map((event, ix) => element('option', { value: ix }, event.querySelector('h2').textContent));
    const choice = element('select', {}, ...options);
    const show = () => events.forEach((event, ix) => event.toggleAttribute('hidden', ix !== Number(choice.value)));
    choice.addEventListener('change', show);
    document.querySelector('header').append(element('label', { class: 'choice' }, 'Event ', choice));
    show();
  }
  for (const table of document.querySelectorAll('.functions')) {
    const body = table.tBodies[0];
    const bySelf = [...body.rows];
    const byTotal = [...bySelf].sort((a, b) => a.dataset.total - b.dataset.total);
    const [self, , total] = table.tHead.rows[0].cells;
    const columns = [[self, bySelf], [total, byTotal]];
    const order = (chosen, rows) => {
      body.replaceChildren(...rows);
      for (const [head] of columns) head.removeAttribute('aria-sort');
      chosen.setAttribute('aria-sort', 'descending');
    };
    for (const [head, rows] of columns) {
      const button = element('button', { type: 'button' }, head.firstChild.textContent);
      button.addEventListener('click', () => order(head, rows));
      head.firstChild.replaceWith(button);
    }
    order(self, bySelf);
  }
}
