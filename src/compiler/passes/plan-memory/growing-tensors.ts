import { simplifyDim } from '../../../core/dim-algebra.ts';
import { forEachSymbol } from '../../../core/dim-symbols.ts';
import type { Dim } from '../../../core/dim.ts';
import { undeterminedSymbols } from '../../../ops/undetermined-symbols.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { isInnerAxis } from '../../ir/append-axis.ts';
import type { Step } from '../../ir/block.ts';
import { call, variable, variableOf } from '../../ir/build.ts';
import type { FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { WHOLE } from '../../ir/machine-operators.ts';
import { postOrder, rewrite } from '../../ir/visit.ts';
import type { BlockPlan, KernelCall } from './block-plans.ts';

/** Tensors that `append` extends along an inner axis, by their variables: there may be room between their slices. */
export class GrowingTensors {
  readonly #types: TypeInference;
  readonly #axes = new Map<VarExpr, number>();
  #count = 0;

  constructor(types: TypeInference) {
    this.#types = types;
  }

  add({ block, kernels }: BlockPlan): void {
    for (const { overwrite, step, type } of kernels) {
      const variable = block.steps[step]?.variable;
      if (overwrite?.kind !== 'appended' || variable === undefined) continue;
      if (isInnerAxis(type, overwrite.axis)) this.#axes.set(variable, overwrite.axis);
    }
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
      const args = read.call.args.with(i, whole);
      // Nothing else may tell how much of it there is.
      if (primitive.params.length > args.length) args.push(arg);
      read = { ...read, primitive, call: { ...read.call, callee: primitive, args } };
    }
    return { before, kernel: read };
  }

  /** The function with the whole tensor as a parameter, of which it takes a slice; undefined if it reads nothing of it. */
  #readingSlice(primitive: FunctionExpr, index: number, axis: number): FunctionExpr | undefined {
    const param = primitive.params[index];
    const type = param && this.#types.of(param);
    const calls = postOrder(primitive.body).filter((expr) => expr.kind === 'call');
    const reader = calls.find(({ args }) => args.some((arg) => arg === param));
    if (param === undefined || type?.kind !== 'tensor' || reader === undefined) return undefined;
    const { dtype, shape } = type;
    const room = unusedSymbol(primitive, this.#types);
    const size: Dim = { op: 'add', left: shape[axis] ?? 0, right: room };
    const whole = variable(param.name, dtype, shape.with(axis, simplifyDim(size)));
    const attributes = { starts: shape.map(() => 0), ends: shape };
    const slice = call('slice', [whole], attributes, reader.span);
    const body = rewrite(primitive.body, (expr) => (expr === param ? slice : expr));
    const params = primitive.params.with(index, whole);
    const sliced = { ...primitive, params, body };
    return this.#hasSymbols(sliced) ? sliced : { ...sliced, params: [...params, param] };
  }

  /** Whether sizes of parameters and of the result tell all symbols in attributes. */
  #hasSymbols({ params, body }: FunctionExpr): boolean {
    const calls = postOrder(body).flatMap((expr) =>
      expr.kind === 'call' && expr.callee.kind === 'operator'
        ? [{ op: expr.callee.name, attributes: expr.attributes }]
        : [],
    );
    const known = [...params, body].flatMap((expr) => {
      const type = this.#types.of(expr);
      return type.kind === 'tensor' ? [type] : [];
    });
    return undeterminedSymbols(calls, known, this.#types.operators).length === 0;
  }
}

/** A name that no dimension of a function has. */
function unusedSymbol(fn: FunctionExpr, types: TypeInference): string {
  const used = new Set<string>();
  for (const expr of postOrder(fn)) {
    const type = expr.kind === 'operator' ? undefined : types.of(expr);
    for (const dim of type?.kind === 'tensor' ? type.shape : []) {
      forEachSymbol(dim, (symbol) => used.add(symbol));
    }
  }
  let name = 'room';
  for (let i = 0; used.has(name); i++) name = `room${i}`;
  return name;
}
