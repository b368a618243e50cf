import { elementCount } from '../../core/tensor/shape.ts';
import { dimsAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { type MatmulProblem, plainProblem } from '../linear/matmul-problem.ts';
import type { LoweringCall } from '../lowering/lowering.ts';
import type { AttentionSizes } from './attention-variant.ts';

/** A call of attention, whatever it is lowered to. */
export interface AttentionShape extends AttentionSizes {
  readonly heads: number;
  /** How many heads keys and values have. */
  readonly kvHeads: number;
  readonly queries: number;
  readonly scale: number;
  /** Scores beyond it are bent; 0: none. */
  readonly softcap: number;
  /** The position of the first query among keys where those behind a query do not count. */
  readonly first: number | undefined;
  /** How many rows there are for each head of keys, and of values: perhaps more than keys. */
  readonly pitches: readonly [keys: number, values: number];
  /** How many rows all heads have together. */
  readonly allRows: number;
  /** Strides of what is added, by axis, 0 where it is broadcast. */
  readonly strides: readonly number[];
}

export function attentionShape({
  inputs,
  attributes,
}: Pick<LoweringCall, 'inputs' | 'attributes'>): AttentionShape {
  const [query = [], key = [], value = [], added] = inputs.map((input) => input?.shape);
  const [batch = 0, heads = 0, queries = 0, size = 0] = query;
  const [, kvHeads = 0, pitch = 0] = key;
  const [first] = dimsAttribute(attributes, 'causal').map(Number);
  const [keys = pitch] = dimsAttribute(attributes, 'keys').map(Number);
  const strides = [0, 1, 2, 3].map((axis) => {
    const shape = [1, 1, 1, 1, ...(added ?? [])].slice(-4);
    return shape[axis] === 1 ? 0 : elementCount(shape.slice(axis + 1));
  });
  const group = heads / Math.max(1, kvHeads);
  return {
    heads,
    kvHeads,
    queries,
    batch: batch * kvHeads,
    rows: group * queries,
    keys,
    pitches: [pitch, value[2] ?? 0],
    size,
    valueSize: value[3] ?? 0,
    scale: floatAttribute(attributes, 'scale'),
    softcap: floatAttribute(attributes, 'softcap'),
    first,
    allRows: batch * heads * queries,
    strides,
  };
}

/** A call of `cached_attention`, in which the place of the first query is an element. */
export interface CachedShape extends AttentionShape {
  /** How many keys up to its own a query sees; 0: all. */
  readonly window: number;
}

export function cachedShape({
  inputs,
  attributes,
}: Pick<LoweringCall, 'inputs' | 'attributes'>): CachedShape {
  // The next input is no bias, and how far a query sees is no attribute.
  const plain = { inputs: inputs.slice(0, 3), attributes: { ...attributes, causal: [] } };
  return { ...attentionShape(plain), window: intAttribute(attributes, 'window') };
}

/** The products of queries and keys, and of weights and values, for one head of keys. */
export function attentionProducts({
  rows,
  keys,
  pitches: [keyPitch, valuePitch],
  size,
  valueSize,
  scale,
}: AttentionShape): {
  readonly scores: MatmulProblem;
  readonly values: MatmulProblem;
} {
  return {
    scores: {
      ...plainProblem({ m: rows, n: keys, k: size }),
      a: { batch: [0, rows * size], row: size, column: 1 },
      b: { batch: [0, keyPitch * size], row: 1, column: size },
      alpha: scale,
    },
    values: {
      ...plainProblem({ m: rows, n: valueSize, k: keys }),
      a: { batch: [0, rows * keys], row: keys, column: 1 },
      b: { batch: [0, valuePitch * valueSize], row: valueSize, column: 1 },
    },
  };
}
