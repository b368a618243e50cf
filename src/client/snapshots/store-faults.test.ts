import { afterEach, expect, test, vi } from 'vitest';
import { StorageError } from '../../core/errors.ts';
import { opfsStore } from './snapshot-store.ts';
import type { SnapshotStore } from './store-types.ts';

afterEach(() => vi.unstubAllGlobals());

const OPERATIONS = [
  'getDirectory',
  'getDirectoryHandle',
  'getFileHandle',
  'getFile',
  'arrayBuffer',
  'createWritable',
  'write',
  'close',
  'removeEntry',
] as const;

type Operation = (typeof OPERATIONS)[number];

/** A private file system in memory, one of whose calls fails as a full disk does. */
class FaultyFileSystem {
  readonly files = new Map<string, Uint8Array>();
  #fault: { readonly operation: Operation; readonly at: number } | undefined;
  #calls = 0;

  arm(operation: Operation, at: number): void {
    this.#fault = { operation, at };
    this.#calls = 0;
  }

  get hasStruck(): boolean {
    return this.#fault !== undefined && this.#calls >= this.#fault.at;
  }

  readonly storage = {
    getDirectory: async () => {
      this.#check('getDirectory');
      return this.#folder;
    },
  };

  readonly #folder = {
    getDirectoryHandle: async () => {
      this.#check('getDirectoryHandle');
      return this.#folder;
    },
    getFileHandle: async (name: string, options?: { create?: boolean }) => {
      this.#check('getFileHandle');
      if (!this.files.has(name)) {
        if (options?.create !== true) throw new DOMException('no such file', 'NotFoundError');
        this.files.set(name, new Uint8Array());
      }
      return this.#file(name);
    },
    removeEntry: async (name: string) => {
      this.#check('removeEntry');
      if (!this.files.delete(name)) throw new DOMException('no such file', 'NotFoundError');
    },
  };

  #file(name: string) {
    return {
      getFile: async () => {
        this.#check('getFile');
        const bytes = this.files.get(name) ?? new Uint8Array();
        return {
          arrayBuffer: async () => {
            this.#check('arrayBuffer');
            return bytes.slice().buffer;
          },
        };
      },
      createWritable: async () => {
        this.#check('createWritable');
        let written = new Uint8Array();
        return {
          write: async (bytes: Uint8Array) => {
            this.#check('write');
            written = bytes.slice();
          },
          // The written bytes take the place of the file here, and not before.
          close: async () => {
            this.#check('close');
            this.files.set(name, written);
          },
          abort: async () => undefined,
        };
      },
    };
  }

  #check(operation: Operation): void {
    if (operation !== this.#fault?.operation || ++this.#calls !== this.#fault.at) return;
    throw new DOMException('an injected fault', 'QuotaExceededError');
  }
}

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

test.each(OPERATIONS)('%s of the private file system may fail anywhere', async (operation) => {
  let faults = 0;
  for (let at = 1; ; at++) {
    const system = new FaultyFileSystem();
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
});
