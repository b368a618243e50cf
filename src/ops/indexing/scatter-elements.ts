import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, normalizeAxis, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { intAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { type LoweringCall, type Operands, u32 } from '../lowering.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { hostIntegers, hostPlace, INDEX_DTYPES } from './integer-index.ts';
import { lowerScatter, type ScatterPlaces } from './scatter-lowering.ts';
import { REDUCTION_ATTRIBUTE, requireReducible, scatterOnHost } from './scatter-reduction.ts';

/** Elements of x replaced, or combined with updates, at places along one axis. */
export const scatterElements: OpDefinition = defineOp({
  name: 'scatter_elements',
  kind: 'anchor',
  summary:
    'x with each update put at its own coordinates, with an index in place of the axis: of several ' +
    'for one place the last, or all combined in their order. Negative indices count from the end; ' +
    'updates outside are dropped.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'indices', dtypes: INDEX_DTYPES },
    { name: 'updates', dtypes: ALL_DTYPES },
  ],
  attributes: { axis: { type: 'int', default: 0 }, reduction: REDUCTION_ATTRIBUTE },
  infer(inputs, attributes, dims) {
    const [x, indices, updates] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const dtype = commonDType([x, updates], 'scatter_elements');
    requireReducible(dtype, stringAttribute(attributes, 'reduction'), 'scatter_elements');
    const axis = axisOf(attributes, x.shape.length);
    const complaint = () => ({
      where: 'scatter_elements',
      got: `${formatType(updates)} at ${formatType(indices)} for ${formatType(x)}`,
      expected: `updates like indices, and no larger than x but along axis ${axis}`,
    });
    const rank = x.shape.length;
    if (indices.shape.length !== rank || updates.shape.length !== rank) {
      throw new ShapeError(complaint());
    }
    for (const [i, dim] of indices.shape.entries()) {
      dims.requireEqual(dim, updates.shape[i] ?? dim, complaint);
      if (i !== axis) dims.requireAtMost(dim, x.shape[i] ?? dim, complaint);
    }
    return { dtype, shape: x.shape };
  },
  reference: scatterElementsOnHost,
  lower: (call) => lowerScatter(call, elementPlaces(call)),
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  cases: () => [
    scatterCase([3, 3], [2, 3], [1, 0, 2, 0, 2, 1]),
    scatterCase([1, 5], [1, 2], [1, 3], { axis: 1 }),
    scatterCase([1, 5], [1, 3], [1, -3, 1], { axis: 1, reduction: 'none', indexType: 'int64' }),
    scatterCase([1, 5], [1, 4], [1, 1, -4, 1], { axis: -1, reduction: 'add' }),
    scatterCase([4], [6], [3, 3, 0, -1, 9, -9], { reduction: 'mul' }),
    scatterCase([4, 2], [3, 2], [0, 1, 0, 1, 0, 3], { reduction: 'max' }),
    scatterCase([4, 2], [3, 1], [0, 0, 3], { reduction: 'min' }),
    scatterCase([4], [3], [3, 3, -4], { reduction: 'add', dtype: 'int32' }),
    scatterCase([4], [3], [3, 3, -4], { reduction: 'max', dtype: 'uint32' }),
    scatterCase([4], [4], [3, 3, 2, 2], { reduction: 'mul', dtype: 'int64' }),
    scatterCase([4], [4], [3, 3, 2, 2 ** 33], { dtype: 'int64', indexType: 'int64' }),
    scatterCase([4], [4], [3, 3, 2, 2], { dtype: 'bool' }),
    scatterCase([5], [4], [3, 3, 2, 2], { reduction: 'add', dtype: 'float16' }),
    scatterCase([5], [4], [3, 3, 2, 2], { reduction: 'min', dtype: 'int8' }),
    scatterCase([1, 2, 1, 2, 1, 2, 1, 3], [1, 1, 1, 2, 1, 1, 1, 2], [2, 0, 1, 1], { axis: 7 }),
    scatterCase([3, 4], [0, 4], []),
    scatterCase([0, 4], [0, 4], []),
    scatterCase([7, 130], [300, 130], manyIndices(39_000, 7), { reduction: 'add' }),
    scatterCase([5], [777], manyIndices(777, 5)),
  ],
  badCases: () => [
    scatterCase([3], [2, 1], [0, 0]),
    scatterCase([3, 1], [2, 2], [0, 0, 0, 0]),
    scatterCase([3], [2], [0, 0], { axis: 1 }),
    scatterCase([3], [2], [0, 0], { dtype: 'bool', reduction: 'add' }),
  ],
});

function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'scatter_elements: attribute axis');
}

function elementPlaces(call: LoweringCall): ScatterPlaces {
  const { shape } = operand(call.inputs, 1);
  const strides = rowMajorStrides(call.output.shape);
  const axis = axisOf(call.attributes, shape.length);
  const lines = shape.map((_, i) => {
    const stride = i === axis ? '' : `  row += rest % params.size${i} * params.stride${i};\n`;
    return `${stride}  rest /= params.size${i};\n`;
  });
  const source = `fn row_of(update: u32) -> u32 {
  let place = place_at(update, params.axis_size);
  if (place >= params.axis_size) {
    return OUTSIDE;
  }
  var row = place * params.axis_stride;
  var rest = update;
${lines.reverse().join('')}  return row;
}
`;
  const sizes = shape.flatMap((size, i) => [
    [`size${i}`, u32(size)] as const,
    [`stride${i}`, u32(strides[i] ?? 1)] as const,
  ]);
  return {
    run: 1,
    updateRows: elementCount(shape),
    source,
    params: {
      axis_size: u32(call.output.shape[axis] ?? 1),
      axis_stride: u32(strides[axis] ?? 1),
      ...Object.fromEntries(sizes),
    },
  };
}

function scatterElementsOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const indices = operand(inputs, 1);
  const { shape } = indices;
  const axis = axisOf(attributes, shape.length);
  const strides = rowMajorStrides(output.shape);
  const own = rowMajorStrides(shape);
  const rows = hostIntegers(indices).map((index, i) => {
    const place = hostPlace(index, output.shape[axis] ?? 0);
    if (place < 0) return -1;
    let row = place * (strides[axis] ?? 0);
    for (const [a, size] of shape.entries()) {
      if (a !== axis) row += (Math.floor(i / (own[a] ?? 1)) % size) * (strides[a] ?? 0);
    }
    return row;
  });
  const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
  const reduction = stringAttribute(attributes, 'reduction');
  scatterOnHost({ x, updates, reduction, run: 1, rows }, output);
}

/** Indices that go around an axis in big steps, so that every place has many. */
function manyIndices(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7919) % size);
}

interface ScatterCaseOptions {
  readonly axis?: number;
  readonly reduction?: string;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function scatterCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: ScatterCaseOptions[]
): OpCase {
  const { axis = 0, reduction = 'none', dtype = 'float32', indexType = 'int32' } = options;
  const at = values.length > 16 ? `${values.length} places` : `[${values.join(', ')}]`;
  return {
    title: `${reduction} ${dtype} (${indexShape.join(', ')}) into (${shape.join(', ')}) at ${indexType} ${at} of axis ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
      { dtype, shape: indexShape },
    ],
    attributes: { axis, reduction },
  };
}
