import { DEFAULT_BLOCK_BYTE_LENGTH } from '../bytecode/file-format.ts';
import type { CompileLimits } from '../core/compile-limits.ts';
import { FormatError } from '../core/errors.ts';
import { compiledHere, hashed, readAll } from './compile-model.ts';
import type { LoadContext, LoadedProgram } from './loaded-program.ts';
import type { Dims } from './protocol/dispatch-sizes.ts';

/** How a module is compiled. */
interface JsonOrder extends LoadContext {
  /** The name of the module in messages. */
  readonly where: string;
  readonly dims: Dims;
  readonly compileLimits?: CompileLimits | undefined;
}

/**
 * Reads a module of the IR in JSON and compiles it in this thread, with turns for others between passes. Rejects
 * with FormatError, TypeCheckError, ShapeError, UnsupportedError or CompileLimitError.
 */
export async function compileJson(
  stream: ReadableStream<Uint8Array>,
  { where, dims, compileLimits, signal, onProgress, tables }: JsonOrder,
): Promise<LoadedProgram> {
  const { compileModule } = await import('../frontend/compile-module.ts');
  const bytes = await readAll(stream);
  signal.throwIfAborted();
  const executable = await compileModule(parse(bytes, where), {
    dims,
    compileLimits,
    signal,
    operators: tables?.operators,
    onProgress: (loaded, total) => onProgress({ phase: 'compile', loaded, total }),
  });
  onProgress({ phase: 'verify', loaded: 1, total: 1 });
  const { program, blocks } = compiledHere(executable);
  const hashes: Uint8Array[] = [];
  const dataHashes = { blockByteLength: DEFAULT_BLOCK_BYTE_LENGTH, hashes };
  return { executable: program, blocks: hashed(blocks, hashes), dataHashes, tables };
}

function parse(bytes: Uint8Array, where: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    const complaint = {
      where,
      got: 'text that is no JSON',
      expected: 'a module of the IR in JSON',
    };
    throw new FormatError(complaint, { cause });
  }
}
