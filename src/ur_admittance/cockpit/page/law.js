// What one axis of the law M a + D v + K x = F does, in closed form.

// The answer to a step of force [N, Nm] after t [s]: the offset with a spring, else the speed.
export function step(M, D, K, F, t) {
  if (K <= 1e-12 * M) return D > 0 ? (F / D) * (1 - Math.exp((-D * t) / M)) : (F / M) * t;
  const w = Math.sqrt(K / M), z = D / (2 * Math.sqrt(M * K)), still = F / K;
  if (z < 1 - 1e-9) {
    const d = w * Math.sqrt(1 - z * z);
    return still * (1 - Math.exp(-z * w * t) * (Math.cos(d * t) + (z * w / d) * Math.sin(d * t)));
  }
  if (z < 1 + 1e-9) return still * (1 - Math.exp(-w * t) * (1 + w * t));
  const r = w * Math.sqrt(z * z - 1), a = -z * w + r, b = -z * w - r;
  return still * (1 + (b * Math.exp(a * t) - a * Math.exp(b * t)) / (a - b));
}

export const ratio = (M, D, K) => (K > 0 ? D / (2 * Math.sqrt(M * K)) : null);

// A number as people write it.
export function short(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
}
