import { Executable } from '../bytecode/file/executable-file.ts';
import { ExecutableReader } from '../bytecode/file/executable-reader.ts';
import { FormatError, UsageError } from '../core/errors.ts';
import { LimitError } from './errors.ts';

interface Stored {
  readonly executable: Executable;
  readonly byteLength: number;
}

/** How much of an executable was sent, in bytes. */
export interface ShipProgress {
  /** Bytes that were sent. */
  readonly loaded: number;
  /** Bytes in all. */
  readonly total: number;
}

/** Where executables may be that nobody has sent yet; resolves to undefined when it has none. */
type ExecutableSource = (hash: string, maxByteLength: number) => Promise<Uint8Array | undefined>;

const HASH = /^[0-9a-f]{64}$/;

/** Verified executables by hash; those used longest ago go first. */
export class ExecutableStore {
  readonly #stored = new Map<string, Stored>();
  readonly #finding = new Map<string, Promise<boolean>>();
  readonly #maxByteLength: number;
  readonly #source: ExecutableSource | undefined;
  #byteLength = 0;

  constructor(maxByteLength: number, source?: ExecutableSource) {
    this.#maxByteLength = maxByteLength;
    this.#source = source;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Returns true if the store holds the executable with this SHA-256, in hexadecimal digits. */
  has(hash: string): boolean {
    return this.#stored.has(hash);
  }

  /**
   * Resolves to true if the store holds the executable, or could fetch it from the source. Throws
   * as {@link add}.
   */
  async find(hash: string): Promise<boolean> {
    if (this.has(hash)) return true;
    if (this.#source === undefined || !HASH.test(hash)) return false;
    const finding = this.#finding.get(hash) ?? this.#fetch(this.#source, hash);
    this.#finding.set(hash, finding);
    return finding.finally(() => this.#finding.delete(hash));
  }

  async #fetch(source: ExecutableSource, hash: string): Promise<boolean> {
    const bytes = await source(hash, this.#maxByteLength);
    if (bytes === undefined) return false;
    await this.add(hash, bytes);
    return true;
  }

  /** An executable by its SHA-256; undefined where it holds none. */
  get(hash: string): Executable | undefined {
    const stored = this.#stored.get(hash);
    if (stored === undefined) return undefined;
    this.#stored.delete(hash);
    this.#stored.set(hash, stored);
    return stored.executable;
  }

  /** Throws FormatError or VerifyError for bytes that are not that executable, LimitError. */
  async add(hash: string, bytes: Uint8Array): Promise<void> {
    const actual = await sha256(bytes);
    if (actual !== hash) {
      throw new FormatError({
        where: 'remote executable',
        got: `SHA-256 ${actual}`,
        expected: hash,
        remedy: 'Send it again.',
      });
    }
    if (bytes.byteLength > this.#maxByteLength) throw tooLarge(bytes, this.#maxByteLength);
    const executable = await readVerified(bytes);
    if (this.#stored.has(hash)) return;
    for (const [oldest, { byteLength }] of this.#stored) {
      if (this.#byteLength + bytes.byteLength <= this.#maxByteLength) break;
      this.#stored.delete(oldest);
      this.#byteLength -= byteLength;
    }
    this.#stored.set(hash, { executable, byteLength: bytes.byteLength });
    this.#byteLength += bytes.byteLength;
  }
}

/**
 * Reads as `Executable.fromBytes` does, with the platform's SHA-256, which is many times as fast.
 */
async function readVerified(bytes: Uint8Array): Promise<Executable> {
  const { byteLength } = bytes;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const reader = await ExecutableReader.open(stream, { byteLength });
  for await (const _ of reader.blocks());
  const { executable } = reader;
  return new Executable(executable, bytes.subarray(byteLength - executable.dataByteLength));
}

/** An executable that was shipped. Throws UsageError for one that is not there any more. */
export function storedIn(store: ExecutableStore, hash: string): Executable {
  const executable = store.get(hash);
  if (executable !== undefined) return executable;
  throw new UsageError({
    where: 'remote connection',
    got: `the executable ${hash}, which was dropped`,
    expected: 'one that was shipped',
    remedy: 'Load it again; raise limits.executableBytes where devices are served.',
  });
}

/** The SHA-256 of bytes, as 64 hexadecimal digits. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function tooLarge({ byteLength }: Uint8Array, limit: number): LimitError {
  return new LimitError({
    where: 'remote executable',
    got: `${byteLength} bytes`,
    expected: `at most ${limit}`,
    remedy: 'Raise limits.executableBytes where the device is served.',
  });
}

export function tooManyModules(limit: number): LimitError {
  return new LimitError({
    where: 'remote connection',
    got: `more than ${limit} loaded executables`,
    expected: `at most ${limit}`,
    remedy: 'Release modules that are not used any more, or raise limits.modules.',
  });
}
