import { floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import { layoutOf } from './resample.ts';

export const resampleReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    const { size, inner } = layoutOf(x.shape, attributes);
    const [outSize = 0, width = 1] = table.shape;
    const [elements, rows, y] = [floatElements(x), floatElements(table), floatElements(output)];
    for (let i = 0; i < y.length; i++) {
      const line = Math.floor(i / inner);
      const row = (line % outSize) * width;
      const begin = rows[row] ?? 0;
      const from = (Math.floor(line / outSize) * size + begin) * inner + (i % inner);
      let sum = 0;
      for (let tap = 0; tap < width - 1; tap++) {
        sum += (rows[row + 1 + tap] ?? 0) * (elements[from + tap * inner] ?? 0);
      }
      y[i] = begin < 0 ? (rows[row + 1] ?? 0) : sum;
    }
  },
};

/**
 * References of the spatial operators, without `repeat`, whose reference follows from its index
 * map.
 */
