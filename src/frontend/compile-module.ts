import { type BudgetOptions, CompileBudget } from '../compiler/ir/compile-budget.ts';
import { moduleFromJson } from '../compiler/ir/json/json.ts';
import { type Assembled, countCalls } from '../compiler/compile-in-steps.ts';
import type { CompileOptions } from '../compiler/pipeline.ts';
import { CompileLimitError } from '../core/errors.ts';
import { parseJson } from '../core/bytes/sniff.ts';
import { takeTurns } from './take-turns.ts';

interface CompileModuleOptions extends CompileOptions, Pick<BudgetOptions, 'onPlace'> {
  readonly where: string;
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
}

/** Compiles a module in JSON. Rejects with FormatError, and as `moduleFromJson` and `takeTurns` do. */
export async function compileModule(
  bytes: Uint8Array,
  { where, signal, ...options }: CompileModuleOptions,
): Promise<Assembled> {
  const budget = new CompileBudget(options.compileLimits, options);
  const module = budget.run(() => {
    const read = moduleFromJson(parseJson(where, bytes, 'a module of the IR in JSON'));
    budget.addWrittenCalls(countCalls(read));
    return read;
  });
  return takeTurns(module, options, { budget, signal });
}

/** Work that takes some tenths of a second, all of which may be in one pass: derivatives of derivatives are. */
const SMALL_WORK = 40_000;

/** The same in a thread that others wait for; undefined for a module that takes more work than that. */
export async function compileSmallModule(
  bytes: Uint8Array,
  options: CompileModuleOptions,
): Promise<Assembled | undefined> {
  const { work = Infinity, ...limits } = options.compileLimits ?? {};
  const compileLimits = { ...limits, work: Math.min(work, SMALL_WORK) };
  try {
    return await compileModule(bytes, { ...options, compileLimits });
  } catch (error) {
    const isLarge = error instanceof CompileLimitError && error.details?.['limit'] === 'work';
    if (isLarge && work > SMALL_WORK) return undefined;
    throw error;
  }
}
