import { expose, releaseProxy, transfer } from 'comlink';
import { serveAsCompiler } from './compile/compiler-role.ts';
import { buffersIn, isLarge } from './host/buffers-in.ts';
import { hostSessions, nodeTypesOf, type ServiceOptions } from './create-service.ts';
import type { LoadProgress } from './protocol/load-request.ts';
import type { Reply } from './protocol/reply.ts';
import { COMPILER_NAME, type WorkerService } from './protocol/session-service.ts';
import type { WireResult } from './protocol/wire-value.ts';
import { hasRole } from './devices/own-thread.ts';
import { serveAsWasmThread, WASM_THREAD_NAME } from './devices/wasm-thread-role.ts';

declare global {
  /** Set in a worker that answers. */
  var weftServes: boolean | undefined;
}

/** A progress callback that lives in the page. */
interface RemoteProgress {
  (progress: LoadProgress): Promise<void>;
  [releaseProxy](): void;
}

/** `serve` of `weft-vm/worker`, whose options are good. */
export function serve(options: ServiceOptions = {}): void {
  // WebKit evaluates a worker's module again when a chunk of a bundle imports it.
  if (globalThis.weftServes) return;
  globalThis.weftServes = true;
  if (hasRole(COMPILER_NAME))
    return serveAsCompiler({ ...options, functions: nodeTypesOf(options) });
  if (hasRole(WASM_THREAD_NAME)) return serveAsWasmThread();
  const service = hostSessions(options, { isInThreads: true });
  let reader: Promise<WorkerService['readText']> | undefined;
  const posted: WorkerService = {
    readText: async (...call) => {
      reader ??= import('../frontend/decoders/reader/serve-reader.ts').then(({ serveReader }) =>
        serveReader(),
      );
      return (await reader)(...call);
    },
    handshake: (greeting) => service.handshake(greeting),
    configure: (config) => service.configure(config),
    load: async (call, request, onProgress, callPage) => {
      if (onProgress === undefined) return service.load(call, request, undefined, callPage);
      const remote = onProgress as unknown as RemoteProgress;
      const reports: Promise<void>[] = [];
      const reply = await service.load(
        call,
        request,
        (progress) => {
          reports.push(remote(progress));
        },
        callPage,
      );
      // Reports travel by a port of their own and could be overtaken by the reply.
      await Promise.allSettled(reports);
      remote[releaseProxy]();
      return reply;
    },
    run: async (call, request, callPage) =>
      posting(await service.run(call, request, callPage), (results) => results),
    profile: async (call, request, callPage) =>
      posting(await service.profile(call, request, callPage), ({ results }) => results),
    warmup: (call, session, dims) => service.warmup(call, session, dims),
    read: async (call, session, handle) =>
      posting(await service.read(call, session, handle), (value) => [{ name: '', value }]),
    memory: (call, session) => service.memory(call, session),
    control: async (call, session, request) => {
      const reply = await service.control(call, session, request);
      const bitmap = reply.ok && reply.value.bitmap;
      return bitmap ? transfer(reply, [bitmap]) : posting(reply, ({ results }) => results);
    },
    release: (session, handle) => service.release(session, handle),
    dispose: (call, session) => service.dispose(call, session),
    cancel: (call) => service.cancel(call),
  };
  expose(posted);
}

/** Marks the buffers of a reply's large tensors and its spares for transfer. */
function posting<T>(reply: Reply<T>, resultsOf: (value: T) => readonly WireResult[]): Reply<T> {
  if (!reply.ok) return reply;
  const { spares = [] } = reply;
  const results = resultsOf(reply.value).map(({ value }) => value);
  const buffers = buffersIn(results).filter(isLarge);
  return transfer(reply, [...new Set([...spares, ...buffers])]);
}
