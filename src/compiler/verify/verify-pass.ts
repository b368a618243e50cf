import type { Operators } from '../../ops/operators.ts';
import type { Module } from '../ir/expr.ts';
import { brokenInvariant } from './pass-invariants.ts';
import { verifyModule } from './verify-module.ts';

/**
 * Checks what each pass has made of a module: that it is well-formed and well-typed, and that every rule holds
 * which a pass before has made true.
 */
export class PassVerifier {
  readonly #operators: Operators;
  readonly #passes = new Set<string>();

  constructor(operators: Operators) {
    this.#operators = operators;
  }

  /** Throws an internal error that names the pass. */
  verify(pass: string, module: Module): void {
    this.#passes.add(pass === 'separate' ? 'fuse' : pass);
    const where = `internal: what ${pass} has made is wrong`;
    try {
      verifyModule(module, { operators: this.#operators, widensBranches: true });
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new Error(`${where}: ${message}`, { cause: thrown });
    }
    const passes = this.#passes;
    const broken = brokenInvariant(module, { passes, operators: this.#operators });
    if (broken !== undefined) throw new Error(`${where}: ${broken}.`);
  }
}
