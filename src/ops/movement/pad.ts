import { ALL_DTYPES } from '../../core/dtype.ts';
import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { dimsAttribute, floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type IndexMapContext, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits, fillElements } from '../elements.ts';
import { operand, requireFillable, requireLength } from '../operand-checks.ts';

const MODES = ['constant', 'reflect', 'edge', 'wrap'];

/** Elements added before and after each axis; negative numbers take away. */
export const pad: OpDefinition = defineOp({
  name: 'pad',
  kind: 'injective',
  summary:
    'Elements added before and after each axis, constant, reflected without repeating the edge, ' +
    'repeating the edge, or from the other end. Negative numbers take away first.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    pads: { type: 'dims' },
    mode: { type: 'string', default: 'constant', oneOf: MODES },
    value: { type: 'float', default: 0 },
  },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const pads = dimsAttribute(attributes, 'pads');
    requireLength(pads, shape.length * 2, 'pad: attribute pads');
    requireFillable(dtype, floatAttribute(attributes, 'value'), 'pad: attribute value');
    const mode = stringAttribute(attributes, 'mode');
    const padded = shape.map((dim, axis) => {
      const [before, after] = [pads[axis] ?? 0, pads[axis + shape.length] ?? 0];
      const padded = dims.add(dims.add(dim, before), after);
      checkAxis({ dim, padded, before, after, axis }, mode, dims);
      return padded;
    });
    return { dtype, shape: padded };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    fillElements(output, floatAttribute(attributes, 'value'));
    const tables = output.shape.map((dim, axis) => {
      const from = paddedAxis(attributes, x.shape, axis);
      const mode = stringAttribute(attributes, 'mode');
      return Int32Array.from({ length: dim }, (_, i) => sourceIndex(i, from, mode));
    });
    gatherByAxis(elementBits(x), elementBits(output), { from: x.shape, to: output.shape, tables });
  },
  indexMap: { sources: padSources, fill: (attributes) => floatAttribute(attributes, 'value') },
  tolerance: EXACT,
  cases: () => [
    padCase([], []),
    padCase([4], [1, 2]),
    padCase([0], [1, 2]),
    padCase([0, 3], [0, 1, 0, 1]),
    padCase([3, 5], [0, 2, 1, 0], { value: 1.5 }),
    padCase([4, 6], [-1, 2, 1, -2]),
    padCase([1, 2, 5, 5], [0, 0, 1, 2, 0, 0, 3, 4]),
    padCase([4, 5], [3, 2, 1, 4], { mode: 'reflect' }),
    padCase([1, 3, 7, 9], [0, 0, 3, 2, 0, 0, 1, 8], { mode: 'reflect' }),
    padCase([4, 5], [3, 2, 7, 6], { mode: 'edge' }),
    padCase([4, 5], [-1, 2, 7, -1], { mode: 'edge' }),
    padCase([4, 5, 1], [9, 2, 2, 7, 11, 1], { mode: 'reflect' }),
    padCase([3, 8], [7, 0, 2, 0], { mode: 'wrap' }),
    padCase([4, 5], [3, 2, 9, 6], { mode: 'wrap' }),
    padCase([5, 6], [-1, 3, 4, -2], { mode: 'wrap' }),
    padCase([5, 6], [-2, 3, 6, -1], { mode: 'reflect' }),
    padCase([0, 3], [0, 2, 0, 1], { mode: 'wrap' }),
    padCase([2, 1, 2, 1, 2, 1, 2, 3], [0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0]),
    padCase([301, 257], [5, 3, 0, 1]),
    {
      title: 'int32',
      inputs: [{ dtype: 'int32', shape: [3] }],
      attributes: { pads: [1, 1], value: -7 },
    },
    {
      title: 'bool',
      inputs: [{ dtype: 'bool', shape: [3] }],
      attributes: { pads: [1, 1], value: 1 },
    },
  ],
  badCases: () => [
    padCase([2, 3], [1, 1]),
    padCase([3], [-2, -2]),
    padCase([0], [1, 0], { mode: 'reflect' }),
    padCase([0], [1, 0], { mode: 'edge' }),
    padCase([0], [0, 1], { mode: 'wrap' }),
    {
      title: 'an infinite integer',
      inputs: [{ dtype: 'int64', shape: [2] }],
      attributes: { pads: [1, 1], value: Infinity },
    },
    padCase([3], [1, 0], { mode: 'symmetric' }),
  ],
});

interface PaddedAxis<D extends Dim> {
  readonly dim: D;
  readonly padded: D;
  readonly before: Dim;
  readonly after: Dim;
  readonly axis: number;
}

function checkAxis<D extends Dim>(
  { dim, padded, before, after, axis }: PaddedAxis<D>,
  mode: string,
  dims: DimContext<D>,
): void {
  const complaint = (expected: string) => () => ({
    where: 'pad: attribute pads',
    got: `${formatDim(before)} and ${formatDim(after)} for axis ${axis} of size ${formatDim(dim)}`,
    expected,
  });
  const none = dims.of(0);
  dims.requireAtMost(none, padded, complaint('no more elements taken away than there are'));
  if (mode === 'constant') return;
  const added = dims.max(dims.max(none, before), after);
  // What is left after taking away has elements where elements are made of them.
  const left = dims.add(dims.add(dim, dims.min(none, before)), dims.min(none, after));
  dims.requireAtMost(dims.min(added, 1), left, complaint('something to make elements of'));
}

/** The elements of an axis that padding leaves, and where they begin in the result. */
interface KeptPart {
  readonly begin: number;
  readonly size: number;
  readonly shift: number;
}

function paddedAxis(attributes: Attributes, shape: Shape, axis: number): KeptPart {
  const pads = intsAttribute(attributes, 'pads');
  const [before, after] = [pads[axis] ?? 0, pads[axis + shape.length] ?? 0];
  const begin = Math.max(-before, 0);
  return {
    begin,
    size: (shape[axis] ?? 1) - begin - Math.max(-after, 0),
    shift: Math.max(before, 0),
  };
}

/** The source of element `i` of the result, or -1 for one that is filled. */
function sourceIndex(i: number, { begin, size, shift }: KeptPart, mode: string): number {
  const index = i - shift;
  const within = (period: number) => ((index % period) + period) % period;
  if (mode === 'edge') return begin + Math.min(Math.max(index, 0), size - 1);
  if (mode === 'wrap') return begin + within(size);
  if (mode === 'reflect') {
    const period = Math.max(2 * (size - 1), 1);
    return begin + Math.min(within(period), period - within(period));
  }
  return index >= 0 && index < size ? begin + index : -1;
}

interface AxisTables {
  readonly from: Shape;
  readonly to: Shape;
  /** For each axis, the source index of each target index; -1 leaves the element as it is. */
  readonly tables: readonly Int32Array[];
}

function gatherByAxis(from: Uint32Array, to: Uint32Array, axes: AxisTables): void {
  const { tables } = axes;
  const rank = tables.length;
  const fromStrides = rowMajorStrides(axes.from);
  const toStrides = rowMajorStrides(axes.to);
  const last = tables[rank - 1] ?? Int32Array.of(0);
  const rows = last.length === 0 ? 0 : elementCount(axes.to) / last.length;
  for (let row = 0; row < rows; row++) {
    let rest = row * last.length;
    let base = 0;
    for (let axis = 0; axis < rank - 1 && base >= 0; axis++) {
      const coord = Math.floor(rest / (toStrides[axis] ?? 1));
      rest -= coord * (toStrides[axis] ?? 1);
      const index = tables[axis]?.[coord] ?? -1;
      base = index < 0 ? -1 : base + index * (fromStrides[axis] ?? 0);
    }
    if (base < 0) continue;
    for (let i = 0; i < last.length; i++) {
      const index = last[i] ?? -1;
      if (index >= 0) to[row * last.length + i] = from[base + index] ?? 0;
    }
  }
}

function padSources({ attributes, inputs, coords, param }: IndexMapContext) {
  const shape = inputs[0]?.shape ?? [];
  const mode = stringAttribute(attributes, 'mode');
  const conditions: string[] = [];
  const from = shape.map((dim, axis) => {
    const coord = coords[axis] ?? '0u';
    const { begin, size, shift } = paddedAxis(attributes, shape, axis);
    if (mode === 'constant') {
      // Unsigned: an index before the first element wraps to one beyond the last.
      const index = `(${coord} - ${param((shift - begin) >>> 0, 'u32')})`;
      conditions.push(`(${index} < ${param(dim, 'u32')})`);
      return index;
    }
    return `u32(${param(begin, 'i32')} + ${keptIndex(coord, mode, { size, shift, param })})`;
  });
  if (conditions.length === 0) return [{ input: 0, coords: from }];
  // Not &&, whose branches compilers of software adapters take minutes for at rank 8.
  return [{ input: 0, coords: from, when: conditions.join(' & ') }];
}

interface KeptAxis {
  readonly size: number;
  readonly shift: number;
  readonly param: IndexMapContext['param'];
}

/** An i32 from 0 to size - 1: where `coord - shift` is read. */
function keptIndex(coord: string, mode: string, { size, shift, param }: KeptAxis): string {
  const last = param(size - 1, 'i32');
  if (mode === 'edge') return `clamp(i32(${coord}) - ${param(shift, 'i32')}, 0i, ${last})`;
  const period = mode === 'wrap' ? size : Math.max(2 * (size - 1), 1);
  // Unsigned, and so a fourth of the instructions: the same but for whole periods.
  const ahead = param((period - (shift % period)) % period, 'u32');
  const within = `i32((${coord} + ${ahead}) % ${param(period, 'u32')})`;
  return mode === 'wrap' ? within : `(${last} - abs(${within} - ${last}))`;
}

function padCase(
  shape: Shape,
  pads: readonly number[],
  more: { readonly mode?: string; readonly value?: number } = {},
): OpCase {
  const mode = more.mode === undefined ? '' : ` ${more.mode}`;
  return {
    title: `(${shape.join(', ')}) by [${pads.join(', ')}]${mode}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { pads, ...more },
  };
}
