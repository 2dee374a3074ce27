// Shapes to draw: positions [m], normals, and which three points make a triangle, counter-clockwise from outside.

// Turns a profile around y: points [radius, y, and the normal's two parts], from below upwards.
function lathe(profile, around = 32) {
  const position = [], normal = [], index = [];
  for (const [radius, y, out, up] of profile)
    for (let j = 0; j <= around; j++) {
      const s = Math.sin((2 * Math.PI * j) / around), c = Math.cos((2 * Math.PI * j) / around);
      position.push(radius * s, y, radius * c);
      normal.push(out * s, up, out * c);
    }
  for (let i = 0; i + 1 < profile.length; i++)
    for (let j = 0; j < around; j++) {
      const low = i * (around + 1) + j, high = low + around + 1;
      index.push(low, low + 1, high, low + 1, high + 1, high);
    }
  return solid(position, normal, index);
}

const solid = (position, normal, index) => ({
  kind: "triangles", position: new Float32Array(position), normal: new Float32Array(normal), index: new Uint32Array(index),
});

// An arc of a profile: around [r, y], from one angle to another.
function arc(r, y, radius, from, to, steps) {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / steps, c = Math.cos(angle), s = Math.sin(angle);
    return [r + radius * c, y + radius * s, c, s];
  });
}

const QUARTER = Math.PI / 2;

export const sphere = (radius) => lathe(arc(0, 0, radius, -QUARTER, QUARTER, 16));
export const torus = (radius, thickness) => lathe(arc(radius, 0, thickness, -Math.PI, Math.PI, 10), 48);

// From the origin up to `length`, with round ends beyond.
export const capsule = (radius, length) =>
  lathe([...arc(0, 0, radius, -QUARTER, 0, 8), ...arc(0, length, radius, 0, QUARTER, 8)]);

// From the origin up to `length`; with nothing at the top it is a cone.
export function cylinder(bottom, top, length) {
  const size = Math.hypot(length, bottom - top), out = length / size, up = (bottom - top) / size;
  return lathe([[0, 0, 0, -1], [bottom, 0, 0, -1], [bottom, 0, out, up], [top, length, out, up], [top, length, 0, 1], [0, length, 0, 1]]);
}

// Around the origin.
export function box(size) {
  const position = [], normal = [], index = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [1, -1]) {
      const first = position.length / 3, u = (axis + 1) % 3, v = (axis + 2) % 3;
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0], n = [0, 0, 0];
        n[axis] = side;
        corner[axis] = (side * size[axis]) / 2;
        corner[u] = (side * a * size[u]) / 2;
        corner[v] = (b * size[v]) / 2;
        position.push(...corner);
        normal.push(...n);
      }
      index.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  return solid(position, normal, index);
}

// The square on the floor.
export const square = (half) =>
  solid([-half, -half, 0, half, -half, 0, half, half, 0, -half, half, 0], [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 2, 0, 2, 3]);

// Lines: pairs of points, or with "strip" one through all of them.
export const lines = (points, kind = "lines") => ({ kind, position: new Float32Array(points), count: points.length / 3 });

// Squares on the floor; in short pieces, because long ones that pass behind the camera are not drawn well everywhere.
export function grid(half, step) {
  const points = [], count = Math.round(half / step);
  for (let i = -count; i <= count; i++)
    for (let j = -count; j < count; j++)
      points.push(i * step, j * step, 0, i * step, (j + 1) * step, 0, j * step, i * step, 0, (j + 1) * step, i * step, 0);
  return lines(points);
}

// The twelve edges between two corners.
export function edges(low, high) {
  const points = [];
  for (let axis = 0; axis < 3; axis++)
    for (const a of [low, high])
      for (const b of [low, high])
        for (const end of [low, high]) {
          const point = [0, 0, 0];
          point[axis] = end[axis];
          point[(axis + 1) % 3] = a[(axis + 1) % 3];
          point[(axis + 2) % 3] = b[(axis + 2) % 3];
          points.push(...point);
        }
  return lines(points);
}
