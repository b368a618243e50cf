import { ALL_DTYPES } from '../../core/dtype.ts';
import type { DimContext } from '../../core/dim-context.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type IndexMapContext, type OpCase, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits, fillElements } from '../elements.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** Elements added before and after each axis; negative numbers take away. */
export const pad: OpDefinition = defineOp({
  name: 'pad',
  kind: 'injective',
  summary:
    'Elements added before and after each axis (negative: taken away), constant, reflected ' +
    'without repeating the edge, or repeating the edge.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    pads: { type: 'ints' },
    mode: { type: 'string', default: 'constant', oneOf: ['constant', 'reflect', 'edge'] },
    value: { type: 'float', default: 0 },
  },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const pads = intsAttribute(attributes, 'pads');
    requireLength(pads, shape.length * 2, 'pad: attribute pads');
    const padded = shape.map((dim, axis) => {
      const before = pads[axis] ?? 0;
      const after = pads[axis + shape.length] ?? 0;
      const padded = dims.add(dim, before + after);
      checkAxis({ dim, padded, before, after, axis }, stringAttribute(attributes, 'mode'), dims);
      return padded;
    });
    return { dtype, shape: padded };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    fillElements(output, floatAttribute(attributes, 'value'));
    const tables = output.shape.map((dim, axis) => {
      const begin = intsAttribute(attributes, 'pads')[axis] ?? 0;
      const size = x.shape[axis] ?? 1;
      const mode = stringAttribute(attributes, 'mode');
      return Int32Array.from({ length: dim }, (_, i) => sourceIndex(i - begin, size, mode));
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
    padCase([3], [3, 0], { mode: 'reflect' }),
    padCase([0], [1, 0], { mode: 'edge' }),
    padCase([3], [1, 0], { mode: 'wrap' }),
  ],
});

interface PaddedAxis<D extends Dim> {
  readonly dim: D;
  readonly padded: D;
  readonly before: number;
  readonly after: number;
  readonly axis: number;
}

function checkAxis<D extends Dim>(
  { dim, padded, before, after, axis }: PaddedAxis<D>,
  mode: string,
  dims: DimContext<D>,
): void {
  const complaint = (expected: string) => () => ({
    where: 'pad: attribute pads',
    got: `${before} and ${after} for axis ${axis} of size ${formatDim(dim)}`,
    expected,
  });
  const least = dims.of(0);
  dims.requireAtMost(least, padded, complaint('no more elements taken away than there are'));
  const largest = dims.of(Math.max(before, after));
  if (mode === 'reflect') {
    const room = dims.max(dims.sub(dim, 1), 0);
    dims.requireAtMost(largest, room, complaint('less than the size, to reflect'));
  }
  if (mode === 'edge' && (before > 0 || after > 0)) {
    dims.requireAtMost(dims.of(1), dim, complaint('an edge to repeat'));
  }
}

/** The index within `size` elements, or -1 for one that is filled. */
function sourceIndex(index: number, size: number, mode: string): number {
  if (mode === 'edge') return Math.min(Math.max(index, 0), size - 1);
  if (mode === 'reflect') return size - 1 - Math.abs(size - 1 - Math.abs(index));
  return index >= 0 && index < size ? index : -1;
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
  const pads = intsAttribute(attributes, 'pads');
  const mode = stringAttribute(attributes, 'mode');
  const conditions: string[] = [];
  const from = shape.map((dim, axis) => {
    const coord = coords[axis] ?? '0u';
    const begin = pads[axis] ?? 0;
    if (mode === 'constant') {
      // Unsigned: an index before the first element wraps to one beyond the last.
      const index = `(${coord} - ${param(begin >>> 0, 'u32')})`;
      conditions.push(`${index} < ${param(dim, 'u32')}`);
      return index;
    }
    const index = `(i32(${coord}) - ${param(begin, 'i32')})`;
    const last = param(dim - 1, 'i32');
    return mode === 'edge'
      ? `u32(clamp(${index}, 0i, ${last}))`
      : `u32(${last} - abs(${last} - abs(${index})))`;
  });
  if (conditions.length === 0) return [{ input: 0, coords: from }];
  return [{ input: 0, coords: from, when: conditions.join(' && ') }];
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
