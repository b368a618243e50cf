import { CompileLimitError } from '../../core/errors.ts';
import type { Operators } from '../../ops/operators.ts';
import { describeExpr } from '../inference/describe-expr.ts';
import type { Expr, Module } from '../ir/expr.ts';
import { KILL } from '../ir/machine-operators.ts';
import { isUnplaced } from '../ir/place.ts';
import { FLOAT } from '../ir/scalar-operators.ts';
import { postOrder } from '../ir/visit.ts';
import { isPassName } from '../passes/pass-names.ts';
import { brokenInvariant } from './pass-invariants.ts';
import { unknownSize } from './unknown-size.ts';
import { verifyModule } from './verify-module.ts';

/** Operators whose calls cannot fail. */
const SAFE: ReadonlySet<string> = new Set([KILL, FLOAT]);

/**
 * The first expression that can fail when the program runs and has no place in a source, with the global
 * function it stands in; undefined when there is none.
 */
export function unplacedExpression(
  module: Module,
): { readonly name: string; readonly expr: Expr } | undefined {
  for (const [name, { body }] of module.functions) {
    const expr = postOrder(body).find((inner) => isUnplaced(inner) && !isSafe(inner));
    if (expr !== undefined) return { name, expr };
  }
  return undefined;
}

function isSafe(expr: Expr): boolean {
  return expr.kind === 'call' && expr.callee.kind === 'operator' && SAFE.has(expr.callee.name);
}

/**
 * Checks what each pass has made of a module: that it is well-formed and well-typed, and that every rule holds
 * which a pass before has made true. Where all that can fail has a place in the source, it keeps one, and where the values of a program
 * tell all sizes that it needs, they still do.
 */
export class PassVerifier {
  readonly #operators: Operators;
  readonly #passes = new Set<string>();
  #isPlaced: boolean;
  /**
   * True if values told all sizes that the module needs after `to-anf`; undefined before that pass.
   */
  #tellsSizes: boolean | undefined;

  /** `source` is the module that the first pass is given. */
  constructor(operators: Operators, source?: Module) {
    this.#operators = operators;
    this.#isPlaced = source !== undefined && unplacedExpression(source) === undefined;
  }

  /** Throws an internal error that names the pass, and CompileLimitError where that takes too long. */
  verify(pass: string, module: Module): void {
    const name = pass === 'separate' ? 'fuse' : pass;
    this.#passes.add(name);
    const where = `internal: what ${pass} has made is wrong`;
    try {
      verifyModule(module, { operators: this.#operators, widensBranches: true });
    } catch (thrown) {
      // A limit was reached, and nothing is wrong with the module.
      if (thrown instanceof CompileLimitError || thrown instanceof RangeError) throw thrown;
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new Error(`${where}: ${message}`, { cause: thrown });
    }
    const passes = this.#passes;
    const broken = brokenInvariant(module, { passes, operators: this.#operators });
    if (broken !== undefined) throw new Error(`${where}: ${broken}.`);
    this.#verifySizes(where, module);
    const unplaced = this.#isPlaced ? unplacedExpression(module) : undefined;
    if (unplaced === undefined) return;
    if (!isPassName(name) && name !== 'rules') {
      // A user's pass may make code of its own.
      this.#isPlaced = false;
      return;
    }
    throw new Error(
      `${where}: @${unplaced.name} has lost the place of ${describeExpr(unplaced.expr)}.`,
    );
  }

  /** A program may need a size that no value of it tells, which `lower-shapes` refuses; a pass may not lose one. */
  #verifySizes(where: string, module: Module): void {
    const passes = this.#passes;
    if (this.#tellsSizes === false || !passes.has('to-anf') || passes.has('lower-shapes')) return;
    const unknown = unknownSize(module, this.#operators);
    this.#tellsSizes ??= unknown === undefined;
    if (this.#tellsSizes && unknown !== undefined) throw new Error(`${where}: ${unknown}.`);
  }
}
