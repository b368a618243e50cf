import type { Dim } from '../../../core/dims/dim.ts';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import type { GraphTarget, GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { exprOf, ExprTensor } from '../../../compiler/inference/expr-tensor.ts';
import type { TypeInference } from '../../../compiler/inference/type-inference.ts';
import { call, constant, projection, tuple } from '../../../compiler/ir/build.ts';
import type { Expr, Span } from '../../../compiler/ir/expr.ts';
import { tensorType, type Type } from '../../../compiler/ir/type.ts';
import { tensorTypeOf } from '../../apply.ts';

/** Which tensors of a value have the mapped axis: one answer for all, or one for each field of a tuple. */
export type Flags = boolean | readonly Flags[];

/** The expression over the mapped axis, and which of its tensors have that axis. */
export interface MappedValue {
  readonly expr: Expr;
  readonly flags: Flags;
}

export interface MappedFunction {
  readonly name: string;
  /** Which tensors of each parameter have the mapped axis. */
  readonly params: readonly Flags[];
  readonly result: Flags;
  /** Of one that is being written, for it calls itself: what users know it as, and its depth. */
  readonly unfinished?: { readonly construct: string; readonly depth: number };
}

/** The places that a function is mapped over. */
export interface MappedPlaces {
  readonly size: Dim;
  /** In how many branches that some places take: their mask, bool[size], then comes before all parameters. */
  readonly depth: number;
}

export interface FunctionMapping {
  /** The function for what is mapped of its parameters; it may map more. */
  of(name: string, params: readonly Flags[], places: MappedPlaces): MappedFunction;
}

export function isAny(flags: Flags): boolean {
  return typeof flags === 'boolean' ? flags : flags.some(isAny);
}

export function fieldFlags(flags: Flags, index: number): Flags {
  return typeof flags === 'boolean' ? flags : (flags[index] ?? false);
}

export function eitherFlags(a: Flags, b: Flags): Flags {
  if (typeof a === 'boolean' && typeof b === 'boolean') return a || b;
  const count = Math.max(...[a, b].map((flags) => (typeof flags === 'boolean' ? 0 : flags.length)));
  return Array.from({ length: count }, (_, i) => eitherFlags(fieldFlags(a, i), fieldFlags(b, i)));
}

/** All tensors are mapped; data and numbers of the host never are. */
export function allMapped(type: Type): Flags {
  if (type.kind === 'tuple') return type.fields.map(allMapped);
  return type.kind === 'tensor';
}

export function mappedType(type: Type, flags: Flags, size: Dim): Type {
  if (type.kind === 'tuple') {
    const fields = type.fields.map((field, i) => mappedType(field, fieldFlags(flags, i), size));
    return { kind: 'tuple', fields };
  }
  if (type.kind !== 'tensor' || flags !== true) return type;
  return tensorType({ dtype: type.dtype, shape: [size, ...type.shape] });
}

/** Makes calls for a program that is being written down. */
export class ExprGraph implements GraphTarget {
  readonly #inference: TypeInference;
  readonly #span: Span | undefined;
  readonly builder: GraphBuilder = new GraphBuilder(this);

  constructor(inference: TypeInference, span: Span | undefined) {
    this.#inference = inference;
    this.#span = span;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): ExprTensor {
    return this.tensor(call(op, inputs.map(exprOf), attributes, this.#span));
  }

  constant(value: HostTensor): ExprTensor {
    return this.tensor(constant(value));
  }

  tensor(expr: Expr): ExprTensor {
    return new ExprTensor(expr, tensorTypeOf(this.#inference, expr));
  }

  /** A value with at least these tensors mapped: others are repeated. */
  raise(
    { expr, flags }: MappedValue,
    wanted: Flags,
    { type, size }: { type: Type; size: Dim },
  ): Expr {
    if (type.kind === 'tuple') {
      const isThere = type.fields.every(
        (_, i) => !isAny(fieldFlags(wanted, i)) || fieldFlags(flags, i) === true,
      );
      if (isThere) return expr;
      const fields = type.fields.map((field, i) =>
        this.raise({ expr: fieldOf(expr, i), flags: fieldFlags(flags, i) }, fieldFlags(wanted, i), {
          type: field,
          size,
        }),
      );
      return tuple(fields);
    }
    if (type.kind !== 'tensor' || wanted !== true || flags === true) return expr;
    const row = this.builder.reshape(this.tensor(expr), [1, ...type.shape]);
    return exprOf(this.builder.broadcastTo(row, [size, ...type.shape]));
  }
}

/** A field of a tuple, as it stands there. */
export function fieldOf(expr: Expr, index: number): Expr {
  const own = expr.kind === 'tuple' ? expr.fields[index] : undefined;
  return own ?? projection(expr, index);
}
