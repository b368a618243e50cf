import { ByteWriter } from '../../../../core/bytes/byte-writer.ts';
import type { WrittenTensor } from './gguf-writer.ts';

/** A safetensors file, for tests. */
export function writeSafetensors(
  tensors: readonly WrittenTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    const end = offset + bytes.length;
    header[name] = { dtype: type, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const out = withHeader(header);
  for (const { bytes } of tensors) out.bytes(bytes);
  return out.finish();
}

/** The beginning of a file with any header. */
export function withHeader(header: unknown): ByteWriter {
  const text = JSON.stringify(header);
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
  const bytes = new TextEncoder().encode(padded);
  return new ByteWriter().i64(bytes.length).bytes(bytes);
}
