import { isUnknownDim } from '../../../../core/dims/dim-symbols.ts';
import { call, letIn, projection, tuple, variableOf } from '../../../ir/build.ts';
import type { Expr, MatchExpr, Pattern, VarExpr } from '../../../ir/expr.ts';
import type { AdtTypeNode, TensorTypeNode, Type } from '../../../ir/type.ts';

export type NewSize = () => string;

/** Names for sizes that are not among those that are taken. */
export function newNames(taken: ReadonlySet<string>): NewSize {
  let count = 0;
  return () => {
    while (taken.has(`s${count}`)) count++;
    return `s${count++}`;
  };
}

/** A value whose tensors have the sizes of a type, which are the same numbers. */
export function withSizes(value: Expr, type: Type, newSize: NewSize): Expr {
  if (type.kind === 'tensor') {
    if (!hasSizes(type)) return value;
    if (!type.shape.some(isUnknownDim)) return call('reshape', [value], { shape: type.shape });
    const own = type.shape.map(newSize);
    const named = variableOf('sized', { ...type, shape: own });
    const shape = type.shape.map((dim, axis) => (isUnknownDim(dim) ? (own[axis] ?? dim) : dim));
    return letIn(named, value, call('reshape', [named], { shape }));
  }
  if (type.kind !== 'tuple' || !hasSizes(type)) return value;
  const whole = variableOf('sized');
  const fields = type.fields.map((field, i) => withSizes(projection(whole, i), field, newSize));
  return letIn(whole, value, tuple(fields));
}

function hasSizes(type: Type): boolean {
  if (type.kind === 'tuple') return type.fields.some(hasSizes);
  return type.kind === 'tensor' && !type.shape.every(isUnknownDim);
}

/** The types of a part of what is matched: that of the source, and that of data that hold tensors of any size. */
export interface MatchedType {
  readonly source: Type;
  readonly held: Type;
}

interface HeldSizes {
  readonly newSize: NewSize;
  /** The types of the fields of a constructor of data. */
  readonly fields: (source: AdtTypeNode, held: AdtTypeNode, name: string) => readonly MatchedType[];
  /** The name of the constructor in the data as they are held. */
  readonly nameOf: (held: AdtTypeNode, name: string) => string;
}

/** A match over data that hold tensors of any size. What it binds has the sizes that it had in the source. */
export function withSizesOfSource(
  expr: MatchExpr,
  matched: MatchedType,
  context: HeldSizes,
): MatchExpr {
  const clauses = expr.clauses.map(({ pattern, body }) => {
    const sized: Sized[] = [];
    const own = rebound(pattern, matched, { ...context, sized });
    const whole = sized.reduceRight<Expr>(
      (rest, { variable, value }) => letIn(variable, value, rest),
      body,
    );
    return { pattern: own, body: whole };
  });
  return { ...expr, clauses };
}

interface Sized {
  readonly variable: VarExpr;
  readonly value: Expr;
}

function rebound(
  pattern: Pattern,
  { source, held }: MatchedType,
  to: HeldSizes & { readonly sized: Sized[] },
): Pattern {
  switch (pattern.kind) {
    case 'var-pattern': {
      const { variable } = pattern;
      const part = partWithSizes(variable, { source, held }, to.newSize);
      if (part === undefined) return pattern;
      to.sized.push({ variable, value: part.value });
      return { ...pattern, variable: part.held };
    }
    case 'tuple-pattern': {
      const fields = pattern.fields.map((field, i) => {
        const [own, kept] = [source, held].map((type) =>
          type.kind === 'tuple' ? type.fields[i] : undefined,
        );
        return own && kept ? rebound(field, { source: own, held: kept }, to) : field;
      });
      return { ...pattern, fields };
    }
    case 'constructor-pattern': {
      if (source.kind !== 'adt' || held.kind !== 'adt') return pattern;
      const types = to.fields(source, held, pattern.constructor);
      const fields = pattern.fields.map((field, i) => {
        const matched = types[i];
        return matched === undefined ? field : rebound(field, matched, to);
      });
      return { ...pattern, constructor: to.nameOf(held, pattern.constructor), fields };
    }
    case 'wildcard':
    case 'int-pattern':
    case 'float-pattern':
      return pattern;
    default:
      return pattern satisfies never;
  }
}

/** A variable as it is held, and its value with the sizes of the source; undefined where these are the same. */
function partWithSizes(
  variable: VarExpr,
  { source, held }: MatchedType,
  newSize: NewSize,
): { readonly held: VarExpr; readonly value: Expr } | undefined {
  const { name, type } = variable;
  if (source.kind === 'tensor' && held.kind === 'tensor' && type?.kind === 'tensor') {
    return tensorWithSizes(name, type, { source, held, newSize });
  }
  if (source.kind !== 'tuple' || !losesSizes(source, held)) return undefined;
  const own = variableOf(name, held);
  return { held: own, value: withSizes(own, source, newSize) };
}

/** Sizes that the source leaves open have the names that the pattern gives them. */
function tensorWithSizes(
  name: string,
  type: TensorTypeNode,
  { source, held, newSize }: { source: TensorTypeNode; held: TensorTypeNode; newSize: NewSize },
): { readonly held: VarExpr; readonly value: Expr } | undefined {
  if (!losesSizes(source, held)) return undefined;
  const isLost = type.shape.map((_, axis) => losesSize(source, held, axis));
  const shape = type.shape.map((dim, axis) =>
    isLost[axis] === true || isUnknownDim(dim) ? newSize() : dim,
  );
  const own = variableOf(name, { ...type, shape });
  const sizes = type.shape.map((dim, axis) =>
    isLost[axis] === true && !isUnknownDim(dim) ? dim : (shape[axis] ?? dim),
  );
  return { held: own, value: call('reshape', [own], { shape: sizes }) };
}

function losesSizes(source: Type, held: Type): boolean {
  if (source.kind === 'tuple' && held.kind === 'tuple') {
    return source.fields.some((field, i) => losesSizes(field, held.fields[i] ?? field));
  }
  if (source.kind !== 'tensor' || held.kind !== 'tensor') return false;
  return source.shape.some((_, axis) => losesSize(source, held, axis));
}

function losesSize(source: TensorTypeNode, held: TensorTypeNode, axis: number): boolean {
  const [dim = '?', kept = '?'] = [source.shape[axis], held.shape[axis]];
  return isUnknownDim(kept) && !isUnknownDim(dim);
}
