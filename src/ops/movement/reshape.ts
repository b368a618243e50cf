import { ALL_DTYPES } from '../../core/dtype.ts';
import { countElements } from '../../core/dim-context.ts';
import { formatDim } from '../../core/dim.ts';
import { formatShape, rowMajorStrides } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import { formatType, operand } from '../operand-checks.ts';

/** The same elements in the same order under another shape. Outside kernels a view. */
export const reshape: OpDefinition = defineOp({
  name: 'reshape',
  kind: 'injective',
  summary: 'The same elements in the same order under another shape.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { shape: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    const count = countElements(shape, dims);
    const expected = countElements(x.shape, dims);
    dims.requireEqual(count, expected, () => ({
      where: 'reshape: attribute shape',
      got: `${formatShape(shape.map(formatDim))} of ${formatDim(count)} elements`,
      expected: `${formatDim(expected)} elements as in ${formatType(x)}`,
    }));
    return { dtype: x.dtype, shape };
  },
  reference(inputs, _, output) {
    elementBits(output).set(elementBits(operand(inputs, 0)));
  },
  indexMap: {
    movesOnly: true,
    keepsOrder: true,
    sources({ inputs, output, coords, param }) {
      const strides = rowMajorStrides(output.shape);
      const terms = coords.map((coord, axis) => {
        const stride = strides[axis] ?? 1;
        return stride === 1 ? coord : `${coord} * ${param(stride, 'u32')}`;
      });
      const linear = terms.length === 0 ? '0u' : `(${terms.join(' + ')})`;
      const shape = inputs[0]?.shape ?? [];
      const own = rowMajorStrides(shape);
      const from = shape.map((dim, axis) => {
        const stride = own[axis] ?? 1;
        const quotient = stride === 1 ? linear : `(${linear} / ${param(stride, 'u32')})`;
        return axis === 0 ? quotient : `(${quotient} % ${param(dim, 'u32')})`;
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    reshapeCase([], [1, 1]),
    reshapeCase([1], []),
    reshapeCase([0, 4], [2, 0, 9]),
    reshapeCase([12], [3, 4]),
    reshapeCase([2, 3, 4], [4, 6]),
    reshapeCase([4, 6], [3, 2, 2, 2]),
    reshapeCase([5, 7, 3], [105]),
    reshapeCase([300, 211], [211, 300]),
    { title: 'bool', inputs: [{ dtype: 'bool', shape: [6] }], attributes: { shape: [2, 3] } },
  ],
  badCases: () => [
    reshapeCase([2, 3], [5]),
    reshapeCase([2, 3], [-1, 6]),
    { title: 'no shape', inputs: [{ dtype: 'float32', shape: [2] }] },
  ],
});

function reshapeCase(from: readonly number[], shape: readonly number[]): OpCase {
  return {
    title: `(${from.join(', ')}) to (${shape.join(', ')})`,
    inputs: [{ dtype: 'float32', shape: from }],
    attributes: { shape },
  };
}
