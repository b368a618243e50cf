import { dimsAttribute, stringAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { COORDINATE_MODES, ROUNDING_MODES } from './resize-coordinates.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/**
 * Where the elements along a resized axis come from. In double precision and on the host, where
 * sizes are known: a place that falls between two elements has to fall there on every device.
 */
export const resizeTable = defineOp({
  name: 'resize_table',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
  inputs: [
    tensor('scale', ['float32'], { optional: true }),
    tensor('roi', ['float32'], { optional: true }),
  ],
  attributes: {
    sizes: { type: 'dims', length: 2 },
    taps: { type: 'dims', length: 1, minimum: 1, default: [1] },
    scale: { type: 'float', default: 0, minimum: 0 },
    ratios: { type: 'dims', default: [] },
    largest: OFF,
    roi: { type: 'floats', length: 2, default: [0, 1] },
    mode: { type: 'string', default: 'nearest', oneOf: ['nearest', 'linear', 'cubic'] },
    rounding: { type: 'string', default: 'round_prefer_floor', oneOf: ROUNDING_MODES },
    coordinates: { type: 'string', default: 'half_pixel', oneOf: COORDINATE_MODES },
    antialias: OFF,
    exclude_outside: OFF,
    cubic_coeff_a: { type: 'float', default: -0.75 },
    extrapolation: { type: 'float', default: 0 },
  },
  infer(_, attributes, dims) {
    const [from = dims.of(0), to = dims.of(0)] = dimsAttribute(attributes, 'sizes').map((dim) =>
      dims.of(dim),
    );
    dims.requireAtMost(dims.min(to, 1), from, () => ({
      where: 'resize_table: attribute sizes',
      got: 'an axis without elements',
      expected: 'elements to resize',
    }));
    if (stringAttribute(attributes, 'mode') === 'nearest') return { dtype: 'int32', shape: [to] };
    const [taps = 1] = dimsAttribute(attributes, 'taps');
    dims.requireAtMost(dims.of(1), taps, () => ({
      where: 'resize_table: attribute taps',
      got: 'no taps',
      expected: '1 or more',
    }));
    return { dtype: 'float32', shape: [to, dims.add(dims.of(1), taps)] };
  },
  tolerance: EXACT,
});
