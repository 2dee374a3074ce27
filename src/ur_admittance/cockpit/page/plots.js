// The last minute as curves.
import { Chart } from "./chart.js";

const KEEP = 60 * 30; // frames
const SHORTEST = 0.2; // s that can be zoomed into
const norm = (v) => (v ? Math.hypot(v[0] ?? 0, v[1] ?? 0, v[2] ?? 0) : null);
const first = (v) => v.slice(0, 3), last = (v) => v.slice(3);
const three = (pick, scale) => [0, 1, 2].map((i) => (f) => (pick(f)[i] ?? NaN) * scale);

// What can be drawn: title, names of the curves, and each as a function of a frame.
const KINDS = {
  force: ["Force, N", ["size", "x", "y", "z"], [(f) => norm(f.f), ...three((f) => f.f, 1)]],
  torque: ["Torque, Nm", ["size", "x", "y", "z"], [(f) => norm(f.m), ...three((f) => f.m, 1)]],
  speed: ["Speed, mm/s", ["size", "x", "y", "z"], [(f) => 1e3 * norm(first(f.v)), ...three((f) => first(f.v), 1e3)]],
  turn: ["Turning, rad/s", ["size", "x", "y", "z"], [(f) => norm(last(f.v)), ...three((f) => last(f.v), 1)]],
  offset: ["Offset from home, mm", ["size", "x", "y", "z"], [(f) => 1e3 * norm(first(f.x)), ...three((f) => first(f.x), 1e3)]],
  rotation: ["Offset, rad", ["size", "x", "y", "z"], [(f) => norm(last(f.x)), ...three((f) => last(f.x), 1)]],
  timing: ["Loop, us", ["tick", "reaction"], [(f) => f.tick, (f) => f.reaction]],
  late: ["Late and missed cycles", ["late", "missed"], [(f) => f.late, (f) => f.missed]],
};
const COLOURS = { size: "--ink", x: "--force", y: "--good", z: "--accent", tick: "--accent", reaction: "--torque", late: "--warn", missed: "--bad" };

export class Plots {
  constructor(root, chosen, zoomed) {
    this.frames = [];
    this.zoomed = zoomed; // called when somebody zooms: the curves should pause then
    this.seconds = 30;
    this.frozen = null; // the frames that are shown while paused
    this.range = null; // the part that is zoomed into: two times before the last frame [s]
    this.cursor = null;
    this.drawn = 0;
    this.panels = chosen.map((kind) => new Panel(root, kind, this));
  }

  get paused() { return Boolean(this.frozen); }
  set paused(on) {
    this.frozen = on ? (this.frozen ?? this.frames.slice()) : null;
    if (!on) this.range = null;
    this.theme();
  }

  get span() { return this.seconds; }
  set span(seconds) {
    this.seconds = seconds;
    this.range = null;
    this.theme();
  }

  add(frame) {
    this.frames.push(frame);
    if (this.frames.length > KEEP) this.frames.splice(0, this.frames.length - KEEP);
    if (!this.paused && !document.hidden && performance.now() - this.drawn > 90) this.theme();
  }

  // All zoom together, so that the same time is above the same time. Null shows all again.
  zoom(range) {
    if (range && !this.paused) this.zoomed();
    const [from, to] = range ?? [0, 0];
    this.range = range && to - from > SHORTEST ? [Math.max(from, -this.seconds), Math.min(to, 0)] : range && this.range;
    this.theme();
  }

  hover(time) {
    this.cursor = time;
    this.theme();
  }

  // Draws all anew, in the colours of now.
  theme() {
    this.drawn = performance.now();
    for (const panel of this.panels ?? []) panel.draw();
  }
}

// One chart, the choice of what it shows, and the numbers at the cursor, or else the last ones.
class Panel {
  constructor(root, kind, plots) {
    this.plots = plots;
    this.kind = kind;
    const box = document.createElement("div"), select = document.createElement("select");
    box.className = "chart";
    for (const [name, [title]] of Object.entries(KINDS)) select.add(new Option(title, name, false, name === kind));
    select.setAttribute("aria-label", "what is drawn");
    select.onchange = () => {
      this.kind = select.value;
      this.names();
      this.draw();
    };
    this.key = document.createElement("div");
    this.key.className = "key";
    box.append(select, this.key);
    root.append(box);
    this.chart = new Chart(box, (range) => plots.zoom(range), (time) => plots.hover(time));
    new ResizeObserver(() => this.draw()).observe(box);
    this.names();
  }

  names() {
    this.numbers = KINDS[this.kind][1].map((name) => {
      const word = document.createElement("span"), number = document.createElement("b");
      word.style.color = `var(${COLOURS[name]})`;
      word.append(`${name} `, number);
      this.key.append(word);
      return number;
    });
    this.key.replaceChildren(...this.numbers.map((number) => number.parentElement));
  }

  draw() {
    const { frames, frozen, seconds, range, cursor } = this.plots, [, names, picks] = KINDS[this.kind];
    const all = frozen ?? frames, end = all.at(-1)?.at ?? 0, shown = all.filter((f) => f.at >= end - seconds);
    const times = shown.map((f) => f.at - end);
    const curves = names.map((name, i) => ({ values: shown.map(picks[i]), colour: COLOURS[name], width: name === "size" ? 2 : 1.3 }));
    this.chart.draw(times, curves, range ?? [-seconds, 0], cursor);
    const after = cursor === null ? -1 : times.findIndex((t) => t >= cursor);
    curves.forEach(({ values }, i) => (this.numbers[i].textContent = short(values.at(after))));
  }
}

// Three digits, and no more.
function short(value) {
  if (!Number.isFinite(value)) return "–";
  const places = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(places).replace("-", "−");
}
