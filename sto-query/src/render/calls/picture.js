'use strict';
// Draws a thread's records on a canvas. Colours of functions come from the style sheet: the hues that readers with
// any kind of colour vision can distinguish (Okabe and Ito, 2008), each plain, striped and dotted.
const picture = (() => {
  const HUES = 7;
  const COLORED = 20;
  const FAINT = 0.18;
  const LABEL = 11; // pixels of a level that has names

  let colors = {};
  const patterns = new Map();

  function luminance(hex) {
    const channels = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
    const [red, green, blue] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  /** Reads the colours again, for the dark or light scheme or for print. */
  function restyle() {
    const style = getComputedStyle(document.querySelector('main.calls'));
    const value = (name) => style.getPropertyValue(name).trim();
    colors = { ink: value('--ink'), paper: value('--paper'), other: value('--other'), alert: value('--worse') };
    colors.hues = Array.from({ length: HUES }, (_, hue) => value(`--hue-${hue}`));
    patterns.clear();
  }

  const inkOn = (hue) => (luminance(hue) > 0.18 ? '#1b1f24' : '#ffffff');

  /** Returns the fill of a function, and a readable text colour for it. */
  function paintOf(context, number) {
    if (number >= COLORED) return { fill: colors.other, ink: colors.ink };
    const hue = colors.hues[number % HUES];
    const ink = inkOn(hue);
    const kind = Math.floor(number / HUES);
    if (kind === 0) return { fill: hue, ink };
    let fill = patterns.get(number);
    if (!fill) {
      const tile = document.createElement('canvas');
      [tile.width, tile.height] = [6, 6];
      const pen = tile.getContext('2d');
      pen.fillStyle = hue;
      pen.fillRect(0, 0, 6, 6);
      pen.strokeStyle = pen.fillStyle = ink;
      pen.globalAlpha = 0.6;
      if (kind === 1) {
        pen.lineWidth = 1.2;
        for (const shift of [-6, 0, 6]) {
          pen.moveTo(shift, 6);
          pen.lineTo(shift + 6, 0);
        }
        pen.stroke();
      } else {
        pen.fillRect(1, 1, 2, 2);
        pen.fillRect(4, 4, 2, 2);
      }
      fill = context.createPattern(tile, 'repeat');
      patterns.set(number, fill);
    }
    return { fill, ink };
  }

  /** Returns the last part of a name, shortened to a number of letters. */
  function shortened(name, letters) {
    const bare = name.replace(/\(.*/, '').split('::').at(-1) || name;
    return bare.length <= letters ? bare : `${bare.slice(0, Math.max(0, letters - 1))}…`;
  }

  /** Draws a layout, with levels of this height. If anything is highlighted, everything else is dimmed. */
  function draw(canvas, laid, height, marked) {
    const ratio = window.devicePixelRatio || 1;
    const levels = laid.thread.levels;
    const size = [laid.width, levels * height + 4];
    [canvas.width, canvas.height] = size.map((pixels) => Math.round(pixels * ratio));
    [canvas.style.width, canvas.style.height] = size.map((pixels) => `${pixels}px`);
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = `${Math.min(11, height - 3)}px ui-monospace, Menlo, Consolas, monospace`;
    pen.textBaseline = 'middle';
    const letter = pen.measureText('m').width;
    const snapped = (x) => Math.round(x * ratio) / ratio;
    for (const box of laid.boxes) {
      const number = model.of[box.stack];
      const { fill, ink } = paintOf(pen, number);
      const isMarked = marked.size === 0 || marked.has(number);
      const y = 1 + box.level * height;
      pen.globalAlpha = isMarked ? 1 : FAINT;
      pen.fillStyle = fill;
      // A line of background colour separates neighbours, if there is room for it.
      const [left, right] = box.width < 1 ? [box.x, box.x + Math.max(box.width, 0.3)] : [snapped(box.x), snapped(box.x + box.width)];
      pen.fillRect(left, y, right - left - (right - left >= 3 ? 1 : 0), height - 1);
      const letters = Math.floor((box.width - 6) / letter);
      if (height >= LABEL && letters >= 3) {
        const text = shortened(model.name(box.stack), letters);
        const isStriped = number >= HUES && number < COLORED;
        if (isStriped) {
          pen.fillStyle = colors.hues[number % HUES];
          pen.fillRect(box.x + 2, y + 1, text.length * letter + 3, height - 3);
        }
        pen.fillStyle = ink;
        pen.fillText(text, box.x + 3, y + height / 2);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.ink;
    for (const frame of laid.frames) {
      pen.lineWidth = frame.width < 4 ? 0.5 : 1;
      pen.setLineDash(frame.cut ? [3, 2] : []);
      const y = frame.level * height + 0.5;
      const left = snapped(frame.x);
      pen.strokeRect(left + 0.5, y, Math.max(snapped(frame.x + frame.width) - left - 1, 0.5), frame.height * height);
    }
    pen.setLineDash([]);
    pen.fillStyle = colors.alert;
    for (const outlier of model.outliers) {
      if (outlier.thread !== laid.thread.ix || outlier.end < laid.view.from || outlier.begin > laid.view.to) continue;
      const from = layout.positionOf(laid, Math.max(outlier.begin, laid.view.from));
      const to = Math.max(layout.positionOf(laid, Math.min(outlier.end, laid.view.to), true), from + 3);
      pen.fillRect(from, levels * height + 1.5, to - from, 2.5);
    }
  }

  /** Returns a patch with a function's colour, to show next to its name. */
  function swatch(number) {
    const canvas = document.createElement('canvas');
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [18 * ratio, 12 * ratio];
    canvas.className = 'swatch';
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.fillStyle = paintOf(pen, number).fill;
    pen.fillRect(0, 0, 18, 12);
    return canvas;
  }

  return { restyle, draw, swatch, COLORED };
})();
