import { proxy, transfer } from 'comlink';
import { DownloadError } from '../core/errors.ts';
import type { LoadProgress } from '../worker/protocol/load-request.ts';
import type { LoadedSession } from '../worker/protocol/loaded-session.ts';
import type { LoadOptions } from './session-options.ts';
import { type PreparedSource, type SessionSource, toWireSource } from './source.ts';
import { Connection, hasWorkers } from './start/connection.ts';
import { importMachine } from './start/worker-files.ts';
import type { FunctionOwner } from './values/program-function.ts';

/** Loads a program where the options say, and makes its session. Rejects as `Session.load` does. */
export async function loadSession<S extends FunctionOwner>(
  source: SessionSource,
  options: LoadOptions,
  make: (connection: Connection, loaded: LoadedSession) => S,
): Promise<S> {
  // Where it runs; then what stays on this side, and what goes there as it is.
  const {
    worker = hasWorkers(),
    workerFiles,
    workerTimeout,
    gpu,
    remote,
    operators,
    importers,
    ...rest
  } = options;
  const { signal, onProgress, functions, limits, cache, integrity, externalData, ...wanted } = rest;
  const { devices, dims = {}, dispatch, compileLimits } = wanted;
  const { device = devices ? 'webgpu' : 'auto' } = wanted;
  const here = !worker && !remote && { signal: signal ?? null };
  // Program and code come while options are checked; whoever needs them reports a failure.
  const sent =
    cache || integrity !== undefined
      ? import('./kept-source.ts').then(({ keptSource }) => keptSource(source, options))
      : toWireSource(source, here);
  sent.catch(() => undefined);
  if (here) {
    importMachine({ device, operators }).catch(() => undefined);
  }
  const rare =
    (operators ?? importers ?? functions ?? limits ?? dispatch ?? compileLimits ?? gpu) !==
    undefined
      ? (await import('./rare-options.ts')).rareRequest(options, !worker || !!remote)
      : undefined;
  signal?.throwIfAborted();
  const place = { worker, workerFiles, workerTimeout, gpu, operators, importers, remote };
  const connection = Connection.acquire(place);
  try {
    const report =
      onProgress &&
      proxy((progress: LoadProgress) => {
        if (!signal?.aborted) onProgress(progress);
      });
    const load = ({ source: wire, transfers }: PreparedSource): Promise<LoadedSession> => {
      const request = { ...wanted, ...rare?.request, source: wire, device, dims };
      return connection.call(
        (service, call) => service.load(call, transfer(request, transfers), report, rare?.callPage),
        { signal, discard: ({ session }, service) => void service.dispose(0, session) },
      );
    };
    const prepared = await sent;
    const loaded = externalData
      ? await (await import('./external-data.ts')).withExternalData(
          { source, prepared },
          externalData,
          load,
        )
      : await load(prepared);
    const session = make(connection, loaded);
    if (rare?.bridge) rare.bridge.owner = session;
    return session;
  } catch (error) {
    connection.release();
    if (!(error instanceof DownloadError)) throw error;
    // Without a connection there is no advice either.
    throw await import('./explain-inputs.ts').then(
      ({ explainDownload }) => explainDownload(error, source),
      () => error,
    );
  }
}
