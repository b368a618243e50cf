import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';

/** An operand of a call that is mapped over an axis. */
export interface BatchedInput {
  /** The operand, with the mapped axis first if it has that. */
  readonly tensor: GraphTensor;
  /** True if it has the mapped axis; otherwise it is the same at all places of that. */
  readonly isMapped: boolean;
  /** Its shape in the call that is mapped, without that axis. */
  readonly shape: readonly Dim[];
}

/** A call of an operator for all places along an axis at once. */
export interface BatchedCall {
  readonly name: string;
  readonly inputs: readonly BatchedInput[];
  /** Complete attributes of the call that is mapped. */
  readonly attributes: Attributes;
  /** The type of the result of that. */
  readonly output: TensorType;
  /** How many places there are. */
  readonly size: Dim;
  readonly graph: GraphBuilder;
}

/**
 * The results of a call for all places along an axis, one below the other along a new first axis. Undefined for a call
 * that has to be made place by place.
 */
export type BatchingRule = (call: BatchedCall) => GraphTensor | undefined;

/** An operand with the mapped axis, repeated along it where it has none. */
export function whole({ tensor, isMapped, shape }: BatchedInput, call: BatchedCall): GraphTensor {
  if (isMapped) return tensor;
  const { graph, size } = call;
  return graph.broadcastTo(graph.reshape(tensor, [1, ...shape]), [size, ...shape]);
}

/** The operand at an index. */
export function inputAt({ inputs, name }: BatchedCall, index: number): BatchedInput {
  const input = inputs[index];
  if (input === undefined) throw new Error(`internal: ${name} without input ${index}`);
  return input;
}

/** Returns true if only these operands are mapped, or none. */
export function mapsOnly({ inputs }: BatchedCall, ...allowed: readonly number[]): boolean {
  return inputs.every(({ isMapped }, index) => !isMapped || allowed.includes(index));
}
