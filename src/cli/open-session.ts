import { type LoadProgress, Session, type Tensor } from '../client/index.ts';
import type { Executable } from '../bytecode/index.ts';
import type { ModuleDispatch } from '../compiler/index.ts';
import type { CompileLimits } from '../core/compile-limits.ts';
import { formatBytes } from './format-bytes.ts';
import { isExecutableFile, openExecutable } from './open-executable.ts';
import { readBytes } from './read-file.ts';
import { checkNotCompiled, compileFile } from './read-program.ts';
import { readTensor } from './tensor-file.ts';
import { ProgressLine, type Terminal } from './terminal.ts';

/** How a program is compiled and where it runs. */
export interface OpenFlags {
  readonly device: 'auto' | 'host' | 'wasm' | 'webgpu';
  readonly threads?: number;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly limit?: CompileLimits;
  readonly check?: 'indices';
}

/** A session of an executable, or of a model or program that is compiled for it. */
export async function openSession(
  path: string,
  flags: OpenFlags,
  terminal: Terminal,
): Promise<Session> {
  const progress = new ProgressLine(terminal);
  const program = await readLoadable(path, flags, progress).finally(() => progress.clear());
  const session = await Session.load(program, {
    worker: false,
    device: flags.device,
    ...(flags.threads !== undefined && { threads: flags.threads }),
    onProgress: (report) => progress.show(describe(report)),
  }).finally(() => progress.clear());
  const { fallbackReason, name } = session.device;
  if (fallbackReason !== undefined) terminal.err(`on ${name}: ${fallbackReason}\n`);
  return session;
}

/** The bytes that a session loads. It could compile models by itself, but not read the files beside them. */
async function readLoadable(
  path: string,
  { dim, dispatch, limit, check }: OpenFlags,
  progress: ProgressLine,
): Promise<Response> {
  if (await isExecutableFile(path)) {
    checkNotCompiled(path, { dim, dispatch, check });
    return openExecutable(path);
  }
  const executable = await compileFile(path, await readBytes(path), {
    dims: dim,
    dispatch,
    compileLimits: limit,
    check,
    onProgress: (loaded, total) => progress.show(describe({ phase: 'compile', loaded, total })),
  });
  return responseOf(executable);
}

/** An executable as a session loads it, without its bytes in one piece. */
export function responseOf(executable: Executable): Response {
  const chunks = executable.toChunks();
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
  return new Response(stream);
}

function describe({ phase, loaded, total }: LoadProgress): string {
  const isBytes = phase === 'download' || phase === 'upload';
  const [done, all] = isBytes
    ? [formatBytes(loaded), total === undefined ? '?' : formatBytes(total)]
    : [loaded, total];
  return `${phase}: ${done} of ${all}`;
}

export type RunInputs = Record<string, Tensor | number>;

/** Inputs of `main` from files, by names. */
export async function readInputs(
  session: Session,
  given: Record<string, string>,
): Promise<RunInputs> {
  const inputs: [string, Tensor | number][] = [];
  for (const [name, value] of Object.entries(given)) {
    const info = session.inputs.find((input) => input.name === name);
    const isScalar = info?.dtype === 'int' || info?.dtype === 'float';
    inputs.push([name, isScalar ? Number(value) : await readTensor(value, info)]);
  }
  return Object.fromEntries(inputs);
}
