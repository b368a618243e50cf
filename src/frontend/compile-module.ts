import { CompileBudget } from '../compiler/ir/compile-budget.ts';
import { moduleFromJson } from '../compiler/ir/json.ts';
import { type Assembled, type CompileOptions, countCalls } from '../compiler/compile-in-steps.ts';
import { takeTurns } from './take-turns.ts';

/** How a module is compiled. */
interface CompileModuleOptions extends CompileOptions {
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
}

/** Compiles a module in JSON. Rejects as `moduleFromJson` and `takeTurns` do. */
export async function compileModule(
  json: unknown,
  { signal, ...options }: CompileModuleOptions,
): Promise<Assembled> {
  const budget = new CompileBudget(options.compileLimits);
  const module = budget.run(() => {
    const read = moduleFromJson(json);
    budget.addWrittenCalls(countCalls(read));
    return read;
  });
  return takeTurns(module, options, { budget, signal });
}
