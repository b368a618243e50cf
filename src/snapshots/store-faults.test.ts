import { afterEach, expect, test, vi } from 'vitest';
import { StorageError } from '../core/errors.ts';
import { opfsStore } from '../client/snapshots/snapshot-store.ts';
import type { SnapshotStore } from './store-types.ts';
import {
  FaultyFileSystem,
  OPERATIONS,
  type Operation,
  PAGE_OPERATIONS,
  WORKER_OPERATIONS,
} from '../testing/faulty-file-system.ts';

afterEach(() => vi.unstubAllGlobals());

const bytesOf = (seed: number) => Uint8Array.from({ length: 40 }, (_, i) => (i * seed) % 251);

/** Each step may fail once, with a typed error, and is right when it is done again. */
async function live(failures: string[]): Promise<void> {
  const step = async <T>(work: () => Promise<T>, check?: () => Promise<void>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(StorageError);
      expect(String(error)).toMatch(/opfsStore.*: got no space left, expected/);
      failures.push(String(error));
    }
    await check?.();
    return work();
  };
  const store: SnapshotStore = await step(() => opfsStore('faults'));
  let before: Uint8Array | undefined;
  for (const seed of [3, 5, 7]) {
    const bytes = bytesOf(seed);
    // Of a save that failed, the snapshot before is left, or the new one where all was written.
    await step(
      () => store.save(bytes),
      async () => expect([before, bytes]).toContainEqual(await store.latest()),
    );
    expect(await step(() => store.latest())).toEqual(bytes);
    before = bytes;
  }
  await step(
    () => store.clear(),
    async () => expect([before, undefined]).toContainEqual(await store.latest()),
  );
  expect(await step(() => store.latest())).toBe(undefined);
}

async function failEverywhere(operation: Operation, inWorker: boolean): Promise<void> {
  let faults = 0;
  for (let at = 1; ; at++) {
    const system = new FaultyFileSystem({ inWorker });
    vi.stubGlobal('navigator', { storage: system.storage });
    system.arm(operation, at);
    const failures: string[] = [];
    await live(failures);
    expect(failures).toHaveLength(system.hasStruck ? 1 : 0);
    if (!system.hasStruck) break;
    expect(system.files.size).toBe(0);
    faults++;
  }
  expect(faults).toBeGreaterThan(0);
}

test.each([...OPERATIONS, ...PAGE_OPERATIONS])(
  '%s of the private file system may fail anywhere in a page',
  (operation) => failEverywhere(operation, false),
);

test.each([...OPERATIONS, ...WORKER_OPERATIONS])(
  '%s of the private file system may fail anywhere in a worker',
  (operation) => failEverywhere(operation, true),
);
