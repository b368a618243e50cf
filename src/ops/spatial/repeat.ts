import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { rowMajorStrides, type Shape } from '../../core/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** Enlarging by whole numbers. */
export const repeat: OpDefinition = defineOp({
  name: 'repeat',
  kind: 'injective',
  summary: 'Each element of x repeats[i] times in a row along axis i.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { repeats: { type: 'ints', minimum: 1 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = intsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'repeat: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  reference: repeatElements,
  indexMap: {
    movesOnly: true,
    sources({ attributes, coords, param }) {
      const repeats = intsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const count = repeats[axis] ?? 1;
        return count === 1 ? coord : `(${coord} / ${param(count, 'u32')})`;
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    repeatCase([], []),
    repeatCase([3], [4]),
    repeatCase([2, 3, 5, 4], [1, 1, 2, 3]),
    repeatCase([2, 1, 3, 1, 2, 1, 2, 3], [1, 2, 1, 3, 1, 2, 1, 1]),
    repeatCase([0, 3], [2, 2]),
    repeatCase([3, 70, 65], [1, 2, 2]),
    repeatCase([3, 2], [2, 3], 'bool'),
    repeatCase([3, 5], [1, 2], 'int64'),
  ],
  badCases: () => [repeatCase([2, 3], [2]), repeatCase([2, 3], [2, 0])],
});

function repeatElements(inputs: Operands<HostTensor>, _: Attributes, output: HostTensor): void {
  const x = operand(inputs, 0);
  const [from, to] = [elementBits(x), elementBits(output)];
  const [strides, own] = [rowMajorStrides(x.shape), rowMajorStrides(output.shape)];
  const counts = output.shape.map((dim, axis) => dim / (x.shape[axis] ?? 1));
  for (let i = 0; i < to.length; i++) {
    let [rest, offset] = [i, 0];
    for (const [axis, stride] of own.entries()) {
      const coord = Math.floor(rest / stride);
      rest -= coord * stride;
      offset += Math.floor(coord / (counts[axis] ?? 1)) * (strides[axis] ?? 0);
    }
    to[i] = from[offset] ?? 0;
  }
}

function repeatCase(shape: Shape, repeats: readonly number[], dtype: DType = 'float32'): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) times [${repeats.join(', ')}]`,
    inputs: [{ dtype, shape }],
    attributes: { repeats },
  };
}
