import { requireOwnHashes } from '../../core/bytes/require-own-hashes.ts';
import type { Assembled } from '../../bytecode/build/draft.ts';
import type { CompileInTurnsOptions } from '../../frontend/onnx/compile-in-turns.ts';
import type { CompileContext } from './compile-context.ts';
import type { CompileOrder, TextOrder } from './compile-protocol.ts';
import { importCompiler } from './import-compiler.ts';
import { importFormat } from './import-format.ts';
import type { FilesSource } from '../protocol/wire-source.ts';
import { wireSignature } from './wire-nodes.ts';
import { SiblingFiles } from '../sources/sibling-files.ts';

/** Compiles a model in this thread if it is a small one. */
export async function compileSmallOrder(
  { bytes, files, dims, dispatch, devices, rates, check, nodeTypes }: CompileOrder,
  { signal, onProgress, tables, askType }: CompileContext,
): Promise<Assembled | undefined> {
  const { compileSmallInTurns, format } = await compilerOf(bytes, files);
  const functions = nodeFunctions(nodeTypes, { tables, askType });
  const context = { signal, onProgress };
  const all = {
    format,
    dims,
    dispatch,
    devices,
    rates,
    check,
    ...context,
    ...tables,
    ...functions,
  };
  return compileSmallInTurns(bytes, all);
}

/** Compiles a model in this thread. Others get their turn between passes. */
export async function compileOrder(
  { bytes, module, url, files, nodeTypes, ...options }: CompileOrder,
  { tables, askType, ...context }: CompileContext,
): Promise<Assembled> {
  if (module !== undefined) {
    const { compileModule } = await import('../../frontend/compile-module.ts');
    const { operators } = tables ?? {};
    return compileModule(bytes, { where: module, ...options, ...context, operators });
  }
  const { compileInTurns, format } = await compilerOf(bytes, files);
  const siblings = new SiblingFiles(url, files, context.signal);
  const read = siblings.read.bind(siblings);
  const functions = nodeFunctions(nodeTypes, { tables, askType });
  try {
    const all = { format, ...options, ...context, ...tables, ...functions, read };
    return await compileInTurns(bytes, all);
  } finally {
    siblings.close();
  }
}

/** The compiler, for a model whose files have the hashes that were given. Rejects with UsageError for those of other files. */
async function compilerOf(bytes: Uint8Array, files: FilesSource | undefined) {
  const compiler = await importCompiler();
  const format = (await importFormat(bytes)) ?? compiler.ONNX;
  if (files) {
    const own = files.url.replace(/[?#].*|[^/?#]*\//g, '');
    const name = decodeURIComponent(own);
    // Few models have hashes of other files: no other is read a second time for it.
    if (Object.keys(files.integrity).some((each) => each !== name)) {
      const others = format.externalRanges(bytes).map(({ path }) => path);
      requireOwnHashes(files.integrity, [name, ...others]);
    }
  }
  return { ...compiler, format };
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
