import { ALL_DTYPES, type DType } from '../../core/dtype.ts';
import { elementCount, normalizeAxis, type Shape } from '../../core/shape.ts';
import { dimsAttribute, intAttribute, intsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import { operand } from '../operand-checks.ts';

const NAME = 'frames';

/** Overlapping pieces of a signal. */
export const frames: OpDefinition = defineOp({
  name: NAME,
  kind: 'injective',
  summary:
    'Pieces of size elements, every step elements of an axis: the axis becomes two, the pieces and ' +
    'what is in them. What is left at the end is dropped.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    axis: { type: 'int' },
    size: { type: 'dims', length: 1, minimum: 0 },
    step: { type: 'dims', length: 1, minimum: 1 },
  },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const axis = axisOf(attributes, shape.length);
    const length = shape[axis] ?? dims.of(0);
    const [size = 0] = dimsAttribute(attributes, 'size');
    const [step = 1] = dimsAttribute(attributes, 'step');
    dims.requireAtMost(dims.of(1), step, () => ({
      where: `${NAME}: attribute step`,
      got: 'step 0',
      expected: '1 or more',
    }));
    // One step further than the last piece; none where the signal is shorter than one.
    const reach = dims.max(dims.add(dims.sub(length, size), step), 0);
    const count = dims.floordiv(reach, step);
    return {
      dtype,
      shape: [...shape.slice(0, axis), count, dims.of(size), ...shape.slice(axis + 1)],
    };
  },
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    const axis = axisOf(attributes, x.shape.length);
    const [step = 1] = intsAttribute(attributes, 'step');
    const [from, to] = [elementBits(x), elementBits(output)];
    const [count = 0, size = 0, ...rest] = output.shape.slice(axis);
    const inner = elementCount(rest);
    const length = x.shape[axis] ?? 0;
    for (let i = 0; i < to.length; i++) {
      const line = Math.floor(i / inner);
      const piece = Math.floor(line / size);
      const place = (piece % count) * step + (line % size);
      to[i] = from[(Math.floor(piece / count) * length + place) * inner + (i % inner)] ?? 0;
    }
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const axis = axisOf(attributes, inputs[0]?.shape.length ?? 1);
      const step = param(intsAttribute(attributes, 'step')[0] ?? 1, 'u32');
      const place = `(${coords[axis]} * ${step} + ${coords[axis + 1]})`;
      return [{ input: 0, coords: [...coords.slice(0, axis), place, ...coords.slice(axis + 2)] }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    framesCase([7], { axis: 0, size: [3], step: [2] }),
    framesCase([2, 9, 2], { axis: -2, size: [4], step: [3] }),
    framesCase([3, 5], { axis: 1, size: [5], step: [7] }),
    framesCase([3, 2], { axis: 1, size: [4], step: [1] }),
    framesCase([0, 4], { axis: 1, size: [2], step: [1] }),
    framesCase([2, 700], { axis: 1, size: [64], step: [16] }),
    framesCase([4, 3], { axis: 0, size: [2], step: [1] }, 'bool'),
  ],
  badCases: () => [
    framesCase([4], { axis: 1, size: [2], step: [1] }),
    framesCase([4], { axis: 0, size: [2], step: [0] }),
  ],
});

function framesCase(
  shape: Shape,
  attributes: NonNullable<OpCase['attributes']>,
  dtype: DType = 'float32',
): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [{ dtype, shape }],
    attributes,
  };
}

function axisOf(attributes: Parameters<typeof intAttribute>[0], rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, `${NAME}: attribute axis`);
}
