import { type BudgetOptions, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import {
  type CompileOptions,
  compileInSteps,
  type Executable,
} from '../../compiler/compile-in-steps.ts';
import { asksForDerivatives } from '../../compiler/passes/gradient/asks-for-derivatives.ts';
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
 * `compileOnnx` for a thread that others wait for: between two passes the event loop gets its
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
  return inTurns(bytes, options, { budget: newBudget(), signal });
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
    return await inTurns(bytes, options, { budget, signal });
  } catch (error) {
    if (error instanceof CompileLimitError) return undefined;
    throw error;
  }
}

interface Turns {
  readonly budget: CompileBudget;
  readonly signal: AbortSignal | undefined;
}

async function inTurns(
  bytes: Uint8Array,
  options: CompileOnnxOptions,
  { budget, signal }: Turns,
): Promise<Executable> {
  const module = budget.run(() => importWithin(bytes, options));
  const parts = asksForDerivatives(module) ? await importGradient() : {};
  // The importer binds sizes, and refuses those that name nothing.
  const passes = compileInSteps(module, { ...options, dims: undefined }, parts);
  for (;;) {
    await macrotask();
    signal?.throwIfAborted();
    const step = budget.run(() => passes.next());
    if (step.done === true) return step.value;
  }
}

/** A file of its own: few models ask for derivatives. */
const importGradient = () => import('../../compiler/passes/gradient/gradient.ts');
