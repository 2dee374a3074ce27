// Curves over time on a canvas: axes with round numbers, a cross under the pointer, a part to zoom into.

const LEFT = 44, RIGHT = 10, TOP = 6, BOTTOM = 20; // pixels around the curves
const LEAST = 0.02; // room above and below a curve that stays where it is
const GAP = 2; // s without a frame: the curve is broken there
const FONT = '11px system-ui, "DejaVu Sans", sans-serif';
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Round numbers (1, 2 or 5 times a power of ten) from low to high, about so many.
export function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return { step, found };
}

// A number with as many places as its step has; thousands as k.
function label(value, step) {
  if (step >= 1000 && value) return `${Number((value / 1000).toFixed(1))}k`;
  return value.toFixed(Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))).replace("-", "−");
}

// The lowest and highest of all curves between two times, with a little room.
function bounds(times, curves, from, to) {
  let low = Infinity, high = -Infinity;
  for (const { values } of curves)
    for (let i = 0; i < times.length; i++)
      if (times[i] >= from && times[i] <= to && Number.isFinite(values[i])) {
        low = Math.min(low, values[i]);
        high = Math.max(high, values[i]);
      }
  if (low > high) return [-1, 1];
  const room = Math.max(0.08 * (high - low), 1e-3 * Math.max(Math.abs(low), Math.abs(high)), LEAST);
  return [low - room, high + room];
}

export class Chart {
  // `zoom` is called with two times, or null for all; `hover` with the time under the pointer, or null.
  constructor(root, zoom, hover) {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-label", "curves over time");
    root.append(this.canvas);
    this.range = [-30, 0];
    this.#listen(zoom, hover);
  }

  // `curves`: {values, colour (the name of a CSS variable), width}; `cursor`: a time [s] or null.
  draw(times, curves, range, cursor) {
    this.range = range;
    const { clientWidth: wide, clientHeight: high } = this.canvas, ratio = Math.min(devicePixelRatio, 2);
    if (wide < 80 || high < 40) return;
    const width = Math.round(wide * ratio), height = Math.round(high * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const pen = this.canvas.getContext("2d"), [from, to] = range, [low, top] = bounds(times, curves, from, to);
    const x = (t) => LEFT + ((t - from) / (to - from)) * (wide - LEFT - RIGHT);
    const y = (v) => high - BOTTOM - ((v - low) / (top - low)) * (high - TOP - BOTTOM);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, high);
    this.#axes(pen, x, y, [low, top], wide, high);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP - 2, wide - LEFT - RIGHT + 1, high - TOP - BOTTOM + 4);
    pen.clip();
    for (const curve of curves) this.#curve(pen, times, curve, x, y);
    pen.restore();
    if (cursor !== null && cursor >= from && cursor <= to) {
      pen.fillStyle = css("--dim");
      pen.fillRect(Math.round(x(cursor)), TOP, 1, high - TOP - BOTTOM);
    }
    if (this.dragged) {
      const [a, b] = this.dragged;
      pen.globalAlpha = 0.18;
      pen.fillStyle = css("--accent");
      pen.fillRect(Math.min(a, b), TOP, Math.abs(b - a), high - TOP - BOTTOM);
      pen.globalAlpha = 1;
    }
  }

  #axes(pen, x, y, [low, top], wide, high) {
    const [from, to] = this.range, across = ticks(from, to, (wide - LEFT) / 62), up = ticks(low, top, (high - TOP - BOTTOM) / 28);
    pen.font = FONT;
    const line = css("--line"), words = css("--dim");
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    for (const t of across.found) {
      pen.fillStyle = line;
      pen.fillRect(Math.round(x(t)), TOP, 1, high - TOP - BOTTOM);
      pen.fillStyle = words;
      const text = `${label(t, across.step)} s`, half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(x(t), wide - half - 2), high - 5);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const v of up.found) {
      pen.fillStyle = Math.abs(v) < up.step / 2 ? words : line;
      pen.globalAlpha = Math.abs(v) < up.step / 2 ? 0.5 : 1;
      pen.fillRect(LEFT, Math.round(y(v)), wide - LEFT - RIGHT, 1);
      pen.globalAlpha = 1;
      pen.fillStyle = words;
      pen.fillText(label(v, up.step), LEFT - 6, y(v));
    }
  }

  #curve(pen, times, { values, colour, width }, x, y) {
    pen.beginPath();
    let before = -Infinity;
    for (let i = 0; i < times.length; i++) {
      if (!Number.isFinite(values[i])) before = -Infinity;
      else {
        if (times[i] - before > GAP) pen.moveTo(x(times[i]), y(values[i]));
        else pen.lineTo(x(times[i]), y(values[i]));
        before = times[i];
      }
    }
    pen.strokeStyle = css(colour);
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.stroke();
  }

  // The time at a pixel.
  #time(pixel) {
    const [from, to] = this.range, wide = this.canvas.clientWidth - LEFT - RIGHT;
    return from + Math.min(1, Math.max(0, (pixel - LEFT) / wide)) * (to - from);
  }

  #listen(zoom, hover) {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragged = [event.offsetX, event.offsetX];
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.dragged) this.dragged[1] = event.offsetX;
      hover(this.#time(event.offsetX));
    });
    canvas.addEventListener("pointerup", () => {
      const [a, b] = (this.dragged ?? [0, 0]).sort((one, other) => one - other);
      this.dragged = null;
      if (b - a > 4) zoom([this.#time(a), this.#time(b)]);
    });
    canvas.addEventListener("pointercancel", () => (this.dragged = null));
    canvas.addEventListener("pointerleave", () => hover(null));
    canvas.addEventListener("dblclick", () => zoom(null));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = this.#time(event.offsetX), factor = Math.exp(Math.min(0.5, Math.max(-0.5, event.deltaY * 0.002)));
      zoom(this.range.map((end) => at + (end - at) * factor));
    }, { passive: false });
  }
}
