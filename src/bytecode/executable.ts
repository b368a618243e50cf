import type { DimOperator } from '../core/dim.ts';
import type { DType } from '../core/dtype.ts';
import type { PrimitiveFunction, TensorType } from '../core/primitive-function.ts';
import type { Shape } from '../core/shape.ts';

/**
 * A compiled program: immutable data, no behaviour. Made by {@link ExecBuilder} or read from a
 * `.weft` file, and verified in both cases before anything runs it.
 */
export interface ExecutableData {
  readonly functions: readonly BytecodeFunction[];
  /** All functions' instructions, 32-bit words; see `isa.ts`. */
  readonly code: Uint32Array;
  /** What a function operand indexes: bytecode functions, primitives and packed functions by name. */
  readonly functionTable: readonly FunctionEntry[];
  readonly constants: readonly Constant[];
  readonly primitives: readonly PrimitiveFunction[];
  readonly shapePrograms: readonly ShapeProgram[];
  readonly metadata: Readonly<Record<string, string>>;
  /** The data section: bytes of tensor constants at their `byteOffset`. */
  readonly dataByteLength: number;
}

export interface BytecodeFunction {
  readonly name: string;
  readonly paramNames: readonly string[];
  /** Registers 0 to paramNames.length - 1 hold the arguments. */
  readonly registerCount: number;
  /** First word in `code`, and number of words. */
  readonly codeStart: number;
  readonly codeLength: number;
  /** Types of parameters and results, for callers from outside; absent when nothing is promised. */
  readonly signature?: FunctionSignature;
}

export interface FunctionSignature {
  readonly params: readonly ValueType[];
  /** One result: the value itself. Several: fields of the tuple that is returned. */
  readonly results: readonly NamedResult[];
}

export interface NamedResult {
  readonly name: string;
  readonly type: ValueType;
}

export type ValueType =
  | ({ readonly kind: 'tensor' } & TensorType)
  | { readonly kind: 'int' }
  | { readonly kind: 'float' }
  | { readonly kind: 'any' };

/** Names are resolved once, at load; a primitive's name is that of an entry in `primitives`. */
export interface FunctionEntry {
  readonly kind: 'bytecode' | 'primitive' | 'packed';
  readonly name: string;
}

export type Constant =
  | TensorConstant
  | { readonly kind: 'shape'; readonly value: Shape }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'dtype'; readonly value: DType };

/**
 * A tensor whose elements are `byteLength` bytes of the data section at `byteOffset` (a multiple
 * of 256), little-endian, row-major. A splat stores one element for all.
 */
export interface TensorConstant {
  readonly kind: 'tensor';
  readonly dtype: DType;
  readonly shape: Shape;
  readonly isSplat: boolean;
  /** For primitives that run on the host: lies there, not on the session's device. */
  readonly device?: 'host';
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** Stack code over the slots of a shape heap; see `docs/format.md`. */
export interface ShapeProgram {
  readonly steps: readonly ShapeStep[];
}

export type ShapeStep =
  | { readonly op: 'const'; readonly value: number }
  | { readonly op: 'load'; readonly slot: number }
  | { readonly op: 'store'; readonly slot: number }
  | { readonly op: DimOperator };
