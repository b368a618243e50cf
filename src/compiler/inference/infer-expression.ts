import { isUnknownDim } from '../../core/dims/dim-symbols.ts';
import type {
  CallExpr,
  Expr,
  FunctionExpr,
  IfExpr,
  LetExpr,
  MatchExpr,
  ProjectionExpr,
  VarExpr,
} from '../ir/expr.ts';
import { budgetInForce } from '../ir/compile-budget.ts';
import { recursiveLets } from '../ir/walk/recursive-lets.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { formatType, MAX_TYPE_DEPTH, sameType, type Type } from '../ir/type.ts';
import { isPolymorphic } from './declarations.ts';
import { bindClause, checkMatch } from './infer-match.ts';
import type { InferenceContext } from './inference-context.ts';
import { derivativeTerm } from './terms/derivative-term.ts';
import { operatorConstraint } from './terms/operator-constraint.ts';
import {
  applied,
  type AppliedTerm,
  ERROR_TERM,
  freshMeta,
  functionTerm,
  isError,
  requireFewParts,
  resolve,
  type Term,
  termOf,
} from '../ir/term.ts';

const INT = applied('scalar', 'int', []);

/** Walks over expressions and states what their types have to fulfil. */
export class ExpressionInference {
  readonly #context: InferenceContext;
  #saidTooDeep = false;
  /** Lets of functions that call themselves. */
  readonly #recursive = new Set<LetExpr>();

  constructor(context: InferenceContext) {
    this.#context = context;
  }

  /** Infers a global function, whose declared part is in `signature`. */
  inferGlobal(name: string, fn: FunctionExpr): AppliedTerm {
    this.#context.enterGlobal(name, fn);
    for (const one of recursiveLets(fn.body)) this.#recursive.add(one);
    const term = resolve(runTask(this.#visit(fn)));
    if (term.kind !== 'applied') throw new Error('internal: a function without a function type');
    return term;
  }

  /** True if a function calls itself by the variable of a let. */
  get hasRecursiveLets(): boolean {
    return this.#recursive.size > 0;
  }

  /** `expected`: what the place asks for, where it is known before the expression is. */
  *#visit(expr: Expr, expected?: Term): Task<Term> {
    const known = this.#context.knownTerm(expr);
    if (known !== undefined) return known;
    const budget = budgetInForce();
    if (budget !== undefined) budget.place = () => this.#context.where(expr);
    const inferred = yield* this.#infer(expr, expected);
    const term = inferred.kind === 'applied' ? this.#bounded(expr, inferred) : inferred;
    this.#context.setTerm(expr, term);
    return term;
  }

  /** The type, or what stands for one that is too deep. Said once: what is around it is as deep. */
  #bounded(expr: Expr, term: AppliedTerm): Term {
    requireFewParts(term, () => this.#context.where(expr));
    if (term.depth <= MAX_TYPE_DEPTH) return term;
    if (this.#saidTooDeep) return ERROR_TERM;
    this.#saidTooDeep = true;
    return this.#context.complain(expr, {
      got: `a type more than ${MAX_TYPE_DEPTH} levels deep`,
      expected: 'one of fewer levels',
    });
  }

  *#infer(expr: Expr, expected: Term | undefined): Task<Term> {
    switch (expr.kind) {
      case 'var':
        return this.#freeVariable(expr);
      case 'constant':
        return { kind: 'tensor', dtype: expr.value.dtype, shape: expr.value.shape };
      case 'int':
        return INT;
      case 'operator':
        return this.#context.complain(expr, {
          got: `the operator ${expr.name} as a value`,
          expected: 'a call of it',
          remedy: `Write a function around it: fn (%x) { ${expr.name}(%x) }.`,
        });
      case 'constructor': {
        const declared = this.#context.typing.constructors.get(expr.name);
        if (declared !== undefined) return termOf(declared.type);
        return this.#context.complain(expr, {
          got: `the constructor ${expr.name}`,
          expected: 'one that a type of the module has',
        });
      }
      case 'global': {
        const signature = this.#context.typing.signatures.get(expr.name);
        if (signature !== undefined) return signature.term;
        return this.#context.complain(expr, {
          got: `@${expr.name}`,
          expected: 'a function that the module defines',
        });
      }
      case 'call':
        return yield* this.#call(expr, expected);
      case 'function':
        return yield* this.#function(expr);
      case 'tuple': {
        for (const [i, field] of expr.fields.entries()) {
          yield* sub(this.#visit(field, fieldOf(expected, i)));
        }
        return applied(
          'tuple',
          '',
          expr.fields.map((field) => this.#context.useOf(field)),
        );
      }
      case 'projection':
        yield* sub(this.#visit(expr.tuple));
        return this.#projection(expr);
      case 'let':
        return yield* this.#let(expr, expected);
      case 'if':
        return yield* this.#if(expr, expected);
      case 'match':
        return yield* this.#match(expr, expected);
      default:
        return expr satisfies never;
    }
  }

  /** Variables are bound before their scope is entered. */
  #freeVariable(variable: VarExpr): Term {
    return this.#context.complain(variable, {
      got: `%${variable.name}, which nothing binds here`,
      expected: 'a parameter, or a variable of a let or match around it',
    });
  }

  *#function(fn: FunctionExpr): Task<Term> {
    const outer = this.#context.scope;
    const shadowed = fn.typeParams?.find((name) => outer.typeParams.has(name));
    if (shadowed !== undefined) {
      this.#context.complain(fn, {
        got: `the type parameter ${shadowed} again`,
        expected: 'another name than that of a function around it',
      });
    }
    const types = fn.params.flatMap(({ type }) => (type === undefined ? [] : [type]));
    this.#context.scope = {
      typeParams: new Set([...outer.typeParams, ...(fn.typeParams ?? [])]),
      symbols: new Set([...outer.symbols, ...this.#context.declareParams(types, fn)]),
      naming: outer.naming,
    };
    const params = fn.params.map((param) => {
      const term = this.#parameter(param, fn);
      this.#context.setTerm(param, term);
      return term;
    });
    const { resultType } = fn;
    const declared = resultType && this.#context.declaredTerm(resultType, fn);
    const result = this.#resultOf(fn, declared);
    const { leave } = this.#context.enterPart(fn, 0);
    yield* sub(this.#visit(fn.body, result));
    const body = leave(this.#context.useOf(fn.body));
    this.#context.require(body, result, { at: fn.body, part: 'result' });
    this.#context.scope = outer;
    // Some of what the body reads is computed outside.
    for (const symbol of outer.naming.keys()) outer.symbols.add(symbol);
    return functionTerm(params, result, fn.typeParams);
  }

  /** A function that is still open already has a metavariable for its result. */
  #resultOf(fn: FunctionExpr, declared: Term | undefined): Term {
    const result = declared ?? this.#context.results.get(fn) ?? freshMeta();
    this.#context.results.set(fn, result);
    return result;
  }

  #parameter(param: VarExpr, fn: FunctionExpr): Term {
    if (param.type === undefined) return this.#context.knownTerm(param) ?? freshMeta();
    return this.#context.declaredTerm(param.type, fn, `parameter ${param.name}`);
  }

  /** Metavariables for what an open global function does not say. */
  open(fn: FunctionExpr): AppliedTerm {
    const params = fn.params.map((param) => {
      const term = param.type === undefined ? freshMeta() : termOf(param.type);
      if (param.type === undefined) this.#context.setTerm(param, term);
      return term;
    });
    const result = fn.resultType === undefined ? freshMeta() : termOf(fn.resultType);
    if (fn.resultType === undefined) this.#context.results.set(fn, result);
    return functionTerm(params, result);
  }

  *#let(expr: LetExpr, expected: Term | undefined): Task<Term> {
    const { variable, value } = expr;
    if (value.kind === 'function' && this.#recursive.has(expr)) {
      const own = this.open(value);
      this.#context.setTerm(variable, { ...own, typeParams: value.typeParams ?? [] });
    }
    if (variable.type === undefined || isPolymorphic(variable.type)) {
      yield* sub(this.#visit(value));
      this.#context.setTerm(variable, this.#context.termOf(value));
      if (variable.type !== undefined) this.#requireSame(expr, variable.type);
    } else {
      yield* sub(this.#visit(value, this.#context.expectedOf(variable.type)));
      const { declared, expected: wanted } = this.#context.declareBinding(variable.type, expr);
      const part = expr.span && `let %${variable.name}`;
      this.#context.require(this.#context.useOf(value), wanted, { at: expr, part });
      this.#context.setTerm(variable, declared);
    }
    yield* sub(this.#visit(expr.body, expected));
    return this.#context.useOf(expr.body);
  }

  /** A polymorphic type is declared whole, or left to be inferred. */
  #requireSame(expr: LetExpr, declared: Type): void {
    this.#context.recheck(() => {
      const term = this.#context.termOf(expr.value);
      const type = this.#context.unifier.typeOf(term, () => ({ kind: 'type-var', name: '_' }));
      if (isError(term) || sameType(type, declared)) return;
      this.#context.complain(expr, { got: formatType(type), expected: formatType(declared) });
    });
  }

  *#if(expr: IfExpr, expected: Term | undefined): Task<Term> {
    yield* sub(this.#visit(expr.condition));
    this.#context.defer({
      attempt: () => this.#condition(expr),
      giveUp: () => {
        this.#context.require(this.#context.useOf(expr.condition), INT, {
          at: expr,
          part: 'condition',
        });
      },
    });
    const result = freshMeta();
    const branches = [
      ['then', expr.thenBranch],
      ['else', expr.elseBranch],
    ] as const;
    for (const [index, [part, branch]] of branches.entries()) {
      const { leave } = this.#context.enterPart(expr, index);
      yield* sub(this.#visit(branch, expected));
      const widens = this.#widens(expected);
      this.#context.require(leave(this.#context.useOf(branch)), result, { at: expr, part, widens });
    }
    return result;
  }

  /** Branches may differ in dimensions where the place says `?`; it is compared with what they have in common. */
  #widens(expected: Term | undefined): boolean {
    if (this.#context.typing.widensBranches === true) return true;
    return expected !== undefined && hasUnknownDims(expected);
  }

  #condition(expr: IfExpr): boolean {
    const term = resolve(this.#context.useOf(expr.condition));
    if (term.kind === 'meta') return false;
    const isBool = term.kind === 'tensor' && term.dtype === 'bool' && term.shape.length === 0;
    const isInt = term.kind === 'applied' && term.head === 'scalar' && term.name === 'int';
    if (!isBool && !isInt && !isError(term)) {
      const expected = 'Tensor[(), bool] or int';
      this.#context.complain(expr, { got: this.#context.format(term), expected }, 'condition');
    }
    return true;
  }

  *#match(expr: MatchExpr, expected: Term | undefined): Task<Term> {
    yield* sub(this.#visit(expr.value));
    const result = freshMeta();
    let fits = true;
    for (const [index, { body }] of expr.clauses.entries()) {
      const { leave } = this.#context.enterPart(expr, index);
      fits = bindClause(expr, index, this.#context) && fits;
      yield* sub(this.#visit(body, expected));
      const part = `clause ${index + 1}`;
      const widens = this.#widens(expected);
      this.#context.require(leave(this.#context.useOf(body)), result, { at: expr, part, widens });
    }
    if (fits) checkMatch(expr, this.#context);
    return result;
  }

  #projection(expr: ProjectionExpr): Term {
    const result = freshMeta();
    this.#context.defer({
      attempt: () => {
        const term = resolve(this.#context.useOf(expr.tuple));
        if (term.kind === 'meta') return false;
        this.#context.unifier.flow(this.#field(expr, term), result);
        return true;
      },
      giveUp: () => {
        this.#context.giveUp(expr, 'the tuple');
        this.#context.unifier.flow(ERROR_TERM, result);
      },
    });
    return result;
  }

  #field(expr: ProjectionExpr, term: Term): Term {
    if (isError(term)) return ERROR_TERM;
    const isTuple = term.kind === 'applied' && term.head === 'tuple';
    const field = isTuple ? term.args[expr.index] : undefined;
    if (field !== undefined) return field;
    return this.#context.complain(expr, {
      got: `field ${expr.index} of ${this.#context.format(term)}`,
      expected: isTuple ? `one of ${term.args.length} fields` : 'a tuple',
    });
  }

  *#call(expr: CallExpr, expected: Term | undefined): Task<Term> {
    if (expr.callee.kind === 'operator') {
      for (const arg of expr.args) yield* sub(this.#visit(arg));
      const derivative = derivativeTerm(expr, expr.callee.name, this.#context);
      if (derivative !== undefined) return derivative;
      const result = freshMeta();
      this.#context.defer(
        operatorConstraint(expr, expr.callee.name, { result, context: this.#context }),
      );
      return result;
    }
    yield* sub(this.#visit(expr.callee));
    const callee = resolve(this.#context.termOf(expr.callee));
    const isKnown = callee.kind === 'applied' && callee.head === 'function';
    const count = isKnown ? callee.args.length - 1 : expr.args.length;
    if (isKnown && count === expr.args.length) return yield* this.#apply(expr, callee, expected);
    for (const arg of expr.args) yield* sub(this.#visit(arg));
    if (callee.kind === 'meta') {
      const result = freshMeta();
      const args = expr.args.map((arg) => this.#context.useOf(arg));
      this.#context.require(callee, functionTerm(args, result), { at: expr });
      return result;
    }
    if (isError(callee)) return ERROR_TERM;
    const given = expr.args.length === 1 ? '1 argument' : `${expr.args.length} arguments`;
    return this.#context.complain(
      expr,
      isKnown
        ? { got: given, expected: String(count) }
        : { got: `a call of ${this.#context.format(callee)}`, expected: 'a function' },
    );
  }

  *#apply(expr: CallExpr, callee: AppliedTerm, expected: Term | undefined): Task<Term> {
    const given = expr.typeArguments?.map((type) => this.#context.declaredTerm(type, expr));
    const wanted = callee.typeParams.length;
    if (given !== undefined && given.length !== wanted) {
      const got = given.length === 1 ? '1 type argument' : `${given.length} type arguments`;
      this.#context.complain(expr, { got, expected: wanted === 0 ? 'none' : String(wanted) });
    }
    const { term, typeArguments } = this.#context.instantiate(expr.callee, callee, given);
    if (typeArguments.length > 0) this.#context.typeArguments.set(expr, typeArguments);
    const result = term.args[expr.args.length] ?? ERROR_TERM;
    // So the elements of a list that is written out may differ in dimensions where ? is expected.
    if (expr.callee.kind === 'constructor' && isSameData(result, expected)) {
      this.#context.unifier.flow(result, expected);
    }
    const checked = this.#argumentChecks(expr.callee);
    for (const [i, arg] of expr.args.entries()) {
      const part = `argument ${this.#parameterName(expr.callee, i)}`;
      const param = term.args[i] ?? ERROR_TERM;
      yield* sub(this.#visit(arg, param));
      this.#context.require(this.#context.useOf(arg), param, { at: expr, part, ...checked });
    }
    return result;
  }

  /** The result of an open function is that for the same symbols: nothing else may be passed. */
  #argumentChecks(callee: Expr): { atRunTime: boolean; remedy?: string } {
    const name = callee.kind === 'global' ? callee.name : undefined;
    const signature = name === undefined ? undefined : this.#context.typing.signatures.get(name);
    if (signature?.isOpen !== true) return { atRunTime: true };
    return { atRunTime: false, remedy: `Annotate the result of @${name}, which calls itself.` };
  }

  #parameterName(callee: Expr, index: number): string | number {
    const { signatures } = this.#context.typing;
    const names = callee.kind === 'function' ? callee.params.map(({ name }) => name) : undefined;
    const known = callee.kind === 'global' ? signatures.get(callee.name)?.paramNames : names;
    return known?.[index] ?? index + 1;
  }
}

/** Returns true if a type has `?` in tensors, also those in tuples and data. */
function hasUnknownDims(root: Term): boolean {
  const seen = new Set<Term>();
  const work: Term[] = [root];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const term = resolve(next);
    if (term.kind === 'meta' || seen.has(term)) continue;
    seen.add(term);
    if (term.kind === 'applied') work.push(...term.args);
    else if (term.shape.some(isUnknownDim)) return true;
  }
  return false;
}

/** The expected type of a field of a tuple. */
function fieldOf(expected: Term | undefined, index: number): Term | undefined {
  const term = expected === undefined ? undefined : resolve(expected);
  return term?.kind === 'applied' && term.head === 'tuple' ? term.args[index] : undefined;
}

function isSameData(result: Term, expected: Term | undefined): expected is Term {
  if (expected === undefined) return false;
  const [a, b] = [resolve(result), resolve(expected)];
  return a.kind === 'applied' && b.kind === 'applied' && b.head === 'adt' && a.name === b.name;
}
