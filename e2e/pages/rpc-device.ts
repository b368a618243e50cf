import type { LendRequest } from './rpc-device-worker.ts';

/** The page's interface to scripts: its worker lends a device through a relay. */
const page = {
  async lend(request: LendRequest): Promise<void> {
    const worker = new Worker(new URL('./rpc-device-worker.ts', import.meta.url), {
      type: 'module',
    });
    await new Promise<void>((resolve, reject) => {
      worker.addEventListener('message', () => resolve());
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(request);
    });
  },
};

export type RpcDevicePage = typeof page;

Object.assign(globalThis, { weftRpc: page });
document.documentElement.dataset['ready'] = 'true';
