import type { OpCase } from '../../ops/op-cases.ts';
import { type TestedOp, testedOp } from '../../ops/testing/tested-ops.ts';

/**
 * So many elements that a software adapter takes its rows by blocks of four groups of four, of which one,
 * two, three or four are left for the last block.
 */
const SHAPES = [
  [16_385, 16],
  [257, 1028],
  [256, 1032],
  [65, 4044],
  // Rows that several invocations share, on any adapter.
  [2, 131_077],
  [1, 480_016],
];

const cases: readonly OpCase[] = SHAPES.map((shape) => ({
  title: shape.join(' by '),
  inputs: [{ dtype: 'float32', shape, range: [-8, 12] }],
}));

const masked: OpCase = {
  title: 'a third of the elements is masked',
  inputs: [
    {
      dtype: 'float32',
      shape: [257, 1028],
      values: Array.from({ length: 257 * 1028 }, (_, i) =>
        i % 3 === 0 ? -Infinity : (i % 17) - 8,
      ),
    },
  ],
};

export const ROW_BLOCK_OPS: readonly TestedOp[] = [
  'softmax',
  'log_softmax',
  'layer_norm',
  'rms_norm',
].flatMap((name) => {
  const op = testedOp(name);
  const inputs = op.inputs.map((input) => ({ ...input, dtypes: ['float32' as const] }));
  const isSoftmax = name.endsWith('softmax');
  return { ...op, inputs, cases: () => (isSoftmax ? [...cases, masked] : cases) };
});
