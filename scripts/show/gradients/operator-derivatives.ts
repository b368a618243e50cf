import type { DType } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Dim } from '../../../src/core/dims/dim.ts';
import {
  call,
  callFunction,
  func,
  global,
  jvp,
  moduleOf,
  stopGradient,
  tuple,
  variable,
  vjp,
} from '../../../src/compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from '../../../src/compiler/ir/expr.ts';
import { floatElements } from '../../../src/ops/elements.ts';
import { isFloat } from '../../../src/ops/elementwise/number-dtypes.ts';
import type { OpCase } from '../../../src/ops/op-cases.ts';
import type { Operator } from '../../../src/ops/operator.ts';
import {
  centralDifferences,
  type Difference,
  dot,
  dotOfSizes,
} from '../../../src/ops/testing/central-differences.ts';
import {
  type DifferentiableCase,
  differentiableCase,
  isTable,
  randomLike,
} from '../../../src/ops/testing/differentiable-case.ts';

/** Sizes from here on get symbols: 0 and 1 decide about broadcasting. */
const LEAST_SYMBOLIC = 2;

/** The form of a program. */
export interface ProgramForm {
  /** The dtype of all floats; by default that of the case. */
  readonly float?: DType | undefined;
  /** Sizes are symbols. */
  readonly symbolic: boolean;
}

/** The errors of the derivatives of a case, relative to their size where that is above 1. */
export interface DerivativeErrors {
  /** Of reverse mode, against central differences. */
  readonly differences: number;
  /** Of forward mode, against reverse mode, by the dot-product test; undefined where derivatives are not finite. */
  readonly modes: number | undefined;
}

/** A case of an operator with what its derivatives have to be. */
export class OperatorDerivatives {
  readonly title: string;
  /** Derivatives that are compared one by one. */
  readonly compared: number;
  readonly #op: Operator;
  readonly #given: DifferentiableCase;
  readonly #present: readonly HostTensor[];
  readonly #v: HostTensor;
  readonly #tangents: readonly HostTensor[];
  readonly #differences: readonly Difference[];

  constructor(op: Operator, given: DifferentiableCase, random: () => number) {
    this.title = given.opCase.title;
    this.#op = op;
    this.#given = given;
    this.#present = given.inputs.filter((input) => input !== undefined);
    this.#v = randomLike(given.output, random);
    this.#tangents = this.#present.map((input) => randomLike(input, random));
    this.#differences = centralDifferences(op, given, { v: this.#v, random });
    this.compared = this.#differences.length;
  }

  /** True if the operator computes in double precision. */
  get isDouble(): boolean {
    return [...this.#present, this.#v].every(({ dtype }) => dtype !== 'float32');
  }

  /**
   * `main` of the inputs, a cotangent, and tangents of the floats: `(vjp(f)(…), jvp(f)(…))`.
   */
  module(form: ProgramForm): Module {
    const inputs = this.#present.map((input, i) => param(`x${i}`, input, form));
    const tangents = this.#tangents.map((tangent, i) =>
      isFloat(tangent.dtype) ? param(`t${i}`, tangent, form) : undefined,
    );
    const v = param('v', this.#v, form);
    const reverse = callFunction(vjp(global('f')), [...inputs, v]);
    const given = tangents.map((tangent) => tangent ?? tuple([]));
    const forward = callFunction(jvp(global('f')), [...inputs, ...given]);
    const own = [...inputs, v, ...tangents.filter((tangent) => tangent !== undefined)];
    return moduleOf({ f: this.#call(form), main: func(own, tuple([reverse, forward])) });
  }

  /** The call alone, as `main`. */
  callModule(form: ProgramForm): Module {
    return moduleOf({ main: this.#call(form) });
  }

  #call(form: ProgramForm): FunctionExpr {
    const params = this.#present.map((input, i) => param(`x${i}`, input, form));
    const operands = params.map((x, i): Expr => (isTable(this.#op.name, i) ? stopGradient(x) : x));
    return func(params, call(this.#op.name, operands, this.#given.opCase.attributes ?? {}));
  }

  /** The arguments of `main`. */
  args(float?: DType): readonly HostTensor[] {
    const tangents = this.#tangents.filter(({ dtype }) => isFloat(dtype));
    return [...this.#present, this.#v, ...tangents].map((tensor) =>
      float !== undefined && isFloat(tensor.dtype)
        ? HostTensor.from(float, tensor.shape, Array.from(tensor.data, Number))
        : tensor,
    );
  }

  /** The errors of what `main` gives: the tensors in it, in order. */
  errorsOf(tensors: readonly HostTensor[]): DerivativeErrors {
    const [, ...rest] = tensors;
    const gradients = new Map<number, HostTensor>();
    for (const [i, { dtype }] of this.#present.entries()) {
      const gradient = isFloat(dtype) ? rest.shift() : undefined;
      if (gradient !== undefined) gradients.set(i, gradient);
    }
    const tangent = rest[1];
    if (tangent === undefined) throw new Error(`got ${tensors.length} tensors, expected more`);
    let differences = 0;
    for (const { input, index, expected, noise } of this.#differences) {
      const got = Number(gradients.get(input)?.elements[index]);
      const error = Math.max(0, Math.abs(got - expected) - noise) / Math.max(1, Math.abs(expected));
      differences = worst(differences, error);
    }
    let reverse = 0;
    let size = 1;
    for (const [i, gradient] of gradients) {
      const along = this.#tangents[i];
      if (along === undefined || isTable(this.#op.name, i)) continue;
      reverse += dot(gradient, along);
      size += dotOfSizes(gradient, along);
    }
    const modes = Math.abs(dot(this.#v, tangent) - reverse) / size;
    return { differences, modes: Number.isFinite(reverse) ? modes : undefined };
  }
}

function param(name: string, { dtype, shape }: HostTensor, form: ProgramForm): VarExpr {
  const { float = dtype, symbolic } = form;
  const dims = shape.map((size): Dim => (symbolic && size >= LEAST_SYMBOLIC ? `s${size}` : size));
  return variable(name, isFloat(dtype) ? float : dtype, dims);
}

/** The larger one, and NaN for NaN. */
export function worst(a: number, b: number): number {
  return Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.max(a, b);
}

/** A case with its derivatives, or why it is left out. */
export function operatorDerivatives(
  op: Operator,
  opCase: OpCase,
  random: () => number,
): OperatorDerivatives | { readonly leftOut: string } {
  const last = opCase.inputs.findLastIndex((input) => input !== undefined);
  if (opCase.inputs.slice(0, last).includes(undefined)) {
    return { leftOut: 'an input that is left out before others' };
  }
  const given = differentiableCase(op, opCase, random);
  if ('leftOut' in given) return given;
  if (!floatElements(given.output).every(Number.isFinite)) {
    return { leftOut: 'a result that is not finite' };
  }
  return new OperatorDerivatives(op, given, random);
}
