import { type BudgetOptions, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import {
  type CompileOptions,
  compileInSteps,
  type Executable,
  finish,
} from '../../compiler/compile.ts';
import { CompileLimitError } from '../../core/errors.ts';
import { macrotask } from '../../core/macrotask.ts';
import { hasExternalData, loadExternalData } from './external-data.ts';
import { type ImportOptions, importWithin } from './import-onnx.ts';
import { nodeTypes, type TypeOfNode } from './node-types.ts';
import type { ByteRange } from './protobuf/external-data.ts';

/** How a model is read and compiled. */
export interface CompileOnnxOptions extends CompileOptions, ImportOptions {}

/** Options of {@link compileOnnxAsync}. */
export interface CompileOnnxAsyncOptions
  extends Omit<CompileOnnxOptions, 'externalData'>,
    Pick<BudgetOptions, 'onTime' | 'onPlace'> {
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
  /** Reads a part of a file beside the model; `path` is relative to its folder, without `..`. */
  readonly read?: ((path: string, range: ByteRange) => Promise<Uint8Array>) | undefined;
  /** Gives the types of nodes whose functions have none. */
  readonly typeOf?: TypeOfNode | undefined;
}

/**
 * Compiles an ONNX model to an executable whose function `main` has the graph's inputs and outputs.
 *
 * Throws FormatError for bytes that are no valid model, UnsupportedError that lists every node that
 * cannot be compiled, CompileLimitError at a limit.
 */
export function compileOnnx(bytes: Uint8Array, options: CompileOnnxOptions = {}): Executable {
  const budget = new CompileBudget(options.compileLimits);
  return finish(steps(bytes, options), (step) => budget.run(step));
}

/**
 * {@link compileOnnx} for a thread that others wait for: between two passes the event loop gets its
 * turn. Rejects as that throws, with what `read` rejects with, and with the signal's reason.
 */
export async function compileOnnxAsync(
  bytes: Uint8Array,
  { signal, read, typeOf, ...given }: CompileOnnxAsyncOptions = {},
): Promise<Executable> {
  const externalData = read && (await loadExternalData(bytes, read));
  const newBudget = () => new CompileBudget(given.compileLimits, given);
  const functions = await nodeTypes(bytes, { ...given, externalData }, { typeOf, newBudget });
  const options = { ...given, externalData, functions };
  return finishInTurns(steps(bytes, options), newBudget(), signal);
}

/** A model that takes a few tenths of a second, with turns for others that are shorter. */
const SMALL = {
  byteLength: 2 ** 22,
  limits: { nodes: 1500, foldedBytes: 2 ** 24, milliseconds: 2000 },
  work: 2 ** 20,
  turnMilliseconds: 200,
};

/**
 * {@link compileOnnxAsync} of a small model, for a thread that must not be held up: undefined as soon
 * as it takes more than a small one, or files beside it.
 */
export async function compileSmallOnnx(
  bytes: Uint8Array,
  { signal, typeOf, ...given }: Omit<CompileOnnxAsyncOptions, 'read'> = {},
): Promise<Executable | undefined> {
  if (bytes.byteLength > SMALL.byteLength) return undefined;
  const newBudget = () => new CompileBudget(SMALL.limits, SMALL);
  const budget = newBudget();
  try {
    if (budget.run(() => hasExternalData(bytes))) return undefined;
    await macrotask();
    const functions = await nodeTypes(bytes, given, { typeOf, newBudget });
    const options = { ...given, functions };
    return await finishInTurns(steps(bytes, options), budget, signal);
  } catch (error) {
    if (error instanceof CompileLimitError) return undefined;
    throw error;
  }
}

async function finishInTurns<T>(
  passes: Generator<void, T>,
  budget: CompileBudget,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const step = budget.run(() => passes.next());
    if (step.done === true) return step.value;
    await macrotask();
  }
}

function* steps(bytes: Uint8Array, options: CompileOnnxOptions): Generator<void, Executable> {
  const module = importWithin(bytes, options);
  yield;
  // The importer binds sizes, and refuses those that name nothing.
  return yield* compileInSteps(module, { ...options, dims: undefined });
}
