import { sameDim } from '../../core/dims/dim-symbols.ts';
import { UsageError } from '../../core/errors.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import { formatShape } from '../../core/tensor/shape.ts';

/** The type of an expression. Dimensions of tensors may be symbolic. */
export type Type =
  | TensorTypeNode
  | TupleTypeNode
  | FunctionTypeNode
  | AdtTypeNode
  | TypeVarNode
  | ScalarTypeNode;

export interface TensorTypeNode extends TensorType {
  readonly kind: 'tensor';
}

export interface TupleTypeNode {
  readonly kind: 'tuple';
  /** Types of its fields, in order. */
  readonly fields: readonly Type[];
}

export interface FunctionTypeNode {
  readonly kind: 'function';
  /** Bound in `params` and `result`; absent for a function that is not polymorphic. */
  readonly typeParams?: readonly string[];
  /** Types of its parameters, in order. */
  readonly params: readonly Type[];
  /** The type of what it gives. */
  readonly result: Type;
}

/** An algebraic data type of the module, applied: `List[Tensor[(4,), float32]]`. */
export interface AdtTypeNode {
  readonly kind: 'adt';
  readonly name: string;
  /** The types that the definition's type parameters stand for. */
  readonly args: readonly Type[];
}

/** A type parameter of the function or type definition around it. */
export interface TypeVarNode {
  readonly kind: 'type-var';
  readonly name: string;
}

/**
 * A value of the host: an integer, a number with a fraction, a list of integers, memory that tensors are put into, or the sizes
 * that a function works with. `any` is a value of a type that only the running program knows, and `Opaque[name]` an
 * object of JavaScript that the program hands on.
 */
export interface ScalarTypeNode {
  readonly kind: 'scalar';
  /** Which of these it is. */
  readonly scalar: 'int' | 'float' | 'shape' | 'storage' | 'shape_heap' | 'any' | OpaqueTypeName;
}

/** `Opaque[database]`; the name has letters, digits, `_`, and dots before a letter. */
type OpaqueTypeName = `Opaque[${string}]`;

const OPAQUE = /^Opaque\[([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\]$/;

export function isOpaqueTypeName(text: unknown): text is OpaqueTypeName {
  return typeof text === 'string' && OPAQUE.test(text);
}

/** The name in the type of an opaque value; undefined for other types. */
export function opaqueNameOf({ scalar }: ScalarTypeNode): string | undefined {
  return OPAQUE.exec(scalar)?.[1];
}

/** The type of objects of JavaScript of that name. Throws UsageError for a name that texts cannot write. */
export function opaqueType(name: string): ScalarTypeNode {
  const scalar: OpaqueTypeName = `Opaque[${name}]`;
  if (isOpaqueTypeName(scalar)) return { kind: 'scalar', scalar };
  const expected = 'letters, digits, _, and dots before a letter';
  throw new UsageError({ where: 'opaqueType', got: JSON.stringify(name), expected });
}

/** Types are walked by recursion, so that deeper ones are refused. */
export const MAX_TYPE_DEPTH = 500;

/** Levels of types by identity: a type that is shared is measured once. */
const depths = new WeakMap<Type, number>();

/** Levels of a type, 1 for a tensor. */
export function depthOfType(root: Type): number {
  const stack = [root];
  for (let type = stack.at(-1); type !== undefined; type = stack.at(-1)) {
    const unknown = partsOfType(type).filter((part) => !depths.has(part));
    for (const part of unknown) stack.push(part);
    if (unknown.length > 0) continue;
    stack.pop();
    const below = partsOfType(type).map((part) => depths.get(part) ?? 0);
    depths.set(type, below.reduce((deepest, depth) => Math.max(deepest, depth), 0) + 1);
  }
  return depths.get(root) ?? 0;
}

export function partsOfType(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'tuple':
      return type.fields;
    case 'function':
      return [...type.params, type.result];
    case 'adt':
      return type.args;
    default:
      return [];
  }
}

/** `type List[A] { Cons(A, List[A]), Nil }` */
export interface TypeDefinition {
  /** Unique among the types of a module. */
  readonly name: string;
  readonly params: readonly string[];
  /** Its constructors, in order. */
  readonly constructors: readonly ConstructorDefinition[];
}

/** One way to make a value of an algebraic data type. */
export interface ConstructorDefinition {
  /** Unique among the constructors of a module. */
  readonly name: string;
  /** Types of its fields, in order. */
  readonly fields: readonly Type[];
  /** The number that stands for it in values; absent before `allocate-adt-tags`. */
  readonly tag?: number | undefined;
}

export const INT_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'int' };
/** The type of a number of the host with a fraction, of double precision. */
export const FLOAT_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'float' };
export const SHAPE_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'shape' };
/** The type of a call that gives nothing: the empty tuple. */
export const UNIT_TYPE: TupleTypeNode = { kind: 'tuple', fields: [] };
export const SHAPE_HEAP_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'shape_heap' };
export const STORAGE_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'storage' };
export const ANY_TYPE: ScalarTypeNode = { kind: 'scalar', scalar: 'any' };

export function tensorType({ dtype, shape }: TensorType): TensorTypeNode {
  return { kind: 'tensor', dtype, shape };
}

/** A type with others in the place of its parts; the same object when none differs. */
export function withParts(type: Type, change: (part: Type) => Type): Type {
  const changed = (parts: readonly Type[]): readonly Type[] => {
    const results = parts.map(change);
    return results.every((part, i) => part === parts[i]) ? parts : results;
  };
  switch (type.kind) {
    case 'tuple': {
      const fields = changed(type.fields);
      return fields === type.fields ? type : { ...type, fields };
    }
    case 'adt': {
      const args = changed(type.args);
      return args === type.args ? type : { ...type, args };
    }
    case 'function': {
      const params = changed(type.params);
      const result = change(type.result);
      return params === type.params && result === type.result ? type : { ...type, params, result };
    }
    case 'tensor':
    case 'type-var':
    case 'scalar':
      return type;
    default:
      return type satisfies never;
  }
}

/** `Tensor[(1, n), float32]`, `(A, B)`, `fn (A) -> B`: as Relay prints types. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'tensor':
      return `Tensor[${formatShape(type.shape.map(formatDim))}, ${type.dtype}]`;
    case 'tuple': {
      const fields = type.fields.map(formatType);
      return fields.length === 1 ? `(${fields[0]},)` : `(${fields.join(', ')})`;
    }
    case 'function': {
      const { typeParams = [], params, result } = type;
      const binder = typeParams.length === 0 ? '' : `<${typeParams.join(', ')}>`;
      return `fn${binder} (${params.map(formatType).join(', ')}) -> ${formatType(result)}`;
    }
    case 'adt':
      return type.args.length === 0
        ? type.name
        : `${type.name}[${type.args.map(formatType).join(', ')}]`;
    case 'type-var':
      return type.name;
    case 'scalar':
      return type.scalar;
    default:
      return type satisfies never;
  }
}

/**
 * Returns true if two types are the same. Dimensions are compared as they are written; the names of
 * the type parameters of functions do not matter.
 */
export function sameType(a: Type, b: Type): boolean {
  return sameTypeUnder(a, b, NO_RENAMING);
}

/** Type parameters of `a` that are bound at this place, with their names in `b`. */
type Renaming = ReadonlyMap<string, string>;

const NO_RENAMING: Renaming = new Map();

function sameTypeUnder(a: Type, b: Type, names: Renaming): boolean {
  switch (a.kind) {
    case 'tensor':
      return (
        b.kind === 'tensor' &&
        a.dtype === b.dtype &&
        a.shape.length === b.shape.length &&
        a.shape.every((dim, axis) => sameDim(dim, b.shape[axis] ?? -1))
      );
    case 'tuple':
      return b.kind === 'tuple' && sameTypes(a.fields, b.fields, names);
    case 'function':
      return b.kind === 'function' && sameFunctionType(a, b, names);
    case 'adt':
      return b.kind === 'adt' && a.name === b.name && sameTypes(a.args, b.args, names);
    case 'type-var': {
      if (b.kind !== 'type-var') return false;
      const renamed = names.get(a.name);
      if (renamed !== undefined) return renamed === b.name;
      return a.name === b.name && ![...names.values()].includes(b.name);
    }
    case 'scalar':
      return b.kind === 'scalar' && a.scalar === b.scalar;
    default:
      return a satisfies never;
  }
}

function sameFunctionType(a: FunctionTypeNode, b: FunctionTypeNode, names: Renaming): boolean {
  const { typeParams: params = [] } = a;
  const { typeParams: others = [] } = b;
  if (params.length !== others.length) return false;
  const inner =
    params.length === 0
      ? names
      : new Map([...names, ...params.map((name, i) => [name, others[i] ?? name] as const)]);
  return sameTypes(a.params, b.params, inner) && sameTypeUnder(a.result, b.result, inner);
}

function sameTypes(a: readonly Type[], b: readonly Type[], names: Renaming): boolean {
  return (
    a.length === b.length &&
    a.every((type, i) => {
      const other = b[i];
      return other !== undefined && sameTypeUnder(type, other, names);
    })
  );
}

/** Returns true for a dimension with a name; `?` is none. */
export function isSymbol(dim: Dim): dim is string {
  return typeof dim === 'string' && dim !== '?';
}
