import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const linearAttentionCases: OpCases = {
  summary:
    'At each position the state (B, kv_heads, K, V) is multiplied by gate, gets the outer product of ' +
    'key and value minus its product with erase, and is multiplied by query: the results (B, T, ' +
    'heads, V), then the last state, as one vector.',
  cases: () => [
    linearCase([1, 1, 1, 1, 1, 1]),
    linearCase([2, 5, 3, 3, 4, 6], ['gate', 'erase']),
    linearCase([2, 4, 4, 2, 5, 3], ['gate']),
    linearCase([1, 9, 6, 1, 8, 17], ['gate', 'erase']),
    linearCase([3, 2, 2, 2, 3, 5]),
    linearCase([1, 700, 2, 1, 24, 3], ['gate']),
    linearCase([2, 0, 2, 1, 3, 4]),
    linearCase([0, 3, 2, 1, 3, 4]),
  ],
  badCases: () => [
    linearCase([1, 2, 3, 2, 4, 4]),
    {
      ...linearCase([1, 2, 2, 2, 4, 4]),
      title: 'a state of other sizes',
      inputs: [
        [1, 2, 8],
        [1, 2, 8],
        [1, 2, 8],
        [1, 2, 4, 3],
      ].map((shape) => ({
        dtype: 'float32',
        shape,
      })),
    },
  ],
};

function linearCase(
  sizes: readonly [number, number, number, number, number, number],
  optional: readonly string[] = [],
): OpCase {
  const [batch, positions, heads, kvHeads, keySize, valueSize] = sizes;
  const keys = [batch, positions, kvHeads * keySize];
  const shapes: Shape[] = [
    [batch, positions, heads * keySize],
    keys,
    [batch, positions, kvHeads * valueSize],
    [batch, kvHeads, keySize, valueSize],
    ...optional.map(() => keys),
  ];
  return {
    title: `(${sizes.join(', ')}) ${optional.join(' and ')}`,
    inputs: shapes.map((shape, i) => ({
      dtype: 'float32',
      shape,
      range: i === 4 ? [0.2, 1] : [-0.7, 0.7],
    })),
    attributes: { heads, kv_heads: kvHeads },
  };
}
