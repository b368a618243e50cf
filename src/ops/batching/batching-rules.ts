import type { Dim } from '../../core/dims/dim.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import { dimsAttribute, intAttribute, intsAttribute } from '../attributes.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';

/** Element by element: operands of lower rank get axes of size 1 behind the mapped one. */
export const elementwise: BatchingRule = ({ name, inputs, attributes, size, graph }) => {
  const rank = Math.max(...inputs.map(({ shape }) => shape.length));
  const tensors = inputs.map(({ tensor, isMapped, shape }) =>
    isMapped ? graph.reshape(tensor, [size, ...ones(rank - shape.length), ...shape]) : tensor,
  );
  return graph.call(name, tensors, attributes);
};

/** The operator leaves leading axes alone, which these operands share. All others are the same for all. */
export function leading(...operands: readonly number[]): BatchingRule {
  return (call) => {
    if (!mapsOnly(call, ...operands)) return undefined;
    const tensors = call.inputs.map((input, index) =>
      operands.includes(index) ? whole(input, call) : input.tensor,
    );
    return call.graph.call(call.name, tensors, call.attributes);
  };
}

/** The same for the first operand alone. */
export const trailing: BatchingRule = leading(0);

/** Other attributes for an operator of one mapped operand, whose axes lie one further back. */
function shifted(attributesOf: (call: BatchedCall) => Attributes): BatchingRule {
  return (call) => {
    if (!mapsOnly(call, 0)) return undefined;
    const tensors = call.inputs.map(({ tensor }) => tensor);
    return call.graph.call(call.name, tensors, { ...call.attributes, ...attributesOf(call) });
  };
}

/** Along the attribute `axis`, which all operands have. `rankOf` counts the axes that it is one of. */
export function alongAxis(rankOf = firstRank): BatchingRule {
  return (call) => {
    const tensors = call.inputs.map((input) => whole(input, call));
    const attributes = { ...call.attributes, axis: axisOf(call, rankOf(call)) };
    return call.graph.call(call.name, tensors, attributes);
  };
}

/** Along `axis`, of the first operand alone. */
export function alongAxisOfFirst(rankOf = firstRank): BatchingRule {
  return shifted((call) => ({ axis: axisOf(call, rankOf(call)) }));
}

function firstRank(call: BatchedCall): number {
  return inputAt(call, 0).shape.length;
}

function axisOf({ attributes, name }: BatchedCall, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, name) + 1;
}

/** Reductions: no axes stand for all. */
export const overAxes: BatchingRule = (call) => {
  const { tensor, shape } = inputAt(call, 0);
  if (shape.length === 0) return tensor;
  const given = intsAttribute(call.attributes, 'axes');
  const axes = given.length === 0 ? shape.map((_, axis) => axis) : given;
  return call.graph.call(call.name, [tensor], {
    ...call.attributes,
    axes: axes.map((axis) => normalizeAxis(axis, shape.length, call.name) + 1),
  });
};

/** The first axis of some operands is one of independent examples, of which there are then more. */
export function moreExamples(...operands: readonly number[]): BatchingRule {
  return (call) => {
    const { name, inputs, attributes, output, size, graph } = call;
    if (!mapsOnly(call, ...operands)) return undefined;
    const tensors = inputs.map((input, index) => {
      if (!operands.includes(index)) return input.tensor;
      const [count = 1, ...rest] = input.shape;
      return graph.reshape(whole(input, call), [graph.dims.mul(size, count), ...rest]);
    });
    return graph.reshape(graph.call(name, tensors, attributes), [size, ...output.shape]);
  };
}

/** As many numbers before those of a list attribute as there are operands' axes more. */
export function prepend(name: string, value: number): BatchingRule {
  return shifted(({ attributes }) => ({ [name]: [value, ...dimsAttribute(attributes, name)] }));
}

export const transposeRule: BatchingRule = shifted(({ attributes }) => ({
  perm: [0, ...intsAttribute(attributes, 'perm').map((axis) => axis + 1)],
}));

export const reshapeRule: BatchingRule = (call) =>
  call.graph.reshape(inputAt(call, 0).tensor, [call.size, ...call.output.shape]);

export const broadcastRule: BatchingRule = (call) => {
  const { tensor, shape } = inputAt(call, 0);
  const { output, size, graph } = call;
  const aligned = [size, ...ones(output.shape.length - shape.length), ...shape];
  return graph.broadcastTo(graph.reshape(tensor, aligned), [size, ...output.shape]);
};

export const sliceRule: BatchingRule = shifted(({ attributes, size }) => {
  const steps = intsAttribute(attributes, 'steps');
  return {
    starts: [0, ...dimsAttribute(attributes, 'starts')],
    ends: [size, ...dimsAttribute(attributes, 'ends')],
    steps: steps.length === 0 ? [] : [1, ...steps],
  };
});

export const padRule: BatchingRule = shifted(({ attributes }) => {
  const pads = dimsAttribute(attributes, 'pads');
  const half = pads.length / 2;
  return { pads: [0, ...pads.slice(0, half), 0, ...pads.slice(half)] };
});

export const reverseSequenceRule: BatchingRule = shifted((call) => {
  const { attributes, name } = call;
  const at = (axis: string): number =>
    normalizeAxis(intAttribute(attributes, axis), firstRank(call), name) + 1;
  return { batch_axis: at('batch_axis'), time_axis: at('time_axis') };
});

/** The last axis, of real and imaginary parts, is not counted. */
export const dftRule: BatchingRule = shifted((call) => {
  const axis = intAttribute(call.attributes, 'axis');
  const rank = firstRank(call) - 1;
  return { axis: normalizeAxis(axis < 0 ? axis + 1 : axis, rank, call.name) + 1 };
});

export function ones(count: number): Dim[] {
  return Array.from({ length: count }, () => 1);
}

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
  readonly output: TensorType;
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

export function inputAt({ inputs, name }: BatchedCall, index: number): BatchedInput {
  const input = inputs[index];
  if (input === undefined) throw new Error(`internal: ${name} without input ${index}`);
  return input;
}

/** Returns true if only these operands are mapped, or none. */
export function mapsOnly({ inputs }: BatchedCall, ...allowed: readonly number[]): boolean {
  return inputs.every(({ isMapped }, index) => !isMapped || allowed.includes(index));
}
