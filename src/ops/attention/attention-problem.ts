import { elementCount } from '../../core/shape.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import type { AttentionSizes } from './attention-variant.ts';

/** A call of attention as its kernels see it. */
export interface AttentionProblem extends AttentionSizes {
  readonly call: LoweringCall;
  readonly scale: number;
  /** Rows of all heads. */
  readonly allRows: number;
  /** Strides of what is added, by axis, 0 where it is broadcast. */
  readonly strides: readonly number[];
  readonly constants: KernelSpec['constants'];
  readonly params: KernelSpec['params'];
}

export function attentionProblem(call: LoweringCall): AttentionProblem {
  const { inputs, attributes } = call;
  const [query = [], key = [], value = [], added] = inputs.map((input) => input?.shape);
  const [batch = 0, heads = 0, queries = 0, size = 0] = query;
  const [, kvHeads = 0, keys = 0] = key;
  const [first] = dimsAttribute(attributes, 'causal').map(Number);
  const softcap = floatAttribute(attributes, 'softcap');
  const strides = [0, 1, 2, 3].map((axis) => {
    const shape = [1, 1, 1, 1, ...(added ?? [])].slice(-4);
    return shape[axis] === 1 ? 0 : elementCount(shape.slice(axis + 1));
  });
  const group = heads / Math.max(1, kvHeads);
  const names = ['bias_batch', 'bias_head', 'bias_query', 'bias_key'];
  return {
    call,
    batch: batch * kvHeads,
    rows: group * queries,
    keys,
    size,
    valueSize: value[3] ?? 0,
    scale: floatAttribute(attributes, 'scale'),
    allRows: batch * heads * queries,
    strides,
    constants: {
      HAS_BIAS: added !== undefined,
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
