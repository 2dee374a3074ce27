// The arm in 3D: its links, what it feels, where it was and wants to be, and what stands around it.
import { Renderer, colour, thing } from "./gl.js";
import { frames } from "./kinematics.js";
import { IDENTITY, Vector, along, fromRows, move, multiply, positionOf, scale, turnZ } from "./maths.js";
import { Orbit } from "./orbit.js";
import * as shapes from "./shapes.js";

const TRAIL = 450; // points, 15 s
const METRES_PER_NEWTON = 0.008, METRES_PER_NM = 0.06, LONGEST = 0.45;
const GRAB = 46; // pixels around the tool
const SLOW = 70; // ms for a picture: then plainer ones

const css = (name) => colour(getComputedStyle(document.documentElement).getPropertyValue(name).trim());
const ORIGIN = new Vector();

export class View {
  constructor(canvas, pull) {
    this.canvas = canvas;
    this.pull = pull; // called with a point [m] while the tool is held, with null when it is let go
    this.renderer = new Renderer(canvas);
    this.blind = !this.renderer.gl;
    this.camera = new Orbit(canvas, new Vector(1.55, -1.05, 0.95), new Vector(0.27, 0.07, 0.36));
    this.ratio = Math.min(devicePixelRatio, 2);
    this.floor = thing(shapes.square(5), { matrix: move(new Vector(0, 0, -0.002)), lit: -1, fade: 4 });
    this.grid = thing(shapes.grid(2.6, 0.2), { lit: 0, fade: 2.6 });
    this.#marks();
    this.links = []; // of each the parts, and where they are on it
    this.around = [];
    this.box = null;
    this.simulated = false;
    this.grabbed = null;
    this.drawn = 0; // pictures
    this.#listen();
    this.theme();
    new ResizeObserver(() => this.#fit()).observe(canvas.parentElement);
    this.#fit();
    this.stale = true; // something has changed since the last picture
    this.pace = { began: 0, usual: 0, next: 0 };
    requestAnimationFrame(() => this.#draw());
  }

  // --- what is there ---

  #marks() {
    const flat = (mesh, more) => thing(mesh, { lit: 0, visible: false, ...more });
    const arrow = (radius) => ({ radius, shaft: flat(shapes.cylinder(1, 1, 1), { above: true }), head: flat(shapes.cylinder(1, 0, 1), { above: true }) });
    const ghost = (radius) => [
      [flat(shapes.torus(radius * 2.2, radius * 0.18), { alpha: 0.6 }), along(ORIGIN, new Vector(0, 0, 1))],
      [flat(shapes.cylinder(radius * 0.15, radius * 0.15, 4 * radius), { alpha: 0.6 }), along(new Vector(0, 0, -2 * radius), new Vector(0, 0, 1))],
    ];
    this.force = arrow(0.012);
    this.torque = arrow(0.009);
    this.handle = flat(shapes.sphere(0.024));
    this.halo = flat(shapes.sphere(0.04), { alpha: 0.22 });
    this.desired = ghost(0.02);
    this.commanded = ghost(0.013);
    this.trail = flat(shapes.lines(new Array(3 * TRAIL).fill(0), "strip"), { visible: true });
    this.trail.mesh.count = 0;
    this.spring = flat(shapes.lines([0, 0, 0, 0, 0, 0]));
  }

  theme() {
    this.stale = true;
    this.sky = css("--sky");
    const paint = (name, ...things) => things.forEach((each) => (each.colour = css(name)));
    const parts = (ghost) => ghost.map(([part]) => part);
    paint("--floor", this.floor);
    paint("--grid", this.grid);
    paint("--force", this.force.shaft, this.force.head);
    paint("--torque", this.torque.shaft, this.torque.head);
    paint("--hand", this.handle, this.halo, this.spring, ...parts(this.commanded));
    paint("--desired", ...parts(this.desired));
    paint("--trail", this.trail);
    if (this.box) paint("--dim", this.box);
  }

  arm(hello) {
    this.chain = hello.chain;
    this.simulated = hello.simulated;
    this.links = Array.from({ length: 7 }, () => []);
    this.foot = fromRows(hello.chain[0]);
    this.foot.splice(12, 3, 0, 0, 0);
    this.#capsules();
    if (hello.looks) this.dress();
  }

  // The meshes take the place of the capsules; without them, these stay.
  async dress() {
    const data = await (await fetch("looks.bin")).arrayBuffer();
    if (data.byteLength) this.#meshes(data);
    this.dressed = true;
  }

  // From a joint to the next; the last leads to the tool.
  #reach(i) {
    const rows = this.chain[i];
    return new Vector(rows[3], rows[7], rows[11]);
  }

  #capsules() {
    const radii = [0.06, 0.055, 0.045, 0.04, 0.04, 0.035];
    for (let i = 0; i < 6; i++) {
      const way = this.#reach(i + 1), mesh = shapes.capsule(radii[i], way.length());
      this.links[i + 1].push([thing(mesh, { colour: colour("#b9c4cf"), casts: true, visible: false }), along(ORIGIN, way)]);
    }
  }

  #meshes(data) {
    const bytes = new Uint8Array(data), end = bytes.indexOf(10), start = end + 1;
    const parts = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    const array = (Kind, [at, size]) => new Kind(data, start + at, size);
    this.links = Array.from({ length: 7 }, () => []);
    for (const part of parts) {
      const mesh = { position: array(Float32Array, part.position), normal: array(Int8Array, part.normal), index: array(Uint32Array, part.index) };
      const behind = 3 * (1 - Math.max(...part.colour)); // seams and inner parts, which are dark, behind covers
      this.links[part.joint].push([thing(mesh, { colour: part.colour, behind, casts: true, visible: part.joint === 0, matrix: this.foot }), IDENTITY]);
    }
    const way = this.#reach(6); // what the arm holds
    if (way.length() > 0.02) {
      const mesh = shapes.cylinder(0.024, 0.014, way.length());
      this.links[6].push([thing(mesh, { colour: colour("#39434d"), casts: true, visible: false }), along(ORIGIN, way)]);
    }
    if (this.joints) this.#place();
  }

  workspace(low, high) {
    this.stale = true;
    this.box = null;
    if ([...low, ...high].some((v) => Math.abs(v) > 5)) return;
    this.box = thing(shapes.edges(low, high), { lit: 0, alpha: 0.55, colour: css("--dim") });
  }

  shapes(list) {
    this.stale = true;
    this.around = list.map((shape) => {
      const look = { colour: colour("#8fa3b5"), alpha: 0.72, casts: true };
      if (shape.kind === "box") return thing(shapes.box(shape.size), { ...look, matrix: multiply(move(new Vector(...shape.center)), turnZ(shape.yaw)) });
      if (shape.kind === "cylinder") {
        const start = new Vector(...shape.start), way = new Vector(...shape.end).minus(start);
        return thing(shapes.cylinder(shape.radius, shape.radius, way.length()), { ...look, matrix: along(start, way) });
      }
      return thing(shapes.sphere(shape.radius), { ...look, matrix: move(new Vector(...shape.center)) });
    });
  }

  // --- one frame ---

  show(frame) {
    if (!this.chain || !frame.q || frame.q.includes(null)) return;
    this.stale = true;
    this.joints = frames(this.chain, frame.q);
    this.tool = positionOf(this.joints[6]);
    this.#place();
    this.#point(this.force, frame.f, METRES_PER_NEWTON, 1.0);
    this.#point(this.torque, frame.m, METRES_PER_NM, 0.25);
    for (const [ghost, rows] of [[this.desired, frame.D], [this.commanded, frame.C]])
      for (const [part, on] of ghost) {
        part.visible = Boolean(rows && !rows.includes(null));
        if (part.visible) part.matrix = multiply(fromRows(rows), on);
      }
    this.#remember();
    if (this.box) {
      const held = frame.lamps.includes("workspace_limit") || frame.lamps.includes("outside_workspace");
      this.box.colour = css(held ? "--bad" : "--dim");
    }
  }

  // The links to where the joints are.
  #place() {
    this.links.slice(1).forEach((parts, i) => {
      for (const [part, on] of parts) {
        part.matrix = multiply(this.joints[i], on);
        part.visible = true;
      }
    });
    this.handle.matrix = move(this.tool);
    this.handle.visible = true;
    this.stale = true;
  }

  #point({ radius, shaft, head }, vector, perUnit, least) {
    const way = new Vector(...vector.map((v) => v ?? 0)), size = way.length();
    shaft.visible = head.visible = size > least;
    if (!shaft.visible) return;
    const tip = radius * 4, length = Math.max(0.001, Math.min(LONGEST, size * perUnit) - tip), at = along(this.tool, way);
    shaft.matrix = multiply(at, scale(radius * 0.5, length, radius * 0.5));
    head.matrix = multiply(multiply(at, move(new Vector(0, length, 0))), scale(radius * 1.5, tip, radius * 1.5));
  }

  #remember() {
    const { mesh } = this.trail;
    if (mesh.count === TRAIL) mesh.position.copyWithin(0, 3);
    else mesh.count++;
    mesh.position.set(this.tool.toArray(), 3 * (mesh.count - 1));
    mesh.changed = true;
  }

  // --- the pointer ---

  #listen() {
    const { canvas, camera } = this;
    let normal, pointer;
    const aim = (event) => {
      const box = canvas.getBoundingClientRect();
      return { box, x: ((event.clientX - box.left) / box.width) * 2 - 1, y: 1 - ((event.clientY - box.top) / box.height) * 2 };
    };
    const near = (event) => {
      if (!this.tool || !this.simulated) return false;
      const { box, x, y } = aim(event), seen = this.tool.project(camera);
      return Math.hypot(((seen.x - x) * box.width) / 2, ((seen.y - y) * box.height) / 2) < GRAB;
    };
    // To the pointer, in the plane through the tool that faced the camera when it was grabbed.
    const lead = (event) => {
      const { x, y } = aim(event), ray = camera.ray(x, y);
      const distance = this.tool.minus(camera.position).dot(normal) / ray.dot(normal);
      this.grabbed = this.tool.plus(camera.position.plus(ray.times(distance)).minus(this.tool).atMost(0.4));
      this.stale = true;
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (this.grabbed || event.button !== 0 || !near(event)) return;
      event.stopImmediatePropagation();
      camera.enabled = false;
      pointer = event.pointerId;
      canvas.setPointerCapture(pointer);
      normal = camera.forward;
      canvas.classList.add("pulling");
      lead(event);
      this.beat = setInterval(() => this.pull(this.grabbed.toArray()), 1000 / 30);
    }, true);
    canvas.addEventListener("pointermove", (event) => {
      if (!this.grabbed) canvas.classList.toggle("over", near(event));
      else if (event.pointerId === pointer) lead(event);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(kind, (event) => event.pointerId === pointer && this.letGo());
    addEventListener("blur", () => this.letGo());
  }

  letGo() {
    if (!this.grabbed) return;
    clearInterval(this.beat);
    this.grabbed = null;
    this.stale = true;
    this.camera.enabled = true;
    this.canvas.classList.remove("pulling");
    this.pull(null);
  }

  #fit() {
    const { clientWidth: wide, clientHeight: high } = this.canvas.parentElement;
    if (!wide || !high) return;
    this.renderer.size(wide, high, this.ratio);
    this.camera.fit(wide / high);
    this.stale = true;
  }

  // A picture when there is something new, at most 30 a second; on a machine that draws slowly fewer and plainer.
  #draw() {
    requestAnimationFrame(() => this.#draw());
    const now = performance.now();
    if (this.camera.update()) this.stale = true;
    if (this.renderer.busy()) return;
    if (this.pace.began) {
      const took = Math.min(now - this.pace.began, 4 * SLOW); // a page that was hidden is not slow
      this.pace.usual += 0.15 * (took - this.pace.usual);
      this.pace.next = took > SLOW ? now + 1.5 * took : this.pace.began + 30;
      this.pace.began = 0;
      if (this.pace.usual > SLOW && this.renderer.shadows) this.#plainer();
    }
    if (now < this.pace.next || !this.stale) return;
    this.stale = false;
    this.pace.began = now;
    this.spring.visible = Boolean(this.grabbed && this.tool);
    if (this.spring.visible) {
      this.spring.mesh.position.set([...this.tool.toArray(), ...this.grabbed.toArray()]);
      this.spring.mesh.changed = true;
    }
    this.halo.visible = Boolean(this.simulated && this.tool);
    if (this.halo.visible) this.halo.matrix = multiply(move(this.tool), scale(1 + 0.18 * Math.sin(now / 350)));
    const ghosts = [...this.desired, ...this.commanded].map(([part]) => part), links = this.links.flat().map(([part]) => part);
    const { force, torque, box } = this;
    const marks = [force.shaft, force.head, torque.shaft, torque.head, this.handle, this.trail, this.spring, ...ghosts];
    this.renderer.draw([this.floor, this.grid, ...links, ...marks, ...(box ? [box] : []), ...this.around, this.halo], this.camera, this.sky);
    this.drawn++;
  }

  #plainer() {
    this.renderer.shadows = false;
    this.ratio = 1;
    this.#fit();
  }
}
