import type { Executable } from '../../bytecode/index.ts';
import { looksLikeExecutable } from '../../bytecode/file/file-format.ts';
import type { CompileOptions, Module } from '../../compiler/index.ts';
import type { ImportOptions } from '../../frontend/index.ts';
import type { ModelFormat } from '../../frontend/model-format.ts';
import { UsageError } from '../../core/errors.ts';
import { checkLooksLikeOnnx, otherFormat } from '../../core/bytes/sniff.ts';
import { isExecutableFile, readExecutableFile } from './open-executable.ts';
import { readBytes, siblingReader } from './read-file.ts';

/** The executable of a `.weft` file, or of a model or a program in text form after compiling it. */
export async function readProgram(path: string, options: CompileOptions): Promise<Executable> {
  if (await isExecutableFile(path)) {
    checkNotCompiled(path, { dim: options.dims, dispatch: options.dispatch });
    return readExecutableFile(path);
  }
  return compileFile(path, await readBytes(path), options);
}

/** Throws UsageError for options that only compiling could heed. */
export function checkNotCompiled(
  where: string,
  options: Readonly<Record<string, object | string | undefined>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (Object.keys(value ?? {}).length === 0) continue;
    throw new UsageError({
      where,
      got: `--${name} for an executable, which was compiled already`,
      expected: 'an .onnx model or a program in text form',
      remedy: `Compile the model with --${name}, or leave the option out.`,
    });
  }
}

/**
 * Compiles a model, or a program in text form. The compiler is loaded only when there is
 * something to compile.
 */
export async function compileFile(
  path: string,
  bytes: Uint8Array,
  { check, functions, ...options }: CompileOptions & Pick<ImportOptions, 'check' | 'functions'>,
): Promise<Executable> {
  if (!looksLikeText(path, bytes)) {
    const { compileImported } = await import('../../frontend/onnx/compile-onnx.ts');
    const { importWithin } = await formatOf(bytes, path);
    const given = { ...options, check, functions, externalData: siblingReader(path) };
    return compileImported(bytes, given, importWithin);
  }
  const { compile } = await import('../../frontend/index.ts');
  const [{ module, texts }, { nameLets }] = await Promise.all([
    parseFile(path, bytes),
    import('../name-lets.ts'),
  ]);
  return compile(nameLets(module), { ...options, texts });
}

/** How a model is read, by its content. Throws FormatError for a file that is no model. */
export async function formatOf(bytes: Uint8Array, path: string): Promise<ModelFormat> {
  if (otherFormat(bytes) === undefined) checkLooksLikeOnnx(bytes, path);
  const { importFormat } = await import('../../worker/compile/compile-order.ts');
  return importFormat(bytes);
}

/** A module with the texts that its spans refer to. */
export interface ReadModule {
  readonly module: Module;
  readonly texts: ReadonlyMap<string, string>;
}

/** The module of a program in text form, or of a model as it is imported. */
export async function readModule(path: string, dims?: Record<string, number>): Promise<ReadModule> {
  const bytes = await readBytes(path);
  if (looksLikeText(path, bytes)) {
    const read = await parseFile(path, bytes);
    const { checkDimNames } = await import('../../compiler/passes/dims/bind-dims.ts');
    checkDimNames(read.module, dims ?? {});
    return read;
  }
  if (looksLikeExecutable(bytes)) {
    const expected = 'a program in text form or an .onnx model';
    throw new UsageError({ where: path, got: 'an executable', expected });
  }
  const { importWithin } = await formatOf(bytes, path);
  const { CompileBudget } = await import('../../compiler/ir/compile-budget.ts');
  const externalData = siblingReader(path);
  const module = new CompileBudget().run(() => importWithin(bytes, { dims, externalData }));
  return { module, texts: new Map() };
}

async function parseFile(path: string, bytes: Uint8Array): Promise<ReadModule> {
  const { parseModule } = await import('../../frontend/index.ts');
  const text = new TextDecoder().decode(bytes);
  return { module: parseModule(text, { file: path }), texts: new Map([[path, text]]) };
}

/** How a program in text form begins, comments and blanks left out. */
const TEXT_START = /^\s*(?:def\s+@|type\s+\w+[^]*?\{|meta\[\d+\]:|metadata\s*\{)/;
const COMMENTS = /\/\/[^\n]*|\/\*[^]*?\*\//g;
/** More than any comment before the first definition. */
const LOOKED_AT = 4096;

/** Returns true if a file is a program in text form: by its name, or by how it begins. */
export function looksLikeText(path: string, bytes: Uint8Array): boolean {
  if (path.endsWith('.ir')) return true;
  const head = new TextDecoder().decode(bytes.subarray(0, LOOKED_AT));
  return TEXT_START.test(head.replaceAll(COMMENTS, ''));
}
