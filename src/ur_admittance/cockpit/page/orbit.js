// The camera: it looks at a point, and people lead it around that point.
import { Vector, lookAt, multiply, perspective } from "./maths.js";

const SLOPE = Math.tan((19 * Math.PI) / 180), NEAREST = 0.25, FARTHEST = 6;
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Drag turns, the wheel or two fingers zoom; the right button, shift, or two fingers move the point it looks at.
export class Orbit {
  constructor(canvas, position, target) {
    const way = position.minus(target), distance = way.length();
    this.canvas = canvas;
    this.goal = { turn: Math.atan2(way.y, way.x), rise: Math.asin(way.z / distance), zoom: Math.log(distance), target };
    this.now = { ...this.goal };
    this.aspect = 1;
    this.enabled = true;
    this.fingers = new Map();
    this.#place();
    this.#listen();
  }

  // Goes a part of the way to where people led it; whether it moved.
  update() {
    const { goal, now } = this;
    const left = goal.target.minus(now.target), rest = Math.hypot(goal.turn - now.turn, goal.rise - now.rise, goal.zoom - now.zoom, left.length());
    if (rest === 0) return false;
    const part = rest < 1e-4 ? 1 : 0.35;
    for (const name of ["turn", "rise", "zoom"]) now[name] += part * (goal[name] - now[name]);
    now.target = now.target.plus(left.times(part));
    if (part === 1) this.now = { ...goal };
    this.#place();
    return true;
  }

  fit(aspect) {
    this.aspect = aspect;
    this.#place();
  }

  // The way from the camera through a point of its picture (x and y from -1 to 1).
  ray(x, y) {
    return this.forward.plus(this.right.times(x * SLOPE * this.aspect)).plus(this.up.times(y * SLOPE));
  }

  #place() {
    const { turn, rise, zoom, target } = this.now, flat = Math.cos(rise);
    this.position = target.plus(new Vector(flat * Math.cos(turn), flat * Math.sin(turn), Math.sin(rise)).times(Math.exp(zoom)));
    this.forward = target.minus(this.position).unit();
    this.right = this.forward.cross(new Vector(0, 0, 1)).unit();
    this.up = this.right.cross(this.forward);
    this.matrix = multiply(perspective(SLOPE, this.aspect, 0.08, 20), lookAt(this.position, target));
  }

  #listen() {
    const { canvas, fingers } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.enabled) return;
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before || !this.enabled) return;
      const now = [event.clientX, event.clientY], dx = now[0] - before[0], dy = now[1] - before[1];
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      fingers.set(event.pointerId, now);
      if (other) {
        const apart = (point) => Math.max(10, Math.hypot(point[0] - other[0], point[1] - other[1]));
        this.#zoom(Math.log(apart(before) / apart(now)));
        this.#shift(dx / 2, dy / 2);
      } else if (event.buttons & 6 || event.shiftKey || event.ctrlKey) this.#shift(dx, dy);
      else this.#turn(dx, dy);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(kind, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.#zoom(clamp(event.deltaY * (event.deltaMode ? 0.04 : 0.0012), -0.4, 0.4));
    }, { passive: false });
  }

  #turn(dx, dy) {
    const pixels = this.canvas.clientHeight || 1;
    this.goal.turn -= (2 * Math.PI * dx) / pixels;
    this.goal.rise = clamp(this.goal.rise + (2 * Math.PI * dy) / pixels, -1.5, 1.5);
  }

  #zoom(by) {
    this.goal.zoom = clamp(this.goal.zoom + by, Math.log(NEAREST), Math.log(FARTHEST));
  }

  #shift(dx, dy) {
    const metres = (2 * SLOPE * Math.exp(this.now.zoom)) / (this.canvas.clientHeight || 1);
    this.goal.target = this.goal.target.plus(this.right.times(-dx * metres)).plus(this.up.times(dy * metres)).atMost(3);
  }
}
