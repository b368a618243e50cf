import type { HostTensor } from '../core/tensor/host-tensor.ts';
import type { Attributes } from '../core/contracts/primitive-function.ts';
import type { FormulaCall } from './formula/expression.ts';
import type { Operands } from './lowering/lowering.ts';

/**
 * The part of an operator that computes, slowly, on the host: this is what it means. The host device and
 * the compiler have it; programs run on WebGPU without.
 */
export type OpReference = StaticReference | DynamicReference;

/** The reference of an operator of all other kinds. */
export interface StaticReference {
  /** Writes the result into `output`, whose type is what `infer` gave. */
  reference(inputs: Operands<HostTensor>, attributes: Attributes, output: HostTensor): void;
  /** It reads and writes float16 and bfloat16 as bits; else it is given float32. */
  readonly takesBits?: boolean;
  /**
   * One element of an elementwise operator that has no formula, from one of each operand, neither of
   * them a 64-bit integer.
   */
  readonly element?: (operands: readonly number[], call: FormulaCall) => number;
}

/** The reference of an operator of the kind `dynamic`. */
export interface DynamicReference {
  /**
   * The result, whose sizes take the place of the unknown dimensions that `infer` gave. Throws
   * ShapeError for elements that it cannot compute with.
   */
  compute(inputs: Operands<HostTensor>, attributes: Attributes): HostTensor;
}
