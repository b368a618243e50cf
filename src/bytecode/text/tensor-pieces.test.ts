import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ExecBuilder } from '../build/exec-builder.ts';
import type { Executable } from '../file/executable-file.ts';
import { HASH_BYTE_LENGTH } from '../file/file-format.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { hashedHead, readHeader } from '../file/file-head.ts';
import { parseHead } from './parse-head.ts';
import { serializeHead } from '../file/serialize.ts';
import { TensorPieces } from './tensor-pieces.ts';

/** Byte i of a lazy tensor is i modulo 251. */
function lazy(byteLength: number): HostTensor {
  return new HostTensor('uint8', [byteLength], (from, length) =>
    Uint8Array.from({ length }, (_, i) => (from + i) % 251),
  );
}

function returning(...tensors: readonly HostTensor[]): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', []);
  f.ret(
    f.call(
      'vm.builtin.make_tuple',
      tensors.map((tensor) => b.tensor(tensor)),
    ),
  );
  return b.build();
}

test.each([256, 512, 1024, 4096])('blocks of %d bytes are the data section', (blockByteLength) => {
  const tensors = [lazy(700), HostTensor.from('uint8', [3], [1, 2, 3]), lazy(1), lazy(256)];
  const offsets = [0, 768, 1024, 1280];
  const byteLength = 1280 + 256;
  const whole = new Uint8Array(byteLength);
  for (const [i, tensor] of tensors.entries()) whole.set(tensor.bytes, offsets[i]);
  const pieces = tensors.map((tensor, i) => ({ tensor, byteOffset: offsets[i] ?? 0 }));
  let end = 0;
  const read = new Uint8Array(byteLength);
  for (const { byteOffset, bytes } of new TensorPieces(pieces, byteLength).blocks(
    blockByteLength,
  )) {
    expect(byteOffset).toBe(end);
    read.set(bytes, byteOffset);
    end += bytes.byteLength;
  }
  expect(end).toBe(byteLength);
  expect(read).toEqual(whole);
});

test('offsets beyond 2^32 are in the file as they are', () => {
  const executable = returning(lazy(3 * 2 ** 30), lazy(2 ** 31 + 5), lazy(7));
  expect(executable.data).toHaveLength(0);
  const blockByteLength = 2 ** 24;
  const blockCount = Math.ceil(executable.dataByteLength / blockByteLength);
  const hashes = Array.from({ length: blockCount }, () => new Uint8Array(HASH_BYTE_LENGTH));
  const head = serializeHead(executable, hashes, blockByteLength);
  const header = readHeader(head);
  const { program } = parseHead(head, header, sha256(hashedHead(head)));
  expect(header.dataByteLength).toBe(5 * 2 ** 30 + 256 + 7);
  const offsets = program.constants.map((it) => (it.kind === 'tensor' ? it.byteOffset : -1));
  expect(offsets).toEqual([0, 3 * 2 ** 30, 5 * 2 ** 30 + 256]);
});

test('equal lazy tensors are one constant only where they are the same', () => {
  const tensor = lazy(16);
  expect(returning(tensor, tensor, lazy(16)).constants).toHaveLength(2);
});
