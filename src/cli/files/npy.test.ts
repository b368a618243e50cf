import { expect, test } from 'vitest';
import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readNpy, writeNpy } from './npy.ts';

/** Dtypes that numpy knows as an integer of 8 bits, or not at all. */
const NAMELESS = /^(bfloat16|float8.*|float4.*|u?int[24])$/;

test('every dtype survives writing and reading', () => {
  for (const dtype of ALL_DTYPES) {
    for (const shape of [[], [3], [2, 3], [0, 4]]) {
      const count = shape.reduce((product, dim) => product * dim, 1);
      const tensor = HostTensor.from(
        dtype,
        shape,
        Array.from({ length: count }, (_, i) => i % 2),
      );
      const bytes = writeNpy(tensor);
      expect(bytes.byteLength - tensor.byteLength).toBe(128);
      if (NAMELESS.test(dtype)) continue;
      const back = readNpy(bytes, 'x.npy');
      expect(back).toEqual(tensor);
    }
  }
});

function npy(header: string, data: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(header);
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, text.byteLength, 0];
  return Uint8Array.from([...magic, ...text, ...data]);
}

test('what cannot be read is named', () => {
  const data = new Uint8Array(8);
  expect(() => readNpy(data, 'a.npy')).toThrowErrorMatchingInlineSnapshot(
    `[FormatError: a.npy: got other first bytes, expected those of a .npy file.]`,
  );
  expect(() =>
    readNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", data), 'b.npy'),
  ).toThrowErrorMatchingInlineSnapshot(
    `[FormatError: b.npy: got elements of type >f4, expected one of <f4 <f8 <f2 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 |b1. Convert with x.astype.]`,
  );
  expect(() =>
    readNpy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", data), 'c.npy'),
  ).toThrowErrorMatchingInlineSnapshot(
    `[FormatError: c.npy: got an array in Fortran order, expected C order. Save numpy.ascontiguousarray(x).]`,
  );
  expect(() =>
    readNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", data), 'd.npy'),
  ).toThrowErrorMatchingInlineSnapshot(
    `[FormatError: d.npy: got 8 bytes of data, expected 12 for float32 (3,).]`,
  );
  expect(() =>
    readNpy(npy("{'descr': [('a', '<f4')]}", data), 'e.npy'),
  ).toThrowErrorMatchingInlineSnapshot(
    `[FormatError: e.npy: got the header "{'descr': [('a', '<f4')]}", expected one with descr, fortran_order and shape. Structured arrays cannot be read.]`,
  );
});
