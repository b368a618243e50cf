import { startOwnThread } from './own-thread.ts';
import type { WorkerFiles } from './protocol/session-service.ts';

/** Name of a worker by which its script knows that it is to read tokenizers and templates. */
const READER_NAME = 'weft-reader';

/** The only message to it. */
interface ToReader {
  readonly port: MessagePort;
  /** Addresses of the other files of the package's worker. */
  readonly files: WorkerFiles | undefined;
}

/** Returns true in a worker that one with sessions started, with the same script, to read. */
export function isReader(): boolean {
  const { name } = globalThis as { name?: unknown };
  return name === READER_NAME && 'DedicatedWorkerGlobalScope' in globalThis;
}

/** Serves as one. */
export function serveAsReader(): void {
  const begin = ({ data }: MessageEvent<ToReader>): void => {
    globalThis.weftFiles = data.files;
    void serveOn(data.port);
  };
  globalThis.addEventListener('message', begin, { once: true });
}

/** Starts one, which answers at `port`, or answers there itself. A message to `thread` ends it; one from there says that it is gone. */
export async function openReader(port: MessagePort, thread: MessagePort): Promise<void> {
  const onError = (): void => thread.postMessage('gone');
  const started = startOwnThread<ToReader, never>(
    { name: READER_NAME, nodeFile: '.ts' },
    { onMessage: () => undefined, onError },
  );
  thread.onmessage = () => {
    thread.close();
    if (started) started.terminate();
    else port.close();
  };
  if (started) started.post({ port, files: globalThis.weftFiles }, [port]);
  else await serveOn(port);
}

async function serveOn(port: MessagePort): Promise<void> {
  const { serveReader } = await import('../text/reader/serve-reader.ts');
  serveReader(port);
}
