import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { CONCRETE_DIMS, type DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, MAX_DIMENSION } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute, intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { add, mul, ZERO } from '../index-expression/build.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** Every step-th element from start up to end, per axis, with ONNX's rules for clamping. */
export const slice = defineOp({
  name: 'slice',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    starts: { type: 'dims' },
    ends: { type: 'dims' },
    steps: { type: 'ints', default: [] },
  },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    return { dtype, shape: sliceAxes(shape, attributes, dims).map((axis) => axis.count) };
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const axes = sliceAxes(inputs[0]?.shape ?? [], attributes, CONCRETE_DIMS);
      // u32 arithmetic wraps, so that a negative step works as its two's complement.
      const from = axes.map(({ start, step }, axis) => {
        const coord = coords[axis] ?? ZERO;
        if (start === 0 && step === 1) return coord;
        const stepped = step === 1 ? coord : mul(coord, param(step >>> 0, 'u32'));
        return add(param(start >>> 0, 'u32'), stepped);
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});

interface SliceAxis<D extends Dim> {
  readonly start: D;
  readonly step: number;
  readonly count: D;
}

export function sliceAxes<D extends Dim>(
  shape: readonly D[],
  attributes: Attributes,
  dims: DimContext<D>,
): SliceAxis<D>[] {
  const starts = dimsAttribute(attributes, 'starts');
  const ends = dimsAttribute(attributes, 'ends');
  const given = intsAttribute(attributes, 'steps');
  const steps = given.length === 0 ? shape.map(() => 1) : given;
  for (const [name, list] of Object.entries({ starts, ends, steps })) {
    requireLength(list, shape.length, `slice: attribute ${name}`);
  }
  return shape.map((dim, axis) => {
    const step = steps[axis] ?? 1;
    if (step === 0) {
      throw new ShapeError({
        where: 'slice: attribute steps',
        got: `0 for axis ${axis}`,
        expected: 'a step that is not 0',
      });
    }
    const fixed = step === 1 ? dims.fixedSpan(starts[axis], ends[axis], dim) : undefined;
    if (fixed !== undefined) return { start: dims.of(starts[axis] ?? 0), step, count: fixed };
    const last = dims.sub(dim, 1);
    const none = dims.of(0);
    // Going backwards, an end of -1 after clamping means: including element 0.
    const startRange: readonly [D, D] = step > 0 ? [none, dim] : [none, last];
    const endRange: readonly [D, D] = step > 0 ? [none, dim] : [dims.of(-1), last];
    const start = position(starts[axis] ?? 0, { dim, range: startRange, dims });
    const end = position(ends[axis] ?? dim, { dim, range: endRange, dims });
    const span = step > 0 ? dims.sub(end, start) : dims.sub(start, end);
    const rounded = dims.floordiv(dims.add(span, Math.abs(step) - 1), Math.abs(step));
    return { start, step, count: dims.max(rounded, 0) };
  });
}

interface PositionOptions<D extends Dim> {
  readonly dim: D;
  readonly range: readonly [D, D];
  readonly dims: DimContext<D>;
}

/** A negative index counts from the end. A symbolic one is taken not to be negative. */
function position<D extends Dim>(
  index: Dim,
  { dim, range: [low, high], dims }: PositionOptions<D>,
): D {
  // No axis is longer, though a sum of symbols could be.
  const isBeyond = typeof index === 'number' && Math.abs(index) >= MAX_DIMENSION;
  if (isBeyond && dims.known(dim) === undefined) return index < 0 ? low : high;
  const isFromEnd = typeof index === 'number' && index < 0;
  const begin = isFromEnd ? dims.add(dim, index) : dims.of(index);
  return dims.min(dims.max(begin, low), high);
}
