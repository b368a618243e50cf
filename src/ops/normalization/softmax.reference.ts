import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { numberElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { SoftmaxName } from './softmax.ts';

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
