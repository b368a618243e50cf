import type { DType } from '../../core/tensor/dtype.ts';
import { describe, expect, test } from 'vitest';
import { Tensor } from './tensor.ts';

describe('Tensor', () => {
  test('keeps the array that it wraps', () => {
    const data = Float32Array.of(1, 2, 3, 4, 5, 6);
    const tensor = new Tensor('float32', data, [2, 3]);
    expect(tensor.data).toBe(data);
    expect(tensor.shape).toEqual([2, 3]);
    expect(tensor.toNested()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test('says what does not fit', () => {
    expect(
      () => new Tensor('float32', new Float32Array(5), [2, 3]),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Tensor: got 5 elements in Float32Array, expected 6 in Float32Array for float32 (2, 3). Tensor.from converts arrays.]`,
    );
    expect(() => new Tensor('int64', new Int32Array(1), [])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Tensor: got 1 elements in Int32Array, expected 1 in BigInt64Array for int64 (). Tensor.from converts arrays.]`,
    );
    expect(
      () => new Tensor('float32', new Float32Array(1), [-1, -1]),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Tensor: got the shape [-1,-1], expected a list of sizes from 0 up.]`,
    );
  });
});

describe('Tensor.from', () => {
  test('takes shape and dtype from what it gets', () => {
    const cases = [
      [Tensor.from(3), 'float32', []],
      [Tensor.from([1, 2]), 'float32', [2]],
      [Tensor.from([[1n], [2n]]), 'int64', [2, 1]],
      [Tensor.from([true, false]), 'bool', [2]],
      [Tensor.from(Uint16Array.of(1)), 'uint16', [1]],
      [Tensor.from(BigUint64Array.of(1n)), 'uint64', [1]],
      [Tensor.from([]), 'float32', [0]],
      [Tensor.from([[], []]), 'float32', [2, 0]],
    ] as const;
    for (const [tensor, dtype, shape] of cases) {
      expect(tensor.dtype).toBe(dtype);
      expect(tensor.shape).toEqual(shape);
    }
  });

  test('converts, and gives back what it got', () => {
    expect(Tensor.from([1, 2], 'int64').data).toEqual(BigInt64Array.of(1n, 2n));
    expect(Tensor.from([1, 2, 3, 4], 'float32', [2, 2]).toNested()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(Tensor.from([[true], [false]]).toNested()).toEqual([[true], [false]]);
    const half = Tensor.from([1.5, -2], 'float16');
    expect(half.data).toEqual(Uint16Array.of(0x3e00, 0xc000));
    expect(half.toNested()).toEqual([1.5, -2]);
    expect(Tensor.from(Float64Array.of(0.5), 'float32').data).toEqual(Float32Array.of(0.5));
  });

  test('refuses ragged arrays', () => {
    expect(() => Tensor.from([[1, 2], [3]])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Tensor.from: got an array of 1 at depth 1, expected an array of 2, as the first one there. All arrays at one depth must have the same length.]`,
    );
    expect(() => Tensor.from([[1, 2], 3])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Tensor.from: got a number at depth 1, expected an array of 2, as the first one there. All arrays at one depth must have the same length.]`,
    );
  });
});

function untyped(value: unknown): never {
  return value as never;
}

describe('nothing of a tensor', () => {
  const one = Float32Array.of(1);

  test.each(['floaty', '__proto__', 'constructor', undefined, null, 5])('dtype %s', (dtype) => {
    const message = `got dtype ${JSON.stringify(dtype)}, expected one of float32, float64,`;
    expect(() => new Tensor(untyped(dtype), one, [1])).toThrow(`Tensor: ${message}`);
    if (dtype !== undefined && dtype !== null) {
      expect(() => Tensor.from([1], untyped(dtype))).toThrow(`Tensor.from: ${message}`);
    }
  });

  test.each<[string, unknown, unknown, string]>([
    ['no data', undefined, [1], 'got undefined, expected 1 in Float32Array for float32 (1,)'],
    ['null', null, [1], 'got null, expected 1 in Float32Array'],
    ['an array', [1], [1], 'got 1 elements in Array, expected 1 in Float32Array'],
    ['no shape', one, undefined, 'got the shape undefined, expected a list of sizes from 0 up.'],
    ['a number as shape', one, 1, 'got the shape 1, expected a list of sizes'],
    ['halves', one, [0.5], 'got the shape [0.5], expected a list of sizes'],
  ])('%s', (_, data, shape, message) => {
    expect(() => new Tensor('float32', untyped(data), untyped(shape))).toThrow(message);
  });

  test('arguments in another order are told theirs', () => {
    const message =
      'Tensor: got 150528 elements in Float32Array as dtype, expected the name of one.';
    expect(
      () => new Tensor(untyped(new Float32Array(150_528)), untyped([1]), untyped(undefined)),
    ).toThrow(message);
    expect(() => new Tensor(untyped([[1]]), untyped([1]), [1])).toThrow(
      'The order is new Tensor(dtype, data, shape).',
    );
    expect(() => Tensor.from([1], untyped([1]))).toThrow(
      'The order is Tensor.from(values, dtype, shape).',
    );
    expect(() => Tensor.from([1], untyped('float'))).toThrow('Did you mean float32?');
  });

  test.each<[string, unknown, DType | undefined, string]>([
    ['text', ['a'], undefined, 'got the element "a", expected numbers, bigints or booleans'],
    ['null', [null], undefined, 'got the element null, expected numbers, bigints or booleans'],
    ['half an integer', [0.5], 'int64', 'got the element 0.5, expected integers that int64 holds'],
    ['half an int32', [0.5], 'int32', 'got the element 0.5, expected integers that int32 holds'],
    [
      'more than it holds',
      [300],
      'uint8',
      'got the element 300, expected integers that uint8 holds',
    ],
    ['less than it holds', [-1], 'uint8', 'got the element -1, expected integers that uint8 holds'],
    [
      'a large bigint',
      [2n ** 70n],
      'int64',
      'got the element 1180591620717411303424, expected integers',
    ],
    ['no number', [Number.NaN], 'int64', 'got the element NaN, expected integers that int64 holds'],
    ['a view of bytes', new DataView(new ArrayBuffer(4)), undefined, 'got dtype "dataview"'],
  ])('%s', (_, values, dtype, message) => {
    expect(() => Tensor.from(untyped(values), dtype)).toThrow(`Tensor.from: ${message}`);
  });
});
