import { elementCount } from '../../core/shape.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';
import { type MatmulProblem, plainProblem } from '../linear/matmul-problem.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import type { AttentionSizes } from './attention-variant.ts';

/** A call of attention, whatever it is lowered to. */
export interface AttentionShape extends AttentionSizes {
  readonly heads: number;
  /** Heads of keys. */
  readonly kvHeads: number;
  readonly queries: number;
  readonly scale: number;
  /** Scores beyond it are bent; 0: none. */
  readonly softcap: number;
  /** The position of the first query among keys where those behind a query do not count. */
  readonly first: number | undefined;
  /** Rows of all heads. */
  readonly allRows: number;
  /** Strides of what is added, by axis, 0 where it is broadcast. */
  readonly strides: readonly number[];
}

/** A call of attention as its kernels see it. */
export interface AttentionProblem extends AttentionShape {
  readonly call: LoweringCall;
  readonly constants: KernelSpec['constants'];
  readonly params: KernelSpec['params'];
}

export function attentionShape({
  inputs,
  attributes,
}: Pick<LoweringCall, 'inputs' | 'attributes'>): AttentionShape {
  const [query = [], key = [], value = [], added] = inputs.map((input) => input?.shape);
  const [batch = 0, heads = 0, queries = 0, size = 0] = query;
  const [, kvHeads = 0, keys = 0] = key;
  const [first] = dimsAttribute(attributes, 'causal').map(Number);
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
    size,
    valueSize: value[3] ?? 0,
    scale: floatAttribute(attributes, 'scale'),
    softcap: floatAttribute(attributes, 'softcap'),
    first,
    allRows: batch * heads * queries,
    strides,
  };
}

/** The products of queries and keys, and of weights and values, for one head of keys. */
export function attentionProducts({ rows, keys, size, valueSize, scale }: AttentionShape): {
  readonly scores: MatmulProblem;
  readonly values: MatmulProblem;
} {
  return {
    scores: {
      ...plainProblem({ m: rows, n: keys, k: size }),
      a: { batch: [0, rows * size], row: size, column: 1 },
      b: { batch: [0, keys * size], row: 1, column: size },
      alpha: scale,
    },
    values: {
      ...plainProblem({ m: rows, n: valueSize, k: keys }),
      a: { batch: [0, rows * keys], row: keys, column: 1 },
      b: { batch: [0, keys * valueSize], row: valueSize, column: 1 },
    },
  };
}

export function attentionProblem(call: LoweringCall): AttentionProblem {
  const shape = attentionShape(call);
  const { heads, queries, keys, first, softcap, strides } = shape;
  const names = ['bias_batch', 'bias_head', 'bias_query', 'bias_key'];
  return {
    ...shape,
    call,
    constants: {
      HAS_BIAS: call.inputs[3] !== undefined,
      HAS_CAP: softcap > 0,
      IS_CAUSAL: first !== undefined,
    },
    params: {
      heads: u32(heads),
      queries: u32(queries),
      keys: u32(keys),
      first: u32(first ?? 0),
      softcap: f32(softcap),
      ...Object.fromEntries(names.map((name, i) => [name, u32(strides[i] ?? 0)])),
    },
  };
}
