import type { DimContext } from '../../core/dims/dim-context.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import type { Attributes, TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import type { InputSpec } from '../define-op.ts';
import type { Operands } from '../lowering/lowering.ts';
import {
  commonDType,
  formatType,
  operand,
  present,
  requireRank,
  requireVector,
} from '../operand-checks.ts';
import { windowAxes } from './window.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

export const CONVOLUTION_INPUTS: readonly InputSpec[] = [
  { name: 'x', dtypes: FLOATS },
  { name: 'w', dtypes: FLOATS },
  { name: 'bias', dtypes: FLOATS, optional: true },
];

/**
 * The shape of a convolution of x (N, C, ...) by w (K, C / groups, ...) with the same number of
 * spatial axes. Throws ShapeError.
 */
export function inferConvolution<D extends Dim>(
  inputs: Operands<TensorTypeOf<D>>,
  attributes: Attributes,
  { name, axisNames, dims }: { name: string; axisNames: string; dims: DimContext<D> },
): D[] {
  const x = operand(inputs, 0);
  const w = operand(inputs, 1);
  commonDType(present(inputs), name);
  const rank = axisNames.split(', ').length + 2;
  requireRank(x, rank, `${name}: input x`);
  requireRank(w, rank, `${name}: input w`);
  const groups = intAttribute(attributes, 'groups');
  const none = dims.of(0);
  const [batch = none, channels = none] = x.shape;
  const [outChannels = none, groupChannels = none, ...kernel] = w.shape;
  const wrongWeights = () => ({
    where: `${name}: input w`,
    got: formatType(w),
    expected: `(K, ${formatQuotient(channels, groups)}, ${axisNames}) with K a multiple of ${groups} for x of ${formatType(x)} in ${groups} groups`,
  });
  dims.requireEqual(channels, dims.mul(groupChannels, groups), wrongWeights);
  dims.requireEqual(dims.mod(outChannels, groups), 0, wrongWeights);
  requireBias(inputs[2], outChannels, { name, dims });
  const axes = windowAxes(x.shape, attributes, { name, kernel, ceilMode: false, dims });
  return [batch, outChannels, ...axes.map(({ count }) => count)];
}

/** The bias, if there is one, has one element for each output channel. */
export function requireBias<D extends Dim>(
  bias: TensorTypeOf<D> | undefined,
  channels: D,
  { name, dims }: { name: string; dims: DimContext<D> },
): void {
  if (bias === undefined) return;
  requireVector(bias, channels, {
    dims,
    complaint: () => ({
      where: `${name}: input bias`,
      got: formatType(bias),
      expected: `(${formatDim(channels)},)`,
    }),
  });
}

function formatQuotient(dim: Dim, divisor: number): string {
  if (typeof dim === 'number') return String(dim / divisor);
  return divisor === 1 ? formatDim(dim) : formatDim({ op: 'floordiv', left: dim, right: divisor });
}
