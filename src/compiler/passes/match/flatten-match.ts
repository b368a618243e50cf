import type { Step } from '../../ir/walk/block.ts';
import { buildDecisionTree, type DecisionTree, Occurrence } from './decision-tree.ts';
import type { DeclaredConstructor } from '../../inference/declarations.ts';
import { substitute, termOf, typeOfTerm } from '../../ir/term.ts';
import * as ir from '../../ir/build.ts';
import {
  type Clause,
  type Expr,
  formatSpan,
  type MatchExpr,
  type Pattern,
  type VarExpr,
} from '../../ir/expr.ts';
import { budgetInForce } from '../../ir/compile-budget.ts';
import { withPlace } from '../../ir/place.ts';
import { runTask, sub, type Task } from '../../ir/task.ts';
import { FLOAT_TYPE, INT_TYPE, sameType, type Type } from '../../ir/type.ts';
import type { TypeInference } from '../../inference/type-inference.ts';

/** The part of the program that flattening needs. */
interface MatchContext {
  readonly types: TypeInference;
  readonly constructors: ReadonlyMap<string, DeclaredConstructor>;
  /** Returns true if the body of a clause reads a variable. */
  readonly isUsed: (body: Expr, variable: VarExpr) => boolean;
}

/**
 * Returns true if each clause looks for one constructor, no two for the same, and no deeper. A
 * wildcard may come last.
 */
export function isFlatMatch({ clauses }: MatchExpr): boolean {
  const seen = new Set<string>();
  for (const [index, { pattern }] of clauses.entries()) {
    if (pattern.kind === 'wildcard') return index === clauses.length - 1;
    if (pattern.kind !== 'constructor-pattern' || seen.has(pattern.constructor)) return false;
    seen.add(pattern.constructor);
    if (pattern.fields.some(({ kind }) => kind !== 'wildcard' && kind !== 'var-pattern')) {
      return false;
    }
  }
  return true;
}

/** The variable for a place in the value on one way through the tree. */
interface Place {
  readonly occurrence: Occurrence;
  readonly value: Expr;
  readonly type: Type;
  readonly outer: Place | undefined;
}

/** Makes matches of one constructor out of those with nested patterns. */
export class MatchFlattener {
  readonly #context: MatchContext;
  /** Variables of patterns that other variables stand for now. */
  readonly #names = new Map<VarExpr, VarExpr>();

  constructor(context: MatchContext) {
    this.#context = context;
  }

  nameOf(variable: VarExpr): VarExpr {
    let name = variable;
    for (let next = this.#names.get(name); next !== undefined; next = this.#names.get(name)) {
      name = next;
    }
    return name;
  }

  /** `bodyOf` gives the body of a clause as it is to be. */
  flatten(
    expr: MatchExpr,
    bodyOf: (clause: number) => Expr,
  ): { readonly before: readonly Step[]; readonly value: Expr } {
    const root = new Occurrence();
    const { constructors, types } = this.#context;
    const budget = budgetInForce();
    if (budget !== undefined) budget.place = () => formatSpan(expr.span, 'match');
    const tree = buildDecisionTree(
      root,
      expr.clauses,
      (name) => declared(constructors, name).definition,
    );
    const task = new FlatMatch(expr, tree, {
      context: this.#context,
      bodyOf,
      rename: (from, to) => this.#names.set(from, to),
    });
    const place = {
      occurrence: root,
      value: expr.value,
      type: types.of(expr.value),
      outer: undefined,
    };
    let value = runTask(task.build(tree, place));
    // Fields of a tuple that is matched, and all of a clause that always fits, come before.
    const before = [...task.functions];
    for (; value.kind === 'let'; value = value.body) {
      before.push({ variable: value.variable, value: value.value });
    }
    return { before, value };
  }
}

interface FlattenOptions {
  readonly context: MatchContext;
  readonly bodyOf: (clause: number) => Expr;
  readonly rename: (from: VarExpr, to: VarExpr) => void;
}

class FlatMatch {
  /** Functions for the clauses that more than one way leads to. */
  readonly functions: Step[] = [];
  readonly #expr: MatchExpr;
  readonly #options: FlattenOptions;
  readonly #leafCounts = new Map<number, number>();
  readonly #functionOf = new Map<number, VarExpr>();
  readonly #hints = new Map<Occurrence, { readonly variable: VarExpr; readonly clause: number }>();
  /** How many ways through the tree reach the place of a field. */
  readonly #ways = new Map<Occurrence, number>();
  /** Places that some leaf or test needs, or a place inside them. */
  readonly #needed = new Set<Occurrence>();

  constructor(expr: MatchExpr, tree: DecisionTree, options: FlattenOptions) {
    this.#expr = expr;
    this.#options = options;
    const work = [tree];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      if (node.kind === 'leaf') this.#recordLeaf(node);
      else if (node.kind === 'switch') {
        this.#need(node.occurrence);
        this.#recordFields(node);
        work.push(...node.cases.map((branch) => branch.tree));
        if (node.otherwise !== undefined) work.push(node.otherwise);
      } else if (node.kind === 'compare') {
        this.#need(node.occurrence);
        work.push(node.equal, node.otherwise);
      }
    }
  }

  #recordLeaf({ clause, bindings }: Extract<DecisionTree, { kind: 'leaf' }>): void {
    this.#leafCounts.set(clause, (this.#leafCounts.get(clause) ?? 0) + 1);
    for (const [variable, occurrence] of this.#used(clause, bindings)) {
      this.#need(occurrence);
      if (!this.#hints.has(occurrence)) this.#hints.set(occurrence, { variable, clause });
    }
  }

  #recordFields({ occurrence, cases }: Extract<DecisionTree, { kind: 'switch' }>): void {
    for (const { constructor } of cases) {
      const { fields } = declared(this.#options.context.constructors, constructor).constructor;
      for (const i of fields.keys()) {
        const place = occurrence.field(i);
        this.#ways.set(place, (this.#ways.get(place) ?? 0) + 1);
      }
    }
  }

  /** A hint for a variable. One that names sizes would name them again on another way, or in a clause's function. */
  #hintFor(place: Occurrence, type: Type): { readonly name: string; readonly type: Type } {
    const { variable: hint, clause = 0 } = this.#hints.get(place) ?? {};
    if (hint?.type === undefined || !isLike(hint.type, type)) return { name: 'field', type };
    const isOnce = this.#ways.get(place) === 1 && this.#leafCounts.get(clause) === 1;
    return { name: hint.name, type: isOnce ? hint.type : type };
  }

  #need(occurrence: Occurrence): void {
    let place: Occurrence | undefined = occurrence;
    for (; place !== undefined && !this.#needed.has(place); place = place.parent) {
      this.#needed.add(place);
    }
  }

  /** The variables of a clause that its body reads, and where they are. */
  #used(
    clause: number,
    bindings: ReadonlyMap<VarExpr, Occurrence>,
  ): (readonly [VarExpr, Occurrence])[] {
    const body = this.#expr.clauses[clause]?.body;
    if (body === undefined) return [];
    return [...bindings].filter(([variable]) => this.#options.context.isUsed(body, variable));
  }

  /** The expression for a tree, where places are known as `known` says. */
  *build(tree: DecisionTree, known: Place): Task<Expr> {
    switch (tree.kind) {
      case 'leaf':
        return this.#leaf(tree, known);
      case 'switch':
        return yield* this.#switch(tree, known);
      case 'compare':
        return yield* this.#compare(tree, known);
      case 'fail':
        return this.#fail();
      default:
        return tree satisfies never;
    }
  }

  *#switch(
    { occurrence, cases, otherwise }: Extract<DecisionTree, { kind: 'switch' }>,
    known: Place,
  ): Task<Expr> {
    const { place, steps, all } = this.#find(occurrence, known);
    const clauses: Clause[] = [];
    for (const { constructor, tree } of cases) {
      const fields = this.#fields(place, constructor);
      let inner = all;
      for (const [i, variable] of fields.entries()) {
        if (variable?.type === undefined) continue;
        inner = {
          occurrence: occurrence.field(i),
          value: variable,
          type: variable.type,
          outer: inner,
        };
      }
      const patterns = fields.map(
        (variable): Pattern =>
          variable === undefined ? { kind: 'wildcard' } : { kind: 'var-pattern', variable },
      );
      const pattern: Pattern = { kind: 'constructor-pattern', constructor, fields: patterns };
      clauses.push({ pattern, body: yield* sub(this.build(tree, inner)) });
    }
    const fails = otherwise?.kind === 'fail';
    if (otherwise !== undefined && !fails) {
      const body = yield* sub(this.build(otherwise, all));
      clauses.push({ pattern: { kind: 'wildcard' }, body });
    }
    const { span } = this.#expr;
    return bind(steps, {
      kind: 'match',
      value: place.value,
      clauses,
      complete: !fails,
      ...(span === undefined ? {} : { span }),
    });
  }

  /** An `if` over the comparison of a number with a literal. */
  *#compare(
    { occurrence, number, equal, otherwise }: Extract<DecisionTree, { kind: 'compare' }>,
    known: Place,
  ): Task<Expr> {
    const { place, steps, all } = this.#find(occurrence, known);
    const isInt = number.kind === 'int-pattern';
    let literal: Expr = ir.int(number.value);
    if (!isInt) {
      const variable = ir.variableOf('literal', FLOAT_TYPE);
      steps.push({ variable, value: ir.float(number.value) });
      literal = variable;
    }
    const condition = ir.variableOf('equal', INT_TYPE);
    const { span } = this.#expr;
    const value = ir.call(isInt ? 'int_eq' : 'float_eq', [place.value, literal], {}, span);
    steps.push({ variable: condition, value });
    const thenBranch = yield* sub(this.build(equal, all));
    const elseBranch = yield* sub(this.build(otherwise, all));
    return bind(steps, withPlace(ir.ifElse(condition, thenBranch, elseBranch), span));
  }

  /** Stops the program, where `match?` has no clause for a value. */
  #fail(): Expr {
    if (this.#expr.complete) throw new Error('internal: a match that nothing fits');
    const place = formatSpan(this.#expr.span, 'match');
    const stop = ir.stopOf(new Error(`${place}: no clause fits the value`), this.#resultType());
    return withPlace(stop, this.#expr.span);
  }

  /** Variables for the fields of a constructor that are needed. */
  #fields({ occurrence, type }: Place, constructor: string): (VarExpr | undefined)[] {
    const { definition, constructor: found } = declared(
      this.#options.context.constructors,
      constructor,
    );
    const args = type.kind === 'adt' ? type.args : [];
    const types = new Map(definition.params.map((name, i) => [name, termOf(args[i] ?? UNIT)]));
    return found.fields.map((field, i) => {
      const place = occurrence.field(i);
      if (!this.#needed.has(place)) return undefined;
      const term = substitute(termOf(field), { types, dims: new Map() });
      const declaredType = typeOfTerm(term, { unknown: () => UNIT, dim: (dim) => dim });
      // Fields of other constructors have the same place, and hints may be theirs.
      const hint = this.#hintFor(place, declaredType);
      return ir.variableOf(hint.name, hint.type);
    });
  }

  /** Where a place is, with the fields of tuples that have to be read for it. */
  #find(occurrence: Occurrence, known: Place): { place: Place; steps: Step[]; all: Place } {
    const missing: Occurrence[] = [];
    let target: Occurrence = occurrence;
    let place = placeOf(target, known);
    while (place === undefined) {
      missing.push(target);
      if (target.parent === undefined) throw new Error('internal: a place in no value');
      target = target.parent;
      place = placeOf(target, known);
    }
    const steps: Step[] = [];
    let all = known;
    for (const inner of missing.toReversed()) {
      const type = place.type.kind === 'tuple' ? place.type.fields[inner.index] : undefined;
      if (type === undefined) throw new Error('internal: a field of what is no tuple');
      const hint = this.#hintFor(inner, type);
      const variable = ir.variableOf(hint.name, hint.type);
      steps.push({ variable, value: ir.projection(place.value, inner.index) });
      all = { occurrence: inner, value: variable, type: hint.type, outer: all };
      place = all;
    }
    return { place, steps, all };
  }

  #leaf({ clause, bindings }: Extract<DecisionTree, { kind: 'leaf' }>, known: Place): Expr {
    const steps: Step[] = [];
    let all = known;
    const values = this.#used(clause, bindings).map(([variable, occurrence]) => {
      const found = this.#find(occurrence, all);
      steps.push(...found.steps);
      all = found.all;
      return { variable, place: found.place };
    });
    if ((this.#leafCounts.get(clause) ?? 0) > 1) {
      const callee = this.#function(
        clause,
        values.map(({ variable }) => variable),
      );
      return bind(
        steps,
        ir.callFunction(
          callee,
          values.map(({ place }) => place.value),
          this.#expr.span,
        ),
      );
    }
    for (const { variable, place } of values) {
      const isSame = variable.type !== undefined && sameType(variable.type, place.type);
      if (isSame && place.value.kind === 'var') this.#options.rename(variable, place.value);
      else steps.push({ variable, value: place.value });
    }
    return bind(steps, this.#options.bodyOf(clause));
  }

  #function(clause: number, params: readonly VarExpr[]): VarExpr {
    const known = this.#functionOf.get(clause);
    if (known !== undefined) return known;
    const { span } = this.#expr;
    const made = ir.func(params, this.#options.bodyOf(clause));
    const fn = { ...made, resultType: this.#resultType(), ...(span && { span }) };
    const variable = ir.variableOf('clause', this.#options.context.types.of(fn));
    this.functions.push({ variable, value: fn });
    this.#functionOf.set(clause, variable);
    return variable;
  }

  #resultType(): Type {
    return this.#options.context.types.of(this.#expr);
  }
}

const UNIT: Type = { kind: 'tuple', fields: [] };

/** Returns true if two types differ at most in dimensions. All functions are alike. */
function isLike(a: Type, b: Type): boolean {
  if (a.kind === 'tensor' && b.kind === 'tensor') {
    return a.dtype === b.dtype && a.shape.length === b.shape.length;
  }
  if (a.kind === 'tuple' && b.kind === 'tuple') {
    return (
      a.fields.length === b.fields.length &&
      a.fields.every((field, i) => isLike(field, b.fields[i] ?? UNIT))
    );
  }
  if (a.kind === 'adt' && b.kind === 'adt') {
    return a.name === b.name && a.args.every((arg, i) => isLike(arg, b.args[i] ?? UNIT));
  }
  return a.kind === b.kind && (a.kind === 'function' || sameType(a, b));
}

function placeOf(occurrence: Occurrence, known: Place): Place | undefined {
  let place: Place | undefined = known;
  while (place !== undefined && place.occurrence !== occurrence) place = place.outer;
  return place;
}

function declared(
  constructors: ReadonlyMap<string, DeclaredConstructor>,
  name: string,
): DeclaredConstructor {
  const found = constructors.get(name);
  if (found === undefined) throw new Error(`internal: no type has a constructor ${name}`);
  return found;
}

function bind(steps: readonly Step[], body: Expr): Expr {
  return steps.reduceRight((rest, { variable, value }) => ir.letIn(variable, value, rest), body);
}
