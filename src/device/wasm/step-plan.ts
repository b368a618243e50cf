import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import type { UnitWrites } from '../../ops/lowering/unit-writes.ts';
import type { OperandPack, UnitRange, WasmTarget } from '../../ops/lowering/wasm-lowering.ts';
import { type Local, local } from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';

/**
 * The code of a step: a function of the addresses of values, packed operands and temporaries, then of the
 * units to do.
 */
export interface StepPlan {
  /** Values whose addresses are the first parameters, in order. */
  readonly values: readonly number[];
  readonly packs: readonly ValuePack[];
  /** Sizes of temporary memory. */
  readonly scratch: readonly number[];
  readonly params: readonly Local[];
  readonly units: number;
  /** See `WasmKernel.work`. */
  readonly work: number;
  /** Functions that the body calls. */
  readonly functions: readonly WasmFunction[];
  readonly body: readonly Statement[];
  /** Undefined where threads that have memories of their own cannot do units. */
  readonly access?: StepAccess | undefined;
}

/** Parts of its operands that each unit reads and writes. */
export interface StepAccess {
  readonly writes: UnitWrites;
  readonly elementByteLength: number;
  /** The result, as an index of the step's values. */
  readonly output: number;
  /** Accesses to each of the step's values, in their order. */
  readonly values: readonly ValueAccess[];
}

export interface ValueAccess {
  readonly byteLength: number;
  /** See `OperandPack.unitByteLength`. */
  readonly unitByteLength: number | undefined;
  /** Indices of the packs that are read in its place, if the call has all of them. */
  readonly packs: readonly number[] | undefined;
}

/** A value in the layout that a step reads. */
export interface ValuePack extends Omit<OperandPack, 'operand'> {
  readonly value: number;
}

/** Values of the primitive that a step has to do with. */
export interface StepContext extends WasmTarget {
  readonly types: readonly ConcreteTensorType[];
  /** Values that have memory: arguments, results and those that other steps read. */
  readonly stored: ReadonlySet<number>;
}

export const newUnitRange = (): UnitRange => ({ first: local('i32'), end: local('i32') });
