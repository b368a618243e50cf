import type { DType, TypedArray } from '../core/tensor/dtype.ts';
import type { DimContext } from '../core/dims/dim-context.ts';
import type { Dim } from '../core/dims/dim.ts';
import type {
  Attributes,
  AttributeValue,
  ConcreteTensorType,
  TensorTypeOf,
} from '../core/contracts/primitive-function.ts';
import type { Formula, FormulaCall } from './formula/expression.ts';
import type { IndexExpression, IntegerType } from './index-expression/expression.ts';
import type { Lowering, LoweringCall, Operands } from './lowering/lowering.ts';

/**
 * How an operator may be fused:
 * - `elementwise`: output element i depends on input elements i, after broadcasting;
 * - `injective`: each output element is one input element (or a constant), found by an index map;
 * - `reduction`, `anchor`: has its own kernel, takes elementwise consumers into it;
 * - `opaque`: never fused;
 * - `dynamic`: never fused; the size of the result depends on elements, so that it is known only when
 *   it has been computed. Runs on the host.
 */
export type OpKind = 'elementwise' | 'injective' | 'reduction' | 'anchor' | 'opaque' | 'dynamic';

export interface InputSpec {
  readonly name: string;
  /** Allowed types of its elements. */
  readonly dtypes: readonly DType[];
  /** May be absent; later inputs keep their position. */
  readonly optional?: boolean;
  /** Repeats, zero or more times; only the last input may. */
  readonly variadic?: boolean;
}

/** An input by name and types; it is there in each call, and once, unless said otherwise. */
export const tensor = (
  name: string,
  dtypes: readonly DType[],
  how: Pick<InputSpec, 'optional' | 'variadic'> = {},
): InputSpec => ({ name, dtypes, ...how });

export interface AttributeSpec {
  /** `dims`: integers that may be symbolic. */
  readonly type:
    | 'int'
    | 'ints'
    | 'dims'
    | 'float'
    | 'floats'
    | 'string'
    | 'strings'
    | 'bool'
    | 'dtype';
  /** Absent: the attribute is required. */
  readonly default?: AttributeValue;
  /** The least value, of each element for a list. */
  readonly minimum?: number;
  readonly length?: number;
  /** The only values allowed. */
  readonly oneOf?: readonly string[];
}

/** How far two results may be apart: `atol + rtol * |expected|`. */
export interface Tolerance {
  /** The part that is relative to the expected number. */
  readonly rtol: number;
  /** The part that does not depend on the expected number. */
  readonly atol: number;
}

/**
 * The function of an elementwise operator: a formula, of which WGSL is rendered and which the host
 * evaluates, or WGSL of its own, besides which its `StaticReference` computes an `element`.
 */
export type ScalarFunction = FormulaFunction | CodedFunction;

interface FormulaFunction {
  /** The formula in plain data, as the functions of `formula` make it. */
  readonly formula: Formula;
  /** As many additions take as long, about; default what its intrinsics say. */
  readonly cost?: number;
}

/** A scalar function in WGSL, for what no formula says. */
interface CodedFunction {
  /** Always absent: this function has no formula. */
  readonly formula?: undefined;
  /**
   * A WGSL expression over operand expressions. The operands have the type of their dtype or are
   * vec4 of it; the expression must be right for both:
   *
   * - `f32` for float32 and float16 (which `context.dtypes` calls float32: it is rounded where it is
   *   stored or converted to);
   * - `i32` for int8, int16 and int32, `u32` for uint8, uint16 and uint32, within the range of the
   *   dtype; a result beyond it wraps without further ado;
   * - `bool`;
   * - vec2<u32>, the low word first, for int64 and uint64. Such a call never has vectors: if an
   *   operand or the output is of these dtypes, the width is 1. `wideDeclarations` has functions of
   *   them.
   */
  wgsl(operands: readonly string[], context: ScalarContext): string;
  /** Module-scope WGSL declarations that the expression calls, by name; deduplicated by name. */
  readonly declarations?: (context: ScalarContext) => Readonly<Record<string, string>>;
  /** As many additions take as long, about; default 1, or very many where there are declarations. */
  readonly cost?: number;
}

/** Elements of the dtypes that scalar functions compute with. */
export type NumberArray = Exclude<TypedArray, BigInt64Array | BigUint64Array>;

export interface ScalarContext extends FormulaCall {
  /** 1, or 4 when operands are vectors. */
  readonly width: 1 | 4;
}

/**
 * Where an output element of an injective operator comes from: element i of the output is element i of
 * input 0, counted row-major (reshape), or what a map of coordinates says.
 */
type IndexMap = KeptOrder | CoordinateMap;

/** The facts about an index map that the compiler and the planner use. */
interface IndexMapFacts {
  /** The element where no source holds, as a number; default 0. */
  fill?(attributes: Attributes): number;
  /** Every element of the output is one of an input, and no input holds indices. */
  readonly movesOnly?: boolean;
  /** Axis i of the output is this axis of input 0, and nothing else changes (transpose). */
  permutation?(attributes: Attributes): readonly number[];
  /** The axis along which the output has the inputs one after the other, and that is all it does. */
  joinedAxis?(attributes: Attributes, rank: number): number;
}

/** The map of an operator that only changes shapes. */
export interface KeptOrder extends IndexMapFacts {
  /** Elements come out in the order of input 0. */
  readonly keepsOrder: true;
}

/** A map that says for coordinates of the output where they lie in an input. */
export interface CoordinateMap extends IndexMapFacts {
  /** Absent or false: such a map need not keep the order of the elements. */
  readonly keepsOrder?: false;
  /**
   * For the coordinates of an output element: which input it is an element of, at which coordinates,
   * under which condition. The first source whose `when` holds gives the element; a source without
   * `when` always holds. If none holds, `fill`. The expressions are data, as the functions of
   * `indexExpression` make it: each device makes code of its own of them.
   */
  sources(context: IndexMapContext): readonly IndexSource[];
}

/** The call that an index map is made for. */
export interface IndexCall {
  /** Complete attributes. */
  readonly attributes: Attributes;
  readonly inputs: readonly ConcreteTensorType[];
  readonly output: ConcreteTensorType;
}

/** A call with the nodes that its index map is made of. */
export interface IndexMapContext extends IndexCall {
  /** Coordinates of the output element, one for each axis. */
  readonly coords: readonly IndexExpression<'u32'>[];
  /**
   * A number that depends on shapes or attributes (a stride, a begin); it travels as a parameter so
   * that another shape compiles nothing.
   */
  readonly param: <T extends IntegerType>(value: number, type: T) => IndexExpression<T>;
  /**
   * An element of an integer input, at coordinates. int64 saturates, which no index notices: axes
   * are shorter than 2^31.
   */
  readonly integer: (
    input: number,
    coords: readonly IndexExpression<'u32'>[],
  ) => IndexExpression<'i32'>;
}

/** A place that an output element may come from. */
export interface IndexSource {
  readonly input: number;
  /** One per axis of that input. */
  readonly coords: readonly IndexExpression<'u32'>[];
  /**
   * The condition for this source. Absent: it gives every element that no source before it gives.
   */
  readonly when?: IndexExpression<'bool'> | undefined;
}

/** How what computes the inputs of an operator is fused into its kernels. */
export interface OpFusion {
  /**
   * How often its kernels load each element of an input, about. What is computed from others may then
   * be computed where it is loaded.
   */
  loads(input: number, call: Omit<LoweringCall, 'caps'>): number;
}

/** The use that an operator makes of its tensors' memory. */
interface OpStorage {
  /** The result takes more memory than the operands: what is large is not computed ahead of time. */
  readonly unpacks?: boolean;
  /**
   * Index of the input that the result is, but for some elements: it has the same type, and its memory may become
   * that of the result. Kernels of `lower` find it there, and read it nowhere else; references and kernels in
   * WebAssembly copy it unless it lies there. For `anchor`.
   */
  readonly overwrites?: number;
}

/**
 * The part of an operator that every device and the compiler has: its types, its kernels, how exact they
 * are. What computes on the host and what tests it are an `OpReference` and `OpCases` of
 * the same name.
 */
export interface OpDefinition<Name extends string = string> {
  /** The name by which programs call it. */
  readonly name: Name;
  /** How it may be fused. */
  readonly kind: OpKind;
  /** Its inputs, in order. */
  readonly inputs: readonly InputSpec[];
  /** Its attributes, by name. */
  readonly attributes: Readonly<Record<string, AttributeSpec>>;
  /**
   * The type of the result, for numbers and for symbols. Throws ShapeError. Attributes are complete
   * (defaults filled in).
   */
  infer<D extends Dim>(
    inputs: Operands<TensorTypeOf<D>>,
    attributes: Attributes,
    dims: DimContext<D>,
  ): TensorTypeOf<D>;
  /** Its effect on memory. */
  readonly storage?: OpStorage;
  /** The function of an operator of the kind `elementwise`. */
  readonly scalar?: ScalarFunction;
  /** The index map of an operator of the kind `injective`. */
  readonly indexMap?: IndexMap;
  /** For `reduction` and `anchor`. Absent: its inputs have to be in memory. */
  readonly fusion?: OpFusion;
  /**
   * For `reduction` and `anchor`: kernels by adapter class. `'core'`: those that Weft has for its operator of this
   * name, which come with the WebGPU device.
   */
  readonly lower?: Lowering | 'core';
  /**
   * Why the operator runs on the host only, in words that follow "because": its result depends on
   * the order of data, say. Absent for operators that have kernels.
   */
  readonly hostOnlyBecause?: string;
  /** How far results of kernels may be from the reference's, and those of variants from each other. */
  readonly tolerance: Tolerance;
}

/** The entry, which takes all floats that it takes float32 for. Tests check its consistency. */
export function defineOp<const Name extends string>(
  definition: OpDefinition<Name>,
): OpDefinition<Name> {
  return { ...definition, inputs: definition.inputs.map(withHalves) };
}

/**
 * Whatever takes float32 takes float16 too, for which kernels and references compute in float32,
 * and so does the host for bfloat16.
 */
function withHalves(spec: InputSpec): InputSpec {
  const { dtypes } = spec;
  if (!dtypes.includes('float32') || dtypes.includes('float16')) return spec;
  const added = dtypes.flatMap((dtype): DType[] =>
    dtype === 'float32' ? [dtype, 'float16', 'bfloat16'] : [dtype],
  );
  return { ...spec, dtypes: added };
}
