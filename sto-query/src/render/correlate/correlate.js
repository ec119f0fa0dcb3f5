'use strict';
// Search of metrics by name, and pins that keep metrics in view below the target.
{
  const find = document.querySelector('.find');
  const pinned = document.querySelector('.pinned');
  const ranking = document.querySelector('.metrics');
  const metrics = [...(ranking?.children ?? [])];

  function filter() {
    const part = find.querySelector('input').value.toLowerCase();
    const isNamed = (metric) => metric.querySelector('.names').textContent.toLowerCase().includes(part);
    for (const metric of metrics) metric.hidden = metric.parentElement === ranking && !isNamed(metric);
    const found = metrics.filter(isNamed).length;
    find.querySelector('[role="status"]').textContent = part === '' ? '' : `${found} of ${metrics.length}`;
  }

  metrics.forEach((metric, index) => {
    const pin = metric.querySelector('.pin');
    const box = pin.querySelector('input');
    box.addEventListener('change', () => {
      const list = box.checked ? pinned : ranking;
      // Both lists keep the order of the ranking.
      const next = metrics.slice(index + 1).find((later) => later.parentElement === list);
      list.insertBefore(metric, next ?? null);
      filter();
      box.focus({ preventScroll: true });
    });
    pin.hidden = false;
  });
  if (find) {
    find.hidden = false;
    find.addEventListener('input', filter);
  }
}
