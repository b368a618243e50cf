import type { CompileBudget } from '../compiler/ir/compile-budget.ts';
import type { Module } from '../compiler/ir/expr.ts';
import {
  type Assembled,
  type CompileOptions,
  compileInSteps,
  needsRarePasses,
} from '../compiler/compile-in-steps.ts';
import { asksForDerivatives } from '../compiler/passes/gradient/asks-for-derivatives.ts';
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
  const [derivatives, rarePasses] = await Promise.all([
    asksForDerivatives(module) ? importGradient() : undefined,
    needsRarePasses(options) ? importRarePasses() : undefined,
  ]);
  const passes = compileInSteps(module, options, { gradient: derivatives?.gradient, rarePasses });
  for (;;) {
    await macrotask();
    signal?.throwIfAborted();
    const step = budget.run(() => passes.next());
    if (step.done === true) return step.value;
  }
}

/** In a file of their own: few models ask for derivatives, or need the others. */
const importGradient = () => import('../compiler/passes/gradient/gradient.ts');
const importRarePasses = () => import('../compiler/passes/rare-passes.ts');
