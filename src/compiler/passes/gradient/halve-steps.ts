import { isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../../core/dims/dim.ts';
import { adjointOf } from '../../../ops/tables/adjoints.ts';
import type { ExpandedCall, Halving } from '../../../ops/adjoint/adjoint.ts';
import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import * as ir from '../../ir/build.ts';
import type { CallExpr, Expr, FunctionExpr, Module, Span, VarExpr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import { rewrite } from '../../ir/walk/visit.ts';
import { isOperatorCall } from '../../ir/operators/operator-name.ts';
import { Emitter } from './emitter.ts';
import { exprOf } from '../../inference/expr-tensor.ts';
import { ExprGraph } from './expr-graph.ts';
import { unusedName } from './unused-name.ts';

/**
 * Calls of operators over steps whose number is a symbol become calls of functions that halve the steps and call
 * themselves, in these functions of the module. What is known of recursion, derivatives among it, holds of them then.
 */
export function halveSteps(
  module: Module,
  names: ReadonlySet<string>,
  types: TypeInference,
): Module {
  const steps = new HalvedSteps(module, types);
  for (const [name, fn] of module.functions) if (names.has(name)) steps.visit(name, fn);
  return steps.module();
}

/** A call over a symbolic number of steps. */
interface SteppedCall {
  readonly call: CallExpr;
  readonly op: string;
  readonly halving: Halving;
}

class HalvedSteps {
  readonly #module: Module;
  readonly #types: TypeInference;
  readonly #functions: Map<string, FunctionExpr>;

  constructor(module: Module, types: TypeInference) {
    this.#module = module;
    this.#types = types;
    this.#functions = new Map(module.functions);
    types.declare({ functions: this.#functions, types: module.types });
  }

  module(): Module {
    const isSame = [...this.#functions].every(
      ([name, fn]) => this.#module.functions.get(name) === fn,
    );
    return isSame ? this.#module : { ...this.#module, functions: this.#functions };
  }

  visit(name: string, fn: FunctionExpr): void {
    const body = rewrite(fn.body, (expr) => {
      const stepped = this.#stepped(expr);
      return stepped === undefined ? expr : this.#halved(stepped);
    });
    if (body !== fn.body) this.#functions.set(name, { ...fn, body });
  }

  #stepped(expr: Expr): SteppedCall | undefined {
    if (!isOperatorCall(expr)) return undefined;
    const op = this.#types.operators.get(expr.callee.name);
    const adjoint = op && adjointOf(op);
    const halving = typeof adjoint === 'function' ? adjoint.halving : undefined;
    if (op === undefined || halving === undefined) return undefined;
    const steps = this.#stepsOf(expr.args, halving);
    const isSymbolic = steps !== undefined && typeof steps !== 'number' && !isUnknownDim(steps);
    return isSymbolic ? { call: expr, op: op.name, halving } : undefined;
  }

  #stepsOf(args: readonly Expr[], { axes }: Halving): Dim | undefined {
    const input = axes.findIndex((axis) => axis !== undefined);
    const type = args[input] && this.#types.of(args[input]);
    return type?.kind === 'tensor' ? type.shape[axes[input] ?? 0] : undefined;
  }

  /** The call written out in others, of which those with steps are halved; or halved itself. */
  #halved({ call: given, op, halving }: SteppedCall): Expr {
    const emitter = new Emitter(this.#types, given.span);
    const { graph, parts } = this.#partsOf(given, op, { emitter, args: given.args });
    const apart = halving.apart?.({ ...parts, graph });
    if (apart === undefined) return this.#recursion({ call: given, op, halving });
    const body = emitter.around(exprOf(apart));
    return rewrite(body, (expr) => {
      const stepped = this.#stepped(expr);
      return stepped === undefined ? expr : this.#recursion(stepped);
    });
  }

  /** The inputs and the result of the call with other operands. */
  #partsOf(
    given: CallExpr,
    op: string,
    { emitter, args }: { readonly emitter: Emitter; readonly args: readonly Expr[] },
  ): { readonly graph: GraphBuilder; readonly parts: Omit<ExpandedCall, 'graph'> } {
    const { span, onDevice } = given;
    const target = new ExprGraph(this.#types, emitter, { span, onDevice });
    const attributes = completeAttributes(this.#types.operators.require(op), given.attributes);
    const output = target.tensor(ir.call(op, args, given.attributes, span));
    const inputs = args.map((arg) => target.tensor(arg));
    return { graph: new GraphBuilder(target), parts: { inputs, output, attributes } };
  }

  /** A call of a function that calls itself over half of the steps. */
  #recursion({ call: given, op, halving }: SteppedCall): Expr {
    const name = unusedName(`gradient.steps.${op}`, this.#functions);
    const symbols = new Map<string, string>();
    const params = given.args.map((arg, i) =>
      ir.variableOf(`p${i}`, withSymbols(this.#types.of(arg), symbols)),
    );
    const resultType = this.#types.of(ir.call(op, params, given.attributes, given.span));
    const signature: FunctionExpr = {
      ...ir.func(params, ir.tuple([])),
      resultType,
      attributes: { private: true },
    };
    this.#functions.set(name, signature);
    const stepped = { call: given, op, halving };
    const body = this.#cases(stepped, { name, params, resultType });
    this.#functions.set(name, { ...signature, body });
    return ir.callFunction(ir.global(name), given.args, given.span);
  }

  #cases(
    { call: given, op, halving }: SteppedCall,
    { name, params, resultType }: { name: string; params: readonly VarExpr[]; resultType: Type },
  ): Expr {
    const { axes } = halving;
    const ofResult = (
      make: (
        graph: GraphBuilder,
        parts: Omit<ExpandedCall, 'graph'>,
        emitter: Emitter,
      ) => GraphTensor,
    ): Expr => {
      const emitter = new Emitter(this.#types, given.span);
      const { graph, parts } = this.#partsOf(given, op, { emitter, args: params });
      const made = make(graph, parts, emitter);
      const shape = resultType.kind === 'tensor' ? resultType.shape : [];
      return emitter.around(exprOf(graph.reshape(made, shape)));
    };
    const withSteps = (count: number): Expr =>
      ofResult((graph, { inputs, attributes }) => {
        const own = inputs.map((input, i) => {
          const axis = axes[i];
          return axis === undefined ? input : graph.reshape(input, input.shape.with(axis, count));
        });
        return graph.call(op, own, attributes);
      });
    const halves = ofResult((graph, parts, emitter) => {
      const steps = this.#stepsOf(params, halving) ?? 1;
      const run = (inputs: readonly GraphTensor[]): GraphTensor => {
        const made = ir.callFunction(ir.global(name), inputs.map(exprOf), given.span);
        return new ExprGraph(this.#types, emitter).tensor(emitter.bind(made));
      };
      return halving.halves({ ...parts, graph }, { first: graph.dims.floordiv(steps, 2), run });
    });
    const count = stepCountOf(params, halving, given.span);
    const isMore = ir.call('int_sub', [count, ir.int(1)], {}, given.span);
    return ir.ifElse(count, ir.ifElse(isMore, halves, withSteps(1)), withSteps(0));
  }
}

function stepCountOf(params: readonly VarExpr[], { axes }: Halving, span: Span | undefined): Expr {
  const input = axes.findIndex((axis) => axis !== undefined);
  return ir.call('dim', params.slice(input, input + 1), { axis: axes[input] ?? 0 }, span);
}

/** The type with symbols in place of sizes that are no numbers, the same one for the same size. */
function withSymbols(type: Type, symbols: Map<string, string>): Type {
  if (type.kind !== 'tensor') return type;
  const shape = type.shape.map((dim) => {
    if (typeof dim === 'number') return dim;
    const key = isUnknownDim(dim) ? `? ${symbols.size}` : formatDim(dim);
    const known = symbols.get(key) ?? `s${symbols.size}`;
    symbols.set(key, known);
    return known;
  });
  return { ...type, shape };
}
