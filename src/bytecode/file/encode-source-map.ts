import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { UsageError } from '../../core/errors.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
import { sharedLength } from './shared-length.ts';
import { writeVarint, zigzag } from './varint.ts';
import { verifyText } from '../verify/verify-text.ts';

const utf8 = new TextEncoder();

/**
 * The section *source map*, for the places of each instruction of each function; undefined where nothing has
 * a place. `docs/format.md` describes the bytes. Equal places give equal bytes.
 */
export function encodeSourceMap(
  functions: readonly (readonly (readonly SourcePlace[])[])[],
): Uint8Array<ArrayBuffer> | undefined {
  const tables = new PlaceTables();
  const runs = functions.map((instructions) => runsOf(instructions.map((all) => tables.all(all))));
  if (tables.places.length === 0) return undefined;
  const writer = new ByteWriter();
  tables.write(writer);
  let last = 0;
  for (const own of runs) {
    writeVarint(writer, own.length);
    let previous = 0;
    for (const { start, places } of own) {
      writeVarint(writer, start - previous);
      writeVarint(writer, places.length);
      previous = start;
      for (const place of places) {
        writeVarint(writer, zigzag(place - last));
        last = place;
      }
    }
  }
  return writer.finish();
}

interface Run {
  readonly start: number;
  readonly places: readonly number[];
}

/** Instructions from one whose places differ from those before it to the next such. */
function runsOf(instructions: readonly (readonly number[])[]): Run[] {
  const runs: Run[] = [];
  let before = '';
  for (const [start, places] of instructions.entries()) {
    const key = places.join();
    if (key !== before) runs.push({ start, places });
    before = key;
  }
  return runs;
}

/** Names and places, each once, in order of first use. */
class PlaceTables {
  readonly places: { readonly name: number; readonly line: number; readonly column: number }[] = [];
  readonly #names = new Map<string, number>();
  readonly #numbers = new Map<string, number>();

  /** The numbers of places, each once. */
  all(places: readonly SourcePlace[]): number[] {
    return [...new Set(places.map((place) => this.#numberOf(place)))];
  }

  #numberOf(place: SourcePlace): number {
    const { source, line = 0, column = 1 } = place;
    const key = `${line}:${column}:${source}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    requirePlace(place);
    const name = this.#names.get(source) ?? this.#names.size;
    this.#names.set(source, name);
    const number = this.places.push({ name, line, column }) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  write(writer: ByteWriter): void {
    writeVarint(writer, this.#names.size);
    let before = '';
    for (const name of this.#names.keys()) {
      const shared = sharedLength(before, name);
      const rest = utf8.encode(name.slice(shared));
      writeVarint(writer, shared);
      writeVarint(writer, rest.length).bytes(rest);
      before = name;
    }
    writeVarint(writer, this.places.length);
    let previous = { name: 0, line: 0 };
    for (const place of this.places) {
      writeVarint(writer, zigzag(place.name - previous.name));
      writeVarint(writer, zigzag(place.line - previous.line));
      if (place.line > 0) writeVarint(writer, place.column);
      previous = place;
    }
  }
}

/** Throws UsageError for a line or column that is none, VerifyError for a name that is no text. */
function requirePlace(place: SourcePlace): void {
  const { source, line = 1, column = 1 } = place;
  verifyText(source, 'place');
  const areFrom1 = [line, column].every((n) => Number.isInteger(n) && n > 0 && n < 2 ** 31);
  if (areFrom1) return;
  throw new UsageError({
    where: 'place',
    got: formatPlace({ source, line, column }),
    expected: 'a line and a column from 1',
  });
}
