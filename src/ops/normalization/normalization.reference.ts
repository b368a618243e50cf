import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { floatAttribute, intAttribute } from '../attributes.ts';
import { floatElements, numberElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { RowNormName } from './normalization.ts';
import type { SoftmaxName } from './softmax.ts';

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

function softmaxReference(name: SoftmaxName, isLog: boolean): StaticReference {
  return {
    reference(inputs, attributes, output) {
      const axis = normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, name);
      softmaxRows(operand(inputs, 0), output, { axis, isLog });
    },
  };
}

/** Subtracts each row's maximum first, so that nothing overflows; sums in double precision. */
function softmaxRows(
  input: HostTensor,
  output: HostTensor,
  { axis, isLog }: { readonly axis: number; readonly isLog: boolean },
): void {
  const x = numberElements(input);
  const y = numberElements(output);
  const size = output.shape[axis] ?? 1;
  const inner = elementCount(output.shape.slice(axis + 1));
  const rows = size === 0 ? 0 : x.length / size;
  for (let row = 0; row < rows; row++) {
    const start = Math.floor(row / inner) * inner * size + (row % inner);
    const end = start + size * inner;
    let largest = -Infinity;
    for (let i = start; i < end; i += inner) largest = Math.max(largest, x[i] ?? 0);
    let sum = 0;
    for (let i = start; i < end; i += inner) sum += Math.exp((x[i] ?? 0) - largest);
    const logSum = Math.log(sum);
    for (let i = start; i < end; i += inner) {
      const shifted = (x[i] ?? 0) - largest;
      y[i] = isLog ? shifted - logSum : Math.exp(shifted) / sum;
    }
  }
}

export const SOFTMAX_REFERENCES = {
  softmax: softmaxReference('softmax', false),
  log_softmax: softmaxReference('log_softmax', true),
} satisfies Record<SoftmaxName, StaticReference>;
