import { trustedAddress } from '../../core/trusted-address.ts';
import type { WorkerFiles } from '../../worker/protocol/session-service.ts';

const starters = new Map<string, string>();

/** Starts a worker of the package. Throws where the address or a policy of the page forbids it. */
export function startWorker(address: string, name = 'weft'): Worker {
  const { origin } = globalThis;
  // A worker's file must be of the page's origin. One that imports another's may be.
  const isForeign =
    /^(?:https?|data):/.test(address) && origin && new URL(address).origin !== origin;
  const own = isForeign ? starterOf(address) : address;
  return new Worker(trustedAddress(own), { type: 'module', name });
}

/** A file of this origin that imports `address`. It stays, for workers that start later. */
function starterOf(address: string): string {
  let starter = starters.get(address);
  if (starter === undefined) {
    const type = 'text/javascript';
    starter = URL.createObjectURL(new Blob([`import ${JSON.stringify(address)};`], { type }));
    starters.set(address, starter);
  }
  return starter;
}

/** `blob:` addresses of the worker's files, which stay, since most of them load later. */
export function blobsOf(texts: WorkerFiles): WorkerFiles {
  const addresses = Object.entries(texts).map(([name, text]): [string, string] => [
    name,
    URL.createObjectURL(new Blob([text], { type: 'text/javascript' })),
  ]);
  return Object.fromEntries(addresses);
}
