import source from '../../../shaders/resample.wgsl?raw';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { floatElements } from '../elements.ts';
import { elementKernel } from '../element-kernel.ts';
import { type KernelSpec, type LoweringCall, type Operands } from '../lowering.ts';
import { operand, requireRank } from '../operand-checks.ts';

const NAME = 'resample';

/** Interpolation along one axis: those of several axes are done one after the other. */
export const resample: OpDefinition = defineOp({
  name: NAME,
  kind: 'anchor',
  summary:
    'Sums of weighted neighbours along an axis of x. A row of the table (size, 1 + taps) says for an ' +
    'element where they begin, and their weights; where the begin is negative, the first weight is ' +
    'the element.',
  inputs: [
    { name: 'x', dtypes: FLOATS },
    { name: 'table', dtypes: ['float32'] },
  ],
  attributes: { axis: { type: 'int' } },
  infer(inputs, attributes, dims) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(table, 2, `${NAME}: input table`);
    const [size = dims.of(0), width = dims.of(0)] = table.shape;
    const axis = normalizeAxis(
      intAttribute(attributes, 'axis'),
      x.shape.length,
      `${NAME}: attribute axis`,
    );
    dims.requireAtMost(dims.of(2), width, () => ({
      where: `${NAME}: input table`,
      got: 'rows without weights',
      expected: 'an index and one weight or more',
    }));
    return { dtype: x.dtype, shape: x.shape.with(axis, size) };
  },
  reference: resampleAxis,
  lower: lowerResample,
  tolerance: { rtol: 1e-5, atol: 1e-5 },
  cases: () => [
    resampleCase([1], 0, [[0, 1]]),
    resampleCase([2, 3], 1, [
      [0, 0.25, 0.75],
      [1, 1, 0],
      [-1, 9, 0],
      [1, 0.5, 0.5],
    ]),
    resampleCase([2, 5, 7, 3], -3, [
      [2, -0.25, 0.5, 1],
      [0, 1, 2, 3],
    ]),
    resampleCase([130, 3, 67], 1, [
      [0, 0.5, 0.5],
      [1, 0.125, 0.75],
    ]),
    resampleCase([0, 3], 1, [[0, 1]]),
  ],
  badCases: () => [
    resampleCase([3], 1, [[0, 1]]),
    resampleCase([3], 0, [[0], [1]]),
    {
      title: 'a vector of indices',
      inputs: [3, 2].map((size) => ({ dtype: 'float32', shape: [size] })),
      attributes: { axis: 0 },
    },
  ],
});

function resampleCase(x: Shape, axis: number, table: readonly (readonly number[])[]): OpCase {
  return {
    title: `(${x.join(', ')}) along ${axis} by ${table.length} rows of ${table[0]?.length}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [table.length, table[0]?.length ?? 0], values: table.flat() },
    ],
    attributes: { axis },
  };
}

interface AxisLayout {
  readonly size: number;
  readonly inner: number;
}

function layoutOf(shape: Shape, attributes: Attributes): AxisLayout {
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), shape.length, NAME);
  return { size: shape[axis] ?? 1, inner: elementCount(shape.slice(axis + 1)) };
}

function resampleAxis(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
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
}

function lowerResample({ inputs, output, attributes, caps }: LoweringCall): readonly KernelSpec[] {
  const [outSize = 1, width = 1] = inputs[1]?.shape ?? [];
  const { size, inner } = layoutOf(inputs[0]?.shape ?? [], attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: NAME,
    source,
    params: {
      size: size,
      inner: inner,
      out_size: outSize,
      width: width,
    },
    hooks: ['x', 'table'],
  });
}
