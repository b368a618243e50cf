import { floatElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const detReference: StaticReference = {
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    const size = x.shape.at(-1) ?? 0;
    const elements = floatElements(x);
    const results = floatElements(output);
    for (let i = 0; i < results.length; i++) {
      const matrix = elements.subarray(i * size * size, (i + 1) * size * size);
      results[i] = determinant(Float64Array.from(matrix), size);
    }
  },
};

function determinant(matrix: Float64Array, size: number): number {
  const at = (row: number, column: number): number => matrix[row * size + column] ?? 0;
  let product = 1;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let r = k + 1; r < size; r++) {
      if (Math.abs(at(r, k)) > Math.abs(at(pivot, k))) pivot = r;
    }
    if (at(pivot, k) === 0) return 0;
    if (pivot !== k) {
      const row = matrix.slice(k * size, (k + 1) * size);
      matrix.copyWithin(k * size, pivot * size, (pivot + 1) * size);
      matrix.set(row, pivot * size);
      product = -product;
    }
    product *= at(k, k);
    for (let r = k + 1; r < size; r++) {
      const factor = at(r, k) / at(k, k);
      for (let c = k; c < size; c++) matrix[r * size + c] = at(r, c) - factor * at(k, c);
    }
  }
  return product;
}
