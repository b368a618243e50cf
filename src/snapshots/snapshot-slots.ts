import { ByteReader } from '../core/bytes/byte-reader.ts';
import { ByteWriter } from '../core/bytes/byte-writer.ts';
import { FormatError } from '../core/errors.ts';
import { platformSha256 as sha256 } from '../core/bytes/platform-sha256.ts';
import type { SnapshotFiles, SnapshotStore } from './store-types.ts';

/** `docs/snapshots.md` describes the record. */
const MAGIC = Uint8Array.of(0x89, 0x57, 0x46, 0x53, 0x43, 0x0d, 0x0a, 0x1a);
const VERSION = 1;
const HASHED_BYTE_LENGTH = 64;
const HASH_BYTE_LENGTH = 32;

const SLOTS = [0, 1] as const;
type Slot = (typeof SLOTS)[number];

/** Says that the snapshot of a slot is whole. */
interface Commit {
  readonly slot: Slot;
  /** One more than that of the snapshot before. */
  readonly sequence: number;
  readonly byteLength: number;
  readonly hash: Uint8Array;
}

/**
 * Two slots that take turns, each a snapshot and a commit record beside it. The record is removed
 * before the snapshot of its slot is overwritten and written after it, so that the other slot is
 * whole whenever this one is not.
 */
export class SnapshotSlots implements SnapshotStore {
  readonly #files: SnapshotFiles;
  #last: Promise<unknown> = Promise.resolve();

  constructor(files: SnapshotFiles) {
    this.#files = files;
  }

  save(bytes: Uint8Array): Promise<void> {
    // The caller may go on with its memory.
    const copy = bytes.slice();
    return this.#inTurn(async () => {
      const [latest] = await this.#commits();
      const slot: Slot = latest?.slot === 0 ? 1 : 0;
      const sequence = (latest?.sequence ?? 0) + 1;
      await this.#files.remove(commitName(slot));
      await this.#files.write(snapshotName(slot), copy);
      const hash = await sha256(copy);
      const commit = { slot, sequence, byteLength: copy.byteLength, hash };
      await this.#files.write(commitName(slot), await writeCommit(commit));
    });
  }

  latest(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#inTurn(async () => {
      const commits = await this.#commits();
      for (const { slot, byteLength, hash } of commits) {
        const bytes = await this.#files.read(snapshotName(slot));
        if (bytes?.byteLength === byteLength && areEqual(await sha256(bytes), hash)) return bytes;
      }
      if (commits.length === 0) return undefined;
      throw new FormatError({
        where: 'snapshot store',
        got: 'a snapshot that was changed after it was saved',
        expected: 'the bytes that its commit record names',
        remedy: 'Call clear and start again.',
      });
    });
  }

  clear(): Promise<void> {
    return this.#inTurn(async () => {
      // The older one first: what is left when this is cut short is the latest.
      for (const { slot } of (await this.#commits()).reverse()) {
        await this.#files.remove(commitName(slot));
      }
      for (const slot of SLOTS) await this.#files.remove(commitName(slot));
      for (const slot of SLOTS) await this.#files.remove(snapshotName(slot));
    });
  }

  /** Valid records, the latest first. */
  async #commits(): Promise<Commit[]> {
    const commits: Commit[] = [];
    for (const slot of SLOTS) {
      const bytes = await this.#files.read(commitName(slot));
      const commit = bytes && (await readCommit(slot, bytes));
      if (commit !== undefined) commits.push(commit);
    }
    return commits.sort((a, b) => b.sequence - a.sequence);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const files = this.#files;
    const turn = async (): Promise<T> => (files.exclude ? files.exclude(work) : work());
    const done = this.#last.then(turn);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

const snapshotName = (slot: Slot): string => `${slot}.snapshot`;
const commitName = (slot: Slot): string => `${slot}.commit`;

async function writeCommit(commit: Omit<Commit, 'slot'>): Promise<Uint8Array<ArrayBuffer>> {
  const w = new ByteWriter().bytes(MAGIC).u32(VERSION).u32(0);
  w.i64(commit.sequence).i64(commit.byteLength).bytes(commit.hash);
  return w.bytes(await sha256(w.finish())).finish();
}

/** Undefined for a record that was cut short: then its snapshot is not there either. */
async function readCommit(slot: Slot, bytes: Uint8Array<ArrayBuffer>): Promise<Commit | undefined> {
  if (bytes.byteLength !== HASHED_BYTE_LENGTH + HASH_BYTE_LENGTH) return undefined;
  const hashed = bytes.subarray(0, HASHED_BYTE_LENGTH);
  if (!areEqual(await sha256(hashed), bytes.subarray(HASHED_BYTE_LENGTH))) return undefined;
  const r = new ByteReader(bytes, { where: 'commit record' });
  if (!areEqual(r.bytes(MAGIC.byteLength, 'magic'), MAGIC)) return undefined;
  const version = r.u32('version');
  if (version !== VERSION) {
    throw r.error({ got: `version ${version}`, expected: `version ${VERSION}` });
  }
  r.u32('reserved');
  const [sequence, byteLength] = [r.i64('sequence'), r.i64('length')];
  return { slot, sequence, byteLength, hash: r.bytes(HASH_BYTE_LENGTH, 'hash') };
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
}
