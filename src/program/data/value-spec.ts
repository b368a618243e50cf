import type { Type, TypeDefinition } from '../../compiler/ir/type.ts';
import { type ArraySpec, isArraySpec, typeOfSpec } from './spec.ts';

/** Fields of a constructor by name: types of arrays, data, or objects and arrays of such. */
export type FieldSpecs = { readonly [name: string]: Spec };

/** Constructors by name. */
export type ConstructorSpecs = { readonly [constructor: string]: FieldSpecs };

/** An algebraic data type, as a type of parameters, results and fields. */
export interface DataSpec<C extends ConstructorSpecs = ConstructorSpecs> {
  /** Tells specs apart. */
  readonly kind: 'data';
  /** The name of the type. */
  readonly name: string;
  /** @internal */
  readonly definition: TypeDefinition;
  /** Its constructors by name, and their fields. */
  readonly constructors: C;
}

/** The data type that is being declared, as a type of its own fields. */
export interface SelfSpec {
  /** Tells specs apart. */
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

/** The type that the compiler has for a leaf. */
export function typeOfLeaf(spec: LeafSpec): Type {
  if (spec.kind === 'array') return typeOfSpec(spec);
  return { kind: 'adt', name: spec.name, args: [] };
}
