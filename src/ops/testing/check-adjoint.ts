import { UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { elementCount, sameShape } from '../../core/shape.ts';
import { applyAdjoint } from '../adjoint/apply-adjoint.ts';
import { GraphBuilder } from '../adjoint/graph-builder.ts';
import { pullBack, RecordedGraph } from '../adjoint/pull-back.ts';
import { floatElements } from '../elements.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase, OpCaseInput } from '../op-cases.ts';
import { callReference } from './call-reference.ts';
import { caseTensors } from '../../conformance/case-tensors.ts';
import { asTensor, coreAdjoint, EagerGraph } from './eager-graph.ts';

/** The outcome for one case: how many derivatives were compared, or why it was left out. */
export type AdjointCheck = { readonly compared: number } | { readonly leftOut: string };

/** Larger cases take too long on the host, which computes each of them many times. */
const MAX_ELEMENTS = 3000;

/** Elements of each input that are compared one by one. */
const SAMPLES = 10;

/** Inputs that other operators make of sizes, and which have no derivative. */
const TABLES: Readonly<Record<string, number>> = { dft: 1, resample: 1 };

/** Operators that round places to single precision. */
const ROUNDING: ReadonlySet<string> = new Set(['grid_sample', 'roi_align']);

const isTable = (name: string, input: number): boolean => TABLES[name] === input;

/** The case in double precision, where the operator has it; undefined where values are not finite. */
function doubleCase(op: OpDefinition, opCase: OpCase, random: () => number): OpCase | undefined {
  const isDouble = opCase.inputs.every((input, i) => {
    const spec = op.inputs[Math.min(i, op.inputs.length - 1)];
    return input === undefined || !isFloat(input.dtype) || spec?.dtypes.includes('float64');
  });
  const inputs: (OpCaseInput | undefined)[] = [];
  for (const input of opCase.inputs) {
    if (input === undefined || !isFloat(input.dtype)) {
      inputs.push(input);
      continue;
    }
    const { values } = input;
    if (values?.some((value) => !Number.isFinite(value) || Math.abs(value) > 1e6)) return undefined;
    inputs.push({
      ...input,
      dtype: isDouble ? 'float64' : 'float32',
      // Off kinks and ties.
      ...(values === undefined || isTable(op.name, inputs.length)
        ? {}
        : { values: values.map((x) => x * 0.97 + random() * 0.013) }),
    });
  }
  return { ...opCase, inputs };
}

/**
 * Compares the adjoint of an operator with central differences, and reverse mode with forward mode, on
 * one case. Throws with the place of a derivative that is wrong.
 */
export function checkAdjoint(op: OpDefinition, given: OpCase, random: () => number): AdjointCheck {
  const opCase = doubleCase(op, given, random);
  if (opCase === undefined) return { leftOut: 'values that are not finite, or extreme' };
  const size = opCase.inputs.reduce((sum, x) => sum + elementCount(x?.shape ?? []), 0);
  if (size > MAX_ELEMENTS) return { leftOut: 'large' };
  const present = caseTensors(opCase, random).filter((x) => x !== undefined);
  const call = new CheckedAdjoint(op, opCase, present);
  const { dtype } = call.output;
  if (!isFloat(dtype)) return { leftOut: 'a result without derivatives' };
  if (!['float32', 'float64'].includes(dtype)) return { leftOut: 'a result of few bits' };
  try {
    return call.check(random);
  } catch (error) {
    if (error instanceof UnsupportedError) return { leftOut: error.message };
    throw error;
  }
}

class CheckedAdjoint {
  readonly output: HostTensor;
  readonly #op: OpDefinition;
  readonly #case: OpCase;
  readonly #inputs: readonly HostTensor[];
  readonly #step: number;
  readonly #rtol: number;

  constructor(op: OpDefinition, opCase: OpCase, inputs: readonly HostTensor[]) {
    this.#op = op;
    this.#case = opCase;
    this.#inputs = inputs;
    this.output = this.#compute(inputs);
    const isSingle = [...inputs, this.output].some(({ dtype }) => dtype === 'float32');
    const isRounded = ROUNDING.has(op.name);
    [this.#step, this.#rtol] = isSingle
      ? [2 ** -7, 2e-3]
      : isRounded
        ? [2 ** -10, 2e-3]
        : [1e-6, 2e-6];
  }

  check(random: () => number): AdjointCheck {
    const { output } = this;
    const like = (of: HostTensor): HostTensor => {
      if (!isFloat(of.dtype)) return of;
      const values = Array.from({ length: of.elementCount }, () => random() * 2 - 1);
      return HostTensor.from(of.dtype, of.shape, values);
    };
    const v = like(output);
    const target = new RecordedGraph(new EagerGraph());
    const graph = new GraphBuilder(target);
    const inputs = this.#inputs;
    const gradients = applyAdjoint(this.#op.name, {
      inputs,
      output,
      attributes: this.#case.attributes ?? {},
      cotangent: v,
      graph,
      lookup: coreAdjoint,
      wants: (input) => !isTable(this.#op.name, input),
    });
    let compared = 0;
    for (const [i, input] of inputs.entries()) {
      if (!isFloat(input.dtype) || isTable(this.#op.name, i)) continue;
      const gradient = gradients[i] === undefined ? undefined : asTensor(gradients[i]);
      this.#requireSameType(gradient, input);
      compared += this.#compareElements({ i, v, gradient, random });
    }
    this.#compareModes({ v, gradients, target, tangents: inputs.map(like), graph });
    return { compared };
  }

  #compute(inputs: readonly HostTensor[]): HostTensor {
    let next = 0;
    const operands = this.#case.inputs.map((input) =>
      input === undefined ? undefined : inputs[next++],
    );
    return callReference(this.#op.name, operands, this.#case.attributes);
  }

  #fail(message: string): never {
    throw new Error(`${this.#op.name}, ${this.#case.title}: ${message}`);
  }

  #requireSameType(gradient: HostTensor | undefined, input: HostTensor): void {
    if (gradient === undefined) return;
    if (gradient.dtype === input.dtype && sameShape(gradient.shape, input.shape)) return;
    const describe = ({ dtype, shape }: HostTensor) => `${dtype} (${shape.join(', ')})`;
    this.#fail(`a cotangent of ${describe(gradient)} for ${describe(input)}`);
  }

  /** The product of v and the result, where one element is moved. */
  #moved(i: number, index: number, v: HostTensor): (step: number) => number {
    const input = this.#inputs[i] ?? this.output;
    return (step) => {
      const data = input.data.slice();
      data[index] = Number(data[index]) + step;
      const changed = new HostTensor(input.dtype, input.shape, data);
      return dot(v, this.#compute(this.#inputs.with(i, changed)));
    };
  }

  #compareElements({
    i,
    v,
    gradient,
    random,
  }: {
    readonly i: number;
    readonly v: HostTensor;
    readonly gradient: HostTensor | undefined;
    readonly random: () => number;
  }): number {
    const input = this.#inputs[i] ?? this.output;
    const count = input.elementCount;
    const size = norm(v, this.output);
    let compared = 0;
    for (let sample = 0; sample < Math.min(SAMPLES, count); sample++) {
      const index = count <= SAMPLES ? sample : Math.floor(random() * count);
      // A power of two, so that the sum with a number of single precision is exact.
      const scale = 2 ** Math.max(0, Math.ceil(Math.log2(Math.abs(Number(input.data[index])))));
      const h = this.#step * scale;
      const moved = this.#moved(i, index, v);
      const [below, here, above] = [moved(-h), moved(0), moved(h)];
      const [left, right] = [(here - below) / h, (above - here) / h];
      const expected = (above - below) / (2 * h);
      const noise = (size * 1e-16 * (this.#step < 1e-4 ? 10 : 1e10)) / h;
      const isKink = Math.abs(left - right) > 1e-2 * (1 + Math.abs(expected)) + noise;
      if (!Number.isFinite(expected) || isKink) continue;
      const got = Number(gradient?.elements[index] ?? 0);
      const allowed = this.#rtol * (10 + Math.abs(expected)) + noise;
      if (!(Math.abs(got - expected) <= allowed)) {
        this.#fail(`input ${i}, element ${index}: got ${got}, expected ${expected}`);
      }
      compared++;
    }
    return compared;
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
    const size = tangent === undefined ? 1 : norm(v, asTensor(tangent));
    if (Number.isFinite(reverse) && Math.abs(forward - reverse) > this.#rtol * (1 + size)) {
      this.#fail(`forward mode gives ${forward}, reverse mode ${reverse}`);
    }
  }
}

function dot(a: HostTensor, b: HostTensor): number {
  const [x, y] = [floatElements(a), floatElements(b)];
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += (x[i] ?? 0) * (y[i] ?? 0);
  return sum;
}

function norm(a: HostTensor, b: HostTensor): number {
  const [x, y] = [floatElements(a), floatElements(b)];
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += Math.abs((x[i] ?? 0) * (y[i] ?? 0));
  return sum;
}
