// Where the links are: X_WP = prod_i (X_i Rz(q_i)) X_6, as in the model of the arm.
import { IDENTITY, fromRows, multiply, turnZ } from "./maths.js";

// The moved frame of each joint, and last the tool's, from seven transforms (16 numbers, row by row) and q [rad].
export function frames(chain, q) {
  const found = [];
  let X = IDENTITY;
  for (let i = 0; i < 7; i++) {
    X = multiply(X, fromRows(chain[i]));
    if (i < 6) X = multiply(X, turnZ(q[i]));
    found.push(X);
  }
  return found;
}
