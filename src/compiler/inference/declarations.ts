import type { Dim } from '../../core/dims/dim.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import type { FunctionExpr } from '../ir/expr.ts';
import {
  type ConstructorDefinition,
  formatType,
  isSymbol,
  type FunctionTypeNode,
  type TensorTypeNode,
  type Type,
  type TypeDefinition,
} from '../ir/type.ts';

/** The definitions behind the names of a module: its data types, constructors and global functions. */
export interface Declared {
  readonly functions: ReadonlyMap<string, FunctionExpr>;
  readonly types: ReadonlyMap<string, TypeDefinition>;
}

export interface DeclaredConstructor {
  readonly definition: TypeDefinition;
  readonly constructor: ConstructorDefinition;
  /** The constructor as a function: `fn<A>(A, List[A]) -> List[A]`. */
  readonly type: FunctionTypeNode;
}

export function constructorsOf(
  types: ReadonlyMap<string, TypeDefinition>,
): ReadonlyMap<string, DeclaredConstructor> {
  const constructors = new Map<string, DeclaredConstructor>();
  for (const definition of types.values()) {
    const args = definition.params.map((name): Type => ({ kind: 'type-var', name }));
    const result: Type = { kind: 'adt', name: definition.name, args };
    for (const constructor of definition.constructors) {
      const { name, fields: params } = constructor;
      const binder = definition.params.length === 0 ? {} : { typeParams: definition.params };
      const type: FunctionTypeNode = { kind: 'function', ...binder, params, result };
      constructors.set(name, { definition, constructor, type });
    }
  }
  return constructors;
}

interface TypeFault {
  readonly got: string;
  readonly expected: string;
}

export const DIVISION_BY_ZERO: TypeFault = {
  got: 'a dimension that divides by 0',
  expected: 'a divisor other than 0',
};

const negativeSize = (type: TensorTypeNode): TypeFault => ({
  got: formatType(type),
  expected: 'sizes from 0 up',
});

interface TypeScope {
  readonly types: ReadonlyMap<string, TypeDefinition>;
  readonly typeParams: ReadonlySet<string>;
  /** Symbols that may stand in the type; undefined: all. */
  readonly symbols?: ReadonlySet<string> | undefined;
}

/** The fault of a type as it is written; undefined when it is well-formed. */
export function typeFault(type: Type, scope: TypeScope): TypeFault | undefined {
  switch (type.kind) {
    case 'tensor':
      if (type.shape.some(dividesByZero)) return DIVISION_BY_ZERO;
      if (type.shape.some((dim) => typeof dim === 'number' && dim < 0)) return negativeSize(type);
      return scope.symbols === undefined ? undefined : symbolFault(type.shape, scope.symbols);
    case 'tuple':
      return firstFault(type.fields, scope);
    case 'function': {
      if (type.typeParams !== undefined && type.typeParams.length > 0) {
        return {
          got: 'the type of a polymorphic function',
          expected: 'types without parameters of their own: only globals and let are polymorphic',
        };
      }
      // A function type binds the symbols of its parameters.
      return firstFault([...type.params, type.result], { ...scope, symbols: undefined });
    }
    case 'adt': {
      const definition = scope.types.get(type.name);
      if (definition === undefined) {
        return { got: `the type ${type.name}`, expected: 'a type that the module defines' };
      }
      if (definition.params.length !== type.args.length) {
        const count = definition.params.length;
        return {
          got: `${type.args.length} type arguments of ${type.name}`,
          expected: String(count),
        };
      }
      return firstFault(type.args, scope);
    }
    case 'type-var':
      return scope.typeParams.has(type.name)
        ? undefined
        : { got: `the type ${type.name}`, expected: 'a type parameter of a function around it' };
    case 'scalar':
      return undefined;
    default:
      return type satisfies never;
  }
}

function firstFault(types: readonly Type[], scope: TypeScope): TypeFault | undefined {
  for (const type of types) {
    const fault = typeFault(type, scope);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function symbolFault(shape: readonly Dim[], symbols: ReadonlySet<string>): TypeFault | undefined {
  let unknown: string | undefined;
  for (const dim of shape) {
    forEachSymbol(dim, (symbol) => {
      if (!symbols.has(symbol)) unknown ??= symbol;
    });
  }
  if (unknown === undefined) return undefined;
  return {
    got: `the dimension ${unknown}`,
    expected: 'a symbol that a parameter or variable has as a dimension, or ?',
  };
}

/** Symbols that stand by themselves as a dimension of a parameter, so that an argument tells them. */
export function plainSymbols(types: readonly Type[]): Set<string> {
  const symbols = new Set<string>();
  const visit = (type: Type): void => {
    if (type.kind === 'tensor') {
      for (const dim of type.shape) if (isSymbol(dim)) symbols.add(dim);
    } else if (type.kind === 'tuple') type.fields.forEach(visit);
    else if (type.kind === 'adt') type.args.forEach(visit);
  };
  types.forEach(visit);
  return symbols;
}

/** Symbols that stand by themselves in tensors and tuples of them, where a value tells them. */
export function tensorSymbols(type: Type): Set<string> {
  if (type.kind === 'tensor') return plainSymbols([type]);
  if (type.kind !== 'tuple') return new Set();
  return new Set(type.fields.flatMap((field) => [...tensorSymbols(field)]));
}

export function isPolymorphic(type: Type): boolean {
  return type.kind === 'function' && (type.typeParams?.length ?? 0) > 0;
}

/** Returns true if a dimension divides by the number 0, in any part of it. */
export function dividesByZero(dim: Dim): boolean {
  if (typeof dim !== 'object') return false;
  const isDivision = dim.op === 'floordiv' || dim.op === 'mod';
  return (isDivision && dim.right === 0) || dividesByZero(dim.left) || dividesByZero(dim.right);
}
