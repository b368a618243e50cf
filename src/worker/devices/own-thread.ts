import { nodeBuiltin } from '../../core/node-builtin.ts';
import { trustedAddress } from '../../core/trusted-address.ts';

/** Returns true in a worker that another one started, with the same script, to play the part of this name. */
export const hasRole = (name: string): boolean =>
  (globalThis as { name?: unknown }).name === name && 'DedicatedWorkerGlobalScope' in globalThis;

/** A thread beside this one, which takes messages of one type. */
export interface OwnThread<Message> {
  post(message: Message, transfer?: readonly ArrayBuffer[]): void;
  terminate(): void;
}

/** The part that a thread plays, and where its code is. */
interface ThreadRole {
  /** The name of the worker, by which the script knows what it is to do. */
  readonly name: string;
  /** In Node the file, relative to that of this function in the package, or a whole address. */
  readonly nodeFile: string;
  /** Keeps Node alive until the thread ends; default true. */
  readonly isAwaited?: boolean;
}

export interface ThreadEvents<Answer> {
  readonly onMessage: (message: Answer) => void;
  /** Called when the thread could not be started, or failed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Starts a thread: in a worker another one of the same script, in Node one of the package's file.
 * Undefined where neither is there: in a page, in a service worker.
 */
export function startOwnThread<Message, Answer>(
  role: ThreadRole,
  events: ThreadEvents<Answer>,
): OwnThread<Message> | undefined {
  try {
    return isDedicatedWorker() ? startWorker(role, events) : startInNode(role, events);
  } catch {
    // A policy forbids it.
    return undefined;
  }
}

/** Returns true if this thread may start others by {@link startOwnThread}. */
export function canStartThreads(): boolean {
  return isDedicatedWorker() || nodeBuiltin !== undefined;
}

function isDedicatedWorker(): boolean {
  return 'DedicatedWorkerGlobalScope' in globalThis && typeof Worker === 'function';
}

function startWorker<Message, Answer>(
  { name }: ThreadRole,
  { onMessage, onError }: ThreadEvents<Answer>,
): OwnThread<Message> {
  const type = isModule() ? 'module' : 'classic';
  const worker = new Worker(trustedAddress(globalThis.location.href), { type, name });
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => onMessage(data));
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

/** An invalid address, which `importScripts` of a classic script refuses before it fetches anything. */
const NO_ADDRESS = 'http://[';

/**
 * Returns true if this worker's script is a module: `importScripts` throws TypeError there, in
 * Firefox only if it is given an address.
 */
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

function startInNode<Message, Answer>(
  { nodeFile, isAwaited = true }: ThreadRole,
  { onMessage, onError }: ThreadEvents<Answer>,
): OwnThread<Message> | undefined {
  // Node does not run sources.
  if (nodeBuiltin === undefined || nodeFile.endsWith('.ts')) return undefined;
  const here = import.meta.url;
  const worker = new (nodeBuiltin('node:worker_threads').Worker)(new URL(nodeFile, here));
  worker.on('message', (message: Answer) => onMessage(message));
  worker.on('error', onError);
  worker.on('exit', onError);
  if (!isAwaited) worker.unref();
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    terminate: () => void worker.terminate(),
  };
}
