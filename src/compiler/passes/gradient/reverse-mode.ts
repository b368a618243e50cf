import { callFunction, func, global, projection, tuple, variableOf } from '../../ir/build.ts';
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
import type { Type } from '../../ir/type.ts';
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
import { bindAllParts, cotangentOfPattern } from './pattern-cotangents.ts';

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
