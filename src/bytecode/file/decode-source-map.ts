import { ByteReader } from '../../core/bytes/byte-reader.ts';
import type { SourcePlace } from '../../core/contracts/source-place.ts';
import { sharedLength } from './shared-length.ts';
import { readShortList, readVarint, unzigzag } from './varint.ts';
import { verifyText } from '../verify/verify-text.ts';

// Both options matter: a byte order mark is part of the text, and bad UTF-8 is an error.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface DecodedSourceMap {
  readonly places: readonly SourcePlace[];
  /** For each function, in order. */
  readonly functions: readonly (readonly SourceRun[])[];
}

/** Instructions of one function from `start` up to the next run. */
export interface SourceRun {
  readonly start: number;
  /** Indices of places; none where nothing is known. */
  readonly places: readonly number[];
}

/**
 * Reads and verifies a source map, given the number of instructions of each function. Only what the encoder
 * writes is accepted, so that equal maps have equal bytes. Throws FormatError or VerifyError.
 */
export function decodeSourceMap(
  bytes: Uint8Array,
  instructionCounts: readonly number[],
): DecodedSourceMap {
  const r = new ByteReader(bytes, { where: 'section sourceMap' });
  const names = new FirstUse(r, 'names', readNames(r));
  const places = new FirstUse(r, 'places', readPlaces(r, names));
  names.end();
  const functions = instructionCounts.map((count) => readRuns(r, places, count));
  places.end();
  r.end();
  return { places: places.all, functions };
}

/** A table whose items differ and stand in the order in which they are first used, none of them unused. */
class FirstUse<T extends string | SourcePlace> {
  readonly all: readonly T[];
  readonly #r: ByteReader;
  readonly #what: string;
  #last = 0;
  #used = 0;

  constructor(r: ByteReader, what: string, all: readonly T[]) {
    this.#r = r;
    this.#what = what;
    this.all = all;
    const distinct = new Set(all.map((item) => JSON.stringify(item)));
    if (distinct.size < all.length) this.#fail('one twice', 'each once');
  }

  /** The index of an item, written as the difference to the one before. */
  next(): number {
    this.#last += unzigzag(readVarint(this.#r, this.#what));
    if (this.#last < 0 || this.#last > this.#used || this.#last >= this.all.length) {
      this.#fail(`number ${this.#last}`, `at most ${this.#used}, the next, of ${this.all.length}`);
    }
    if (this.#last === this.#used) this.#used++;
    return this.#last;
  }

  end(): void {
    if (this.#used < this.all.length) this.#fail(`${this.all.length}`, `${this.#used}, all used`);
  }

  #fail(got: string, expected: string): never {
    throw this.#r.error({ got: `${this.#what}: ${got}`, expected });
  }
}

function readNames(r: ByteReader): string[] {
  let before = '';
  return readShortList(r, { what: 'names', itemByteLength: 2 }, () => {
    const shared = readVarint(r, 'shared characters');
    const name = before.slice(0, shared) + readText(r, readVarint(r, 'length of a name'));
    if (shared !== sharedLength(before, name)) {
      throw r.error({ got: `${shared} shared characters`, expected: 'as many as there are' });
    }
    verifyText(name, 'source map');
    before = name;
    return name;
  });
}

function readPlaces(r: ByteReader, names: FirstUse<string>): SourcePlace[] {
  let line = 0;
  return readShortList(r, { what: 'places', itemByteLength: 2 }, (): SourcePlace => {
    const source = names.all[names.next()] ?? '';
    line += unzigzag(readVarint(r, 'line'));
    const column = line > 0 ? readVarint(r, 'column') : 1;
    if (line < 0 || column < 1) throw r.error({ got: `${line}:${column}`, expected: 'from 1' });
    return line === 0 ? { source } : { source, line, column };
  });
}

function readRuns(r: ByteReader, places: FirstUse<SourcePlace>, count: number): SourceRun[] {
  let start = 0;
  let before = '';
  return readShortList(r, { what: 'runs', itemByteLength: 2 }, (index): SourceRun => {
    const skipped = readVarint(r, 'instructions');
    start += skipped;
    const found = readShortList(r, { what: 'places', itemByteLength: 1 }, () => places.next());
    const key = found.join();
    const isNew = key !== before && new Set(found).size === found.length;
    if (start >= count || (skipped === 0 && index > 0) || !isNew) {
      const got = `places ${key} at instruction ${start}`;
      throw r.error({ got, expected: `others than before, each once, below ${count}` });
    }
    before = key;
    return { start, places: found };
  });
}

function readText(r: ByteReader, byteLength: number): string {
  const bytes = r.bytes(byteLength, 'name');
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw r.error({ got: 'a name that is not UTF-8', expected: 'UTF-8' }, cause);
  }
}
