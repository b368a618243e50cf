import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { AdjointLookup, AdjointCall } from './adjoint.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { GraphTarget, GraphTensor } from './graph-target.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { completeAttributes } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';

/** A call of a graph with its result. */
interface RecordedCall {
  readonly op: string;
  readonly inputs: readonly GraphTensor[];
  readonly attributes: Attributes;
  readonly output: GraphTensor;
}

/** Remembers the calls of a graph in their order, to be differentiated. */
export class RecordedGraph implements GraphTarget {
  /** The calls in the order in which they were made. */
  readonly calls: RecordedCall[] = [];
  readonly #target: GraphTarget;

  constructor(target: GraphTarget) {
    this.#target = target;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor {
    const output = this.#target.call(op, inputs, attributes);
    this.calls.push({ op, inputs, attributes, output });
    return output;
  }

  constant(value: Parameters<GraphTarget['constant']>[0]): GraphTensor {
    return this.#target.constant(value);
  }
}

interface PulledBack {
  readonly calls: readonly RecordedCall[];
  readonly cotangents: ReadonlyMap<GraphTensor, GraphTensor>;
  /** The tensors whose cotangents are wanted. */
  readonly sources: readonly GraphTensor[];
  readonly lookup: AdjointLookup;
}

/** Reverse mode over recorded calls: the cotangents of the sources, undefined for zero. */
export function pullBack(
  { calls, cotangents: given, sources, lookup }: PulledBack,
  graph: GraphBuilder,
): readonly (GraphTensor | undefined)[] {
  const active = new Set<GraphTensor>(sources);
  for (const { inputs, output } of calls) {
    if (inputs.some((input) => active.has(input))) active.add(output);
  }
  const cotangents = new Map(given);
  for (const { op, inputs, attributes, output } of calls.toReversed()) {
    const cotangent = cotangents.get(output);
    if (cotangent === undefined || !active.has(output)) continue;
    const wants = (input: number): boolean => {
      const tensor = inputs[input];
      return tensor !== undefined && active.has(tensor);
    };
    const call = { inputs, output, attributes, cotangent, wants, graph, lookup };
    for (const [i, added] of applyAdjoint(op, call).entries()) {
      const input = inputs[i];
      if (added === undefined || input === undefined) continue;
      const known = cotangents.get(input);
      cotangents.set(input, known === undefined ? added : graph.add(known, added));
    }
  }
  return sources.map((source) => cotangents.get(source));
}

/**
 * The cotangents of a call's inputs; undefined for zero. Inputs that are no floats have none.
 * Throws UnsupportedError, which names the operator, where there is no adjoint.
 */
export function applyAdjoint(
  name: string,
  call: AdjointCall,
): readonly (GraphTensor | undefined)[] {
  const { op, adjoint } = call.lookup(name);
  if (adjoint === undefined) {
    throw new UnsupportedError({
      where: name,
      got: 'a derivative of it',
      expected: 'an operator with an adjoint',
      remedy: 'Put it into a function and give that an adjoint with custom_gradient.',
    });
  }
  if (typeof adjoint === 'string') return [];
  const wants = (input: number): boolean => {
    const dtype = call.inputs[input]?.dtype;
    return dtype !== undefined && isFloat(dtype) && call.wants(input);
  };
  const attributes = completeAttributes(op, call.attributes);
  const cotangents = adjoint({ ...call, attributes, wants });
  return call.inputs.map((_, input) => (wants(input) ? cotangents[input] : undefined));
}
