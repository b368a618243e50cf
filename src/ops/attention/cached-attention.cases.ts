import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCaseInput, OpCases } from '../op-cases.ts';

export const cachedAttentionCases: OpCases = {
  summary:
    'softmax(scale query keyᵀ) value, of (B, heads, Q, D), (B, kv_heads, K, D), (B, kv_heads, K, V) and first (B): ' +
    'query i of b stands at position first[b] + i and sees keys up to it, with window = w only the last w of them; ' +
    'heads in a row share keys. Keys and values may be float16, or int8 with scales (B, kv_heads, K, 1). With softcap, ' +
    'scores become softcap tanh(score / softcap); with keys = [n], there are n. Where nothing is seen, the result is 0.',
  cases: () => [
    cachedCase([1, 1, 1, 1, 1, 1, 1], [0]),
    cachedCase([2, 4, 2, 1, 37, 16, 16], [20, 36], { attributes: { scale: 0.3 } }),
    cachedCase([2, 4, 2, 1, 37, 16, 16], [20, 3], { cache: 'float16' }),
    cachedCase([2, 4, 2, 1, 37, 16, 16], [36, 7], { cache: 'int8' }),
    cachedCase([1, 3, 3, 5, 33, 6, 7], [9], { attributes: { scale: 0.4 } }),
    cachedCase([1, 3, 3, 5, 33, 6, 7], [9], { cache: 'float16' }),
    cachedCase([1, 3, 3, 5, 33, 6, 7], [9], { cache: 'int8' }),
    cachedCase([1, 2, 1, 2, 9, 4, 4], [5], { cache: 'bfloat16' }),
    cachedCase([2, 6, 2, 7, 130, 32, 40], [0, 123], { attributes: { scale: 0.125, softcap: 1.5 } }),
    cachedCase([1, 4, 2, 34, 200, 16, 16], [130], { attributes: { scale: 0.25 }, cache: 'int8' }),
    cachedCase([1, 8, 1, 1, 650, 128, 128], [600], {
      attributes: { scale: 0.1 },
      cache: 'float16',
    }),
    cachedCase([2, 2, 1, 3, 300, 20, 20], [250, 4], { attributes: { window: 9 } }),
    cachedCase([1, 2, 2, 20, 150, 16, 16], [100], { attributes: { window: 37 }, cache: 'int8' }),
    cachedCase([1, 4, 2, 1, 700, 64, 64], [528], { attributes: { keys: [529] } }),
    unreadCase(),
    // Before the first key, and beyond the last.
    cachedCase([3, 2, 2, 2, 5, 8, 8], [-3, -1, 4], {}),
    cachedCase([1, 2, 2, 4, 0, 8, 8], [0], {}),
    cachedCase([2, 2, 2, 0, 4, 8, 8], [0, 2], { cache: 'int8' }),
  ],
  badCases: () => [
    cachedCase([1, 3, 2, 4, 4, 8, 8], [0]),
    cachedCase([1, 2, 2, 4, 4, 8, 8], [0, 1]),
    cachedCase([1, 2, 2, 4, 4, 8, 8], [0], { attributes: { keys: [5] } }),
    { ...cachedCase([1, 2, 2, 4, 4, 8, 8], [0], { cache: 'int8' }), ...without(4) },
    {
      title: 'a scale for floats',
      inputs: [
        ...cachedCase([1, 2, 2, 4, 4, 8, 8], [0]).inputs,
        { dtype: 'float32', shape: [1, 2, 4, 1] },
      ],
    },
    {
      title: 'of rank 3',
      inputs: [
        ...[0, 1, 2].map((): OpCaseInput => ({ dtype: 'float32', shape: [2, 4, 8] })),
        { dtype: 'int32', shape: [2] },
      ],
    },
  ],
};

/** An int8 call without its scales. */
const without = (count: number): Pick<OpCase, 'title' | 'inputs'> => ({
  title: 'int8 without scales',
  inputs: cachedCase([1, 2, 2, 4, 4, 8, 8], [0], { cache: 'int8' }).inputs.slice(0, count),
});

/** All codes; and the bits of numbers from 1/4 to 2. */
const RANGES: Readonly<Partial<Record<string, readonly [number, number]>>> = {
  int8: [-127, 128],
  bfloat16: [0x3e80, 0x4000],
};

type Sizes = readonly [number, number, number, number, number, number, number];

interface CachedCaseOptions {
  readonly attributes?: Attributes;
  readonly cache?: 'float32' | 'float16' | 'bfloat16' | 'int8';
}

/** Sizes: batch, heads, heads of keys, queries, keys, size, size of values. */
function cachedCase(
  sizes: Sizes,
  first: readonly number[],
  ...[{ attributes = {}, cache = 'float32' } = {}]: CachedCaseOptions[]
): OpCase {
  const [batch, heads, kvHeads, queries, keys, size, valueSize] = sizes;
  const scale: OpCaseInput = {
    dtype: 'float32',
    shape: [batch, kvHeads, keys, 1],
    range: [0.002, 0.02],
  };
  const own = RANGES[cache];
  const range: Partial<OpCaseInput> = own ? { range: own } : {};
  return {
    title: `${cache} (${sizes.join(', ')}) at [${first.join(', ')}] ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: [batch, heads, queries, size] },
      { dtype: cache, shape: [batch, kvHeads, keys, size], ...range },
      { dtype: cache, shape: [batch, kvHeads, keys, valueSize], ...range },
      { dtype: 'int32', shape: [first.length], values: first },
      ...(cache === 'int8' ? [scale, scale] : []),
    ],
    attributes,
  };
}

/** Elements after the last key are not read: they are NaN here. */
function unreadCase(): OpCase {
  const [keys, count, size] = [70, 39, 4];
  const { inputs, ...others } = cachedCase([1, 2, 1, 2, keys, size, size], [count - 2]);
  const values = Array.from({ length: keys * size }, (_, i) =>
    i < count * size ? Math.sin(i) : Number.NaN,
  );
  const read = inputs.map((input, i) =>
    input && (i === 1 || i === 2) ? { ...input, values } : input,
  );
  return { ...others, title: `NaN behind the first ${count} keys`, inputs: read };
}
