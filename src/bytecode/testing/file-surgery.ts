import { sha256 } from '@noble/hashes/sha2.js';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import {
  HEADER_BYTE_LENGTH,
  SECTION_ALIGNMENT,
  SECTION_ENTRY_BYTE_LENGTH,
} from '../file/file-format.ts';
import { sealHead } from '../file/serialize.ts';

/** The parts of a file, for tests that put broken ones together with right hashes. */
export interface FileParts {
  readonly header: Uint8Array;
  readonly sections: { id: number; bytes: Uint8Array }[];
  readonly data: Uint8Array;
}

export function takeApart(file: Uint8Array): FileParts {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headByteLength = view.getUint32(12, true);
  const sections = Array.from({ length: view.getUint32(28, true) }, (_, i) => {
    const entry = HEADER_BYTE_LENGTH + i * SECTION_ENTRY_BYTE_LENGTH;
    const start = view.getUint32(entry + 4, true);
    const bytes = file.slice(start, start + view.getUint32(entry + 8, true));
    return { id: view.getUint32(entry, true), bytes };
  });
  const header = file.slice(0, HEADER_BYTE_LENGTH);
  return { header, sections, data: file.slice(headByteLength) };
}

/** A file of the parts: section table, lengths, padding and the head's hash are made to fit. */
export function putTogether({ header, sections, data }: FileParts): Uint8Array {
  const writer = new ByteWriter().bytes(header);
  let end = HEADER_BYTE_LENGTH + sections.length * SECTION_ENTRY_BYTE_LENGTH;
  for (const { id, bytes } of sections) {
    const start = Math.ceil(end / SECTION_ALIGNMENT) * SECTION_ALIGNMENT;
    writer.u32(id).u32(start).u32(bytes.length);
    end = start + bytes.length;
  }
  for (const { bytes } of sections) writer.align(SECTION_ALIGNMENT).bytes(bytes);
  const head = writer.align(256).finish();
  const view = new DataView(head.buffer);
  view.setUint32(12, head.length, true);
  view.setBigInt64(16, BigInt(data.length), true);
  view.setUint32(28, sections.length, true);
  const file = new Uint8Array(head.length + data.length);
  file.set(sealHead(head));
  file.set(data, head.length);
  return file;
}

/** Replaces the hashes of the data blocks by right ones. */
export function rehashData(parts: FileParts): FileParts {
  const view = new DataView(parts.header.buffer, parts.header.byteOffset);
  const blockByteLength = view.getUint32(24, true);
  const writer = new ByteWriter();
  for (let start = 0; start < parts.data.length; start += blockByteLength) {
    writer.bytes(sha256(parts.data.subarray(start, start + blockByteLength)));
  }
  const hashes = writer.finish();
  const sections = parts.sections.map(({ id, bytes }) => ({
    id,
    bytes: id === 8 ? hashes : bytes,
  }));
  return { ...parts, sections };
}
