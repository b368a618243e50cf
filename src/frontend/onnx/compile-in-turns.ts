import { type BudgetOptions, CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Assembled } from '../../compiler/compile-in-steps.ts';
import type { CompileOptions } from '../../compiler/pipeline.ts';
import { CompileLimitError, UnsupportedError } from '../../core/errors.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import { type Turns, takeTurns } from '../take-turns.ts';
import type { ModelFormat } from '../model-format.ts';
import { externalRanges, loadRanges } from './model/external-data.ts';
import { type ImportOptions, importWithin } from './import-onnx.ts';
import type { ByteRange } from './protobuf/external-data.ts';
import { nodeCallsToJson } from '../../core/contracts/node-calls.ts';
import type {
  NodeOutput,
  NodeSignature,
  NodeType,
  NodeTypes,
} from '../../core/contracts/node-function.ts';

/** How ONNX models are read. */
export const ONNX: ModelFormat = { importWithin, externalRanges };

/** How a model is read and compiled. */
export interface CompileOnnxOptions extends CompileOptions, ImportOptions {}

/** How a model is read. */
interface Format {
  readonly format: ModelFormat;
}

/** Options of {@link compileInTurns}. */
export interface CompileInTurnsOptions
  extends Omit<CompileOnnxOptions, 'externalData'>,
    Pick<BudgetOptions, 'onPlace'>,
    Partial<Format> {
  /** Looked at between passes. */
  readonly signal?: AbortSignal | undefined;
  /** Reads a part of a file beside the model; `path` is relative to its folder, without `..`. */
  readonly read?: ((path: string, range: ByteRange) => Promise<Uint8Array>) | undefined;
  /** Gives the types of nodes whose functions have none. */
  readonly typeOf?: TypeOfNode | undefined;
}

/**
 * Compiles a model of any format for a thread that others wait for: between two passes the event loop gets its
 * turn. Rejects as `compileOnnx` throws, with what `read` rejects with, and with the signal's reason.
 */
export async function compileInTurns(
  bytes: Uint8Array,
  { signal, read, typeOf, ...others }: CompileInTurnsOptions = {},
): Promise<Assembled> {
  const given = { format: ONNX, ...others };
  const externalData = read && (await loadRanges(given.format.externalRanges(bytes), read));
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
  { signal, typeOf, ...others }: Omit<CompileInTurnsOptions, 'read'> = {},
): Promise<Assembled | undefined> {
  const given = { format: ONNX, ...others };
  if (bytes.byteLength > SMALL.byteLength) return undefined;
  const newBudget = () => new CompileBudget(SMALL.limits, SMALL);
  const budget = newBudget();
  try {
    if (budget.run(() => given.format.externalRanges(bytes)).length > 0) return undefined;
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
  options: CompileOnnxOptions & Format,
  turns: Turns,
): Promise<Assembled> {
  const module = turns.budget.run(() => options.format.importWithin(bytes, options));
  // The importer binds sizes, and refuses those that name nothing.
  return takeTurns(module, { ...options, dims: undefined }, turns);
}

/** Gives the types of the outputs of a node, from another thread. */
type TypeOfNode = (node: NodeSignature) => Promise<NodeOutput | readonly NodeOutput[]>;

interface Asking {
  readonly typeOf: TypeOfNode | undefined;
  readonly newBudget: () => CompileBudget;
}

/**
 * The types of functions, also of those that only somebody else tells. Importing is synchronous, so it goes as far
 * as it gets, and begins again with the answers: nodes that follow each other ask one after the other.
 */
async function nodeTypes(
  bytes: Uint8Array,
  options: ImportOptions & Format,
  { typeOf, newBudget }: Asking,
): Promise<NodeTypes | undefined> {
  const { functions = {} } = options;
  const isTold = Object.values(functions).every(({ type }) => type !== undefined);
  if (typeOf === undefined || isTold) return options.functions;
  const answers = new Map<string, NodeOutput | readonly NodeOutput[]>();
  for (;;) {
    const requests = new Map<string, NodeSignature>();
    const ask: NodeType = (node) => {
      const key = keyOf(node);
      const answer = answers.get(key);
      if (answer !== undefined) return answer;
      requests.set(key, node);
      throw new UnsupportedError({ where: node.where, got: 'no type yet', expected: 'one' });
    };
    const types = Object.entries(functions).map(([name, { type = ask }]) => [name, { type }]);
    const told: NodeTypes = Object.fromEntries(types);
    try {
      newBudget().run(() => options.format.importWithin(bytes, { ...options, functions: told }));
    } catch (error) {
      if (requests.size === 0) throw error;
    }
    if (requests.size === 0) return told;
    for (const [key, node] of requests) answers.set(key, await typeOf(node));
  }
}

/** The same for nodes that differ in their names alone. */
function keyOf({ operator, inputs, attributes, outputCount }: NodeSignature): string {
  const call = { operator, inputCount: outputCount, inputs: [], attributes, nodes: [] };
  return nodeCallsToJson(new Map([[JSON.stringify(inputs), call]]));
}
