import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { compileInTurns, type CompileInTurnsOptions } from '../onnx/compile-in-turns.ts';
import { takeTurns } from '../take-turns.ts';
import { PassHistory } from './pass-history.ts';

interface HistoryOptions extends Pick<CompileInTurnsOptions, 'dims' | 'format' | 'read'> {
  /** The name of a text in messages and places. */
  readonly file: string;
  readonly compileLimits?: CompileLimits | undefined;
  /** Called with how many passes are done, of all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Compiles a model, or a program in text form, and keeps what each pass made of it. Rejects as `compileOnnxAsync`
 * and `parseModule` do.
 */
export async function compileWithHistory(
  model: Uint8Array | string,
  { file, read, ...options }: HistoryOptions,
): Promise<PassHistory> {
  const history = new PassHistory();
  const watched = { ...options, instruments: [history] };
  if (typeof model !== 'string') {
    await compileInTurns(model, { ...watched, read });
    return history;
  }
  const budget = new CompileBudget(options.compileLimits);
  const module = budget.run(() => parseModule(model, { file }));
  await takeTurns(module, { ...watched, texts: new Map([[file, model]]) }, { budget });
  return history;
}
