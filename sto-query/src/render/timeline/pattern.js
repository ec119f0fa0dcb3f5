// A pattern that is drawn over a metric, as input for a ranking of metrics.
{
  const NEAR = 10; // pixels from a point at which it is meant
  const WIDE = 1000; // what the drawings are wide, in units of their own
  const section = document.querySelector('#pattern');
  const rows = [...document.querySelectorAll('.metric')];
  if (section) {
    const { option, ranking } = section.dataset;
    const [from, to, slices] = ['from', 'to', 'slices'].map((key) => Number(section.dataset[key]));
    const digits = Math.max(0, Math.ceil(-Math.log10((to - from) / slices)));
    const select = section.querySelector('select');
    const field = section.querySelector('input');
    const shown = section.querySelector('code');
    const pictures = rows.map((row) => {
      const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const high = row.querySelector('.line').getAttribute('height');
      for (const [key, value] of Object.entries({
        class: 'pattern',
        viewBox: `0 0 ${WIDE} ${high}`,
        preserveAspectRatio: 'none',
        width: '100%',
        height: high,
        'aria-hidden': 'true',
      }))
        picture.setAttribute(key, value);
      row.append(picture);
      return picture;
    });
    /** Points of the selected metric, ordered by time: seconds, and values. */
    let points = [];
    const row = () => rows[select.selectedIndex];
    const ends = () => [Number(row().dataset.least), Number(row().dataset.most)];
    // Position of a point in its drawing, from 0 to 1.
    const place = ([time, value]) => {
      const [least, most] = ends();
      return [(time - from) / (to - from), most > least ? 1 - (value - least) / (most - least) : 0.5];
    };
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

    function draw() {
      const high = Number(pictures[0].getAttribute('height'));
      pictures.forEach((picture) => picture.replaceChildren());
      const at = points.map(place).map(([x, y]) => [(x * WIDE).toFixed(1), (y * high).toFixed(1)]);
      const path = (d, name) => {
        const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        path.setAttribute('d', d);
        path.setAttribute('class', name);
        return path;
      };
      const line = at.map((point, ix) => `${ix === 0 ? 'M' : 'L'}${point}`).join('');
      const dots = at.map((point) => `M${point}h0`).join('');
      pictures[select.selectedIndex].append(path(line, 'lines'), path(dots, 'dots'));
      const text = points.map(([time, value]) => `${time.toFixed(digits)}:${Number(value.toPrecision(4))}`).join(',');
      field.value = text;
      field.setCustomValidity('');
      const target = `${option}target ${quoted(row().dataset.metric)}`;
      shown.textContent = points.length < 2 ? '' : `${ranking} ${target} ${option}by linear-pattern ${option}pattern=${quoted(text)}`;
    }

    function take(text) {
      const read = text.split(',').map((point) => point.split(':').map(Number));
      const isPoint = (point) => point.length === 2 && point.every(Number.isFinite);
      const grows = read.every(([time], ix) => ix === 0 || read[ix - 1][0] < time);
      if (text.trim() !== '' && !(read.every(isPoint) && grows)) {
        field.setCustomValidity('Expected TIME:VALUE,TIME:VALUE,... with times that grow');
        field.reportValidity();
        return;
      }
      points = text.trim() === '' ? [] : read;
      draw();
    }

    pictures.forEach((picture, ix) => {
      let moved = null;
      const pointAt = ({ clientX, clientY }) => {
        const { left, top, width, height } = picture.getBoundingClientRect();
        const part = (offset, of) => Math.min(Math.max(offset / of, 0), 1);
        const [least, most] = ends();
        const time = from + (to - from) * part(clientX - left, width);
        return [Number(time.toFixed(digits)), most - (most - least) * part(clientY - top, height)];
      };
      const near = ({ clientX, clientY }) => {
        const { left, top, width, height } = picture.getBoundingClientRect();
        const distance = ([x, y]) => Math.hypot(left + x * width - clientX, top + y * height - clientY);
        return points.findIndex((point) => distance(place(point)) < NEAR);
      };
      const put = (point) => {
        points = points.filter((other) => other !== moved && other[0] !== point[0]);
        points.push(point);
        points.sort((a, b) => a[0] - b[0]);
        moved = point;
        draw();
      };
      let began = null;
      picture.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        if (ix !== select.selectedIndex) {
          select.selectedIndex = ix;
          points = [];
        }
        const known = near(event);
        began = { isKnown: known >= 0, hasMoved: false };
        if (known >= 0) moved = points[known];
        else put(pointAt(event));
        picture.setPointerCapture(event.pointerId);
        event.preventDefault();
      });
      picture.addEventListener('pointermove', (event) => {
        if (!began) return;
        began.hasMoved = true;
        put(pointAt(event));
      });
      picture.addEventListener('pointerup', () => {
        // A click on a point removes it.
        if (began?.isKnown && !began.hasMoved) {
          points = points.filter((other) => other !== moved);
          draw();
        }
        began = moved = null;
      });
      picture.addEventListener('pointercancel', () => (began = moved = null));
    });
    select.addEventListener('change', () => {
      points = [];
      draw();
    });
    field.addEventListener('change', () => take(field.value));
    section.addEventListener('toggle', () => document.querySelector('#plot').classList.toggle('drawn-on', section.open));
    section.hidden = false;
  }
}
