import last from '../../../shaders/det-last.wgsl?raw';
import step from '../../../shaders/det-step.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { floatElements } from '../elements.ts';
import { storeOutput } from '../element-kernel.ts';
import { type KernelOperand, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';
import { foldGroups } from './fold-groups.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

/** Determinants, by elimination with the largest pivot of a column. */
export const det: OpDefinition = defineOp({
  name: 'det',
  kind: 'anchor',
  summary: 'The determinants of the square matrices of the last two axes; 1 for empty ones.',
  inputs: [{ name: 'x', dtypes: FLOATS }],
  attributes: {},
  infer(inputs, _, dims) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'det');
    const [rows = dims.of(0), columns = dims.of(0)] = x.shape.slice(-2);
    dims.requireEqual(rows, columns, () => ({
      where: 'det',
      got: formatType(x),
      expected: 'square matrices',
    }));
    return { dtype: x.dtype, shape: x.shape.slice(0, -2) };
  },
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    const size = x.shape.at(-1) ?? 0;
    const elements = floatElements(x);
    const results = floatElements(output);
    for (let i = 0; i < results.length; i++) {
      const matrix = elements.subarray(i * size * size, (i + 1) * size * size);
      results[i] = determinant(Float64Array.from(matrix), size);
    }
  },
  lower: lowerDet,
  tolerance: { rtol: 1e-3, atol: 1e-4 },
  cases: () => [
    ...[
      [1, 1],
      [2, 2],
      [3, 4, 4],
      [2, 3, 5, 5],
      [0, 3, 3],
      [2, 0, 0],
      [70, 3, 3],
      [1, 17, 17],
    ].map((shape) => ({
      title: `(${shape.join(', ')})`,
      inputs: [{ dtype: 'float32', shape, range: [-0.7, 0.7] }] as const,
    })),
    {
      title: 'no pivot at first, and none at all',
      inputs: [{ dtype: 'float32', shape: [2, 2, 2], values: [0, 2, 3, 4, 0, 1, 0, 2] }],
    },
  ],
  badCases: () => [
    { title: 'bad rank', inputs: [{ dtype: 'float32', shape: [3] }] },
    { title: 'not square', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
    { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [2, 2] }] },
  ],
});

function determinant(matrix: Float64Array, size: number): number {
  const at = (row: number, column: number): number => matrix[row * size + column] ?? 0;
  let product = 1;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let r = k + 1; r < size; r++) {
      if (Math.abs(at(r, k)) > Math.abs(at(pivot, k))) pivot = r;
    }
    if (at(pivot, k) === 0) return 0;
    if (pivot !== k) {
      const row = matrix.slice(k * size, (k + 1) * size);
      matrix.copyWithin(k * size, pivot * size, (pivot + 1) * size);
      matrix.set(row, pivot * size);
      product = -product;
    }
    product *= at(k, k);
    for (let r = k + 1; r < size; r++) {
      const factor = at(r, k) / at(k, k);
      for (let c = k; c < size; c++) matrix[r * size + c] = at(r, c) - factor * at(k, c);
    }
  }
  return product;
}

/** A kernel for each row but the last; what they leave alternates between two scratch buffers. */
function lowerDet({ inputs, output, caps }: LoweringCall): readonly KernelSpec[] {
  const size = inputs[0]?.shape.at(-1) ?? 0;
  const count = elementCount(output.shape);
  const product = { kind: 'scratch', index: 2, byteLength: Math.max(4, count * 4) } as const;
  const rest = Math.max(1, (size - 1) ** 2 * count);
  const left = (index: number): KernelOperand =>
    index < 0
      ? { kind: 'input', index: 0 }
      : { kind: 'scratch', index: index % 2, byteLength: rest * 4 };
  const kernel = (index: number, elements: number): Omit<KernelSpec, 'name' | 'source'> => {
    const grid = foldGroups(Math.ceil(elements / 64), caps);
    return {
      constants: { IS_FIRST: index === 0 },
      params: {
        count: u32(elements),
        row_length: u32(grid.rowLength * 64),
        size: u32(size - index),
      },
      workgroupSize: [64, 1, 1],
      workgroups: grid.workgroups,
      reads: [
        { hook: 'from', from: left(index - 1), width: 1 },
        { hook: 'product', from: product, width: 1 },
      ],
      writes: [],
    };
  };
  const steps = Array.from(
    { length: Math.max(0, size - 1) },
    (_, index): KernelSpec => ({
      name: 'det-step',
      source: step,
      ...kernel(index, count * (size - index - 1) ** 2),
      writes: [
        { hook: 'to', to: left(index), width: 1 },
        { hook: 'product', to: product, width: 1 },
      ],
    }),
  );
  const end = kernel(steps.length, count);
  return [
    ...steps,
    {
      ...end,
      name: 'det-last',
      source: last,
      constants: { ...end.constants, IS_EMPTY: size === 0 },
      writes: storeOutput(),
    },
  ];
}
