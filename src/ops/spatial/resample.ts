import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { axisAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { operand, requireRank } from '../operand-checks.ts';

const NAME = 'resample';

const axisOf = /* @__PURE__ */ axisAttribute(NAME);

/** Interpolation along one axis: those of several axes are done one after the other. */
export const resample = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [tensor('x', FLOATS), tensor('table', ['float32'])],
  attributes: { axis: { type: 'int' } },
  infer(inputs, attributes, dims) {
    const [x, table] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(table, 2, `${NAME}: input table`);
    const [size = dims.of(0), width = dims.of(0)] = table.shape;
    const axis = axisOf(attributes, x.shape.length);
    dims.requireAtMost(dims.of(2), width, () => ({
      where: `${NAME}: input table`,
      got: 'rows without weights',
      expected: 'an index and one weight or more',
    }));
    return { dtype: x.dtype, shape: x.shape.with(axis, size) };
  },
  lower: 'core',
  tolerance: { rtol: 1e-5, atol: 1e-5 },
});

interface AxisLayout {
  readonly size: number;
  readonly inner: number;
}

export function layoutOf(shape: Shape, attributes: Attributes): AxisLayout {
  const axis = axisOf(attributes, shape.length);
  return { size: shape[axis] ?? 1, inner: elementCount(shape.slice(axis + 1)) };
}
