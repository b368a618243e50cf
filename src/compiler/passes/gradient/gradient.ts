import { UnsupportedError } from '../../../core/errors.ts';
import { isElaborated } from '../../inference/elaborate.ts';
import { func, global } from '../../ir/build.ts';
import {
  type Expr,
  type FunctionExpr,
  type Module,
  type Span,
  spanOf,
  type VarExpr,
} from '../../ir/expr.ts';
import { freeVariables } from '../../ir/walk/free-variables.ts';
import { withPlace } from '../../ir/place.ts';
import {
  CUSTOM_GRADIENT,
  GRADIENT,
  isGradientCall,
  JVP,
  STOP_GRADIENT,
} from '../../ir/operators/gradient-operators.ts';
import { type OperatorCall, operatorName } from '../../ir/operators/operator-name.ts';
import type { FunctionTypeNode } from '../../ir/type.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { childrenOf, postOrder, rewrite, rewriteBodies } from '../../ir/walk/visit.ts';
import { countReaders } from '../../rewriting/count-readers.ts';
import { inlineFunctions } from '../inline.ts';
import { inferTypes } from '../infer-types.ts';
import { nameUnknownDims } from '../dims/name-unknown-dims.ts';
import type { Pass, PassContext } from '../pass.ts';
import { toAnf } from '../to-anf.ts';
import { copyFunction } from './copy-function.ts';
import { defunctionalise } from './defunctionalise/defunctionalise.ts';
import { halveSteps } from './halve-steps.ts';
import { DerivativeProgram } from './derivative-program.ts';
import { withinLets } from './known-function.ts';
import { RunTimeFunctionError } from './run-time-function.ts';

/**
 * Replaces `gradient(@f)`, `vjp(@f)` and `jvp(@f)` by functions that compute derivatives: by reverse mode
 * over the whole language. Functions in straight lines become straight lines.
 */
export const gradient: Pass = {
  name: 'gradient',
  run(module, context) {
    if (![...module.functions.values()].some(({ body }) => postOrder(body).some(isDerivative))) {
      return module;
    }
    const roots = new Set(module.functions.keys());
    let current = module;
    // Those of functions that ask for none come first: what they become is code as any other.
    while (asksInside(current)) current = withInnermost(current, { context, roots });
    // Code that was made for no place of its own, such as a sum of data, gets that of the first
    // derivative.
    const span = placeOfDerivative(module);
    return rewriteBodies(current, (expr) => withPlace(withoutMark(expr), span));
  },
};

/** The place of the first derivative that a program asks for. */
function placeOfDerivative({ functions }: Module): Span | undefined {
  for (const { body } of functions.values()) {
    const found = postOrder(body).find((expr) => isDerivative(expr) && expr.span !== undefined);
    if (found !== undefined) return spanOf(found);
  }
  return undefined;
}

/** The module without the derivatives of functions that ask for no derivatives themselves. */
function withInnermost(
  module: Module,
  at: { readonly context: PassContext; readonly roots: ReadonlySet<string> },
): Module {
  const { context } = at;
  const types: FunctionTypeNode[] = [];
  let found: RunTimeFunctionError | undefined;
  for (;;) {
    const { classes, module: source } =
      types.length === 0 ? { module } : defunctionalise(module, types, context);
    if (source === undefined) throw found ?? new Error('internal: no module');
    try {
      return expanded(source, at);
    } catch (thrown) {
      if (!(thrown instanceof RunTimeFunctionError)) throw thrown;
      found = thrown;
      const type = classes?.source(thrown.type) ?? thrown.type;
      if (type.kind !== 'function' || classes?.of(type) !== undefined) throw thrown;
      types.push(type);
    }
  }
}

function expanded(
  module: Module,
  { context, roots }: { readonly context: PassContext; readonly roots: ReadonlySet<string> },
): Module {
  context.types.declare(module);
  // Of straight lines in several functions comes one straight line.
  const whole = inlineFunctions(module, context, differentiated(module));
  const inferred = whole === module ? module : inferTypes.run(whole, context);
  const asking = [...inferred.functions].filter(([, { body }]) => asksFor(body));
  const reached = new Set([...differentiated(inferred), ...asking.map(([name]) => name)]);
  const halved = halveSteps(inferred, reached, context.types);
  const source = halved === inferred ? inferred : inferTypes.run(halved, context);
  context.types.declare(source);
  const written = new Expansion(source, context).run();
  // Emitted code has its types, unless it calls polymorphic functions.
  const made = isElaborated(written) ? written : inferTypes.run(written, context);
  context.types.declare(made);
  const inlined = inlineFunctions(made, context, madeForOneCall(made, source));
  return nameUnknownDims.run(withoutUncalled(inlined, roots), context);
}

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
    for (const child of postOrder(body).flatMap(childrenOf)) {
      if (child.kind === 'global') counts.set(child.name, (counts.get(child.name) ?? 0) + 1);
    }
  }
  const made = [...counts].filter(([name, count]) => count === 1 && !functions.has(name));
  return new Set(made.map(([name]) => name));
}

/** Without functions that the program did not have and that nothing calls any more. */
function withoutUncalled(module: Module, roots: ReadonlySet<string>): Module {
  const kept = new Set<string>(roots);
  for (const name of kept) {
    const fn = module.functions.get(name);
    // A set yields what is added while it is walked.
    if (fn !== undefined) for (const called of globalsOf(fn.body)) kept.add(called);
  }
  const functions = new Map([...module.functions].filter(([name]) => kept.has(name)));
  return { ...module, functions };
}

class Expansion {
  readonly #module: Module;
  readonly #functions: Map<string, FunctionExpr>;
  readonly #program: DerivativeProgram;
  readonly #asking: ReadonlySet<string>;
  readonly #types: TypeInference;
  #closures = 0;
  #derived = 0;

  constructor(module: Module, context: PassContext) {
    this.#module = toAnf.run(module, context);
    this.#functions = new Map(this.#module.functions);
    this.#types = context.types;
    this.#asking = askingFunctions(module);
    // Functions that are added are known to inference.
    context.types.declare({ functions: this.#functions, types: module.types });
    this.#program = new DerivativeProgram({
      types: context.types,
      definitions: module.types,
      functions: this.#functions,
    });
  }

  run(): Module {
    const { functions } = this.#module;
    for (const [name, fn] of functions) this.#functions.set(name, this.#withDerivatives(fn, name));
    if (this.#derived > 0) return { ...this.#module, functions: this.#functions };
    const [name = ''] = [...functions].find(([, { body }]) => asksFor(body)) ?? [];
    throw new UnsupportedError({
      where: `@${name}`,
      got: 'a derivative of a function that asks for its own',
      expected: 'derivatives of other functions',
    });
  }

  #withDerivatives(fn: FunctionExpr, name: string): FunctionExpr {
    if (!asksFor(fn.body)) return fn;
    const lets = valuesOf(fn.body);
    const body = rewrite(fn.body, (expr, original) => {
      if (!isAsking(expr) || !isAsking(original)) return expr;
      const operand = this.#operand(original, lets);
      if (this.#asks(operand)) return expr;
      this.#derived++;
      return this.#derive(expr, operand, name);
    });
    return { ...fn, body: withoutUnreadFunctions(body) };
  }

  /**
   * The operand of a derivative: a global function, or a function together with all others that it
   * reads.
   */
  #operand(expr: OperatorCall, lets: ReadonlyMap<Expr, Expr>): Expr {
    let operand = expr.args[0];
    for (let next = operand; next !== undefined; next = lets.get(next)) operand = next;
    if (operand?.kind === 'global') return operand;
    if (operand?.kind !== 'function') {
      const type = operand && this.#types.of(operand);
      if (type?.kind !== 'function') throw new Error('internal: a derivative of no function');
      throw new RunTimeFunctionError(expr, type);
    }
    const inside = new Map<VarExpr, Expr>();
    const visit = (root: Expr): void => {
      for (const variable of freeVariables(root)) {
        const value = lets.get(variable);
        if (value === undefined || inside.has(variable) || !isFunction(value, this.#types))
          continue;
        visit(value);
        inside.set(variable, value);
      }
    };
    visit(operand);
    const read = [...inside].map(([variable, value]) => ({ variable, value }));
    return { ...operand, body: withinLets(read, operand.body) };
  }

  /** Returns true if a function asks for derivatives itself, or calls one that does. */
  #asks(operand: Expr): boolean {
    return asksFor(operand) || globalsOf(operand).some((name) => this.#asking.has(name));
  }

  #derive(expr: OperatorCall, operand: Expr, name: string): Expr {
    const op = expr.callee.name;
    const make = (of: string, captured: number): string => {
      if (op === JVP) return this.#program.jvp(of, captured);
      return op === GRADIENT
        ? this.#program.gradient(of, captured)
        : this.#program.withCotangent(of, captured);
    };
    if (operand.kind === 'global') return global(make(operand.name, 0));
    if (operand.kind !== 'function') throw new Error('internal: a derivative of no function');
    const captured = freeVariables(operand);
    const closed = this.#newName(name);
    const { resultType } = operand;
    const whole = { ...func([...captured, ...operand.params], operand.body), resultType };
    this.#functions.set(closed, copyFunction(whole, new Map(), this.#types.operators));
    return this.#program.closureOf(make(closed, captured.length), captured, expr.span);
  }

  #newName(name: string): string {
    let closed = `${name}.fn_${this.#closures++}`;
    while (this.#functions.has(closed)) closed = `${name}.fn_${this.#closures++}`;
    return closed;
  }
}

/**
 * Returns true if the value of a let is a function: written there, a global one, or the derivative
 * of one.
 */
function isFunction(value: Expr, types: TypeInference): boolean {
  if (value.kind === 'function' || value.kind === 'global') return true;
  return isDerivative(value) && types.of(value).kind === 'function';
}

/** Without functions that only an operator on functions read, in whose place another function stands now. */
function withoutUnreadFunctions(body: Expr): Expr {
  const readers = countReaders(body);
  return rewrite(body, (expr) => {
    const isUnread = expr.kind === 'let' && !readers.has(expr.variable);
    return isUnread && expr.value.kind === 'function' ? expr.body : expr;
  });
}

function valuesOf(body: Expr): ReadonlyMap<Expr, Expr> {
  const lets = new Map<Expr, Expr>();
  for (const expr of postOrder(body)) if (expr.kind === 'let') lets.set(expr.variable, expr.value);
  return lets;
}

/** Returns true if any function asks for derivatives. */
function asksInside({ functions }: Module): boolean {
  return [...functions.values()].some(({ body }) => asksFor(body));
}

/** Functions that ask for derivatives, and those that call them. */
function askingFunctions({ functions }: Module): ReadonlySet<string> {
  const callers = new Map<string, string[]>();
  for (const [name, { body }] of functions) {
    for (const called of globalsOf(body)) {
      callers.set(called, [...(callers.get(called) ?? []), name]);
    }
  }
  const found = new Set(
    [...functions].filter(([, { body }]) => asksFor(body)).map(([name]) => name),
  );
  // A set yields what is added while it is walked.
  for (const name of found) for (const caller of callers.get(name) ?? []) found.add(caller);
  return found;
}

function asksFor(root: Expr): boolean {
  return postOrder(root).some(isAsking);
}

function isAsking(expr: Expr): expr is OperatorCall {
  return isGradientCall(expr) && expr.callee.name !== CUSTOM_GRADIENT;
}

function globalsOf(root: Expr): string[] {
  return postOrder(root).flatMap((expr) => {
    if (expr.kind === 'global') return [expr.name];
    return expr.kind === 'call' && expr.callee.kind === 'global' ? [expr.callee.name] : [];
  });
}

/** A call of `gradient` and its like, or a mark for them. */
function isDerivative(expr: Expr): expr is OperatorCall {
  return isGradientCall(expr) || operatorName(expr) === STOP_GRADIENT;
}

/** Without `stop_gradient` and `custom_gradient`, which mean nothing where no derivative is asked for. */
function withoutMark(expr: Expr): Expr {
  const [value = expr] = isDerivative(expr) ? expr.args : [];
  return isAsking(expr) ? expr : value;
}
