import { elementCount } from '../../core/tensor/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { RowNormName } from './normalization.ts';

export const batchNormReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, scale, bias, mean, variance] = Array.from({ length: 5 }, (_, i) =>
      floatElements(operand(inputs, i)),
    );
    const y = floatElements(output);
    const epsilon = floatAttribute(attributes, 'epsilon');
    const channels = output.shape[1] ?? 0;
    const spatial = elementCount(output.shape.slice(2));
    const blocks = elementCount(output.shape.slice(0, 2));
    for (let block = 0; block < blocks; block++) {
      const c = block % channels;
      const factor = (scale?.[c] ?? 0) / Math.sqrt((variance?.[c] ?? 0) + epsilon);
      const [shift, middle] = [bias?.[c] ?? 0, mean?.[c] ?? 0];
      const end = (block + 1) * spatial;
      for (let i = block * spatial; i < end; i++) y[i] = ((x?.[i] ?? 0) - middle) * factor + shift;
    }
  },
};

function rowNormReference(isCentered: boolean): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const x = floatElements(operand(inputs, 0));
      const y = floatElements(output);
      const size = output.shape.at(-1) ?? 1;
      const epsilon = floatAttribute(attributes, 'epsilon');
      for (let start = 0; start < x.length; start += size) {
        const row = Array.from(x.subarray(start, start + size));
        // Less the first, so that equal elements are 0 whatever their sum rounds to.
        const shift = isCentered ? (row[0] ?? 0) : 0;
        const shifted = row.map((value) => value - shift);
        const mean = isCentered ? shifted.reduce((sum, value) => sum + value, 0) / size : 0;
        const squares = shifted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
        const deviation = Math.sqrt(squares / size + epsilon);
        for (let k = 0; k < size; k++) y[start + k] = ((shifted[k] ?? 0) - mean) / deviation;
      }
    },
  };
}

export const ROW_NORM_REFERENCES = {
  layer_norm: rowNormReference(true),
  rms_norm: rowNormReference(false),
} satisfies Record<RowNormName, StaticReference>;
