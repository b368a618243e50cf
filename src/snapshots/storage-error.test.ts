import { afterEach, expect, test, vi } from 'vitest';
import { opfsStore } from '../client/snapshots/snapshot-store.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A private file system whose files refuse to be written with `failure`. */
function refuseWrites(failure: DOMException): void {
  const absent = new DOMException('none', 'NotFoundError');
  const handle = {
    getFile: () => Promise.reject(absent),
    createWritable: () =>
      Promise.resolve({ write: () => Promise.reject(failure), abort: () => Promise.resolve() }),
  };
  const folder = {
    getDirectoryHandle: () => Promise.resolve(folder),
    getFileHandle: (_: string, options?: object) =>
      options === undefined ? Promise.reject(absent) : Promise.resolve(handle),
    removeEntry: () => Promise.reject(absent),
  };
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.resolve(folder) } });
}

test.each([
  ['QuotaExceededError', 'no space left'],
  ['NotAllowedError', 'no permission'],
  ['NoModificationAllowedError', 'a file that is in use'],
])('%s of the private file system', async (name, got) => {
  refuseWrites(new DOMException('refused', name));
  const store = await opfsStore('test');
  await expect(store.save(new Uint8Array(100))).rejects.toMatchObject({
    name: 'StorageError',
    message: `opfsStore, 0.snapshot: got ${got}, expected a file that can be read and written. Free space, or keep the snapshot elsewhere; the previous one is still there.`,
    cause: { name },
  });
});
