// Vectors and 4 x 4 matrices, as much of them as the page needs.

// A point or a way [m]. No method changes it.
export class Vector {
  constructor(x = 0, y = 0, z = 0) {
    Object.assign(this, { x, y, z });
  }
  toArray() { return [this.x, this.y, this.z]; }
  clone() { return new Vector(this.x, this.y, this.z); }
  plus(other) { return new Vector(this.x + other.x, this.y + other.y, this.z + other.z); }
  minus(other) { return new Vector(this.x - other.x, this.y - other.y, this.z - other.z); }
  times(factor) { return new Vector(this.x * factor, this.y * factor, this.z * factor); }
  dot(other) { return this.x * other.x + this.y * other.y + this.z * other.z; }
  cross(other) {
    return new Vector(this.y * other.z - this.z * other.y, this.z * other.x - this.x * other.z, this.x * other.y - this.y * other.x);
  }
  length() { return Math.hypot(this.x, this.y, this.z); }
  unit() { return this.times(1 / (this.length() || 1)); }
  atMost(length) { return this.length() > length ? this.unit().times(length) : this; }

  // Where a camera shows it: x and y from -1 to 1 within its picture.
  project({ matrix: m }) {
    const [x, y, z, w] = [0, 1, 2, 3].map((i) => m[i] * this.x + m[i + 4] * this.y + m[i + 8] * this.z + m[i + 12]);
    return new Vector(x / w, y / w, z / w);
  }
}

// A matrix is 16 numbers column by column, as WebGL takes them.
export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// From 12 or 16 numbers row by row, as the server sends them.
export const fromRows = (r) => [r[0], r[4], r[8], 0, r[1], r[5], r[9], 0, r[2], r[6], r[10], 0, r[3], r[7], r[11], 1];

export function multiply(a, b) {
  const product = new Array(16);
  for (let column = 0; column < 16; column += 4)
    for (let row = 0; row < 4; row++)
      product[column + row] = a[row] * b[column] + a[row + 4] * b[column + 1] + a[row + 8] * b[column + 2] + a[row + 12] * b[column + 3];
  return product;
}

export const positionOf = (m) => new Vector(m[12], m[13], m[14]);
export const move = (to) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...to.toArray(), 1];
export const scale = (x, y = x, z = x) => [x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1];

export function turnZ(angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
}

// Puts what stands upright on the origin, along y, onto `start` and along `way`.
export function along(start, way) {
  const y = way.unit(), aside = Math.abs(y.z) < 0.9 ? new Vector(0, 0, 1) : new Vector(1, 0, 0);
  const x = y.cross(aside).unit(), z = x.cross(y);
  return [...x.toArray(), 0, ...y.toArray(), 0, ...z.toArray(), 0, ...start.toArray(), 1];
}

// What an eye sees that looks at a target, the world's z upwards; it looks along its own -z.
export function lookAt(eye, target) {
  const z = eye.minus(target).unit(), x = new Vector(0, 0, 1).cross(z).unit(), y = z.cross(x);
  return [x.x, y.x, z.x, 0, x.y, y.y, z.y, 0, x.z, y.z, z.z, 0, -x.dot(eye), -y.dot(eye), -z.dot(eye), 1];
}

// `slope` is the tangent of half the height's angle.
export function perspective(slope, aspect, near, far) {
  const depth = near - far;
  return [1 / (slope * aspect), 0, 0, 0, 0, 1 / slope, 0, 0, 0, 0, (near + far) / depth, -1, 0, 0, (2 * near * far) / depth, 0];
}

// A box `half` wide to each side, from the eye to `far`.
export const orthographic = (half, far) => [1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -2 / far, 0, 0, 0, -1, 1];
