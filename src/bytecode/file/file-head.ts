import { ByteReader } from '../../core/bytes/byte-reader.ts';
import { FormatError } from '../../core/errors.ts';
import { TENSOR_ALIGNMENT } from './data-layout.ts';
import {
  FORMAT_MAJOR,
  FORMAT_MINOR,
  HASH_BYTE_LENGTH,
  HEAD_HASH_OFFSET,
  HEADER_BYTE_LENGTH,
  isBlockByteLength,
  looksLikeExecutable,
  MAGIC,
  MAX_BLOCK_BYTE_LENGTH,
  OPTIONAL_SECTION,
  SECTION_ALIGNMENT,
  SECTION_ENTRY_BYTE_LENGTH,
  SectionId,
  type RareSection,
  type SectionName,
  TYPES_MINOR,
} from './file-format.ts';

/** The first 64 bytes of a file. */
export interface FileHeader {
  readonly major: number;
  readonly minor: number;
  /** Bytes before the data section. */
  readonly headByteLength: number;
  readonly dataByteLength: number;
  readonly blockByteLength: number;
  readonly sectionCount: number;
  readonly headHash: Uint8Array;
}

export interface FileSection {
  readonly bytes: Uint8Array;
  readonly fileOffset: number;
}

export type FileSections = Readonly<Record<Exclude<SectionName, RareSection>, FileSection>> & {
  /** Absent in a file of an earlier version, and where signatures tell all. */
  readonly types?: FileSection;
  /** Absent where nothing is known of the source. */
  readonly sourceMap?: FileSection;
};

/** Reads and checks the header. `bytes` has at least its 64 bytes. Throws FormatError. */
export function readHeader(bytes: Uint8Array): FileHeader {
  const reader = new ByteReader(bytes.subarray(0, HEADER_BYTE_LENGTH), { where: 'header' });
  const magic = reader.bytes(MAGIC.length, 'magic');
  if (!looksLikeExecutable(magic)) {
    throw new FormatError({
      where: 'header, byte 0',
      got: `the bytes ${hex(magic)}`,
      expected: `${hex(MAGIC)}, the magic of an executable`,
      remedy: 'Check that the file is a .weft file and was not transferred as text.',
    });
  }
  const major = reader.u16('major version');
  const minor = reader.u16('minor version');
  if (major !== FORMAT_MAJOR || minor > FORMAT_MINOR) {
    throw new FormatError({
      where: 'header, byte 8',
      got: `format version ${major}.${minor}`,
      expected: `${FORMAT_MAJOR}.0 to ${FORMAT_MAJOR}.${FORMAT_MINOR}`,
      remedy:
        major < FORMAT_MAJOR
          ? 'Compile the model again with this version of Weft.'
          : 'Update Weft, or compile the model again with this version.',
    });
  }
  const header: FileHeader = {
    major,
    minor,
    headByteLength: reader.u32('head length'),
    dataByteLength: reader.i64('data length'),
    blockByteLength: reader.u32('block length'),
    sectionCount: reader.u32('section count'),
    headHash: reader.bytes(HASH_BYTE_LENGTH, 'head hash'),
  };
  checkSizes(header);
  return header;
}

function checkSizes(header: FileHeader): void {
  const { headByteLength, dataByteLength, blockByteLength, sectionCount } = header;
  const tableEnd = HEADER_BYTE_LENGTH + sectionCount * SECTION_ENTRY_BYTE_LENGTH;
  const rules: [boolean, number, string, string][] = [
    [
      headByteLength % TENSOR_ALIGNMENT === 0 && headByteLength >= tableEnd,
      12,
      `a head of ${headByteLength} bytes`,
      `a multiple of ${TENSOR_ALIGNMENT} that holds ${sectionCount} sections`,
    ],
    [
      dataByteLength >= 0 && Number.isSafeInteger(headByteLength + dataByteLength),
      16,
      `a data section of ${dataByteLength} bytes`,
      'from 0 to 2^53 bytes',
    ],
    [
      isBlockByteLength(blockByteLength),
      24,
      `blocks of ${blockByteLength} bytes`,
      `a multiple of ${TENSOR_ALIGNMENT} up to ${MAX_BLOCK_BYTE_LENGTH}`,
    ],
  ];
  for (const [holds, byte, got, expected] of rules) {
    if (!holds) throw new FormatError({ where: `header, byte ${byte}`, got, expected });
  }
}

/** The bytes that the hash of a head is taken of: the head with zeros in its place. */
export function hashedHead(head: Uint8Array): Uint8Array {
  const zeroed = new Uint8Array(head);
  zeroed.fill(0, HEAD_HASH_OFFSET, HEAD_HASH_OFFSET + HASH_BYTE_LENGTH);
  return zeroed;
}

/** Throws FormatError unless the hashes are equal. */
export function checkHash(actual: Uint8Array, expected: Uint8Array, where: string): void {
  if (actual.every((byte, i) => byte === expected[i])) return;
  throw new FormatError({
    where,
    got: `SHA-256 ${hex(actual)}`,
    expected: hex(expected),
    remedy: 'The file is damaged; fetch or write it again.',
  });
}

/**
 * Cuts a head into its sections, which follow each other without gaps but for zeros up to the next
 * multiple of 8. Throws FormatError.
 */
export function readSections(head: Uint8Array, header: FileHeader): FileSections {
  const reader = new ByteReader(head, { where: 'section table' });
  reader.bytes(HEADER_BYTE_LENGTH, 'header');
  const table = Array.from({ length: header.sectionCount }, () => ({
    id: reader.u32('section id'),
    byteOffset: reader.u32('section offset'),
    byteLength: reader.u32('section length'),
  }));
  const found = new Map<number, FileSection>();
  let previousId = 0;
  for (const { id, byteOffset, byteLength } of table) {
    reader.align(SECTION_ALIGNMENT);
    if (id <= previousId || byteOffset !== reader.position) {
      throw reader.error({
        got: `section ${id} at byte ${byteOffset}`,
        expected: `a section above ${previousId} at byte ${reader.position}`,
      });
    }
    previousId = id;
    found.set(id, { bytes: reader.bytes(byteLength, `section ${id}`), fileOffset: byteOffset });
  }
  reader.align(TENSOR_ALIGNMENT);
  reader.end();
  return pickSections(found, header);
}

function pickSections(found: Map<number, FileSection>, { minor }: FileHeader): FileSections {
  const entries = Object.entries(SectionId).flatMap(([name, id]) => {
    const section = found.get(id);
    const isLater = name === 'types' && minor < TYPES_MINOR;
    const isRare = name === 'types' || name === 'sourceMap';
    if (isLater || (isRare && section === undefined)) return [];
    if (section === undefined) {
      throw new FormatError({
        where: 'section table',
        got: `no section ${id} (${name})`,
        expected: 'every section of the format',
      });
    }
    found.delete(id);
    return [[name, section]];
  });
  for (const id of found.keys()) {
    if (id >= OPTIONAL_SECTION) continue;
    throw new FormatError({
      where: 'section table',
      got: `section ${id}, which this version does not know`,
      expected: '1 to 9 or an optional section',
      remedy: 'Update Weft.',
    });
  }
  return Object.fromEntries(entries) as FileSections;
}

/** The hashes of the blocks of the data section. Throws FormatError for another number of them. */
export function readBlockHashes(sections: FileSections, header: FileHeader): Uint8Array[] {
  const { bytes, fileOffset } = sections.blockHashes;
  const blockCount = Math.ceil(header.dataByteLength / header.blockByteLength);
  if (bytes.byteLength !== blockCount * HASH_BYTE_LENGTH) {
    throw new FormatError({
      where: `section blockHashes, byte ${fileOffset}`,
      got: `${bytes.byteLength} bytes`,
      expected: `${HASH_BYTE_LENGTH} for each of ${blockCount} blocks`,
    });
  }
  return Array.from({ length: blockCount }, (_, i) =>
    bytes.slice(i * HASH_BYTE_LENGTH, (i + 1) * HASH_BYTE_LENGTH),
  );
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
