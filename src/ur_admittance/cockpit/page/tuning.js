// Sliders and fields, made from the configuration's schema.
import { ratio, short, step } from "./law.js";

const GAINS = [["admittance.mass", "Mass"], ["admittance.damping", "Damping"], ["admittance.stiffness", "Spring"]];
const AXES = ["x", "y", "z", "rx", "ry", "rz"];
const PARTS = [["Translation", [0, 1, 2]], ["Rotation", [3, 4, 5]]];
const LIMITS = ["max_linear_velocity", "max_angular_velocity", "admittance.deadband_force", "safety.max_force"];

export class Tuning {
  constructor(send) {
    this.send = send;
    this.open = [false, false]; // axis by axis
    this.rows = [];
    this.held = null; // the control that is being moved
  }

  hello(fields) {
    this.fields = Object.fromEntries(fields.map((f) => [f.name, f]));
    this.#form(fields);
  }

  config(told) {
    this.told = structuredClone(told); // what is moved here is not yet what the controller said
    this.values = this.told.values;
    if (!this.fields) return;
    if (!this.rows.length) this.#build();
    for (const row of this.rows) if (row.element !== this.held) row.show();
    for (const show of this.shows ?? []) show();
    this.#response();
    this.#changes(told);
  }

  // The six values in force: damping may follow from its ratio.
  #six(name) {
    return name === "admittance.damping" ? this.told.axes.map((a) => a.damping) : [...this.values[name]];
  }

  #build() {
    const root = document.getElementById("gains");
    root.replaceChildren();
    this.rows = [];
    PARTS.forEach(([title, axes], part) => {
      const head = document.createElement("h3");
      head.textContent = title;
      const more = document.createElement("button");
      more.textContent = this.open[part] ? "together" : "axis by axis";
      more.onclick = () => {
        this.open[part] = !this.open[part];
        this.#build();
        this.config(this.told);
      };
      head.append(more);
      root.append(head);
      for (const [name, label] of GAINS)
        for (const group of this.open[part] ? axes.map((a) => [a]) : [axes]) this.#gain(root, name, label, group, part);
    });
    const head = document.createElement("h3");
    head.textContent = "Limits";
    root.append(head);
    for (const name of LIMITS) this.#gain(root, name, this.fields[name].text, null, 0);
  }

  // One slider with its number: some axes of a six-vector, or one value (axes null).
  #gain(root, name, label, axes, part) {
    const field = this.fields[name], range = field.slider[part];
    const element = document.createElement("div");
    element.className = "gain";
    element.dataset.name = name;
    if (axes) element.dataset.axis = axes.length > 1 ? ["translation", "rotation"][part] : AXES[axes[0]];
    element.innerHTML = `<div class="head"><label></label><span class="ratio"></span><input inputmode="decimal"><span class="unit"></span></div><input type="range" min="0" max="1000" step="1">`;
    const [text, note, number, unit] = element.querySelector(".head").children, slider = element.lastElementChild;
    text.textContent = axes && axes.length === 1 ? `${label} ${AXES[axes[0]]}` : label;
    unit.textContent = field.units[Math.min(part, field.units.length - 1)] ?? "";
    element.title = `${name}: ${field.text}. ${field.allowed}`;
    slider.setAttribute("aria-label", `${name} ${element.dataset.axis ?? ""}`);
    number.setAttribute("aria-label", `${name} ${element.dataset.axis ?? ""} as a number`);
    const value = () => (axes ? this.#six(name)[axes[0]] : this.values[name]);
    const put = (wanted) => {
      if (!Number.isFinite(wanted)) return;
      const bounds = field.bounds;
      wanted = Math.min(Math.max(wanted, bounds[0]), bounds[1]);
      let all = wanted;
      if (axes) {
        all = this.#six(name);
        for (const axis of axes) all[axis] = wanted;
      }
      this.send({ [name]: all });
      if (axes) {
        if (name === "admittance.damping") axes.forEach((a) => (this.told.axes[a].damping = wanted));
        else this.values[name] = all;
      } else this.values[name] = wanted;
      this.#response();
      show(false);
    };
    const show = (both = true) => {
      const now = value();
      if (document.activeElement !== number) number.value = short(now);
      if (both) slider.value = place(range, now);
      if (name === "admittance.damping" && axes) {
        const r = ratio(this.values["admittance.mass"][axes[0]], now, this.values["admittance.stiffness"][axes[0]]);
        note.textContent = r === null ? "" : `ratio ${short(r)}`;
      }
    };
    slider.oninput = () => {
      this.held = element;
      put(Number(valueAt(range, slider.value / 1000).toPrecision(3)));
    };
    slider.onchange = () => (this.held = null);
    number.onchange = () => put(Number(number.value));
    this.rows.push({ element, show });
    root.append(element);
  }

  // What 10 N, or 1 Nm, do with the present gains.
  #response() {
    const M = this.values["admittance.mass"], K = this.values["admittance.stiffness"], D = this.#six("admittance.damping");
    const spring = K[0] > 0, seconds = spring ? Math.min(4, 6 * Math.max(M[0] / Math.max(D[0], 1e-6), D[0] / K[0]) + 0.2) : Math.min(4, (5 * M[0]) / Math.max(D[0], 1e-6));
    const points = Array.from({ length: 81 }, (_, i) => 1e3 * step(M[0], D[0], K[0], 10, (i / 80) * seconds));
    const most = Math.max(...points, 1e-9) * 1.12;
    const path = points.map((v, i) => `${i ? "L" : "M"}${34 + 3.5 * i} ${100 - (88 * v) / most}`).join("");
    document.getElementById("response").innerHTML =
      `<line class="axis" x1="34" y1="100" x2="316" y2="100"/><line class="axis" x1="34" y1="10" x2="34" y2="100"/>` +
      `<path d="${path}" stroke="var(--accent)"/><text x="4" y="18">${short(most)}</text><text x="4" y="29">${spring ? "mm" : "mm/s"}</text>` +
      `<text x="284" y="113">${short(seconds)} s</text><text x="120" y="113">10 N along x, from rest</text>`;
    const surface = D[0] / this.told.loop_delay;
    const end = spring ? `gives ${short(1e4 / K[0])} mm under 10 N and returns` : `reaches ${short(1e4 / D[0])} mm/s under 10 N and stays where it is put`;
    document.getElementById("surface").textContent =
      `${end}. Without contact damping it can touch up to ${short(surface / 1e3)} N/mm${this.values["contact.adapt"] ? "; contact damping is on, so stiffer is fine" : ""}.`;
  }

  #changes(told) {
    const names = Object.keys(told.changed), details = document.getElementById("changes");
    details.querySelector("b").textContent = names.length ? `${names.length}` : "nothing";
    details.querySelector("ul").replaceChildren(...names.map((name) => {
      const item = document.createElement("li"), [before, now] = told.changed[name];
      item.textContent = `${name}: ${list(before)} → ${list(now)}`;
      return item;
    }));
    document.getElementById("undo").disabled = !told.undo;
    document.getElementById("advice").replaceChildren(...told.advice.slice(0, 3).map((words) => {
      const line = document.createElement("p");
      line.textContent = words;
      return line;
    }));
  }

  // Every parameter there is, by its schema.
  #form(fields) {
    const root = document.getElementById("form");
    root.replaceChildren();
    this.shows = [];
    for (const field of fields) {
      const box = document.createElement("div"), name = document.createElement("code"), text = document.createElement("span"), inputs = document.createElement("div");
      box.className = "field";
      box.dataset.find = `${field.name} ${field.text}`.toLowerCase();
      name.textContent = field.name;
      text.className = "dim";
      text.textContent = `${field.text}${field.units.length ? ` [${field.units.join(", ")}]` : ""}${field.live ? "" : " (not while running)"}`;
      box.title = field.allowed;
      box.append(name, text, inputs);
      root.append(box);
      this.shows.push(() => this.#inputs(field, inputs));
    }
    document.getElementById("search").oninput = (event) => {
      const wanted = event.target.value.toLowerCase();
      for (const box of root.children) box.hidden = !box.dataset.find.includes(wanted);
    };
  }

  #inputs(field, root) {
    if (root.contains(document.activeElement)) return;
    const value = this.values[field.name], many = Array.isArray(value);
    root.replaceChildren(...(many ? value : [value]).map((one, i) => {
      const put = (wanted) => this.send({ [field.name]: many ? value.map((v, k) => (k === i ? wanted : v)) : wanted });
      let input = document.createElement("input");
      if (field.kind === "boolean") {
        input.type = "checkbox";
        input.checked = one;
        input.onchange = () => put(input.checked);
      } else if (field.kind === "choice") {
        input = document.createElement("select");
        for (const choice of field.choices) input.add(new Option(choice, choice, false, choice === one));
        input.onchange = () => put(input.value);
      } else {
        input.value = one !== null && typeof one === "object" ? "…" : short(one);
        input.classList.toggle("words", typeof one === "string");
        input.onchange = () => put(input.value === "none" ? null : field.kind === "text" ? input.value : Number(input.value));
      }
      input.disabled = !field.live || ["pose", "text", "file"].includes(field.kind);
      input.setAttribute("aria-label", many ? `${field.name} ${AXES[i] ?? i}` : field.name);
      return input;
    }));
  }
}

const list = (value) => (Array.isArray(value) ? `[${value.map(short).join(", ")}]` : short(value));

// From where a slider stands (0 to 1) to its value, and back (0 to 1000).
export function valueAt(range, at) {
  if (!range.log) return range.low + at * (range.high - range.low);
  if (range.zero && at < 0.02) return 0;
  return range.low * (range.high / range.low) ** (range.zero ? (at - 0.02) / 0.98 : at);
}
export function place(range, value) {
  if (!range.log) return (1000 * (value - range.low)) / (range.high - range.low);
  if (range.zero && value <= 0) return 0;
  const at = Math.log(value / range.low) / Math.log(range.high / range.low);
  return 1000 * Math.min(1, Math.max(0, range.zero ? 0.02 + 0.98 * at : at));
}
