import blocks from '../../../shaders/row-norm-blocks.wgsl?raw';
import direct from '../../../shaders/row-norm-direct.wgsl?raw';
import source from '../../../shaders/row-norm.wgsl?raw';
import { elementCount, type Shape } from '../../core/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { floatElements } from '../elements.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { readInputs, storeOutput } from '../element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { operand, requireMinimumRank } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { laneTree } from '../reduction/lane-tree.ts';
import { chooseRows, isInBlocks, rowAccess } from './row-access.ts';

interface RowNormSpec {
  readonly name: string;
  /** Whether the mean is taken off first. */
  readonly isCentered: boolean;
  readonly summary: string;
}

function defineRowNorm({ name, isCentered, summary }: RowNormSpec): OpDefinition {
  return defineOp({
    name,
    kind: 'reduction',
    summary,
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: { epsilon: { type: 'float', default: 1e-5 } },
    infer(inputs) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 1, name);
      return { dtype: x.dtype, shape: x.shape };
    },
    reference(inputs, attributes, output) {
      const x = floatElements(operand(inputs, 0));
      const y = floatElements(output);
      const size = output.shape.at(-1) ?? 1;
      const epsilon = floatAttribute(attributes, 'epsilon');
      for (let start = 0; start < x.length; start += size) {
        const row = Array.from(x.subarray(start, start + size));
        // Less the first, so that equal elements are 0 whatever their sum rounds to.
        const shift = isCentered ? (row[0] ?? 0) : 0;
        const shifted = row.map((value) => value - shift);
        const mean = isCentered ? shifted.reduce((sum, value) => sum + value, 0) / size : 0;
        const squares = shifted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
        const deviation = Math.sqrt(squares / size + epsilon);
        for (let k = 0; k < size; k++) y[start + k] = ((shifted[k] ?? 0) - mean) / deviation;
      }
    },
    loads: () => 2,
    lower: (call) => lowerRowNorm(call, isCentered),
    tolerance: { rtol: 1e-4, atol: 1e-5 },
    cases: () => [
      rowNormCase([8]),
      rowNormCase([1, 1]),
      rowNormCase([3, 5], 0.5),
      rowNormCase([2, 7, 32], 1e-12),
      rowNormCase([0, 4]),
      rowNormCase([3, 0]),
      rowNormCase([70, 129]),
      rowNormCase([3, 4099]),
      rowNormCase([17, 63]),
      rowNormCase([5, 64]),
      rowNormCase([2, 1028]),
      {
        title: 'elements far from zero',
        inputs: [{ dtype: 'float32', shape: [3, 100], range: [100, 108] }],
      },
      ...[3, 4, 63, 64, 1028, 4099].map((size) => ({
        title: `rows of ${size} equal elements`,
        inputs: [
          {
            dtype: 'float32' as const,
            shape: [2, size],
            values: Array.from({ length: 2 * size }, (_, i) => (i < size ? 0.1 : 1234.567)),
          },
        ],
        attributes: { epsilon: 1e-12 },
      })),
    ],
    badCases: () => [
      rowNormCase([]),
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [3] }] },
    ],
  });
}

/** Rows without their mean, in units of their deviation; scale and shift are operators behind it. */
const layerNorm = defineRowNorm({
  name: 'layer_norm',
  isCentered: true,
  summary:
    '(x - mean) / sqrt(variance + epsilon), both along the last axis; the variance is the mean of ' +
    'squares.',
});

const rmsNorm = defineRowNorm({
  name: 'rms_norm',
  isCentered: false,
  summary: 'x / sqrt(mean of squares + epsilon) along the last axis.',
});

export const ROW_NORM_OPS: readonly OpDefinition[] = [layerNorm, rmsNorm];

function rowNormCase(shape: Shape, ...[epsilon]: number[]): OpCase {
  const of = epsilon === undefined ? '' : `, epsilon ${epsilon}`;
  return {
    title: `(${shape.join(', ')})${of}`,
    inputs: [{ dtype: 'float32', shape, range: [-3, 5] }],
    attributes: epsilon === undefined ? {} : { epsilon },
  };
}

function lowerRowNorm(
  { output, attributes, caps }: LoweringCall,
  isCentered: boolean,
): readonly KernelSpec[] {
  const size = output.shape.at(-1) ?? 1;
  const count = size === 0 ? 0 : elementCount(output.shape) / size;
  const epsilon = f32(floatAttribute(attributes, 'epsilon'));
  const rows = { count, size, inner: 1 };
  const { lanes, groupSize } = chooseRows(rows, caps);
  if (lanes === 1) {
    const access = rowAccess(rows, caps, groupSize);
    return [
      {
        ...access,
        ...(isInBlocks(rows, caps)
          ? { name: 'row-norm-blocks', source: blocks }
          : { name: 'row-norm-direct', source: access.source + direct }),
        constants: { ...access.constants, IS_CENTERED: isCentered },
        params: { ...access.params, epsilon },
      },
    ];
  }
  const tree = laneTree(lanes, caps);
  const grid = foldGroups(Math.ceil((count * lanes) / groupSize), caps);
  return [
    {
      name: 'row-norm',
      source: tree.source + source,
      enables: tree.enables,
      constants: { ...tree.constants, IS_CENTERED: isCentered },
      params: { count: u32(count), row_length: u32(grid.rowLength), size: u32(size), epsilon },
      workgroupSize: [groupSize, 1, 1],
      workgroups: grid.workgroups,
      reads: readInputs('x'),
      writes: storeOutput(),
    },
  ];
}
