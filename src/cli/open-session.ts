import { extname } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { parseJson } from '../core/bytes/sniff.ts';
import { type LoadProgress, Session, type Tensor } from '../client/index.ts';
import type { Executable } from '../bytecode/index.ts';
import type { ModuleDispatch } from '../compiler/passes/dispatch-by-shape/dispatch-by-shape.ts';
import type { CompileLimits } from '../core/limits/compile-limits.ts';
import type { BrowserDevice } from './browser/open-browser-device.ts';
import { formatBytes } from './format-bytes.ts';
import { isExecutableFile, openExecutable } from './files/open-executable.ts';
import { readBytes } from './files/read-file.ts';
import { checkNotCompiled, compileFile } from './files/read-program.ts';
import { readTensor } from './files/tensor-file.ts';
import { ProgressLine, type Terminal } from './terminal.ts';

/** How a program is compiled and where it runs. */
export interface OpenFlags {
  /** `browser`: those of a headless browser that is started for it. */
  readonly device: 'auto' | 'host' | 'wasm' | 'webgpu' | 'browser';
  readonly threads?: number;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly limit?: CompileLimits;
  readonly check?: 'indices';
  /** The function to run; undefined: `main`. */
  readonly function?: string;
}

export interface OpenedSession {
  readonly session: Session;
  /** Disposes of the session, and ends the browser if one was started. */
  readonly close: () => Promise<void>;
}

/** A session of an executable, or of a model or program that is compiled for it. */
export async function openSession(
  path: string,
  flags: OpenFlags,
  terminal: Terminal,
): Promise<OpenedSession> {
  const progress = new ProgressLine(terminal);
  // Without a browser there is nothing to compile for.
  const browser = flags.device === 'browser' ? await openBrowser(terminal) : undefined;
  try {
    const program = await readLoadable(path, flags, progress);
    const { device, threads } = flags;
    const session = await Session.load(program, {
      ...(browser === undefined
        ? { worker: false, device: device === 'browser' ? 'auto' : device }
        : { remote: browser.remote, device: browser.kind }),
      ...(threads !== undefined && { threads }),
      onProgress: (report) => progress.show(describe(report)),
    });
    const { fallbackReason, name } = session.device;
    if (fallbackReason !== undefined) terminal.err(`on ${name}: ${fallbackReason}\n`);
    return {
      session,
      close: async () => {
        await session.dispose();
        await browser?.close();
      },
    };
  } catch (error) {
    await browser?.close();
    throw error;
  } finally {
    progress.clear();
  }
}

/** A browser's devices; which it is, and what it lacks, is said on `err`. */
async function openBrowser(terminal: Terminal): Promise<BrowserDevice> {
  const { openBrowserDevice } = await import('./browser/open-browser-device.ts');
  const browser = await openBrowserDevice();
  terminal.err(`${browser.kind} in ${browser.remote.name}\n`);
  return browser;
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

/** Inputs of a function from files, by names; a number stands for itself. Types are known of those of `main`. */
export async function readInputs(
  session: Session,
  given: Record<string, string>,
  functionName = 'main',
): Promise<RunInputs> {
  const inputs: [string, Tensor | number][] = [];
  for (const [name, value] of Object.entries(given)) {
    const infos = functionName === 'main' ? session.inputs : [];
    const info = infos.find((input) => input.name === name);
    const isScalar = info?.dtype === 'int' || info?.dtype === 'float';
    const mayBeNumber = isScalar || (info === undefined && infos.length === 0);
    const number = mayBeNumber ? await readNumber(value) : undefined;
    if (isScalar && number === undefined) {
      const expected = 'a number, or a .json file with one';
      throw new UsageError({ where: `input "${name}"`, got: JSON.stringify(value), expected });
    }
    inputs.push([name, number ?? (await readTensor(value, info))]);
  }
  return Object.fromEntries(inputs);
}

/** A number as it is written, or the only content of a `.json` file; undefined for another file. */
export async function readNumber(value: string): Promise<number | undefined> {
  if (isNumber(value)) return Number(value);
  if (extname(value).toLowerCase() !== '.json') return undefined;
  const content = parseJson(value, await readBytes(value));
  return typeof content === 'number' ? content : undefined;
}

/** Returns true if the text is a number; any other names a file. */
export const isNumber = (text: string): boolean =>
  text.trim() !== '' && !Number.isNaN(Number(text));
