import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Executable, looksLikeExecutable } from '../bytecode/index.ts';
import type { CompileOptions, Module } from '../compiler/index.ts';
import { UsageError } from '../core/errors.ts';
import type { ExternalDataReader } from '../frontend/index.ts';
import { checkLooksLikeOnnx } from '../worker/check-looks-like-onnx.ts';

/** A file's bytes. Throws UsageError when it cannot be read. */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): UsageError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new UsageError(
    { where: path, got: READ_FAULTS[code] ?? code, expected: 'a file that can be read' },
    { cause },
  );
}

/** Reads pieces of files beside a model, wherever they lie in a file. */
function siblingReader(model: string): ExternalDataReader {
  return (path, { byteOffset, byteLength }) => {
    const file = join(dirname(model), path);
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, 'r');
      // What a damaged model asks for may be more than there is memory.
      const left = Math.max(fstatSync(descriptor).size - byteOffset, 0);
      const bytes = new Uint8Array(Math.min(byteLength, left));
      for (let loaded = 0; loaded < bytes.byteLength; ) {
        const length = Math.min(bytes.byteLength - loaded, MAX_READ);
        const count = readSync(descriptor, bytes, loaded, length, byteOffset + loaded);
        if (count === 0) return bytes.subarray(0, loaded);
        loaded += count;
      }
      return bytes;
    } catch (cause) {
      throw unreadable(file, cause);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  };
}

/** Node reads less than 2 GiB at a time. */
const MAX_READ = 2 ** 30;

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'no permission',
};

/** The executable of a `.weft` file, or of a model or a program in text form after compiling it. */
export async function readProgram(path: string, options: CompileOptions): Promise<Executable> {
  const bytes = await readBytes(path);
  if (looksLikeExecutable(bytes)) return Executable.fromBytes(bytes);
  return compileFile(path, bytes, options);
}

/**
 * Compiles an ONNX model, or a program in text form. The compiler is loaded only when there is
 * something to compile.
 */
export async function compileFile(
  path: string,
  bytes: Uint8Array,
  options: CompileOptions,
): Promise<Executable> {
  const { compile, compileOnnx } = await import('../frontend/index.ts');
  if (!looksLikeText(path, bytes)) {
    checkLooksLikeOnnx(bytes, path);
    return compileOnnx(bytes, { ...options, externalData: siblingReader(path) });
  }
  const { module, texts } = await parseFile(path, bytes);
  return compile(module, { ...options, texts });
}

/** A module with the texts that its spans refer to. */
export interface ReadModule {
  readonly module: Module;
  readonly texts: ReadonlyMap<string, string>;
}

/** The module of a program in text form, or of an ONNX model as it is imported. */
export async function readModule(path: string, dims?: Record<string, number>): Promise<ReadModule> {
  const bytes = await readBytes(path);
  if (looksLikeText(path, bytes)) return parseFile(path, bytes);
  if (looksLikeExecutable(bytes)) {
    const expected = 'a program in text form or an .onnx model';
    throw new UsageError({ where: path, got: 'an executable', expected });
  }
  checkLooksLikeOnnx(bytes, path);
  const { importOnnx } = await import('../frontend/index.ts');
  const externalData = siblingReader(path);
  return { module: importOnnx(bytes, { dims, externalData }), texts: new Map() };
}

async function parseFile(path: string, bytes: Uint8Array): Promise<ReadModule> {
  const { parseModule } = await import('../frontend/index.ts');
  const text = new TextDecoder().decode(bytes);
  return { module: parseModule(text, { file: path }), texts: new Map([[path, text]]) };
}

/** How a program in text form begins, comments and blanks left out. */
const TEXT_START = /^\s*(?:def\s+@|type\s+\w+[^]*?\{|meta\[\d+\]:|metadata\s*\{)/;
const COMMENTS = /\/\/[^\n]*|\/\*[^]*?\*\//g;
/** More than any comment before the first definition. */
const LOOKED_AT = 4096;

/** Whether a file is a program in text form: by its name, or by how it begins. */
export function looksLikeText(path: string, bytes: Uint8Array): boolean {
  if (path.endsWith('.ir')) return true;
  const head = new TextDecoder().decode(bytes.subarray(0, LOOKED_AT));
  return TEXT_START.test(head.replaceAll(COMMENTS, ''));
}
