import { simplifyDim } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { OPERATOR_ROOM } from '../../../ops/tables/room.ts';
import { symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { isInnerAxis } from '../../ir/append-axis.ts';
import type { Step } from '../../ir/walk/block.ts';
import { call, variable, variableOf } from '../../ir/build.ts';
import type { FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { WHOLE } from '../../ir/operators/machine-operators.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { postOrder, rewrite } from '../../ir/walk/visit.ts';
import type { BlockPlan, KernelCall } from './block-plans.ts';
import { changeOf } from './overwrites.ts';

/** Tensors that `append` extends along an inner axis, by their variables: there may be room between their slices. */
export class GrowingTensors {
  readonly #types: TypeInference;
  readonly #axes = new Map<VarExpr, number>();
  #count = 0;

  constructor(types: TypeInference) {
    this.#types = types;
  }

  add({ block, kernels }: BlockPlan): void {
    for (const kernel of kernels) {
      const { overwrite, step, type } = kernel;
      const variable = block.steps[step]?.variable;
      const axis = overwrite?.kind === 'appended' ? overwrite.axis : this.changedAxis(kernel);
      if (axis === undefined || variable === undefined) continue;
      if (isInnerAxis(type, axis)) this.#axes.set(variable, axis);
    }
  }

  /**
   * The axis along which a kernel changes such a tensor where it lies. The machine gives it the room too, so that no
   * other size may follow from that one.
   */
  changedAxis({ call: { args }, primitive, overwrite }: KernelCall): number | undefined {
    const given = overwrite?.kind === 'owned' ? args[overwrite.input] : undefined;
    const axis = given?.kind === 'var' ? this.#axes.get(given) : undefined;
    const change = axis === undefined ? undefined : changeOf(primitive, this.#types);
    if (axis === undefined || change?.axis !== axis) return undefined;
    const fields = primitive.params.map((param) => this.#types.of(param));
    const type = fields[change.input];
    if (type?.kind !== 'tensor') return undefined;
    const { shape } = type;
    const size = symbolsOfType({ ...type, shape: shape.slice(axis, axis + 1) });
    fields[change.input] = { ...type, shape: shape.toSpliced(axis, 1) };
    const others = symbolsOfType({ kind: 'tuple', fields });
    return [...size].some((symbol) => others.has(symbol)) ? undefined : axis;
  }

  /**
   * A call whose kernel reads such tensors where they lie, with the room between their slices, and what comes before
   * it. The machine would copy them for other kernels.
   */
  readInPlace(kernel: KernelCall): { readonly before: Step[]; readonly kernel: KernelCall } {
    const { call: kernelCall, overwrite } = kernel;
    const before: Step[] = [];
    let read = kernel;
    for (const [i, arg] of kernelCall.args.entries()) {
      const axis = arg.kind === 'var' ? this.#axes.get(arg) : undefined;
      const isCopied = overwrite?.kind === 'appended' || overwrite?.input === i;
      if (arg.kind !== 'var' || axis === undefined || isCopied) continue;
      const primitive = this.#readingSlice(read.primitive, i, axis);
      if (primitive === undefined) continue;
      const value = call(WHOLE, [arg], { axis }, kernelCall.span);
      const whole = variableOf(`w${this.#count++}`, this.#types.of(value));
      before.push({ variable: whole, value });
      const args = [...read.call.args.with(i, whole), arg];
      read = { ...read, primitive, call: { ...read.call, callee: primitive, args } };
    }
    return { before, kernel: read };
  }

  /**
   * The function with the whole tensor as a parameter, of which it takes a slice, or its only reader what counts;
   * undefined if it reads nothing of it.
   */
  #readingSlice(primitive: FunctionExpr, index: number, axis: number): FunctionExpr | undefined {
    const param = primitive.params[index];
    const type = param && this.#types.of(param);
    const calls = postOrder(primitive.body).filter((expr) => expr.kind === 'call');
    const [reader, ...others] = calls.filter(({ args }) => args.some((arg) => arg === param));
    if (param === undefined || type?.kind !== 'tensor' || reader === undefined) return undefined;
    const { dtype, shape } = type;
    const length = shape[axis] ?? 0;
    const size: Dim = { op: 'add', left: length, right: `${param.name}.room` };
    const whole = variable(param.name, dtype, shape.with(axis, simplifyDim(size)));
    const slice = call('slice', [whole], { starts: shape.map(() => 0), ends: shape }, reader.span);
    const { prefix } = OPERATOR_ROOM[operatorName(reader)] ?? {};
    const isCounted =
      others.length === 0 &&
      prefix?.axis === axis &&
      reader.args.every((arg, i) => arg !== param || prefix.inputs.includes(i));
    const body = rewrite(primitive.body, (expr, original) => {
      if (expr === param) return isCounted ? whole : slice;
      if (original !== reader || expr.kind !== 'call' || !isCounted) return expr;
      const { [prefix.attribute]: given = [] } = expr.attributes;
      const count = Array.isArray(given) && given.length > 0 ? given : [length];
      return { ...expr, attributes: { ...expr.attributes, [prefix.attribute]: count } };
    });
    const params = primitive.params.with(index, whole);
    // Nothing else may tell how much of it there is.
    return { ...primitive, params: [...params, param], body };
  }
}
