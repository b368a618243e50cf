import { UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { sameShape } from '../../core/tensor/shape.ts';
import { applyAdjoint, pullBack, RecordedGraph } from '../adjoint/pull-back.ts';
import { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { accuracyOf, centralDifferences, dot, dotOfSizes } from './central-differences.ts';
import {
  type DifferentiableCase,
  differentiableCase,
  isTable,
  randomLike,
} from './differentiable-case.ts';
import { asTensor, coreAdjoint, EagerGraph } from './eager-graph.ts';

/** The outcome for one case: how many derivatives were compared, or why it was left out. */
type AdjointCheck = { readonly compared: number } | { readonly leftOut: string };

/**
 * Compares the adjoint of an operator with central differences, and reverse mode with forward mode, on
 * one case. Throws with the place of a derivative that is wrong.
 */
export function checkAdjoint(op: OpDefinition, given: OpCase, random: () => number): AdjointCheck {
  const found = differentiableCase(op, given, random);
  if ('leftOut' in found) return found;
  try {
    return new CheckedAdjoint(op, found).check(random);
  } catch (error) {
    if (error instanceof UnsupportedError) return { leftOut: error.message };
    throw error;
  }
}

class CheckedAdjoint {
  readonly #op: OpDefinition;
  readonly #given: DifferentiableCase;

  constructor(op: OpDefinition, given: DifferentiableCase) {
    this.#op = op;
    this.#given = given;
  }

  check(random: () => number): AdjointCheck {
    const { inputs, output, opCase } = this.#given;
    const present = inputs.filter((input) => input !== undefined);
    const v = randomLike(output, random);
    const target = new RecordedGraph(new EagerGraph());
    const graph = new GraphBuilder(target);
    const gradients = applyAdjoint(this.#op.name, {
      inputs: present,
      output,
      attributes: opCase.attributes ?? {},
      cotangent: v,
      graph,
      lookup: coreAdjoint,
      wants: (input) => !isTable(this.#op.name, input),
    });
    const differences = centralDifferences(this.#op, this.#given, { v, random });
    for (const [i, input] of present.entries()) {
      if (gradients[i] !== undefined) this.#requireSameType(asTensor(gradients[i]), input);
    }
    const { rtol } = accuracyOf(this.#op, this.#given);
    for (const { input, index, expected, noise } of differences) {
      const gradient = gradients[input];
      const got = gradient === undefined ? 0 : Number(asTensor(gradient).elements[index]);
      if (!(Math.abs(got - expected) <= rtol * (10 + Math.abs(expected)) + noise)) {
        this.#fail(`input ${input}, element ${index}: got ${got}, expected ${expected}`);
      }
    }
    const tangents = present.map((input) => randomLike(input, random));
    this.#compareModes({ v, gradients, target, tangents, graph });
    return { compared: differences.length };
  }

  #fail(message: string): never {
    throw new Error(`${this.#op.name}, ${this.#given.opCase.title}: ${message}`);
  }

  #requireSameType(gradient: HostTensor, input: HostTensor): void {
    if (gradient.dtype === input.dtype && sameShape(gradient.shape, input.shape)) return;
    const describe = ({ dtype, shape }: HostTensor) => `${dtype} (${shape.join(', ')})`;
    this.#fail(`a cotangent of ${describe(gradient)} for ${describe(input)}`);
  }

  /** Forward mode is the transpose of the adjoint, which is linear in the cotangent. */
  #compareModes({
    v,
    gradients,
    target,
    tangents,
    graph,
  }: {
    readonly v: HostTensor;
    readonly gradients: readonly (object | undefined)[];
    readonly target: RecordedGraph;
    readonly tangents: readonly HostTensor[];
    readonly graph: GraphBuilder;
  }): void {
    const cotangents = new Map<HostTensor, HostTensor>();
    let reverse = 0;
    for (const [i, gradient] of gradients.entries()) {
      const tangent = tangents[i];
      if (!(gradient instanceof HostTensor) || tangent === undefined) continue;
      reverse += dot(gradient, tangent);
      const known = cotangents.get(gradient);
      const sum = known === undefined ? tangent : asTensor(graph.add(known, tangent));
      cotangents.set(gradient, sum);
    }
    const calls = target.calls.slice();
    const pulled = pullBack({ calls, cotangents, sources: [v], lookup: coreAdjoint }, graph)[0];
    const own = cotangents.get(v);
    const tangent = pulled ?? own;
    const forward = tangent === undefined ? 0 : dot(v, asTensor(tangent));
    const size = tangent === undefined ? 1 : dotOfSizes(v, asTensor(tangent));
    const { rtol } = accuracyOf(this.#op, this.#given);
    if (Number.isFinite(reverse) && Math.abs(forward - reverse) > rtol * (1 + size)) {
      this.#fail(`forward mode gives ${forward}, reverse mode ${reverse}`);
    }
  }
}
