import {
  type Type,
  type TypeDefinition,
  tensorType,
  type TensorTypeNode,
} from '../../compiler/ir/type.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { describe } from '../../core/check-options.ts';
import { ALL_DTYPES, type DType } from '../../core/tensor/dtype.ts';
import { formatShape } from '../../core/tensor/element-count.ts';
import { ShapeError } from '../../core/errors.ts';

/** Fields of a constructor by name: types of arrays, data, or objects and arrays of such. */
export type FieldSpecs = { readonly [name: string]: Spec };

export type ConstructorSpecs = { readonly [constructor: string]: FieldSpecs };

/** An algebraic data type, as a type of parameters, results and fields. */
export interface DataSpec<C extends ConstructorSpecs = ConstructorSpecs> {
  readonly kind: 'data';
  readonly name: string;
  /** @internal */
  readonly definition: TypeDefinition;
  readonly constructors: C;
}

/** The data type that is being declared, as a type of its own fields. */
export interface SelfSpec {
  readonly kind: 'self';
}

/** The type of a value: of an array, of data, or objects and arrays of such. */
export type Spec =
  | ArraySpec
  | DataSpec
  | SelfSpec
  | readonly Spec[]
  | { readonly [name: string]: Spec };

/** The type of a value that is no tree of others. */
export type LeafSpec = ArraySpec | DataSpec;

export function isLeafSpec(value: unknown): value is LeafSpec {
  return isArraySpec(value) || isDataSpec(value);
}

function isDataSpec(value: unknown): value is DataSpec {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'data';
}

export function typeOfLeaf(spec: LeafSpec): Type {
  if (spec.kind === 'array') return typeOfSpec(spec);
  return { kind: 'adt', name: spec.name, args: [] };
}

/** The type of an array: its dtype, and its sizes, which may be names. */
export interface ArraySpec<D extends DType = DType> {
  /** Tells specs apart. */
  readonly kind: 'array';
  /** The dtype of its elements. */
  readonly dtype: D;
  /** Its sizes, the outermost first: numbers, names such as `'n'`, or arithmetic over them. */
  readonly shape: readonly Dim[];
}

/** Makes the type of an array of one dtype: `f32('n', 4)` has n rows of 4 float32. */
type SpecOf<D extends DType> = (...shape: readonly Dim[]) => ArraySpec<D>;

const NAME = /^[A-Za-z_]\w*$/;

function specOf<const D extends DType>(dtype: D): SpecOf<D> {
  return (...shape) => {
    const isGood = shape.every((dim) =>
      typeof dim === 'number' ? Number.isSafeInteger(dim) && dim >= 0 : isSymbolic(dim),
    );
    if (isGood) return { kind: 'array', dtype, shape };
    throw new ShapeError({
      where: `the type of an array of ${dtype}`,
      got: formatShape(shape.map((dim) => (typeof dim === 'object' ? describe(dim) : dim))),
      expected: 'sizes from 0 up, or names such as "n"',
    });
  };
}

function isSymbolic(dim: Dim): boolean {
  if (typeof dim === 'string') return dim === '?' || NAME.test(dim);
  return typeof dim === 'object' && dim !== null && 'op' in dim;
}

/** Arrays of float32. */
export const f32: SpecOf<'float32'> = /* @__PURE__ */ specOf('float32');
/** Arrays of float64; they run on the host. */
export const f64: SpecOf<'float64'> = /* @__PURE__ */ specOf('float64');
/** Arrays of float16. */
export const f16: SpecOf<'float16'> = /* @__PURE__ */ specOf('float16');
/** Arrays of bfloat16; they run on the host. */
export const bf16: SpecOf<'bfloat16'> = /* @__PURE__ */ specOf('bfloat16');
/** Arrays of int8. */
export const i8: SpecOf<'int8'> = /* @__PURE__ */ specOf('int8');
/** Arrays of int16. */
export const i16: SpecOf<'int16'> = /* @__PURE__ */ specOf('int16');
/** Arrays of int32. */
export const i32: SpecOf<'int32'> = /* @__PURE__ */ specOf('int32');
/** Arrays of int64, in JavaScript bigints. */
export const i64: SpecOf<'int64'> = /* @__PURE__ */ specOf('int64');
/** Arrays of uint8. */
export const u8: SpecOf<'uint8'> = /* @__PURE__ */ specOf('uint8');
/** Arrays of uint16. */
export const u16: SpecOf<'uint16'> = /* @__PURE__ */ specOf('uint16');
/** Arrays of uint32. */
export const u32: SpecOf<'uint32'> = /* @__PURE__ */ specOf('uint32');
/** Arrays of uint64, in JavaScript bigints. */
export const u64: SpecOf<'uint64'> = /* @__PURE__ */ specOf('uint64');
/** Arrays of true and false. */
export const bool: SpecOf<'bool'> = /* @__PURE__ */ specOf('bool');

function typeOfSpec({ dtype, shape }: ArraySpec): TensorTypeNode {
  return tensorType({ dtype, shape });
}

function isArraySpec(value: unknown): value is ArraySpec {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, dtype } = value as Partial<ArraySpec>;
  return kind === 'array' && ALL_DTYPES.some((known) => known === dtype);
}
