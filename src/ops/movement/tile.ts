import { ALL_DTYPES } from '../../core/dtype.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { rem } from '../index-expression/build.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** The whole tensor several times along each axis. */
export const tile = defineOp({
  name: 'tile',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { repeats: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = dimsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'tile: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, inputs, coords, param }) {
      const repeats = dimsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const size = inputs[0]?.shape[axis] ?? 1;
        return repeats[axis] === 1 ? coord : rem(coord, param(size, 'u32'));
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});
