import { ALL_DTYPES } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { rowMajorStrides, type Shape } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** The whole tensor several times along each axis. */
export const tile: OpDefinition = defineOp({
  name: 'tile',
  kind: 'injective',
  summary: 'x repeated as a whole, repeats[i] times along axis i.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { repeats: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = dimsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'tile: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  reference: tileOnHost,
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const repeats = dimsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const size = inputs[0]?.shape[axis] ?? 1;
        return repeats[axis] === 1 ? coord : `(${coord} % ${param(size, 'u32')})`;
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    tileCase([], []),
    tileCase([3], [4]),
    tileCase([2, 3], [3, 2]),
    tileCase([5, 4], [3, 1]),
    tileCase([2, 3, 4, 5], [7, 6, 4, 2]),
    tileCase([2, 1, 3, 1, 2, 1, 2, 3], [1, 2, 1, 3, 1, 2, 1, 1]),
    tileCase([2, 3], [0, 2]),
    tileCase([0, 3], [2, 2]),
    {
      title: 'bool',
      inputs: [{ dtype: 'bool', shape: [3, 2] }],
      attributes: { repeats: [2, 3] },
    },
    {
      title: 'int64',
      inputs: [{ dtype: 'int64', shape: [3, 4] }],
      attributes: { repeats: [2, 1] },
    },
  ],
  badCases: () => [tileCase([2, 3], [2]), tileCase([2, 3], [2, -1])],
});

function tileOnHost(inputs: Operands<HostTensor>, _: Attributes, output: HostTensor): void {
  const x = operand(inputs, 0);
  const from = elementBits(x);
  const to = elementBits(output);
  const strides = rowMajorStrides(x.shape);
  const own = rowMajorStrides(output.shape);
  for (let i = 0; i < to.length; i++) {
    let offset = 0;
    for (const [axis, dim] of output.shape.entries()) {
      const coord = Math.floor(i / (own[axis] ?? 1)) % dim;
      offset += (coord % (x.shape[axis] ?? 1)) * (strides[axis] ?? 0);
    }
    to[i] = from[offset] ?? 0;
  }
}

function tileCase(shape: Shape, repeats: readonly number[]): OpCase {
  return {
    title: `(${shape.join(', ')}) times [${repeats.join(', ')}]`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { repeats },
  };
}
