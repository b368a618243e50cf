import dynamicEnds from '../../../shaders/lib/attention-dynamic-ends.wgsl?raw';
import staticEnds from '../../../shaders/lib/attention-ends.wgsl?raw';
import windowSource from '../../../shaders/lib/attention-window.wgsl?raw';
import { readInput } from '../lowering/element-kernel.ts';
import {
  f32,
  type KernelRead,
  type KernelSpec,
  type LoweringCall,
  u32,
} from '../lowering/lowering.ts';
import { type AttentionShape, attentionShape, cachedShape } from './attention-shape.ts';

/** A call of attention as its kernels see it. */
export interface AttentionProblem extends AttentionShape {
  readonly call: LoweringCall;
  /** WGSL that says which keys a query sees: `ends_of`, and `begins_of` where there is a window. */
  readonly bounds: string;
  /** Elements that `bounds` loads. */
  readonly boundReads: readonly KernelRead[];
  /** True if keys and values are integers, with scales that are inputs 4 and 5. */
  readonly isScaled: boolean;
  /** The input that is added to scores; one that there is not where nothing is. */
  readonly biasInput: number;
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
    bounds: staticEnds + NO_WINDOW,
    boundReads: [],
    isScaled: false,
    biasInput: 3,
    constants: {
      HAS_BIAS: call.inputs[3] !== undefined,
      HAS_CAP: softcap > 0,
      IS_CAUSAL: first !== undefined,
      HAS_WINDOW: false,
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

/** Kernels that do not call it have to compile. */
const NO_WINDOW = 'fn begins_of(ends: vec4<u32>) -> vec4<u32> { return vec4<u32>(); }\n';
/** An input that there is not. */
const NONE = 9;

/** The same of `cached_attention`. */
export function cachedProblem(call: LoweringCall): AttentionProblem {
  const shape = cachedShape(call);
  const { heads, kvHeads, queries, keys, softcap, window } = shape;
  const hasWindow = window > 0;
  const noBias = ['bias_batch', 'bias_head', 'bias_query', 'bias_key'];
  return {
    ...shape,
    call,
    bounds: dynamicEnds + (hasWindow ? windowSource : NO_WINDOW),
    boundReads: [readInput('first', 3)],
    isScaled: call.inputs[4] !== undefined,
    biasInput: NONE,
    constants: {
      HAS_BIAS: false,
      HAS_CAP: softcap > 0,
      IS_CAUSAL: true,
      HAS_WINDOW: hasWindow,
    },
    params: {
      heads: u32(heads),
      kv_heads: u32(Math.max(1, kvHeads)),
      queries: u32(queries),
      keys: u32(keys),
      window: u32(window),
      softcap: f32(softcap),
      ...Object.fromEntries(noBias.map((name) => [name, u32(0)])),
    },
  };
}
