import {
  callFunction,
  func,
  global,
  projection,
  tuple,
  variableOf,
  float,
  int,
} from '../../ir/build.ts';
import { cotangentType } from '../../ir/cotangent-type.ts';
import type {
  CallExpr,
  Expr,
  FunctionExpr,
  IfExpr,
  MatchExpr,
  Pattern,
  VarExpr,
} from '../../ir/expr.ts';
import { type Type, type AdtTypeNode, formatType } from '../../ir/type.ts';
import { variablesOf } from '../../ir/walk/visit.ts';
import { hasUnknownDims, sizesOf } from './copy-function.ts';
import {
  type BranchReads,
  DerivativeBlock,
  type DerivativeMode,
  mapBodies,
} from './derivative-block.ts';
import { type BlockPlace, innerPlace } from './derivative-context.ts';
import { Derivatives } from './derivatives.ts';
import type { LinearStep } from './linear-steps.ts';
import type { Emitter } from './emitter.ts';
import { construct, type TypedValues } from './typed-values.ts';

/** Reverse mode: cotangents go back over the steps of a block, once all are emitted. */
export class ReverseMode implements DerivativeMode {
  readonly #at: BlockPlace;
  readonly #pulls: ((cotangents: Derivatives) => void)[] = [];

  constructor(at: BlockPlace) {
    this.#at = at;
  }

  /** Emits a block, and gives its result. */
  run(root: Expr): Expr {
    return new DerivativeBlock(this.#at, this).run(root);
  }

  #typeOf(expr: Expr): Type {
    return this.#at.program.types.of(expr);
  }

  linear(variable: VarExpr, { pull }: Pick<LinearStep, 'pull'>): void {
    this.#at.scope.active.add(variable);
    const { span } = this.#at.emitter;
    this.#pulls.push((cotangents) => {
      const cotangent = cotangents.get(variable);
      if (cotangent === undefined) return;
      cotangents.emitter.at(span);
      pull(cotangent, cotangents);
    });
  }

  call(variable: VarExpr, { args, span }: CallExpr, name: string): void {
    const { program } = this.#at;
    const { result } = program.signature(name);
    const forward = callFunction(global(program.vjp(name)), args, span);
    this.#withBack(variable, forward, { operands: args, type: result });
  }

  /** A value, and a function that gives the cotangents of operands from its own. */
  #withBack(variable: VarExpr, value: Expr, { operands, matched, type }: Outs): void {
    const { emitter } = this.#at;
    const both = emitter.bind(value, 'r');
    emitter.define(variable, projection(both, 0));
    const back = emitter.bind(projection(both, 1), 'back');
    const isPacked = hasUnknownDims(type);
    this.linear(variable, {
      pull: (cotangent, of) => {
        const whole = of.whole(cotangent, variable, this.#typeOf(variable));
        const found = callFunction(back, [isPacked ? tuple([whole]) : whole]);
        of.spread(found, outsOf({ operands, matched }), this.#at);
      },
    });
  }

  branches(variable: VarExpr, expr: IfExpr | MatchExpr, read: BranchReads): void {
    const isMatched = read.matched !== undefined;
    const made = mapBodies(isMatched ? this.#withoutWildcards(expr) : expr, (body, pattern) => {
      const at = innerPlace(this.#at, this.#at.emitter.inner());
      for (const bound of isMatched && pattern ? variablesOf(pattern) : []) {
        if (at.program.values.hasFloats(this.#typeOf(bound))) at.scope.active.add(bound);
        for (const symbol of sizesOf(bound.type)) at.scope.symbols.add(symbol);
      }
      const mode = new ReverseMode(at);
      const result = mode.run(body);
      return at.emitter.around(tuple([result, mode.backOf({ ...read, result, pattern })]));
    });
    this.#withBack(variable, made, read);
  }

  /** The function from the cotangent of a block's result to those of what it reads. */
  backOf(branch: Branch): FunctionExpr {
    const emitter = this.#at.emitter.inner();
    const own = cotangentType(branch.type);
    const isPacked = hasUnknownDims(branch.type);
    const param = variableOf('d', isPacked ? { kind: 'tuple', fields: [own] } : own);
    const cotangent = isPacked ? emitter.named(projection(param, 0)) : param;
    const of = new Derivatives(this.#at.program.values, emitter);
    const body = this.#pullBranch(branch, cotangent, of);
    // As around the branch: what the body gives may have sizes that only it names.
    const fields = outsOf(branch).map((out) => cotangentType(this.#typeOf(out)));
    return { ...func([param], emitter.around(body)), resultType: { kind: 'tuple', fields } };
  }

  /** Adds to the cotangents of what the block reads, from that of its result. */
  pull(result: Expr, cotangent: Expr, of: Derivatives): void {
    const type = this.#typeOf(result);
    const expr = this.#at.program.values.conform(cotangent, type, of.emitter);
    if (this.#at.scope.active.has(result)) of.add(result, { kind: 'whole', expr }, type);
    for (const pull of this.#pulls.toReversed()) pull(of);
  }

  #pullBranch(branch: Branch, cotangent: Expr, cotangents: Derivatives): Expr {
    const { result, operands, matched, pattern } = branch;
    this.pull(result, cotangent, cotangents);
    const found = operands.map((variable) => cotangents.wholeOf(variable, this.#typeOf(variable)));
    if (matched === undefined || pattern === undefined) return tuple(found);
    const at = { values: this.#at.program.values, cotangents, matched };
    return tuple([...found, cotangentOfPattern(pattern, this.#typeOf(matched), at)]);
  }

  /** A match whose patterns bind all parts of a value. */
  #withoutWildcards(expr: IfExpr | MatchExpr): IfExpr | MatchExpr {
    if (expr.kind === 'if') return expr;
    const type = this.#typeOf(expr.value);
    const place = { values: this.#at.program.values, emitter: this.#at.emitter };
    const clauses = expr.clauses.map(({ pattern, body }) => ({
      pattern: bindAllParts(pattern, type, place),
      body,
    }));
    return { ...expr, clauses };
  }
}

/** What a function that goes back gives cotangents of. */
type Outs = Omit<BranchReads, 'operands'> & { readonly operands: readonly Expr[] };

/** A branch whose block has been emitted. */
interface Branch extends Outs {
  readonly result: Expr;
  readonly pattern?: Pattern | undefined;
}

function outsOf({ operands, matched }: Omit<Outs, 'type'>): readonly Expr[] {
  return matched === undefined ? operands : [...operands, matched];
}

/** The context in which the cotangent of a matched value is put together. */
interface PatternPlace {
  readonly values: TypedValues;
  /** Cotangents, those of the pattern's variables among them. */
  readonly cotangents: Derivatives;
  readonly matched: Expr;
}

/** The cotangent of a value of a type that fits a pattern, from those of the pattern's variables. */
function cotangentOfPattern(pattern: Pattern, type: Type, place: PatternPlace): Expr {
  const { values, cotangents, matched } = place;
  const { emitter } = cotangents;
  switch (pattern.kind) {
    case 'var-pattern':
      return cotangents.wholeOf(pattern.variable, type);
    case 'wildcard':
    case 'int-pattern':
    case 'float-pattern':
      return values.zero(matched, type, emitter);
    case 'tuple-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      return tuple(
        pattern.fields.map((field, i) => cotangentOfPattern(field, types[i] ?? type, place)),
      );
    }
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      const fields = pattern.fields.map((field, i) => {
        const own = types[i] ?? type;
        const cotangent = cotangentOfPattern(field, own, place);
        return values.toData(cotangent, valueOf(field, own, values), { type: own, emitter });
      });
      return construct(pattern.constructor, requireData(type), fields);
    }
    default:
      return pattern satisfies never;
  }
}

/** A pattern that fits the same values, with variables in place of wildcards. */
function bindAllParts(
  pattern: Pattern,
  type: Type,
  place: { readonly values: TypedValues; readonly emitter: Emitter },
): Pattern {
  switch (pattern.kind) {
    case 'var-pattern':
    case 'int-pattern':
    case 'float-pattern':
      return pattern;
    case 'wildcard': {
      const own =
        type.kind === 'tensor' ? { ...type, shape: place.emitter.namedShape(type.shape) } : type;
      return { kind: 'var-pattern', variable: variableOf('rest', own) };
    }
    case 'tuple-pattern':
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, place.values);
      const fields = pattern.fields.map((field, i) => bindAllParts(field, types[i] ?? type, place));
      return { ...pattern, fields };
    }
    default:
      return pattern satisfies never;
  }
}

/** The value that fits a pattern without wildcards. */
function valueOf(pattern: Pattern, type: Type, values: TypedValues): Expr {
  switch (pattern.kind) {
    case 'var-pattern':
      return pattern.variable;
    case 'tuple-pattern':
    case 'constructor-pattern': {
      const types = fieldTypesOf(pattern, type, values);
      const fields = pattern.fields.map((field, i) => valueOf(field, types[i] ?? type, values));
      return pattern.kind === 'tuple-pattern'
        ? tuple(fields)
        : construct(pattern.constructor, requireData(type), fields);
    }
    case 'int-pattern':
      return int(pattern.value);
    case 'float-pattern':
      return float(pattern.value);
    case 'wildcard':
      throw new Error('internal: a wildcard in a pattern with derivatives');
    default:
      return pattern satisfies never;
  }
}

/** The types of the parts of a value that a pattern takes apart. */
function fieldTypesOf(pattern: Pattern, type: Type, values: TypedValues): readonly Type[] {
  if (pattern.kind === 'constructor-pattern') {
    return values.fieldTypes(requireData(type), pattern.constructor);
  }
  return type.kind === 'tuple' ? type.fields : [];
}

function requireData(type: Type): AdtTypeNode {
  if (type.kind === 'adt') return type;
  throw new Error(`internal: a pattern of ${formatType(type)}`);
}
