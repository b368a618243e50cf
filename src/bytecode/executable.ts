import type { DimOperator } from '../core/dims/dim.ts';
import type { DType } from '../core/tensor/dtype.ts';
import type { PrimitiveFunction, TensorType } from '../core/contracts/primitive-function.ts';
import type { Shape } from '../core/tensor/shape.ts';

/**
 * A compiled program: immutable data, no behaviour. Made by {@link ExecBuilder} or read from a
 * `.weft` file, and verified in both cases before anything runs it.
 */
export interface ExecutableData {
  /** Bytecode functions, in the order in which the function table names them. */
  readonly functions: readonly BytecodeFunction[];
  /** All functions' instructions, 32-bit words; see `isa.ts`. */
  readonly code: Uint32Array;
  /** The table that a function operand indexes: bytecode functions, primitives and packed functions by name. */
  readonly functionTable: readonly FunctionEntry[];
  /** The table that constant operands index. */
  readonly constants: readonly Constant[];
  /** Fused groups of operators, which devices compile to kernels. */
  readonly primitives: readonly PrimitiveFunction[];
  /** The programs that the builtin `compute_shape` runs, by index. */
  readonly shapePrograms: readonly ShapeProgram[];
  /** Types in full, for callers and for functions of JavaScript; absent where signatures tell all. */
  readonly types?: ProgramTypes;
  /**
   * The section *source map* as it stands in the file: where each instruction comes from. Absent where nothing
   * is known. `sourceMap` of an Executable reads it.
   */
  readonly sourceMapBytes?: Uint8Array;
  /** Facts about the program, such as its producer. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The data section: bytes of tensor constants at their `byteOffset`. */
  readonly dataByteLength: number;
}

export interface BytecodeFunction {
  /** Unique among the functions of the program. */
  readonly name: string;
  /** Names of its parameters, in order. */
  readonly paramNames: readonly string[];
  /** Registers 0 to paramNames.length - 1 hold the arguments. */
  readonly registerCount: number;
  /** First word in `code`, and number of words. */
  readonly codeStart: number;
  /** Number of words in `code`. */
  readonly codeLength: number;
  /** Types of parameters and results, for callers from outside; absent when nothing is promised. */
  readonly signature?: FunctionSignature;
}

/** Types of a function, for callers from outside. */
export interface FunctionSignature {
  /** One for each parameter, in order. */
  readonly params: readonly ValueType[];
  /** One result: the value itself. Several: fields of the tuple that is returned. */
  readonly results: readonly NamedResult[];
}

export interface NamedResult {
  /** Unique among the results of the function. */
  readonly name: string;
  readonly type: ValueType;
}

/**
 * The type of a parameter or result: a tensor of a dtype and a shape (dimensions may be symbols),
 * an int or a float of the host, or anything.
 */
export type ValueType =
  | ({ readonly kind: 'tensor' } & TensorType)
  | { readonly kind: 'int' }
  | { readonly kind: 'float' }
  | { readonly kind: 'any' };

/** The type of a value in full: what signatures call `any` has its parts here. */
export type FullType =
  | ValueType
  | { readonly kind: 'shape' }
  /** An object of JavaScript whose kind has this name. */
  | { readonly kind: 'opaque'; readonly name: string }
  | { readonly kind: 'tuple'; readonly fields: readonly FullType[] }
  /** An algebraic data type of the program, applied to types. */
  | { readonly kind: 'adt'; readonly name: string; readonly args: readonly FullType[] }
  | {
      readonly kind: 'function';
      readonly params: readonly FullType[];
      readonly result: FullType;
    }
  /** A type parameter of the data type or function around it. */
  | { readonly kind: 'type-param'; readonly name: string };

export interface ProgramTypes {
  /** Algebraic data types that the others mention. */
  readonly dataTypes: readonly DataType[];
  /** Of bytecode functions whose signature does not tell all, by name. */
  readonly functions: readonly NamedFunctionType[];
  /** Of packed functions that the program declares, by name. */
  readonly packed: readonly NamedFunctionType[];
}

/** An algebraic data type: `List[A] { Cons(A, List[A]), Nil }`. */
export interface DataType {
  /** Unique among the data types of the program. */
  readonly name: string;
  readonly params: readonly string[];
  /** The ways to make a value of it. */
  readonly constructors: readonly DataConstructor[];
}

export interface DataConstructor {
  /** Unique among the constructors of the program. */
  readonly name: string;
  readonly tag: number;
  /** Types of its fields, in order. */
  readonly fields: readonly FullType[];
}

export interface NamedFunctionType {
  readonly name: string;
  /** Types of its parameters, in order. */
  readonly params: readonly FullType[];
  /** The type of what it gives: of several results a tuple. */
  readonly result: FullType;
}

/** Names are resolved once, at load; a primitive's name is that of an entry in `primitives`. */
export interface FunctionEntry {
  /** Where it is found: in the bytecode, among the primitives, or among packed functions. */
  readonly kind: 'bytecode' | 'primitive' | 'packed';
  readonly name: string;
}

/** An entry of the constant pool: a tensor, a shape, a text, an int, a float or a dtype. */
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
  /** True if the data section holds one element that stands for all. */
  readonly isSplat: boolean;
  /** For primitives that run on the host: lies there, not on the session's device. */
  readonly device?: 'host';
  /** Where its elements begin in the data section; a multiple of 256. */
  readonly byteOffset: number;
  /** Bytes of its elements in the data section. */
  readonly byteLength: number;
}

/** Stack code over the slots of a shape heap; see `docs/format.md`. */
export interface ShapeProgram {
  /** Steps in order; each pushes or pops numbers of a stack. */
  readonly steps: readonly ShapeStep[];
}

/**
 * One step: pushes a number or a slot, pops into a slot, or replaces two numbers by what an
 * operator makes of them.
 */
export type ShapeStep =
  | { readonly op: 'const'; readonly value: number }
  | { readonly op: 'load'; readonly slot: number }
  | { readonly op: 'store'; readonly slot: number }
  | { readonly op: DimOperator };
