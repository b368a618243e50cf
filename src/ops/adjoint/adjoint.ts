import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { OpDefinition } from '../define-op.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';

/** A call whose inputs get cotangents. */
export interface AdjointCall {
  /** Its operands; absent ones at the end are left out. */
  readonly inputs: readonly GraphTensor[];
  readonly output: GraphTensor;
  /** Complete attributes. */
  readonly attributes: Attributes;
  /** The cotangent of the result, of the same type. */
  readonly cotangent: GraphTensor;
  /** Returns true for an input whose cotangent is wanted; others may be left out. */
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
export interface AdjointRule {
  (call: AdjointCall): readonly (GraphTensor | undefined)[];
  /** For an operator over steps: how its calls are halved, where the number of steps is a symbol. */
  readonly halving?: Halving;
}

/**
 * The adjoint of an operator in other operators. `zero`: the derivative is zero almost everywhere.
 * `discrete`: the result has no derivative, since it is an integer, a bool or bits.
 */
export type Adjoint = AdjointRule | 'zero' | 'discrete';

/** A call, to be written in other operators. */
export type ExpandedCall = Pick<AdjointCall, 'inputs' | 'output' | 'attributes' | 'graph'>;

/**
 * How a call over steps is calls over half of them each. Where the number of steps is a symbol, derivatives are those of a
 * recursion that halves it down to single steps: no depth is in proportion to the steps, and no step gives a cotangent
 * of all inputs.
 */
export interface Halving {
  /** The axis of the steps, by input; undefined for what all steps share. */
  readonly axes: readonly (number | undefined)[];
  /** The call in others that can be halved, if it cannot itself. */
  readonly apart?: (call: ExpandedCall) => GraphTensor | undefined;
  /** The result, from calls over the first steps and over the others. */
  readonly halves: (call: ExpandedCall, half: Half) => GraphTensor;
}

export interface Half {
  /** How many steps the first call has. */
  readonly first: Dim;
  readonly run: (inputs: ExpandedCall['inputs']) => GraphTensor;
}
