import type { Assembled } from '../../bytecode/build/draft.ts';
import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import { DEFAULT_BLOCK_BYTE_LENGTH } from '../../bytecode/file/file-format.ts';
import { blocksOf } from '../../bytecode/file/blocks-of.ts';
import { concatenate } from '../../core/bytes/concatenate.ts';
import { platformSha256 } from '../../core/bytes/platform-sha256.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { checkLooksLikeOnnx, otherFormat } from '../../core/bytes/sniff.ts';
import type { CompileContext } from './compile-context.ts';
import { compileOrder, compileSmallOrder } from './compile-order.ts';
import type { CompileOrder } from './compile-protocol.ts';
import type { LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import type { PeekedSource } from '../sources/open-source.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { WireSource } from '../protocol/wire-source.ts';
import { type CompiledModel, RemoteCompiler } from './remote-compiler.ts';

/** A source that is no executable. */
interface ModelSource extends PeekedSource {
  /** The name of the model in messages. */
  readonly where: string;
  readonly byteLength: number | undefined;
}

/** A model, and how it is compiled. */
type ModelOrder = Omit<CompileOrder, 'bytes' | 'url' | 'files'> & Pick<LoadRequest, 'source'>;

/** Larger models are not tried in this thread; small ones are ready before another one starts. */
const LARGE_BYTE_LENGTH = 2 ** 22;

/**
 * Reads a model to its end and compiles it. Rejects with FormatError, DownloadError,
 * UnsupportedError or CompileLimitError. Pages that load executables only never fetch this file.
 */
export async function compileModel(
  { head, stream, where, byteLength = 0 }: ModelSource,
  { source, ...options }: ModelOrder,
  { signal, onProgress, tables, askType }: LoadContext,
): Promise<LoadedProgram> {
  if (!otherFormat(head)) checkLooksLikeOnnx(head, where);
  const isLarge = byteLength > LARGE_BYTE_LENGTH || options.compileLimits !== undefined;
  // It starts while the bytes come.
  const startCompiler = () => new RemoteCompiler(tables?.isInThreads ?? true);
  const remote = isLarge ? startCompiler() : undefined;
  try {
    const bytes = await readAll(stream);
    signal.throwIfAborted();
    const url = urlOf(source);
    const files = 'files' in source ? source.files : undefined;
    const order: CompileOrder = { bytes, url, files, ...options };
    const context: CompileContext = {
      signal,
      tables,
      askType,
      onProgress: (loaded, total) => onProgress({ phase: 'compile', loaded, total }),
    };
    const small = remote === undefined ? await compileSmallOrder(order, context) : undefined;
    const isOwn = source.kind !== 'bytes';
    const compiled =
      small === undefined
        ? await compileOnce(order, context, { remote: remote ?? startCompiler(), isOwn })
        : compiledHere(small);
    onProgress({ phase: 'verify', loaded: 1, total: 1 });
    signal.throwIfAborted();
    return { ...loadedProgram(compiled), tables };
  } catch (error) {
    remote?.close();
    throw error;
  }
}

/** Whoever builds an executable verifies it. */
export function loadedProgram({ program, blocks }: CompiledModel): LoadedProgram {
  const hashes: Uint8Array[] = [];
  const dataHashes = { blockByteLength: DEFAULT_BLOCK_BYTE_LENGTH, hashes };
  return { executable: program, blocks: hashed(blocks, hashes), dataHashes };
}

/** Compiles in a thread of its own, or in this one where there are no others. */
export async function compileOnce(
  order: CompileOrder,
  context: CompileContext,
  { remote, isOwn }: { readonly remote: RemoteCompiler; readonly isOwn: boolean },
): Promise<CompiledModel> {
  let isReady = false;
  try {
    isReady = await untilAborted(remote.ready, context.signal);
  } finally {
    if (!isReady) remote.close();
  }
  if (!isReady) return compiledHere(await compileOrder(order, context));
  const { bytes } = order;
  // The bytes go away; a session that shares its device may load from those that it was given again.
  const isWhole = isOwn && bytes.byteLength === bytes.buffer.byteLength;
  return remote.compile({ ...order, bytes: isWhole ? bytes : Uint8Array.from(bytes) }, context);
}

export function compiledHere({ program, data }: Assembled): CompiledModel {
  return { program, blocks: later(blocksOf(data)) };
}

async function* later(blocks: Iterable<DataBlock>): AsyncGenerator<DataBlock, void> {
  yield* blocks;
}

/** Blocks as they are. Snapshots need the hashes, which are made while others work on the blocks. */
async function* hashed(
  blocks: AsyncIterable<DataBlock>,
  hashes: Uint8Array[],
): AsyncGenerator<DataBlock, void> {
  let last: Promise<unknown> = Promise.resolve();
  for await (const block of blocks) {
    await last;
    last = platformSha256(block.bytes).then((hash) => hashes.push(hash));
    yield block;
  }
  await last;
}

function urlOf(source: WireSource): string | undefined {
  if (source.kind === 'url') return source.url;
  const url = source.kind === 'stream' ? source.http?.url : undefined;
  return url === '' ? undefined : url;
}

/** All bytes of a stream. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
  }
  return concatenate(chunks);
}
