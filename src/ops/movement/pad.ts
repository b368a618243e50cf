import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { dimsAttribute, floatAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type IndexMapContext } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import {
  abs,
  add,
  all,
  clamp,
  constant,
  less,
  rem,
  sub,
  toSigned,
  toUnsigned,
  ZERO,
} from '../index-expression/build.ts';
import type { IndexExpression } from '../index-expression/expression.ts';
import { operand, requireFillable, requireLength } from '../operand-checks.ts';

const MODES = ['constant', 'reflect', 'edge', 'wrap'];

/** Elements added before and after each axis; negative numbers take away. */
export const pad = defineOp({
  name: 'pad',
  kind: 'injective',
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
  indexMap: { sources: padSources, fill: (attributes) => floatAttribute(attributes, 'value') },
  tolerance: EXACT,
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
  dims.requireAtMost(none, padded, complaint('at most as many elements removed as there are'));
  if (mode === 'constant') return;
  const added = dims.max(dims.max(none, before), after);
  // The rest after taking away has elements where elements are made of them.
  const left = dims.add(dims.add(dim, dims.min(none, before)), dims.min(none, after));
  dims.requireAtMost(dims.min(added, 1), left, complaint('elements to pad with'));
}

/** The elements of an axis that padding leaves, and where they begin in the result. */
export interface KeptPart {
  readonly begin: number;
  readonly size: number;
  readonly shift: number;
}

export function paddedAxis(attributes: Attributes, shape: Shape, axis: number): KeptPart {
  const pads = intsAttribute(attributes, 'pads');
  const [before, after] = [pads[axis] ?? 0, pads[axis + shape.length] ?? 0];
  const begin = Math.max(-before, 0);
  return {
    begin,
    size: (shape[axis] ?? 1) - begin - Math.max(-after, 0),
    shift: Math.max(before, 0),
  };
}

function padSources({ attributes, inputs, coords, param }: IndexMapContext) {
  const shape = inputs[0]?.shape ?? [];
  const mode = stringAttribute(attributes, 'mode');
  const conditions: IndexExpression<'bool'>[] = [];
  const from = shape.map((dim, axis) => {
    const coord = coords[axis] ?? ZERO;
    const { begin, size, shift } = paddedAxis(attributes, shape, axis);
    if (mode === 'constant') {
      // Unsigned: an index before the first element wraps to one beyond the last.
      const index = sub(coord, param((shift - begin) >>> 0, 'u32'));
      conditions.push(less(index, param(dim, 'u32')));
      return index;
    }
    return toUnsigned(add(param(begin, 'i32'), keptIndex(coord, mode, { size, shift, param })));
  });
  return [{ input: 0, coords: from, when: all(conditions) }];
}

interface KeptAxis {
  readonly size: number;
  readonly shift: number;
  readonly param: IndexMapContext['param'];
}

/** From 0 to size - 1: where `coord - shift` is read. */
function keptIndex(
  coord: IndexExpression<'u32'>,
  mode: string,
  { size, shift, param }: KeptAxis,
): IndexExpression<'i32'> {
  const last = param(size - 1, 'i32');
  if (mode === 'edge') {
    return clamp(sub(toSigned(coord), param(shift, 'i32')), constant(0, 'i32'), last);
  }
  const period = mode === 'wrap' ? size : Math.max(2 * (size - 1), 1);
  // Unsigned, and so a fourth of the instructions: the same but for whole periods.
  const ahead = param((period - (shift % period)) % period, 'u32');
  const within = toSigned(rem(add(coord, ahead), param(period, 'u32')));
  return mode === 'wrap' ? within : sub(last, abs(sub(within, last)));
}
