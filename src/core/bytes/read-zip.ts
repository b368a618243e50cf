import { FormatError } from '../errors.ts';

const END_OF_CENTRAL_DIRECTORY = 0x06_05_4b_50;
const CENTRAL_ENTRY = 0x02_01_4b_50;
const LOCAL_ENTRY = 0x04_03_4b_50;
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
/** Of sizes and places that stand in an extra field, of archives beyond 4 GiB. */
const IS_ELSEWHERE = 0xff_ff_ff_ff;

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  /** How it is stored: 0 as it is, 8 deflated. */
  readonly method: number;
  /** The bytes as they are stored. */
  readonly content: Uint8Array;
  /** Bytes of the file when it is inflated. */
  readonly byteLength: number;
}

/** The archive in messages, and what is expected of it. */
interface ZipPlace {
  readonly where: string;
  readonly expected: string;
}

/** Returns true for bytes that begin as an archive does. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

/** The files of a ZIP archive below 4 GiB, by its directory. Throws FormatError. */
export function* zipEntries(bytes: Uint8Array, { where, expected }: ZipPlace): Generator<ZipEntry> {
  const fail = (got: string): FormatError => new FormatError({ where, got, expected });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end === undefined) throw fail('no directory of an archive');
  // An archive may stand behind other bytes: its directory ends where that record begins.
  const directoryLength = view.getUint32(end + 12, true);
  const stated = view.getUint32(end + 16, true);
  const isThere = stated + 4 <= end && view.getUint32(stated, true) === CENTRAL_ENTRY;
  const shift = isThere ? 0 : end - directoryLength - stated;
  if (shift < 0) throw fail('a cut directory');
  let at = stated + shift;
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL_ENTRY) throw fail('a cut directory');
    const method = view.getUint16(at + 10, true);
    const [stored = 0, byteLength = 0, place = 0] = [20, 24, 42].map((offset) =>
      view.getUint32(at + offset, true),
    );
    const nameLength = view.getUint16(at + 28, true);
    const extra = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    at += 46 + nameLength + extra;
    if ([stored, byteLength, place].includes(IS_ELSEWHERE)) throw fail('an archive beyond 4 GiB');
    const local = place + shift;
    if (local + 30 > end || view.getUint32(local, true) !== LOCAL_ENTRY) throw fail('a cut entry');
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (begin + stored > end) throw fail('a cut entry');
    yield { name, method, content: bytes.subarray(begin, begin + stored), byteLength };
  }
}

/** Finds the end record of the archive, which stands before a comment of any length. */
function findEnd(view: DataView): number | undefined {
  const last = view.byteLength - END_LENGTH;
  for (let at = last; at >= 0 && at >= last - MAX_COMMENT; at--) {
    if (view.getUint32(at, true) === END_OF_CENTRAL_DIRECTORY) return at;
  }
  return undefined;
}
