import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { type LoweringCall, type Operands, u32 } from '../lowering.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { tupleLength, tuplePlaces } from './gather-nd.ts';
import { hostIntegers, INDEX_DTYPES } from './integer-index.ts';
import { lowerScatter, type ScatterPlaces } from './scatter-lowering.ts';
import { REDUCTION_ATTRIBUTE, requireReducible, scatterOnHost } from './scatter-reduction.ts';

/** Slices of x replaced, or combined with updates, at tuples of indices. */
export const scatterNd: OpDefinition = defineOp({
  name: 'scatter_nd',
  kind: 'anchor',
  summary:
    'x with a slice put at each tuple along the last axis of the indices: of several for one place ' +
    'the last, or all combined in their order. Negative indices count from the end; updates ' +
    'outside are dropped.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'indices', dtypes: INDEX_DTYPES },
    { name: 'updates', dtypes: ALL_DTYPES },
  ],
  attributes: { reduction: REDUCTION_ATTRIBUTE },
  infer(inputs, attributes, dims) {
    const [x, indices, updates] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const dtype = commonDType([x, updates], 'scatter_nd');
    requireReducible(dtype, stringAttribute(attributes, 'reduction'), 'scatter_nd');
    const length = tupleLength(indices, (dim) => dims.known(dim), 'scatter_nd');
    const expected = [...indices.shape.slice(0, -1), ...x.shape.slice(length)];
    const complaint = () => ({
      where: 'scatter_nd',
      got: `${formatType(updates)} at ${formatType(indices)} for ${formatType(x)}`,
      expected: 'a slice of x for each tuple of indices',
    });
    if (length > x.shape.length || expected.length !== updates.shape.length) {
      throw new ShapeError(complaint());
    }
    for (const [i, dim] of updates.shape.entries()) {
      dims.requireEqual(dim, expected[i] ?? dim, complaint);
    }
    return { dtype, shape: x.shape };
  },
  reference: scatterNdOnHost,
  lower: (call) => lowerScatter(call, tuplesToRows(call)),
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  cases: () => [
    ndCase([8], [4, 1], [4, 3, 1, 7]),
    ndCase([4, 4, 4], [2, 1], [0, 2], { indexType: 'int64' }),
    ndCase([4, 4], [3, 1], [0, 0, -2], { reduction: 'add' }),
    ndCase([4, 4], [3, 1], [0, 0, -2], { reduction: 'mul', indexType: 'int64' }),
    ndCase([4, 3], [5, 2], [0, 0, 0, 0, 3, -1, 4, 0, 1, 2 ** 31 - 1], { reduction: 'max' }),
    ndCase([4, 3], [2, 2, 2], [0, 0, 0, 0, 3, -1, 1, 1], { reduction: 'min' }),
    ndCase([3, 2], [2, 0], [], { reduction: 'add' }),
    ndCase([3, 2], [2, 0], []),
    ndCase([3, 2], [0, 1], []),
    ndCase([0, 2], [0, 1], []),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'int64', reduction: 'add', indexType: 'int64' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'int32', reduction: 'min' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'uint32' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'bool' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'uint8', reduction: 'add' }),
    ndCase([2, 1, 2, 1, 2, 1, 2, 3], [2, 3], [1, 0, 1, 0, 0, 1]),
    ndCase(
      [301, 65],
      [40, 1],
      Array.from({ length: 40 }, (_, i) => (i * 97) % 301),
    ),
  ],
  badCases: () => [
    ndCase([4], [2, 2], [0, 0, 0, 0]),
    {
      title: 'updates of another shape',
      inputs: [
        { dtype: 'float32', shape: [4, 4] },
        { dtype: 'int32', shape: [2, 1] },
        { dtype: 'float32', shape: [2, 3] },
      ],
    },
    ndCase([4], [2, 1], [0, 0], { dtype: 'bool', reduction: 'max' }),
  ],
});

interface Tuples {
  readonly sizes: Shape;
  readonly count: number;
  readonly run: number;
}

function tuplesOf(shape: Shape, indices: Shape): Tuples {
  const length = indices.at(-1) ?? 0;
  return {
    sizes: shape.slice(0, length),
    count: elementCount(indices.slice(0, -1)),
    run: elementCount(shape.slice(length)),
  };
}

function tuplesToRows(call: LoweringCall): ScatterPlaces {
  const { sizes, count, run } = tuplesOf(call.output.shape, operand(call.inputs, 1).shape);
  const strides = rowMajorStrides(sizes);
  const lines = sizes.map(
    (_, k) => `  let place${k} = place_at(update * ${sizes.length}u + ${k}u, params.size${k});
  if (place${k} >= params.size${k}) {
    return OUTSIDE;
  }
  row += place${k} * params.stride${k};
`,
  );
  const params = sizes.flatMap((size, k) => [
    [`size${k}`, u32(size)] as const,
    [`stride${k}`, u32(strides[k] ?? 1)] as const,
  ]);
  const source = `fn row_of(update: u32) -> u32 {\n  var row = 0u;\n${lines.join('')}  return row;\n}\n`;
  return { run, updateRows: count, source, params: Object.fromEntries(params) };
}

function scatterNdOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const indices = operand(inputs, 1);
  const { sizes, count, run } = tuplesOf(output.shape, indices.shape);
  const rows = tuplePlaces(hostIntegers(indices), sizes, count);
  const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
  const reduction = stringAttribute(attributes, 'reduction');
  scatterOnHost({ x, updates, reduction, run, rows }, output);
}

interface NdCaseOptions {
  readonly reduction?: string;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function ndCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: NdCaseOptions[]
): OpCase {
  const { reduction = 'none', dtype = 'float32', indexType = 'int32' } = options;
  const at = values.length > 16 ? `${values.length} indices` : `[${values.join(', ')}]`;
  const updates = [...indexShape.slice(0, -1), ...shape.slice(indexShape.at(-1) ?? 0)];
  return {
    title: `${reduction} ${dtype} (${shape.join(', ')}) at ${indexType} (${indexShape.join(', ')}) ${at}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
      { dtype, shape: updates },
    ],
    attributes: { reduction },
  };
}
