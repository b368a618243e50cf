import { forEachSymbol, substituteDim } from '../../core/dims/dim-symbols.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { CompileLimitError } from '../../core/errors.ts';
import { countWork } from '../../core/limits/work-meter.ts';
import { isOpaqueTypeName, MAX_TYPE_DEPTH, type ScalarTypeNode, type Type } from './type.ts';

/**
 * A type during inference: one with metavariables, uniform enough to be unified by few rules.
 * Metavariables of dimensions are symbols that start with `#`, which no program can write.
 */
export type Term = MetaTerm | TensorTerm | AppliedTerm;

/** An unknown type. `binding` is what it was found to be. */
export interface MetaTerm {
  readonly kind: 'meta';
  binding: Term | undefined;
}

export interface TensorTerm {
  readonly kind: 'tensor';
  readonly dtype: DType;
  readonly shape: readonly Dim[];
}

/** A type constructor applied. The arguments of a function are its parameters and its result. */
export interface AppliedTerm {
  readonly kind: 'applied';
  readonly head: Head;
  /** The name of a data type or type parameter, or which scalar. */
  readonly name: string;
  readonly args: readonly Term[];
  /** Type parameters that a polymorphic function binds. */
  readonly typeParams: readonly string[];
  /** How deep it is as a tree, and how many parts that has, as far as was known when it was made. */
  readonly depth: number;
  readonly parts: number;
}

/** `error` stands for what has been complained of, and fits everything. */
type Head = 'tuple' | 'function' | 'adt' | 'type-var' | 'scalar' | 'error';

export const ERROR_TERM: AppliedTerm = applied('error', '', []);

export function applied(head: Head, name: string, args: readonly Term[]): AppliedTerm {
  let [depth, parts] = [0, 1];
  for (const arg of args) {
    const resolved = resolve(arg);
    if (resolved.kind === 'applied') depth = Math.max(depth, resolved.depth);
    parts += resolved.kind === 'applied' ? resolved.parts : 1;
  }
  return { kind: 'applied', head, name, args, typeParams: [], depth: depth + 1, parts };
}

export function functionTerm(
  params: readonly Term[],
  result: Term,
  typeParams: readonly string[] = [],
): AppliedTerm {
  return { ...applied('function', '', [...params, result]), typeParams };
}

export function freshMeta(): MetaTerm {
  return { kind: 'meta', binding: undefined };
}

/** The term without the metavariables that lead to it. */
export function resolve(term: Term): Term {
  let current = term;
  while (current.kind === 'meta' && current.binding !== undefined) current = current.binding;
  return current;
}

export function isError(term: Term): boolean {
  const resolved = resolve(term);
  return resolved.kind === 'applied' && resolved.head === 'error';
}

/** More is the size of a type that doubles, as `(a, a)` of `(a, a)` does. */
const MAX_TYPE_PARTS = 100_000;

/** Throws CompileLimitError if a term is known to be too large to be written. */
export function requireFewParts({ parts }: { readonly parts: number }, where: () => string): void {
  if (parts <= MAX_TYPE_PARTS) return;
  throw new CompileLimitError({
    where: where(),
    got: `a type of more than ${MAX_TYPE_PARTS} parts`,
    expected: 'fewer',
    remedy: 'Put what repeats into an algebraic data type.',
  });
}

/** Throws CompileLimitError for one of more than {@link MAX_TYPE_DEPTH} levels. */
export function termOf(type: Type): Term {
  return termAt(type, 1);
}

function termAt(type: Type, depth: number): Term {
  countWork();
  if (depth > MAX_TYPE_DEPTH) {
    throw new CompileLimitError({
      where: 'type',
      got: `more than ${MAX_TYPE_DEPTH} levels`,
      expected: 'fewer',
    });
  }
  const inner = (part: Type): Term => termAt(part, depth + 1);
  switch (type.kind) {
    case 'tensor':
      return { kind: 'tensor', dtype: type.dtype, shape: type.shape };
    case 'tuple':
      return applied('tuple', '', type.fields.map(inner));
    case 'function':
      return functionTerm(type.params.map(inner), inner(type.result), type.typeParams);
    case 'adt':
      return applied('adt', type.name, type.args.map(inner));
    case 'type-var':
      return applied('type-var', type.name, []);
    case 'scalar':
      return applied('scalar', type.scalar, []);
    default:
      return type satisfies never;
  }
}

interface TypeOfOptions {
  /** The type in place of an unbound metavariable. */
  readonly unknown: () => Type;
  /** A dimension without metavariables. */
  readonly dim: (dim: Dim) => Dim;
  /** Names the place in messages. */
  readonly where?: string | undefined;
}

/** The type that a term stands for. Throws CompileLimitError for one that is too large to be written. */
export function typeOfTerm(term: Term, options: TypeOfOptions): Type {
  return partOfType(term, { ...options, parts: 0 });
}

function partOfType(term: Term, options: TypeOfOptions & { parts: number }): Type {
  countWork();
  options.parts++;
  requireFewParts(options, () => options.where ?? 'type');
  const resolved = resolve(term);
  if (resolved.kind === 'meta') return options.unknown();
  if (resolved.kind === 'tensor') {
    const { dtype, shape } = resolved;
    return { kind: 'tensor', dtype, shape: shape.map(options.dim) };
  }
  const args = resolved.args.map((arg) => partOfType(arg, options));
  const { head, name, typeParams } = resolved;
  switch (head) {
    case 'tuple':
      return { kind: 'tuple', fields: args };
    case 'function': {
      const result = args.pop() ?? options.unknown();
      const binder = typeParams.length === 0 ? {} : { typeParams };
      return { kind: 'function', ...binder, params: args, result };
    }
    case 'adt':
      return { kind: 'adt', name, args };
    case 'type-var':
      return { kind: 'type-var', name };
    case 'scalar':
      return { kind: 'scalar', scalar: scalarName(name) };
    case 'error':
      return options.unknown();
    default:
      return head satisfies never;
  }
}

const SCALAR_NAMES: readonly ScalarTypeNode['scalar'][] = [
  'any',
  'float',
  'shape',
  'shape_heap',
  'storage',
];

function scalarName(name: string): ScalarTypeNode['scalar'] {
  if (isOpaqueTypeName(name)) return name;
  return SCALAR_NAMES.find((known) => known === name) ?? 'int';
}

/** The replacements of names in a substitution. A name that it does not know stays. */
export interface Substitution {
  readonly types: ReadonlyMap<string, Term>;
  readonly dims: ReadonlyMap<string, Dim>;
}

/** The term with type parameters and symbols replaced. Inner binders hide their names. */
export function substitute(term: Term, substitution: Substitution): Term {
  countWork();
  const { types, dims } = substitution;
  if (types.size === 0 && dims.size === 0) return term;
  const resolved = resolve(term);
  if (resolved.kind === 'meta') return resolved;
  if (resolved.kind === 'tensor') {
    if (dims.size === 0 || resolved.shape.every((dim) => typeof dim === 'number')) return resolved;
    return { ...resolved, shape: resolved.shape.map((dim) => substituteDim(dim, dims)) };
  }
  if (resolved.head === 'type-var') return types.get(resolved.name) ?? resolved;
  if (resolved.args.length === 0) return resolved;
  const hidden = resolved.typeParams.some((name) => types.has(name));
  const inner = hidden ? { types: without(types, resolved.typeParams), dims } : substitution;
  const { head, name, typeParams } = resolved;
  const args = resolved.args.map((arg) => substitute(arg, inner));
  return { ...applied(head, name, args), typeParams };
}

function without(
  types: ReadonlyMap<string, Term>,
  names: readonly string[],
): ReadonlyMap<string, Term> {
  return new Map([...types].filter(([name]) => !names.includes(name)));
}

/** The symbols in a term; those inside function types only if asked for. */
export function symbolsOfTerm(
  term: Term,
  { intoFunctions }: { intoFunctions: boolean },
  symbols: Set<string> = new Set(),
): Set<string> {
  countWork();
  const resolved = resolve(term);
  if (resolved.kind === 'tensor') {
    for (const dim of resolved.shape) forEachSymbol(dim, (symbol) => symbols.add(symbol));
  }
  if (resolved.kind === 'applied' && (intoFunctions || resolved.head !== 'function')) {
    for (const arg of resolved.args) symbolsOfTerm(arg, { intoFunctions }, symbols);
  }
  return symbols;
}
