'use strict';
// Search of suspects by name, and keyboard navigation between them.
{
  const tools = document.querySelector('.find');
  if (tools) {
    const search = tools.querySelector('input');
    const status = tools.querySelector('[role="status"]');
    const rows = [...document.querySelectorAll('tr[data-suspect]')];
    const suspects = rows.map((row) => {
      const article = document.getElementById(row.dataset.suspect);
      return { row, article, name: row.querySelector('code').textContent.toLowerCase() };
    });

    const isShown = ({ article }) => !article.hidden;

    function find() {
      const part = search.value.toLowerCase();
      for (const { row, article, name } of suspects) {
        row.hidden = article.hidden = !name.includes(part);
      }
      const found = suspects.filter(isShown).length;
      status.textContent = part === '' ? '' : `${found} of ${suspects.length}`;
    }

    let visited = null;
    /** The suspect with the focus, or the last one visited. */
    const current = () => document.activeElement.closest('article') ?? visited;

    function go(step) {
      const shown = suspects.filter(isShown).map(({ article }) => article);
      const index = shown.indexOf(current());
      const next = shown[index < 0 ? (step > 0 ? 0 : shown.length - 1) : index + step];
      if (!next) return;
      visited = next;
      next.focus();
      next.scrollIntoView({ block: 'start' });
    }

    function unfold() {
      const traces = [...(current()?.querySelectorAll('details.traces') ?? [])];
      const open = traces.some((details) => !details.open);
      for (const details of traces) details.open = open;
    }

    const keys = {
      '/': () => search.focus(),
      j: () => go(1),
      k: () => go(-1),
      o: unfold,
      Escape: () => {
        search.value = '';
        find();
        search.blur();
      },
    };

    addEventListener('keydown', (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target.matches('input, select');
      if (isTyping && !(event.key === 'Escape' && event.target === search)) return;
      event.preventDefault();
      keys[event.key]();
    });
    search.addEventListener('input', find);
    tools.hidden = false;
  }
}
