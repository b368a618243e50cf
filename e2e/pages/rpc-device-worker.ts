import { serveRelay } from '../../src/rpc/index.ts';
import { createDevice } from '../../src/worker/index.ts';

export interface LendRequest {
  readonly url: string;
  readonly key: string;
  readonly token: string;
  readonly kind: 'webgpu' | 'host';
}

async function lend({ url, key, token, kind }: LendRequest): Promise<void> {
  const main = await createDevice(kind);
  const devices = kind === 'host' ? [main] : [main, await createDevice('host')];
  const { ended } = serveRelay(url, { key, token, devices, name: key });
  globalThis.postMessage(null);
  await ended;
}

globalThis.addEventListener('message', ({ data }: MessageEvent<LendRequest>) => {
  lend(data).catch((error: unknown) => {
    // Reaches the page as an error event of the worker.
    setTimeout(() => {
      throw error;
    });
  });
});
