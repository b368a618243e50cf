import { inflateRawSync } from 'node:zlib';
import { FormatError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readNpy } from './npy.ts';

const END_OF_CENTRAL_DIRECTORY = 0x06_05_4b_50;
const CENTRAL_ENTRY = 0x02_01_4b_50;
const LOCAL_ENTRY = 0x04_03_4b_50;
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
/** Of sizes and places that stand in an extra field, of archives beyond 4 GiB. */
const IS_ELSEWHERE = 0xff_ff_ff_ff;

/**
 * Tensors of a `.npz` file by their names, as `numpy.savez` and `savez_compressed` write it: a ZIP archive of `.npy` files,
 * stored or deflated, below 4 GiB. Throws FormatError.
 */
export function readNpz(bytes: Uint8Array, where: string): ReadonlyMap<string, HostTensor> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view, where);
  const tensors = new Map<string, HostTensor>();
  let at = view.getUint32(end + 16, true);
  const fail = (got: string): FormatError => broken(where, got);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL_ENTRY) throw fail('a cut directory');
    const method = view.getUint16(at + 10, true);
    const [stored, size, local] = [20, 24, 42].map((offset) => view.getUint32(at + offset, true));
    const nameLength = view.getUint16(at + 28, true);
    const extra = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    at += 46 + nameLength + extra;
    if (stored === undefined || size === undefined || local === undefined) throw fail('no sizes');
    if ([stored, size, local].includes(IS_ELSEWHERE)) throw fail('an archive beyond 4 GiB');
    if (!name.endsWith('.npy')) continue;
    if (local + 30 > end || view.getUint32(local, true) !== LOCAL_ENTRY) throw fail('a cut entry');
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (begin + stored > end) throw fail('a cut entry');
    const content = bytes.subarray(begin, begin + stored);
    tensors.set(
      name.slice(0, -4),
      readNpy(inflate(content, method, size, fail), `${where}, ${name}`),
    );
  }
  return tensors;
}

function inflate(
  content: Uint8Array,
  method: number,
  size: number,
  fail: (got: string) => FormatError,
): Uint8Array {
  if (method === 0) return content;
  if (method !== 8) throw fail(`compression ${method}`);
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(size, 1) });
  } catch (cause) {
    throw fail(`data that cannot be inflated (${String(cause)})`);
  }
}

/** Finds the end record of the archive, which stands before a comment of any length. */
function findEnd(view: DataView, where: string): number {
  const last = view.byteLength - END_LENGTH;
  for (let at = last; at >= 0 && at >= last - MAX_COMMENT; at--) {
    if (view.getUint32(at, true) === END_OF_CENTRAL_DIRECTORY) return at;
  }
  throw broken(where, 'no directory of an archive');
}

function broken(where: string, got: string): FormatError {
  return new FormatError({ where, got, expected: 'a .npz file as numpy.savez writes it' });
}
