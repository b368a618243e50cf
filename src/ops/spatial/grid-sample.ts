import { formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';

const NAME = 'grid_sample';
export const MODES = ['nearest', 'linear', 'cubic'];
export const PADDINGS = ['zeros', 'border', 'reflection'];

/** M. Jaderberg et al., "Spatial Transformer Networks" (2015). */
export const gridSample = defineOp({
  name: NAME,
  kind: 'anchor',
  inputs: [tensor('x', FLOATS), tensor('grid', FLOATS)],
  attributes: {
    mode: { type: 'string', default: 'linear', oneOf: MODES },
    padding: { type: 'string', default: 'zeros', oneOf: PADDINGS },
    align_corners: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const [x, grid] = [operand(inputs, 0), operand(inputs, 1)];
    requireMinimumRank(x, 3, `${NAME}: input x`);
    const rank = x.shape.length - 2;
    const [batch = dims.of(0), channels = dims.of(0), ...sizes] = x.shape;
    const complaint = () => ({
      where: `${NAME}: input grid`,
      got: `${formatType(grid)} for ${formatType(x)}`,
      expected: `(${formatDim(batch)}, ..., ${rank}), of the rank of x, at most 5`,
    });
    if (rank > 3 || grid.shape.length !== rank + 2) throw new ShapeError(complaint());
    const [images = dims.of(0), ...points] = grid.shape;
    dims.requireEqual(images, batch, complaint);
    dims.requireEqual(points.pop() ?? dims.of(0), rank, complaint);
    if (stringAttribute(attributes, 'padding') !== 'zeros') {
      for (const size of sizes) {
        dims.requireAtMost(dims.of(1), size, () => ({
          where: `${NAME}: input x`,
          got: formatType(x),
          expected: 'elements to repeat beyond the borders',
        }));
      }
    }
    return { dtype: x.dtype, shape: [batch, channels, ...points] };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

export interface Sampling {
  readonly mode: string;
  readonly padding: string;
  readonly isAligned: boolean;
}

export function samplingOf(attributes: Attributes): Sampling {
  return {
    mode: stringAttribute(attributes, 'mode'),
    padding: stringAttribute(attributes, 'padding'),
    isAligned: boolAttribute(attributes, 'align_corners'),
  };
}
