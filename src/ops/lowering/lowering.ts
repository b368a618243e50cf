import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';

/** The operands of an operator; an absent optional input is undefined. */
export type Operands<T> = readonly (T | undefined)[];

/** The call that an anchor is lowered for: concrete types and the adapter, never a GPU. */
export interface LoweringCall {
  /** Types of its inputs. */
  readonly inputs: Operands<ConcreteTensorType>;
  /** The type of its result. */
  readonly output: ConcreteTensorType;
  /** Complete attributes. */
  readonly attributes: Attributes;
  /** Capabilities of the adapter. */
  readonly caps: PlannerCaps;
}

/** The kernels of a call, by adapter class. */
export type Lowering = (call: LoweringCall) => readonly KernelSpec[];

/**
 * One launch of a hand-written shader. The planner assembles the module:
 * a prelude (`const` declarations, `struct Params`, bindings, hooks) and then `source`, which
 * reads and writes only through its hooks:
 *
 * - for `reads: [{ hook: 'a', width: 1 }]`: `fn load_a(i: u32) -> f32`, i counts elements;
 * - with `width: 4`: `fn load_a4(i: u32) -> vec4<f32>`, i counts groups of four elements;
 * - with `width: 4, asWord: true`: `fn load_a4(i: u32) -> u32`, for uint8 only;
 * - for `writes: [{ hook: '', width: 1 }]`: `fn store(i: u32, value: f32)`, or `store4` for
 *   width 4; a hook named `sum` gives `store_sum` or `store_sum4`.
 *
 * A read of an input may be fused with elementwise producers, a write of the output with
 * elementwise consumers; scratch is read and written as it is. The element type is that of the
 * operand.
 */
export interface KernelSpec {
  /** Name of the shader without `.wgsl`, such as `matmul-tile`. */
  readonly name: string;
  /** Text of the shader, imported from `shaders/` with `?raw`. Its entry point is `main`. */
  readonly source: string;
  /** WGSL extensions to enable, such as `subgroups`; the adapter must have them. */
  readonly enables?: readonly string[];
  /** Module-scope `const`s that shape the code. Keep them few: each set is a pipeline. */
  readonly constants: Readonly<Record<string, KernelConstant>>;
  /** Fields of the uniform `params`, in order. Everything that comes from shapes goes here. */
  readonly params: Readonly<Record<string, KernelParam>>;
  /** Declared as `const WORKGROUP_SIZE_X`, `_Y`, `_Z`. */
  readonly workgroupSize: readonly [number, number, number];
  /** How many workgroups are launched in each dimension. */
  readonly workgroups: readonly [number, number, number];
  /** Tensors that it reads. */
  readonly reads: readonly KernelRead[];
  /** Tensors that it writes. */
  readonly writes: readonly KernelWrite[];
  /** Atomic access to scratch: `fn exchange_head(i: u32, value: u32) -> u32` for the hook `head`. */
  readonly exchanges?: readonly KernelExchange[];
}

/** A `bool`, a `u32` where it is a number as such, else of the type that `f32`, `i32` or `u32` gave it. */
export type KernelConstant = boolean | number | KernelParam;

/** A number with the type that it has in WGSL. */
export interface KernelParam {
  /** The type. */
  readonly type: 'u32' | 'i32' | 'f32';
  /** The number. */
  readonly value: number;
}

/** A function that loads elements. */
export interface KernelRead {
  /** Its name behind `load_`. */
  readonly hook: string;
  /** The memory that it loads from. */
  readonly from: KernelOperand;
  /** How many elements it loads. */
  readonly width: 1 | 4;
  /** True if it gives four elements of uint8 as the word that they share, from its low bits up. */
  readonly asWord?: boolean;
}

/** A function that stores elements. */
export interface KernelWrite {
  /** Its name behind `store_`; empty: `store`. */
  readonly hook: string;
  /** The memory that it stores to. */
  readonly to: KernelOperand;
  /** How many elements it stores. */
  readonly width: 1 | 4;
}

/** A function that exchanges an element of scratch. */
interface KernelExchange {
  /** Its name behind `exchange_`. */
  readonly hook: string;
  /** The memory that has the element. */
  readonly to: ScratchOperand;
}

/** The memory that a kernel reads or writes; it reads the output where it changes an input in place. */
export type KernelOperand =
  | { readonly kind: 'input'; readonly index: number }
  | { readonly kind: 'output' }
  | ScratchOperand;

/** Memory between the kernels of one call. One kernel may both read and write it. */
export interface ScratchOperand {
  /** Tells it from inputs and the output. */
  readonly kind: 'scratch';
  /** The number of the scratch among those of the call, from 0 on. */
  readonly index: number;
  /** The size of the scratch in bytes. */
  readonly byteLength: number;
  /** The type of the elements. Default `f32`. */
  readonly type?: 'f32' | 'u32';
}

/** A parameter of the type `u32`. */
export const u32 = (value: number): KernelParam => ({ type: 'u32', value });
/** A parameter of the type `i32`. */
export const i32 = (value: number): KernelParam => ({ type: 'i32', value });
/** A parameter of the type `f32`. */
export const f32 = (value: number): KernelParam => ({ type: 'f32', value });

/**
 * So many rounds of loops an invocation may take, all its loops together. Mesa's llvmpipe ends it after
 * 65,535, in silence, and Firefox does not tell when that is the driver.
 */
export const MAX_LOOP_ROUNDS = 60_000;
