import * as ir from '../../compiler/ir/build.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import { AS_ANY } from '../../compiler/ir/operators/scalar-operators.ts';
import {
  type AdtTypeNode,
  ANY_TYPE,
  sameType,
  tensorType,
  type Type,
  type TypeVarNode,
} from '../../compiler/ir/type.ts';
import type { Dim } from '../../core/dims/dim.ts';

/**
 * A sequence of which the importer knows the elements, or an optional value of which it knows whether there is
 * one. Others are values of the data types `List` and `Option` that the running program has.
 */
export type Composite = KnownSequence | KnownOptional;

export interface KnownSequence {
  readonly kind: 'sequence';
  readonly elements: readonly Expr[];
  /** The type that the model gives elements where there are none. */
  readonly element: Type;
}

interface KnownOptional {
  readonly kind: 'optional';
  /** Undefined where there is none. */
  readonly element: Expr | undefined;
  /** Its type where there is none. */
  readonly type: Type;
}

/** Composite values, by the expressions that stand for them. */
export type Composites = WeakMap<Expr, Composite>;

/** A type of which nothing is known yet: that of elements of an empty sequence. */
export const OPEN_TYPE: TypeVarNode = { kind: 'type-var', name: '?' };

export function listType(element: Type): AdtTypeNode {
  return { kind: 'adt', name: 'List', args: [element] };
}

export function optionType(element: Type): AdtTypeNode {
  return { kind: 'adt', name: 'Option', args: [element] };
}

/** The type as an element of data: symbols have no meaning there. */
export function elementTypeOf(type: Type): Type {
  if (type.kind !== 'tensor') return type;
  const shape = type.shape.map((dim): Dim => (typeof dim === 'number' ? dim : '?'));
  return tensorType({ dtype: type.dtype, shape });
}

/** The type of values of two types, `any` where these are of different ranks. */
export function joinTypes(a: Type, b: Type): Type {
  if (a === OPEN_TYPE || sameType(a, b)) return b;
  if (b === OPEN_TYPE) return a;
  if (a.kind === 'adt' && b.kind === 'adt' && a.name === b.name) {
    const args = a.args.map((arg, i) => joinTypes(arg, b.args[i] ?? arg));
    return { kind: 'adt', name: a.name, args };
  }
  if (a.kind !== 'tensor' || b.kind !== 'tensor' || a.dtype !== b.dtype) return ANY_TYPE;
  if (a.shape.length !== b.shape.length) return ANY_TYPE;
  const shape = a.shape.map((dim, axis) => (dim === b.shape[axis] ? dim : '?'));
  return tensorType({ dtype: a.dtype, shape });
}

export function isOpen(type: Type): boolean {
  return type === OPEN_TYPE || (type.kind === 'adt' && type.args.some(isOpen));
}

/** The type with `any` for what nothing tells. */
export function closedType(type: Type): Type {
  if (type === OPEN_TYPE) return ANY_TYPE;
  return type.kind === 'adt' ? { ...type, args: type.args.map(closedType) } : type;
}

/** The type that a value has as data, in which parts may be {@link OPEN_TYPE}. */
export function dataTypeOf(value: Expr, source: CompositeSource): Type {
  const composite = source.composites.get(value);
  if (composite === undefined) return elementTypeOf(source.typeOf(value));
  const own = (expr: Expr): Type => dataTypeOf(expr, source);
  if (composite.kind === 'sequence') {
    return listType(composite.elements.map(own).reduce(joinTypes, composite.element));
  }
  const { element, type } = composite;
  return optionType(element === undefined ? type : own(element));
}

/** Composites, types and tensors of values while a model is imported. */
export interface CompositeSource {
  readonly composites: Composites;
  /** The type of a value that is no known composite. */
  typeOf(value: Expr): Type;
  tensor(value: Expr): Expr;
}

/** A value as data of a type into which its own fits. */
export function asData(value: Expr, type: Type, source: CompositeSource): Expr {
  const composite = source.composites.get(value);
  if (composite === undefined) {
    return widened(source.tensor(value), elementTypeOf(source.typeOf(value)), type);
  }
  const [element = ANY_TYPE] = type.kind === 'adt' ? type.args : [];
  if (type.kind !== 'adt') {
    const own = closedType(dataTypeOf(value, source));
    return ir.call(AS_ANY, [asData(value, own, source)]);
  }
  const field = (expr: Expr): Expr => asData(expr, element, source);
  const data =
    composite.kind === 'sequence'
      ? composite.elements.reduceRight(
          (rest, each) => ir.construct('Cons', [field(each), rest]),
          ir.construct('Nil', []),
        )
      : composite.element === undefined
        ? ir.construct('None', [])
        : ir.construct('Some', [field(composite.element)]);
  return typed(data, type);
}

/** The expression where its type is written. */
export function typed(value: Expr, type: Type): Expr {
  const variable = ir.variableOf('data', type);
  return ir.letIn(variable, value, variable);
}

/** Data of a type as data of a wider one: `?` for sizes fits by itself, `any` does not. */
export function widened(value: Expr, from: Type, to: Type): Expr {
  if (to.kind === 'scalar') return from.kind === 'scalar' ? value : ir.call(AS_ANY, [value]);
  if (!hasAny(to) || sameType(from, to)) return to.kind === 'adt' ? typed(value, to) : value;
  const [inner = ANY_TYPE] = from.kind === 'adt' ? from.args : [];
  const [outer = ANY_TYPE] = to.kind === 'adt' ? to.args : [];
  const item = ir.variableOf('item', inner);
  const changed = widened(item, inner, outer);
  if (to.kind === 'adt' && to.name === 'List') {
    return typed(ir.callFunction(ir.global('map'), [ir.func([item], changed), value]), to);
  }
  const some = ir.constructorPattern('Some', [item]);
  const clauses = [
    [some, ir.construct('Some', [changed])],
    [ir.constructorPattern('None', []), ir.construct('None', [])],
  ] as const;
  return typed(ir.match(value, clauses), to);
}

/** Returns true for `any`, and for types with parts of that type. */
export function hasAny(type: Type): boolean {
  return type.kind === 'scalar' || (type.kind === 'adt' && type.args.some(hasAny));
}
