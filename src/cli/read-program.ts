import { readFile } from 'node:fs/promises';
import { Executable, looksLikeExecutable } from '../bytecode/index.ts';
import type { CompileOptions } from '../compiler/index.ts';
import { UsageError } from '../core/errors.ts';
import { checkLooksLikeOnnx } from '../worker/check-looks-like-onnx.ts';

/** A file's bytes. Throws UsageError when it cannot be read. */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new UsageError(
      { where: path, got: READ_FAULTS[code] ?? code, expected: 'a file that can be read' },
      { cause },
    );
  }
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'no permission',
};

/** The executable of a `.weft` file, or of an `.onnx` model after compiling it. */
export async function readProgram(path: string, options: CompileOptions): Promise<Executable> {
  const bytes = await readBytes(path);
  if (looksLikeExecutable(bytes)) return Executable.fromBytes(bytes);
  return compileModel(bytes, path, options);
}

/** Compiles an ONNX model. The importer is loaded only when there is one. */
export async function compileModel(
  bytes: Uint8Array,
  path: string,
  options: CompileOptions,
): Promise<Executable> {
  checkLooksLikeOnnx(bytes, path);
  const { compileOnnx } = await import('../frontend/index.ts');
  return compileOnnx(bytes, options);
}
