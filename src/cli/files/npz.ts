import { inflateRawSync } from 'node:zlib';
import { type ZipEntry, zipEntries } from '../../core/bytes/read-zip.ts';
import { FormatError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readNpy } from './npy.ts';

const EXPECTED = 'a .npz file as numpy.savez writes it';

/**
 * Tensors of a `.npz` file by their names, as `numpy.savez` and `savez_compressed` write it: a ZIP archive of `.npy` files,
 * stored or deflated, below 4 GiB. Throws FormatError.
 */
export function readNpz(bytes: Uint8Array, where: string): ReadonlyMap<string, HostTensor> {
  const tensors = new Map<string, HostTensor>();
  for (const entry of zipEntries(bytes, { where, expected: EXPECTED })) {
    const { name } = entry;
    if (!name.endsWith('.npy')) continue;
    tensors.set(name.slice(0, -4), readNpy(inflate(entry, where), `${where}, ${name}`));
  }
  return tensors;
}

function inflate({ content, method, byteLength }: ZipEntry, where: string): Uint8Array {
  const fail = (got: string): FormatError => new FormatError({ where, got, expected: EXPECTED });
  if (method === 0) return content;
  if (method !== 8) throw fail(`compression ${method}`);
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(byteLength, 1) });
  } catch (cause) {
    throw fail(`data that cannot be inflated (${String(cause)})`);
  }
}
