import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { type AttentionShape, attentionShape } from './attention-shape.ts';

/** A call of attention as its kernels see it. */
export interface AttentionProblem extends AttentionShape {
  readonly call: LoweringCall;
  readonly constants: KernelSpec['constants'];
  readonly params: KernelSpec['params'];
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
