import type { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, normalizeAxis } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { numberElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { lowerSoftmax } from './softmax-lowering.ts';

function defineSoftmax(name: string, isLog: boolean, summary: string): OpDefinition {
  return defineOp({
    name,
    kind: 'reduction',
    summary,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: { axis: { type: 'int', default: -1 } },
    infer(inputs, attributes) {
      const { dtype, shape } = operand(inputs, 0);
      normalizeAxis(intAttribute(attributes, 'axis'), shape.length, `${name}: attribute axis`);
      return { dtype, shape };
    },
    reference(inputs, attributes, output) {
      const axis = normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, name);
      softmaxRows(operand(inputs, 0), output, { axis, isLog });
    },
    loads: () => 2,
    lower: lowerSoftmax(isLog),
    tolerance: isLog ? { rtol: 1e-5, atol: 1e-5 } : { rtol: 1e-4, atol: 1e-6 },
    cases: () => [
      softmaxCase([1], -1),
      softmaxCase([10], 0),
      softmaxCase([3, 5], -1),
      softmaxCase([3, 5], 0),
      softmaxCase([2, 3, 4], 1),
      softmaxCase([0, 4], -1),
      softmaxCase([3, 0], -1),
      softmaxCase([1, 1000], -1),
      softmaxCase([70, 129], 1),
      softmaxCase([2, 17, 5, 7], 1),
      softmaxCase([3, 4099], 1),
      softmaxCase([5, 64], 1),
      softmaxCase([17, 300], 1),
      softmaxCase([63, 8], 1),
      {
        title: 'elements that are masked',
        inputs: [
          {
            dtype: 'float32',
            shape: [2, 8],
            values: [-Infinity, -1e38, -3.4e38, 1, 2, -Infinity, 0, 1].concat([
              -Infinity,
              -Infinity,
              -Infinity,
              -Infinity,
              1,
              -Infinity,
              2,
              -Infinity,
            ]),
          },
        ],
      },
      {
        title: 'large logits',
        inputs: [{ dtype: 'float32', shape: [2, 3], values: [1000, 1001, 999, -1000, 0, 1000] }],
      },
    ],
    badCases: () => [
      softmaxCase([3, 5], 2),
      softmaxCase([], -1),
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [3] }] },
      {
        title: 'axis is a float',
        inputs: [{ dtype: 'float32', shape: [3] }],
        attributes: { axis: 0.5 },
      },
    ],
  });
}

function softmaxCase(shape: readonly number[], axis: number): OpCase {
  return {
    title: `(${shape.join(', ')}) along ${axis}`,
    inputs: [{ dtype: 'float32', shape, range: [-8, 8] }],
    attributes: { axis },
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

const softmax = defineSoftmax('softmax', false, 'exp(x) / sum of exp(x) along an axis.');

const logSoftmax = defineSoftmax('log_softmax', true, 'The logarithm of softmax along an axis.');

export const SOFTMAX_OPS: readonly OpDefinition[] = [softmax, logSoftmax];
