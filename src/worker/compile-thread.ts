import { nodeModule } from '../core/node-module.ts';
import { trustedAddress } from '../core/trusted-address.ts';
import { COMPILER_NAME, type FromCompiler, type ToCompiler } from './compile-protocol.ts';

/** A thread beside this one that compiles. */
export interface CompileThread {
  post(message: ToCompiler, transfer?: readonly ArrayBuffer[]): void;
  terminate(): void;
}

export interface ThreadEvents {
  readonly onMessage: (message: FromCompiler) => void;
  /** It could not be started, or it failed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Starts a thread: in a worker another one of the same script, in Node one of the package's file.
 * Undefined where neither is there: in a page, in a service worker.
 */
export function startThread(events: ThreadEvents): CompileThread | undefined {
  try {
    return isDedicatedWorker() ? startWorker(events) : startInNode(events);
  } catch {
    // A policy forbids it.
    return undefined;
  }
}

function isDedicatedWorker(): boolean {
  return 'DedicatedWorkerGlobalScope' in globalThis && typeof Worker === 'function';
}

function startWorker({ onMessage, onError }: ThreadEvents): CompileThread {
  const type = isModule() ? 'module' : 'classic';
  const worker = new Worker(trustedAddress(globalThis.location.href), {
    type,
    name: COMPILER_NAME,
  });
  worker.addEventListener('message', ({ data }: MessageEvent<FromCompiler>) => onMessage(data));
  worker.addEventListener('error', (event) => {
    // Else it would count as an error of this worker.
    event.preventDefault();
    onError(event);
  });
  worker.addEventListener('messageerror', onError);
  return {
    post: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    terminate: () => worker.terminate(),
  };
}

/** No address: a classic script says so before it fetches anything, and a module forbids it before that. */
const NO_ADDRESS = 'http://[';

/** Whether this worker's script is a module. Firefox forbids those nothing while there is no address. */
function isModule(): boolean {
  try {
    Reflect.apply(Reflect.get(globalThis, 'importScripts'), globalThis, [
      trustedAddress(NO_ADDRESS),
    ]);
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}

/** In the package, that of its entry. No bundler must take it for an address of its own. */
const NODE_FILE: string = './compile-thread-main.ts';

function startInNode({ onMessage, onError }: ThreadEvents): CompileThread | undefined {
  // Node does not run sources.
  if (nodeModule === undefined || NODE_FILE.endsWith('.ts')) return undefined;
  const here = import.meta.url;
  const worker = new (nodeModule('node:worker_threads').Worker)(new URL(NODE_FILE, here));
  worker.on('message', (message: FromCompiler) => onMessage(message));
  worker.on('error', onError);
  worker.on('exit', onError);
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    terminate: () => void worker.terminate(),
  };
}
