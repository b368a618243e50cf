import { startOwnThread } from './own-thread.ts';
import { READER_NAME, type WorkerFiles } from './protocol/session-service.ts';

/** The only message to a worker that reads tokenizers and templates. */
export interface ToReader {
  readonly port: MessagePort;
  /** Addresses of the other files of the package's worker. */
  readonly files: WorkerFiles | undefined;
}

/** Starts one, which answers at `port`, or answers there itself. A message to `thread` ends it; one from there says that it is gone. */
export async function openReader(port: MessagePort, thread: MessagePort): Promise<void> {
  const started = startOwnThread<ToReader, never>(
    { name: READER_NAME, nodeFile: '.ts' },
    { onMessage: () => undefined, onError: () => thread.postMessage('gone') },
  );
  thread.addEventListener('message', () => {
    thread.close();
    if (started) started.terminate();
    else port.close();
  });
  thread.start();
  if (started) started.post({ port, files: globalThis.weftFiles }, [port]);
  else (await import('../text/reader/serve-reader.ts')).serveReader(port);
}
