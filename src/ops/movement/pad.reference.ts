import { elementCount, rowMajorStrides, type Shape } from '../../core/shape.ts';
import { floatAttribute, stringAttribute } from '../attributes.ts';
import { elementBits, fillElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import { type KeptPart, paddedAxis } from './pad.ts';
import type { StaticReference } from '../op-reference.ts';

export const padReference: StaticReference = {
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
};

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
