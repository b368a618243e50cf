import type { Attributes, ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import type { PrecisionOption } from '../../core/contracts/precision.ts';
import type { Local } from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import type { Operands } from './lowering.ts';
import type { UnitWrites } from './unit-writes.ts';

/** The precision and the engine that kernels are generated for. */
export interface WasmTarget extends PrecisionOption {
  /** True if the engine multiplies bytes, by an instruction of relaxed SIMD. Default: false. */
  readonly multipliesBytes?: boolean;
}

/** The call that WebAssembly is made for: concrete types, complete attributes. */
export interface WasmCall extends WasmTarget {
  readonly inputs: Operands<ConcreteTensorType>;
  readonly output: ConcreteTensorType;
  readonly attributes: Attributes;
}

/** Addresses of the tensors of a call, of an absent input undefined; and the units to do. */
export interface WasmPlaces {
  readonly inputs: readonly (Local | undefined)[];
  readonly output: Local;
  /** Of operands in the layout of `packs`, in their order; undefined for an optional one that is never made. */
  readonly packed: readonly (Local | undefined)[];
  readonly scratch: readonly Local[];
  readonly units: UnitRange;
}

/** From `first` up to `end`. */
export interface UnitRange {
  readonly first: Local;
  readonly end: Local;
}

/** An operand in the layout that a kernel reads: made once of a constant, else in each call. */
export interface OperandPack {
  /** Index of the input. */
  readonly operand: number;
  /** Equal for packs that give the same bytes for the same operand. */
  readonly layout: string;
  readonly byteLength: number;
  /**
   * True if the kernel also works without it: its address is 0 where the operand is no constant.
   */
  readonly isOptional?: boolean;
  /** Bytes that a unit reads, one behind the other's; default: units read all of it, or any part. */
  readonly unitByteLength?: number;
  /** The last is `(from, to)` and calls the others. */
  readonly functions: readonly WasmFunction[];
}

/** The code of a call, as plain data. */
export interface WasmKernel {
  /** Functions that the body calls. What takes long is in one, lest a first call of all of it be slow. */
  readonly functions?: readonly WasmFunction[];
  readonly packs?: readonly OperandPack[];
  /** Temporary memory in bytes, of which each thread has its own. */
  readonly scratch?: readonly number[];
  /**
   * Parts that do not depend on each other: threads share them, and the body does those of its range.
   * Default: one, and the body does all.
   */
  readonly units?: number;
  /**
   * Where units write, for threads that have memories of their own. Operands of `packs` are then read in
   * their layout only, but where an optional one is absent. Default: nobody knows, and one thread does all.
   */
  readonly writes?: UnitWrites;
  /** Bytes of inputs that a unit reads, one behind the other's; undefined: units read any part. */
  readonly unitInputs?: readonly (number | undefined)[];
  /** About how many multiplications, or elements that are read or written; default: the output's. */
  readonly work?: number;
  body(places: WasmPlaces): readonly Statement[];
}

/** Kernels of an operator; undefined for calls that its reference has to do. Pure. */
export type WasmLowering = (call: WasmCall) => WasmKernel | undefined;
