import { ShapeError } from '../../core/errors.ts';
import { rowMajorStrides } from '../../core/shape.ts';
import { ALL_DTYPES } from '../../core/dtype.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import { operand, requireLength } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';

/** Axes in another order: axis `i` of the result is axis `perm[i]` of x. */
export const transpose: OpDefinition = defineOp({
  name: 'transpose',
  kind: 'injective',
  summary: 'Axes in another order: axis i of the result is axis perm[i] of x.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { perm: { type: 'ints', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const perm = intsAttribute(attributes, 'perm');
    requireLength(perm, shape.length, 'transpose: attribute perm');
    if (new Set(perm).size !== perm.length || perm.some((axis) => axis >= perm.length)) {
      throw new ShapeError({
        where: 'transpose: attribute perm',
        got: `[${perm.join(', ')}]`,
        expected: `each of 0 to ${perm.length - 1} once`,
      });
    }
    return { dtype, shape: perm.map((axis) => shape[axis] ?? dims.of(1)) };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const own = rowMajorStrides(x.shape);
    const strides = intsAttribute(attributes, 'perm').map((axis) => own[axis] ?? 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
  indexMap: {
    movesOnly: true,
    permutation: (attributes) => intsAttribute(attributes, 'perm'),
    sources({ attributes, inputs, coords }) {
      const from = new Array<string>(inputs[0]?.shape.length ?? 0).fill('0u');
      for (const [axis, source] of intsAttribute(attributes, 'perm').entries()) {
        from[source] = coords[axis] ?? '0u';
      }
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    transposeCase([], []),
    transposeCase([5], [0]),
    transposeCase([3, 5], [1, 0]),
    transposeCase([0, 5], [1, 0]),
    transposeCase([2, 3, 4], [2, 0, 1]),
    transposeCase([2, 3, 5, 7], [0, 2, 3, 1]),
    transposeCase([2, 3, 1, 2, 3], [4, 2, 0, 3, 1]),
    transposeCase([257, 301], [1, 0]),
    transposeCase([4, 4], [1, 0]),
    transposeCase([68, 132], [1, 0]),
    transposeCase([3, 8, 260], [0, 2, 1]),
    transposeCase([5, 12, 4, 9], [0, 2, 3, 1]),
    transposeCase([4, 1, 3, 8], [2, 3, 1, 0]),
    transposeCase([300, 20], [1, 0]),
    { ...transposeCase([3, 4], [1, 0], 'int32'), title: 'int32' },
    { ...transposeCase([3, 4], [1, 0], 'bool'), title: 'bool' },
  ],
  badCases: () => [
    transposeCase([2, 3], [0]),
    transposeCase([2, 3], [0, 0]),
    transposeCase([2, 3], [0, 2]),
    { title: 'no perm', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
  ],
});

function transposeCase(
  shape: readonly number[],
  perm: readonly number[],
  dtype: 'float32' | 'int32' | 'bool' = 'float32',
): OpCase {
  return {
    title: `(${shape.join(', ')}) by [${perm.join(', ')}]`,
    inputs: [{ dtype, shape }],
    attributes: { perm },
  };
}
