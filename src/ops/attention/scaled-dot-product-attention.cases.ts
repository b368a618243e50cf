import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const scaledDotProductAttentionCases: OpCases = {
  summary:
    'softmax(scale query keyᵀ + bias) value, of (B, heads, Q, D), (B, kv_heads, K, D), (B, kv_heads, ' +
    'K, V) and a shape that broadcasts to (B, heads, Q, K); heads in a row share keys. With softcap, scores ' +
    'become softcap tanh(score / softcap) before the bias; with causal = [p], query i sees keys up to ' +
    'i + p; with keys = [n], keys and values behind the first n do not count. Where nothing is seen, the result is 0.',
  cases: () => [
    attentionCase([1, 1, 1, 1, 1, 1, 1]),
    attentionCase([2, 3, 3, 3, 17, 8, 8], { scale: 0.3 }),
    attentionCase([2, 4, 2, 63, 65, 16, 12], { causal: [2] }, [63, 65]),
    attentionCase([1, 6, 2, 65, 130, 64, 64], { scale: 0.125 }, [1, 6, 1, 130]),
    attentionCase([1, 2, 2, 130, 132, 40, 7], { scale: 0.2, softcap: 1.5 }, [1, 1, 130, 132]),
    attentionCase([1, 8, 2, 1, 650, 64, 64], { scale: 0.125 }, [1, 1, 1, 650]),
    attentionCase([2, 3, 3, 1, 516, 20, 36], { causal: [515] }),
    attentionCase([1, 2, 1, 3, 1300, 128, 128], { scale: 0.1, causal: [1297] }, [3, 1]),
    attentionCase([1, 1, 1, 2, 4, 300, 200], { scale: 0.05 }),
    attentionCase([2, 4, 2, 3, 37, 16, 12], { keys: [21] }, [3, 21]),
    attentionCase([1, 4, 2, 1, 700, 64, 64], { keys: [529], causal: [528] }),
    attentionCase([1, 2, 2, 4, 0, 8, 8]),
    attentionCase([2, 2, 2, 0, 4, 8, 8]),
    maskedCase([-Infinity, -Infinity, -Infinity, -Infinity, 0, -Infinity, -3.4028234e38, -1e9]),
    maskedCase(new Array<number>(8).fill(-3.4028234663852886e38)),
  ],
  badCases: () => [
    attentionCase([1, 3, 2, 4, 4, 8, 8]),
    attentionCase([1, 2, 2, 4, 4, 8, 8], {}, [4, 5]),
    attentionCase([1, 2, 2, 4, 4, 8, 8], { causal: [1, 2] }),
    attentionCase([1, 2, 2, 4, 4, 8, 8], { keys: [5] }),
    {
      title: 'of rank 3',
      inputs: [0, 1, 2].map(() => ({ dtype: 'float32', shape: [2, 4, 8] })),
    },
    {
      title: 'keys of another size',
      inputs: [8, 6, 8].map((size) => ({ dtype: 'float32', shape: [1, 2, 4, size] })),
    },
  ],
};

type Sizes = readonly [number, number, number, number, number, number, number];

/** Sizes: batch, heads, heads of keys, queries, keys, size, size of values. */
function attentionCase(sizes: Sizes, attributes: Attributes = {}, bias?: Shape): OpCase {
  const [batch, heads, kvHeads, queries, keys, size, valueSize] = sizes;
  const shapes = [
    [batch, heads, queries, size],
    [batch, kvHeads, keys, size],
    [batch, kvHeads, keys, valueSize],
    ...(bias === undefined ? [] : [bias]),
  ];
  const extras = `${JSON.stringify(attributes)}${bias === undefined ? '' : ` plus (${bias.join(', ')})`}`;
  return {
    title: `(${sizes.join(', ')}) ${extras}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}

/** A case with two queries and four keys, whose mask has these values. */
function maskedCase(values: readonly number[]): OpCase {
  const { inputs } = attentionCase([1, 1, 1, 2, 4, 4, 4]);
  const mask = { dtype: 'float32', shape: [2, 4], values } as const;
  return { title: `masked by ${values.join(', ')}`, inputs: [...inputs, mask] };
}
