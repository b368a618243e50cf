import { formatDim } from '../../core/dim.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { elementCount } from '../../core/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { lowerBatchNorm } from './batch-norm-lowering.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { floatElements } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { formatType, operand, requireMinimumRank, requireVector } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

const STATISTICS = ['scale', 'bias', 'mean', 'var'] as const;

/** Batch normalisation with given statistics, along axis 1. */
export const batchNorm: OpDefinition = defineOp({
  name: 'batch_norm',
  kind: 'anchor',
  summary:
    '(x - mean) / sqrt(var + epsilon) * scale + bias, with one of each per channel (axis 1).',
  inputs: ['x', ...STATISTICS].map((name) => ({ name, dtypes: FLOATS })),
  attributes: { epsilon: { type: 'float', default: 1e-5, minimum: 0 } },
  infer(inputs, _, dims) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'batch_norm: input x');
    const channels = x.shape[1] ?? dims.of(0);
    for (const [i, name] of STATISTICS.entries()) {
      const type = operand(inputs, i + 1);
      requireVector(type, channels, {
        dims,
        complaint: () => ({
          where: `batch_norm: input ${name}`,
          got: formatType(type),
          expected: `(${formatDim(channels)},) for x of ${formatType(x)}`,
        }),
      });
    }
    return { dtype: x.dtype, shape: x.shape };
  },
  reference: normalize,
  lower: lowerBatchNorm,
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  cases: () => [
    batchNormCase([1, 1]),
    batchNormCase([5, 3]),
    batchNormCase([2, 3, 7]),
    batchNormCase([2, 5, 3, 4]),
    batchNormCase([0, 3, 2, 2]),
    batchNormCase([1, 64, 33, 31]),
    batchNormCase([2, 3, 4, 5], 0.1),
  ],
  badCases: () => [
    batchNormCase([3]),
    { ...batchNormCase([2, 3]), title: 'wrong channels', inputs: wrongChannels() },
    { title: 'no statistics', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
    batchNormCase([2, 3], -1),
  ],
});

function batchNormCase(shape: readonly number[], epsilon?: number): OpCase {
  const channel = { dtype: 'float32', shape: shape.slice(1, 2) } as const;
  return {
    title: `(${shape.join(', ')})${epsilon === undefined ? '' : ` with epsilon ${epsilon}`}`,
    inputs: [
      { dtype: 'float32', shape },
      channel,
      channel,
      channel,
      { ...channel, range: [0.5, 2] },
    ],
    ...(epsilon === undefined ? {} : { attributes: { epsilon } }),
  };
}

function wrongChannels(): OpCase['inputs'] {
  const [x, scale, bias, mean] = batchNormCase([2, 3]).inputs;
  return [x, scale, bias, mean, { dtype: 'float32', shape: [2] }];
}

function normalize(inputs: Operands<HostTensor>, attributes: Attributes, output: HostTensor): void {
  const [x, scale, bias, mean, variance] = Array.from({ length: 5 }, (_, i) =>
    floatElements(operand(inputs, i)),
  );
  const y = floatElements(output);
  const epsilon = floatAttribute(attributes, 'epsilon');
  const channels = output.shape[1] ?? 0;
  const spatial = elementCount(output.shape.slice(2));
  const blocks = elementCount(output.shape.slice(0, 2));
  for (let block = 0; block < blocks; block++) {
    const c = block % channels;
    const factor = (scale?.[c] ?? 0) / Math.sqrt((variance?.[c] ?? 0) + epsilon);
    const shift = (bias?.[c] ?? 0) - (mean?.[c] ?? 0) * factor;
    const end = (block + 1) * spatial;
    for (let i = block * spatial; i < end; i++) y[i] = (x?.[i] ?? 0) * factor + shift;
  }
}
