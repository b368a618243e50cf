import type { CompileBudget } from '../compiler/ir/compile-budget.ts';
import type { Module } from '../compiler/ir/expr.ts';
import { type Assembled, compileInSteps } from '../compiler/compile-in-steps.ts';
import { type CompileOptions, loadPasses } from '../compiler/pipeline.ts';
import { macrotask } from '../core/async/macrotask.ts';

/** Within which limits a module is compiled, and until when. */
export interface Turns {
  readonly budget: CompileBudget;
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Compiles a module in a thread that others wait for: between two passes the event loop gets its turn. Rejects as
 * `compile` throws, and with the signal's reason.
 */
export async function takeTurns(
  module: Module,
  options: CompileOptions,
  { budget, signal }: Turns,
): Promise<Assembled> {
  const loaded = await loadPasses(module, options);
  const passes = compileInSteps(module, options, { loaded });
  for (;;) {
    await macrotask();
    signal?.throwIfAborted();
    const step = budget.run(() => passes.next());
    if (step.done === true) return step.value;
  }
}
