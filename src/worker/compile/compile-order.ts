import { requireOwnHashes } from '../../core/bytes/require-own-hashes.ts';
import type { Assembled } from '../../bytecode/build/draft.ts';
import { otherFormat } from '../../core/bytes/sniff.ts';
import type { CompileInTurnsOptions } from '../../frontend/onnx/compile-in-turns.ts';
import type { ModelFormat } from '../../frontend/model-format.ts';
import type { CompileContext } from './compile-context.ts';
import type { CompileOrder, TextOrder } from './compile-protocol.ts';
import { importCompiler } from './import-compiler.ts';
import { wireSignature } from './wire-nodes.ts';
import { SiblingFiles } from '../sources/sibling-files.ts';

/** What reads a model, by how it begins. Each format but ONNX is a file of its own, which only its models need. */
export async function importFormat(bytes: Uint8Array): Promise<ModelFormat> {
  const other = otherFormat(bytes);
  if (other === 'tfjs') return import('../../frontend/tfjs/import-tfjs.ts');
  return other ? import('../../frontend/tflite/import-tflite.ts') : (await importCompiler()).ONNX;
}

/** Compiles a model in this thread if it is a small one. */
export async function compileSmallOrder(
  order: CompileOrder,
  context: CompileContext,
): Promise<Assembled | undefined> {
  const { compiler, all } = await prepare(order, context);
  return compiler.compileSmallInTurns(order.bytes, all);
}

/** Compiles a model in this thread. Others get their turn between passes. */
export async function compileOrder(
  order: CompileOrder,
  context: CompileContext,
): Promise<Assembled> {
  const { bytes, module, url, files, ...options } = order;
  if (module !== undefined) {
    const { compileModule } = await import('../../frontend/compile-module.ts');
    const { operators } = context.tables ?? {};
    return compileModule(bytes, { where: module, ...options, ...context, operators });
  }
  const { compiler, all } = await prepare(order, context);
  const siblings = new SiblingFiles(url, files, context.signal);
  try {
    const read = siblings.read.bind(siblings);
    return await compiler.compileInTurns(bytes, { ...all, read });
  } finally {
    siblings.close();
  }
}

/**
 * The compiler and its options, for a model whose files have the hashes that were given. Rejects with UsageError for those of
 * other files.
 */
async function prepare(
  { bytes, files, nodeTypes, ...options }: CompileOrder,
  { tables, askType, ...context }: CompileContext,
) {
  const compiler = await importCompiler();
  const format = await importFormat(bytes);
  if (files) {
    const own = files.url.replace(/[?#].*|[^/?#]*\//g, '');
    const name = decodeURIComponent(own);
    // Few models have hashes of other files: no other is read a second time for it.
    if (Object.keys(files.integrity).some((each) => each !== name)) {
      const others = format.externalRanges(bytes).map(({ path }) => path);
      requireOwnHashes(files.integrity, [name, ...others]);
    }
  }
  const functions = nodeFunctions(nodeTypes, { tables, askType });
  return { compiler, all: { format, ...options, ...context, ...tables, ...functions } };
}

/** {@link compileOrder}, or a language model. */
export async function compileAnyOrder(
  order: CompileOrder | TextOrder,
  context: CompileContext,
): Promise<Assembled> {
  if (!('model' in order)) return compileOrder(order, context);
  return (await import('./compile-text-order.ts')).compileTextOrder(order, context);
}

/** Types of the functions of this worker and of the page. */
function nodeFunctions(
  nodeTypes: CompileOrder['nodeTypes'] = {},
  { tables, askType }: Pick<CompileContext, 'tables' | 'askType'>,
): Pick<CompileInTurnsOptions, 'functions' | 'typeOf'> {
  const own = Object.entries(nodeTypes).map(([name, type]) => [name, { type: type ?? undefined }]);
  const functions = { ...tables?.functions, ...Object.fromEntries(own) };
  return { functions, typeOf: askType && ((node) => askType(wireSignature(node))) };
}
