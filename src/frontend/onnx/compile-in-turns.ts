import { type BudgetOptions, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Assembled } from '../../compiler/compile-in-steps.ts';
import type { CompileOptions } from '../../compiler/pipeline.ts';
import { CompileLimitError } from '../../core/errors.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import { type Turns, takeTurns } from '../take-turns.ts';
import { hasExternalData, loadExternalData } from './model/external-data.ts';
import { type ImportOptions, importWithin } from './import-onnx.ts';
import { nodeTypes, type TypeOfNode } from './functions/node-types.ts';
import type { ByteRange } from './protobuf/external-data.ts';

export { externalRanges } from './model/external-data.ts';

/** How a model is read and compiled. */
export interface CompileOnnxOptions extends CompileOptions, ImportOptions {}

/** Options of {@link compileInTurns}. */
export interface CompileInTurnsOptions
  extends Omit<CompileOnnxOptions, 'externalData'>,
    Pick<BudgetOptions, 'onPlace'> {
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
  /** Reads a part of a file beside the model; `path` is relative to its folder, without `..`. */
  readonly read?: ((path: string, range: ByteRange) => Promise<Uint8Array>) | undefined;
  /** Gives the types of nodes whose functions have none. */
  readonly typeOf?: TypeOfNode | undefined;
}

/**
 * `compileOnnx` for a thread that others wait for: between two passes the event loop gets its
 * turn. Rejects as that throws, with what `read` rejects with, and with the signal's reason.
 */
export async function compileInTurns(
  bytes: Uint8Array,
  { signal, read, typeOf, ...given }: CompileInTurnsOptions = {},
): Promise<Assembled> {
  const externalData = read && (await loadExternalData(bytes, read));
  const newBudget = () => new CompileBudget(given.compileLimits, given);
  const functions = await nodeTypes(bytes, { ...given, externalData }, { typeOf, newBudget });
  const options = { ...given, externalData, functions };
  return imported(bytes, options, { budget: newBudget(), signal });
}

/** A model that takes a few tenths of a second, with turns for others that are shorter. */
const SMALL = {
  byteLength: 2 ** 22,
  limits: { nodes: 1500, foldedBytes: 2 ** 24, work: 500_000 },
  foldWork: 2 ** 20,
  turnMilliseconds: 200,
};

/**
 * {@link compileInTurns} of a small model, for a thread that must not be held up: undefined as soon
 * as it takes more than a small one, or files beside it.
 */
export async function compileSmallInTurns(
  bytes: Uint8Array,
  { signal, typeOf, ...given }: Omit<CompileInTurnsOptions, 'read'> = {},
): Promise<Assembled | undefined> {
  if (bytes.byteLength > SMALL.byteLength) return undefined;
  const newBudget = () => new CompileBudget(SMALL.limits, SMALL);
  const budget = newBudget();
  try {
    if (budget.run(() => hasExternalData(bytes))) return undefined;
    await macrotask();
    const functions = await nodeTypes(bytes, given, { typeOf, newBudget });
    const options = { ...given, functions };
    return await imported(bytes, options, { budget, signal });
  } catch (error) {
    if (error instanceof CompileLimitError) return undefined;
    throw error;
  }
}

function imported(
  bytes: Uint8Array,
  options: CompileOnnxOptions,
  turns: Turns,
): Promise<Assembled> {
  const module = turns.budget.run(() => importWithin(bytes, options));
  // The importer binds sizes, and refuses those that name nothing.
  return takeTurns(module, { ...options, dims: undefined }, turns);
}
