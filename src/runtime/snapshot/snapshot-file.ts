import { ByteReader } from '../../core/bytes/byte-reader.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { platformSha256 as sha256 } from '../../core/bytes/platform-sha256.ts';
import {
  FORMAT_MAJOR,
  FORMAT_MINOR,
  HASH_BYTE_LENGTH,
  HASH_OFFSET,
  HEADER_BYTE_LENGTH,
  MAGIC,
  SECTION_ALIGNMENT,
  SECTION_NAMES,
  SectionId,
  type SectionName,
} from './snapshot-format.ts';

/** Id and length of a section. */
const ENTRY_BYTE_LENGTH = 8;
const BODY_OFFSET = HEADER_BYTE_LENGTH + SECTION_NAMES.length * ENTRY_BYTE_LENGTH;

const padded = (length: number): number =>
  Math.ceil(length / SECTION_ALIGNMENT) * SECTION_ALIGNMENT;

interface SnapshotDraft {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The section `data`, to be filled in. */
  readonly data: Uint8Array;
}

/** A snapshot but for its data and its hash. Throws UnsupportedError beyond 4 GiB. */
export function draftSnapshot(
  sections: Readonly<Record<Exclude<SectionName, 'data'>, ByteWriter>>,
  dataByteLength: number,
): SnapshotDraft {
  const writers = Object.values<ByteWriter>(sections);
  const headByteLength = writers.reduce((sum, w) => sum + padded(w.byteLength), BODY_OFFSET);
  const byteLength = headByteLength + padded(dataByteLength);
  if (byteLength > 0xffff_ffff) {
    throw new UnsupportedError({
      where: 'snapshot',
      got: `${dataByteLength} bytes of tensors`,
      expected: 'at most 4 GiB',
    });
  }
  const w = new ByteWriter().bytes(MAGIC).u16(FORMAT_MAJOR).u16(FORMAT_MINOR);
  w.u32(SECTION_NAMES.length).i64(byteLength).i64(0).bytes(new Uint8Array(HASH_BYTE_LENGTH));
  for (const name of SECTION_NAMES) {
    w.u32(SectionId[name]).u32(name === 'data' ? dataByteLength : sections[name].byteLength);
  }
  for (const name of SECTION_NAMES) {
    if (name !== 'data') w.bytes(sections[name].finish()).align(SECTION_ALIGNMENT);
  }
  const bytes = new Uint8Array(byteLength);
  bytes.set(w.finish());
  return { bytes, data: bytes.subarray(headByteLength, headByteLength + dataByteLength) };
}

/** Writes the hash of a snapshot into it. */
export async function sealSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  bytes.set(await hashOf(bytes), HASH_OFFSET);
}

/** SHA-256 of the header before the hash, and of the SHA-256 of all that follows it. */
async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const both = new Uint8Array(HASH_OFFSET + HASH_BYTE_LENGTH);
  both.set(bytes.subarray(0, HASH_OFFSET));
  both.set(await sha256(bytes.subarray(HEADER_BYTE_LENGTH)), HASH_OFFSET);
  return sha256(both);
}

/** The sections of a snapshot, by name. Each is read once. */
export type SnapshotSections = Record<SectionName, ByteReader>;

/** Readers of all sections. Throws FormatError for a snapshot that was cut or changed anywhere. */
export async function openSnapshot(given: Uint8Array): Promise<SnapshotSections> {
  const bytes =
    given.buffer instanceof ArrayBuffer
      ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
      : given.slice();
  const header = new ByteReader(bytes, { where: 'snapshot' });
  checkHeader(header, bytes.byteLength);
  const hash = await hashOf(bytes);
  const expected = header.bytes(HASH_BYTE_LENGTH, 'hash');
  if (hash.some((byte, index) => byte !== expected[index])) {
    throw header.error({
      got: 'contents whose SHA-256 differs from the header',
      expected: 'those that were written',
      remedy: DAMAGED,
    });
  }
  const lengths = SECTION_NAMES.map((name) => {
    const id = header.u32('section id');
    if (id !== SectionId[name]) {
      throw header.error({ got: `section ${id}`, expected: `${SectionId[name]} (${name})` });
    }
    return header.u32(`length of section ${name}`);
  });
  const sections = SECTION_NAMES.map((name, index) => {
    const fileOffset = header.position;
    const section = header.bytes(lengths[index] ?? 0, `section ${name}`);
    header.align(SECTION_ALIGNMENT);
    return [name, new ByteReader(section, { where: `section ${name}`, fileOffset })];
  });
  header.end();
  return Object.fromEntries(sections) as Record<SectionName, ByteReader>;
}

const DAMAGED = 'The snapshot was truncated or changed; use an earlier one.';

function checkHeader(header: ByteReader, byteLength: number): void {
  const magic = header.bytes(MAGIC.length, 'magic');
  if (MAGIC.some((byte, index) => byte !== magic[index])) {
    throw new FormatError({
      where: 'snapshot, byte 0',
      got: 'other bytes than the magic of a snapshot',
      expected: 'bytes from Session.snapshot',
      remedy: 'Check that the file is a snapshot and no executable.',
    });
  }
  const [major, minor] = [header.u16('major version'), header.u16('minor version')];
  if (major !== FORMAT_MAJOR || minor > FORMAT_MINOR) {
    throw header.error({
      got: `snapshot version ${major}.${minor}`,
      expected: `${FORMAT_MAJOR}.0 to ${FORMAT_MAJOR}.${FORMAT_MINOR}`,
      remedy: 'Resume it with the version of Weft that took it.',
    });
  }
  const sectionCount = header.u32('section count');
  const expectedLength = header.i64('length');
  header.i64('reserved');
  if (sectionCount === SECTION_NAMES.length && expectedLength === byteLength) return;
  throw header.error({
    got: `${byteLength} bytes with ${sectionCount} sections`,
    expected: `${expectedLength} bytes with ${SECTION_NAMES.length} sections`,
    remedy: DAMAGED,
  });
}
