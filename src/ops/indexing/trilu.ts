import { ALL_DTYPES } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { boolAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { elementBits } from '../elements.ts';
import type { Operands } from '../lowering.ts';
import { operand, requireMinimumRank, requireRank } from '../operand-checks.ts';
import { hostIntegers, INDEX_DTYPES } from './integer-index.ts';

/** The upper or lower triangle of matrices, zeros elsewhere. */
export const trilu: OpDefinition = defineOp({
  name: 'trilu',
  kind: 'injective',
  summary:
    'The upper or lower triangle of matrices with the diagonal k above the main one, zeros elsewhere.',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'k', dtypes: INDEX_DTYPES },
  ],
  attributes: { upper: { type: 'bool', default: true } },
  infer(inputs) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'trilu: input x');
    requireRank(operand(inputs, 1), 0, 'trilu: input k');
    return x;
  },
  reference: triluOnHost,
  indexMap: {
    sources({ attributes, coords, integer }) {
      const compare = boolAttribute(attributes, 'upper') ? '>=' : '<=';
      const above = `i32(${coords.at(-1) ?? '0u'}) - i32(${coords.at(-2) ?? '0u'})`;
      return [{ input: 0, coords, when: `(${above}) ${compare} ${integer(1, [])}` }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    triluCase([4, 5], 0),
    triluCase([4, 5], 0, false),
    triluCase([2, 3, 3], 1),
    triluCase([2, 3, 3], -1, false),
    triluCase([3, 1, 7], -7),
    triluCase([3, 7, 4], 2 ** 40),
    triluCase([3, 7, 4], -(2 ** 40), false),
    triluCase([0, 5], 1),
    {
      title: 'int64',
      inputs: [
        { dtype: 'int64', shape: [4, 4] },
        { dtype: 'int32', shape: [], values: [1] },
      ],
    },
    {
      title: 'bool',
      inputs: [
        { dtype: 'bool', shape: [3, 3] },
        { dtype: 'int64', shape: [], values: [0] },
      ],
    },
  ],
  badCases: () => [
    triluCase([4], 0),
    {
      title: 'k is a vector',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'int64', shape: [1] },
      ],
    },
  ],
});

function triluOnHost(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  output: HostTensor,
): void {
  const x = operand(inputs, 0);
  const isUpper = boolAttribute(attributes, 'upper');
  const k = hostIntegers(operand(inputs, 1))[0] ?? 0;
  const [rows = 1, columns = 1] = x.shape.slice(-2);
  const from = elementBits(x);
  const to = elementBits(output);
  output.bytes.fill(0);
  for (let i = 0; i < to.length; i++) {
    const above = (i % columns) - (Math.floor(i / columns) % rows);
    if (isUpper ? above >= k : above <= k) to[i] = from[i] ?? 0;
  }
}

function triluCase(shape: readonly number[], k: number, upper = true): OpCase {
  return {
    title: `${upper ? 'upper' : 'lower'} of (${shape.join(', ')}) from ${k}`,
    inputs: [
      { dtype: 'float32', shape },
      { dtype: 'int64', shape: [], values: [k] },
    ],
    attributes: { upper },
  };
}
