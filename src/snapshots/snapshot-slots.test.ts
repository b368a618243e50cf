import { expect, test } from 'vitest';
import { SnapshotSlots } from './snapshot-slots.ts';
import type { SnapshotFiles } from './store-types.ts';

/** Files in memory that fail for good after so many bytes and removals. */
class FailingFiles implements SnapshotFiles {
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  budget = Number.POSITIVE_INFINITY;

  async read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.files.get(name)?.slice();
  }

  /** A torn write leaves the first bytes of the new file, then what was there before. */
  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const written = Math.min(bytes.byteLength, this.budget);
    const torn = new Uint8Array(Math.max(written, this.files.get(name)?.byteLength ?? 0));
    torn.set(this.files.get(name) ?? []);
    torn.set(bytes.subarray(0, written));
    this.#spend(bytes.byteLength + 1, () => this.files.set(name, torn));
    this.files.set(name, bytes.slice());
  }

  async remove(name: string): Promise<void> {
    this.#spend(1, () => undefined);
    this.files.delete(name);
  }

  #spend(cost: number, onFailure: () => unknown): void {
    const before = this.budget;
    this.budget = Math.max(0, before - cost);
    if (before >= cost) return;
    if (before > 0) onFailure();
    throw new Error('power failure');
  }
}

const snapshot = (seed: number, length: number) =>
  Uint8Array.from({ length }, (_, i) => (i * 7 + seed * 13) % 251);

/** Saves the first ones, then the last one until the budget is spent; then starts again. */
async function crashAt(budget: number, earlier: readonly Uint8Array[], last: Uint8Array) {
  const files = new FailingFiles();
  const before = new SnapshotSlots(files);
  for (const bytes of earlier) await before.save(bytes);
  files.budget = budget;
  const isSaved = await before.save(last).then(
    () => true,
    () => false,
  );
  files.budget = Number.POSITIVE_INFINITY;
  return { files, isSaved, after: new SnapshotSlots(files) };
}

test.each([
  ['the first snapshot', 0],
  ['the second', 1],
  ['the third, over the first', 2],
  ['the fourth', 3],
] as const)('a write of %s that is cut at any step leaves the one before', async (_, count) => {
  const earlier = Array.from({ length: count }, (_unused, i) => snapshot(i, 40 - i));
  const last = snapshot(9, 37);
  const complete = 1 + 38 + 97;
  let cuts = 0;
  for (let budget = 0; budget <= complete; budget++) {
    const { after, isSaved } = await crashAt(budget, earlier, last);
    const latest = await after.latest();
    expect(isSaved).toBe(budget === complete);
    // The last byte of the record may have been written before the failure was told.
    const isThere = isSaved || budget === complete - 1;
    expect(latest).toEqual(isThere ? last : earlier.at(-1));
    const next = snapshot(11, 50);
    await after.save(next);
    expect(await after.latest()).toEqual(next);
    if (!isSaved) cuts++;
  }
  expect(cuts).toBe(complete);
});

test('two failures in turn leave the last whole snapshot', async () => {
  const { files, after } = await crashAt(20, [snapshot(1, 30), snapshot(2, 30)], snapshot(3, 30));
  for (let budget = 0; budget < 100; budget += 3) {
    files.budget = budget;
    await expect(after.save(snapshot(4, 30))).rejects.toThrow('power failure');
    files.budget = Number.POSITIVE_INFINITY;
    expect(await new SnapshotSlots(files).latest()).toEqual(snapshot(2, 30));
  }
});

test('a file changed at any byte is never taken for a snapshot', async () => {
  const files = new FailingFiles();
  const slots = new SnapshotSlots(files);
  const [first, second] = [snapshot(1, 30), snapshot(2, 33)];
  await slots.save(first);
  await slots.save(second);
  for (const [name, bytes] of files.files) {
    for (let at = 0; at < bytes.byteLength; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      files.files.set(name, changed);
      expect(await slots.latest()).toEqual(name.startsWith('1') ? first : second);
      files.files.set(name, bytes.slice(0, at));
      expect(await slots.latest()).toEqual(name.startsWith('1') ? first : second);
    }
    files.files.set(name, bytes);
  }
});

test('tells damage from nothing, and forgets', async () => {
  const files = new FailingFiles();
  const slots = new SnapshotSlots(files);
  expect(await slots.latest()).toBe(undefined);
  await slots.save(snapshot(1, 10));
  files.files.set('0.snapshot', snapshot(2, 10));
  await expect(slots.latest()).rejects.toThrow(
    'got a snapshot that was changed after it was saved, expected the bytes that its commit record names',
  );
  await slots.save(snapshot(3, 10));
  expect(await slots.latest()).toEqual(snapshot(3, 10));
  await slots.clear();
  expect(await slots.latest()).toBe(undefined);
  expect(files.files.size).toBe(0);
});

test('saves and reads at the same time take turns, also of two stores', async () => {
  const files = new FailingFiles();
  let last: Promise<unknown> = Promise.resolve();
  const shared: SnapshotFiles = {
    read: (name) => files.read(name),
    write: (name, bytes) => files.write(name, bytes),
    remove: (name) => files.remove(name),
    exclude: (work) => {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
  };
  const stores = [new SnapshotSlots(shared), new SnapshotSlots(shared)];
  const saves = Array.from({ length: 20 }, async (_, i) =>
    stores[i % 2]?.save(snapshot(i, 20 + i)),
  );
  const seen = await stores[0]?.latest();
  await Promise.all(saves);
  expect(seen?.byteLength).toBeGreaterThanOrEqual(20);
  const [a, b] = await Promise.all(stores.map((store) => store.latest()));
  expect(a).toEqual(b);
  expect([38, 39]).toContain(a?.byteLength);
});
