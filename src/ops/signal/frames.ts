import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { axisAttribute, dimsAttribute, intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { add, mul, ZERO } from '../index-expression/build.ts';
import { operand } from '../operand-checks.ts';

const NAME = 'frames';

export const axisOf = /* @__PURE__ */ axisAttribute(NAME);

/** Overlapping pieces of a signal. */
export const frames = defineOp({
  name: NAME,
  kind: 'injective',
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
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const axis = axisOf(attributes, inputs[0]?.shape.length ?? 1);
      const step = param(intsAttribute(attributes, 'step')[0] ?? 1, 'u32');
      const place = add(mul(coords[axis] ?? ZERO, step), coords[axis + 1] ?? ZERO);
      return [{ input: 0, coords: coords.toSpliced(axis, 2, place) }];
    },
  },
  tolerance: EXACT,
});
