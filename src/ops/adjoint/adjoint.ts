import type { Attributes } from '../../core/primitive-function.ts';
import type { OpDefinition } from '../define-op.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';

/** A call whose inputs get cotangents. */
export interface AdjointCall {
  /** Its operands; absent ones at the end are left out. */
  readonly inputs: readonly GraphTensor[];
  /** Its result. */
  readonly output: GraphTensor;
  /** Complete attributes. */
  readonly attributes: Attributes;
  /** The cotangent of the result, of the same type. */
  readonly cotangent: GraphTensor;
  /** Whether the cotangent of an input is wanted; others may be left out. */
  readonly wants: (input: number) => boolean;
  /** Builds the cotangents. */
  readonly graph: GraphBuilder;
  /** The adjoints of other operators, for rules that write a call out in them. */
  readonly lookup: AdjointLookup;
}

/** An operator of a name with its adjoint, if it has one. Throws UnsupportedError where there is none. */
export type AdjointLookup = (name: string) => {
  readonly op: Pick<OpDefinition, 'name' | 'attributes'>;
  readonly adjoint: Adjoint | undefined;
};

/** The cotangents of the inputs, each of the type of its input; undefined for zero. */
export type AdjointRule = (call: AdjointCall) => readonly (GraphTensor | undefined)[];

/**
 * The adjoint of an operator in other operators. `zero`: the derivative is zero almost everywhere.
 * `discrete`: the result has no derivative, since it is an integer, a bool or bits.
 */
export type Adjoint = AdjointRule | 'zero' | 'discrete';
