import { UnsupportedError } from '../../../core/errors.ts';
import { func, global } from '../../ir/build.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
} from '../../ir/expr.ts';
import { CUSTOM_GRADIENT, GRADIENT, JVP, STOP_GRADIENT } from '../../ir/gradient-operators.ts';
import { mapFunctions, postOrder, rewrite } from '../../ir/visit.ts';
import { countReaders } from '../../rewriting/count-readers.ts';
import { inlineFunctions } from '../inline.ts';
import { inferTypes } from '../infer-types.ts';
import { nameUnknownDims } from '../name-unknown-dims.ts';
import type { Pass, PassContext } from '../pass.ts';
import { toAnf } from '../to-anf.ts';
import { asksForDerivatives, isDerivative } from './asks-for-derivatives.ts';
import { freeVariables } from './copy-function.ts';
import { DerivativeProgram } from './derivative-program.ts';

/**
 * Replaces `gradient(@f)`, `vjp(@f)` and `jvp(@f)` by functions that compute derivatives: by reverse mode
 * over the whole language. Functions in straight lines become straight lines.
 */
export const gradient: Pass = {
  name: 'gradient',
  run(module, context) {
    if (!asksForDerivatives(module)) return module;
    // Of straight lines in several functions comes one straight line.
    const whole = inlineFunctions(module, context, differentiated(module));
    const source = whole === module ? module : inferTypes.run(whole, context);
    context.types.declare(source);
    const expanded = inferTypes.run(new Expansion(source, context).run(), context);
    context.types.declare(expanded);
    const inlined = inlineFunctions(expanded, context, madeForOneCall(expanded, source));
    return nameUnknownDims.run(withoutUncalled(inlined, source), context);
  },
};

/** Functions that derivatives are asked for, and those that they call. */
function differentiated({ functions }: Module): ReadonlySet<string> {
  const found = new Set<string>();
  const work: Expr[] = [...functions.values()].flatMap(({ body }) => {
    const lets = valuesOf(body);
    const operands = postOrder(body).flatMap((expr) => (isDerivative(expr) ? expr.args : []));
    return operands.map((operand) => lets.get(operand) ?? operand);
  });
  for (let root = work.pop(); root !== undefined; root = work.pop()) {
    for (const name of globalsOf(root)) {
      const fn = functions.get(name);
      if (fn === undefined || found.has(name)) continue;
      found.add(name);
      work.push(fn.body);
    }
  }
  return found;
}

/** Functions that the program did not have and that one place calls. */
function madeForOneCall(module: Module, { functions }: Module): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { body } of module.functions.values()) {
    for (const [expr, count] of countReaders(body)) {
      if (expr.kind === 'global') counts.set(expr.name, (counts.get(expr.name) ?? 0) + count);
    }
  }
  const made = [...counts].filter(([name, count]) => count === 1 && !functions.has(name));
  return new Set(made.map(([name]) => name));
}

/** Without those of the functions that were made which nothing calls any more. */
function withoutUncalled(module: Module, source: Module): Module {
  const kept = new Set<string>(source.functions.keys());
  for (const name of kept) {
    const fn = module.functions.get(name);
    // A set hears of what is added while it is walked.
    if (fn !== undefined) for (const called of globalsOf(fn.body)) kept.add(called);
  }
  const functions = new Map([...module.functions].filter(([name]) => kept.has(name)));
  return { ...module, functions };
}

class Expansion {
  readonly #module: Module;
  readonly #functions: Map<string, FunctionExpr>;
  readonly #program: DerivativeProgram;
  readonly #states = new Map<string, 'open' | 'done'>();
  #closures = 0;

  constructor(module: Module, context: PassContext) {
    const anf = toAnf.run(module, context);
    this.#module = module;
    this.#functions = new Map(anf.functions);
    const { types } = context;
    types.declare({ functions: this.#functions, types: module.types });
    this.#program = new DerivativeProgram({
      types,
      definitions: module.types,
      functions: this.#functions,
      source: (name) => this.#source(name),
      recomputes: isNested(module),
    });
  }

  run(): Module {
    const kept = new Set<string>();
    const work = [...this.#module.functions.keys()];
    for (let name = work.pop(); name !== undefined; name = work.pop()) {
      if (kept.has(name)) continue;
      kept.add(name);
      work.push(...globalsOf(this.#source(name)));
    }
    // The program's own functions in their order, then those that were made.
    const names = [...this.#functions.keys()].filter((name) => kept.has(name));
    const functions = new Map(names.map((name) => [name, this.#source(name)]));
    return mapFunctions({ ...this.#module, functions }, withoutMarks);
  }

  /** A function without calls of `gradient`. */
  #source(name: string): FunctionExpr {
    const fn = this.#functions.get(name);
    if (fn === undefined) throw new Error(`internal: no @${name}`);
    const state = this.#states.get(name);
    if (state === 'done' || !postOrder(fn.body).some(isDerivative)) return fn;
    if (state === 'open') {
      throw new UnsupportedError({
        where: `@${name}`,
        got: 'a derivative of a function that asks for its own',
        expected: 'derivatives of other functions',
      });
    }
    this.#states.set(name, 'open');
    const lets = valuesOf(fn.body);
    const body = rewrite(fn.body, (expr) => {
      if (!isDerivative(expr) || expr.callee.kind !== 'operator') return expr;
      const op = expr.callee.name;
      if (op === STOP_GRADIENT || op === CUSTOM_GRADIENT) return expr;
      return this.#derive(expr, op, { lets, name });
    });
    const source = { ...fn, body: withoutUnreadFunctions(body) };
    this.#functions.set(name, source);
    this.#states.set(name, 'done');
    return source;
  }

  #derive(
    expr: CallExpr,
    op: string,
    { lets, name }: { lets: ReadonlyMap<Expr, Expr>; name: string },
  ): Expr {
    let operand = expr.args[0];
    for (let next = operand; next !== undefined; next = lets.get(next)) operand = next;
    const make = (of: string, captured: number): string => {
      if (op === JVP) return this.#program.jvp(of, captured);
      return op === GRADIENT
        ? this.#program.gradient(of, captured)
        : this.#program.withCotangent(of, captured);
    };
    if (operand?.kind === 'global') return global(make(operand.name, 0));
    if (operand?.kind === 'function') {
      const captured = freeVariables(operand);
      const closed = `${name}.fn_${this.#closures++}`;
      const { resultType } = operand;
      const body = func([...captured, ...operand.params], operand.body);
      this.#functions.set(closed, { ...body, resultType });
      return this.#program.closureOf(make(closed, captured.length), captured);
    }
    throw new UnsupportedError({
      where: formatSpan(expr.span, `@${name}`),
      got: `${op} of a function that is known only when the program runs`,
      expected: 'a global function, or one that stands here',
    });
  }
}

/** Without functions that only an operator on functions read, in whose place another function stands now. */
function withoutUnreadFunctions(body: Expr): Expr {
  const readers = countReaders(body);
  return rewrite(body, (expr) => {
    const isUnread = expr.kind === 'let' && !readers.has(expr.variable);
    return isUnread && expr.value.kind === 'function' ? expr.body : expr;
  });
}

/** The values of lets by their variables. */
function valuesOf(body: Expr): ReadonlyMap<Expr, Expr> {
  const lets = new Map<Expr, Expr>();
  for (const expr of postOrder(body)) if (expr.kind === 'let') lets.set(expr.variable, expr.value);
  return lets;
}

/** Whether a function that is differentiated asks for derivatives itself. */
function isNested({ functions }: Module): boolean {
  const asking = [...functions].filter(([, fn]) => asksFor(fn.body));
  const reached = new Set<string>();
  const roots = asking.flatMap(([, fn]) =>
    postOrder(fn.body).flatMap((expr) => (isDerivative(expr) ? expr.args : [])),
  );
  const work: Expr[] = [...roots];
  for (let root = work.pop(); root !== undefined; root = work.pop()) {
    if (asksFor(root)) return true;
    for (const name of globalsOf(root)) {
      if (reached.has(name)) continue;
      reached.add(name);
      const fn = functions.get(name);
      if (fn !== undefined) work.push(fn.body);
    }
  }
  return false;
}

function asksFor(root: Expr): boolean {
  return postOrder(root).some(
    (expr) =>
      isDerivative(expr) &&
      expr.callee.kind === 'operator' &&
      expr.callee.name !== STOP_GRADIENT &&
      expr.callee.name !== CUSTOM_GRADIENT,
  );
}

function globalsOf(root: Expr): string[] {
  return postOrder(root).flatMap((expr) => {
    if (expr.kind === 'global') return [expr.name];
    return expr.kind === 'call' && expr.callee.kind === 'global' ? [expr.callee.name] : [];
  });
}

/** Without `stop_gradient` and `custom_gradient`, which mean nothing where no derivative is asked for. */
function withoutMarks(fn: FunctionExpr): FunctionExpr {
  const body = rewrite(fn.body, (expr) => {
    if (!isDerivative(expr) || expr.callee.kind !== 'operator') return expr;
    const isMark = expr.callee.name === STOP_GRADIENT || expr.callee.name === CUSTOM_GRADIENT;
    return isMark ? (expr.args[0] ?? expr) : expr;
  });
  return body === fn.body ? fn : { ...fn, body };
}
