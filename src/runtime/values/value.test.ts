import { describe, expect, test } from 'vitest';
import { PooledAllocator } from '../allocator/pooled-allocator.ts';
import { TestDevice } from '../testing/test-device.ts';
import {
  AdtValue,
  discard,
  FloatValue,
  isValue,
  release,
  retain,
  TensorValue,
  type Value,
} from './value.ts';

function allocator() {
  return new PooledAllocator(new TestDevice());
}

function tensorIn(pool: PooledAllocator): TensorValue {
  const storage = pool.allocate(16);
  return new TensorValue(storage, { byteOffset: 0, dtype: 'float32', shape: [4] });
}

describe('references', () => {
  test('a storage goes back when the last tensor over it is released', () => {
    const pool = allocator();
    const tensor = tensorIn(pool);
    const view = new TensorValue(tensor.storage, { byteOffset: 0, dtype: 'int32', shape: [2, 2] });
    retain(tensor);
    retain(view);
    retain(tensor.storage);
    release(tensor);
    release(tensor.storage);
    expect(pool.counters()).toMatchObject({ liveBytes: 256, pooledBytes: 0 });
    release(view);
    expect(pool.counters()).toMatchObject({ liveBytes: 0, pooledBytes: 256 });
  });

  test('fields are released with the last reference to their ADT value', () => {
    const pool = allocator();
    const tensor = tensorIn(pool);
    const inner = new AdtValue(1, [tensor, 7, null, 'text', new FloatValue(0.5)]);
    const outer = new AdtValue(0, [inner, inner]);
    retain(outer);
    retain(inner);
    release(outer);
    expect(tensor.storage.references).toBe(1);
    release(inner);
    expect(pool.counters().liveBytes).toBe(0);
  });

  test('discard frees what nobody took and leaves the rest', () => {
    const pool = allocator();
    const tensor = tensorIn(pool);
    retain(tensor);
    discard(tensor);
    expect(pool.counters().liveBytes).toBe(256);
    discard(new AdtValue(0, [tensor]));
    expect(tensor.storage.references).toBe(1);
    release(tensor);
    discard(tensorIn(pool));
    expect(pool.counters()).toMatchObject({ liveBytes: 0, allocations: 2, reuses: 1 });
  });

  test('a list of a million cells is released without recursion', () => {
    const pool = allocator();
    const tensor = tensorIn(pool);
    let list: Value = new AdtValue(0, [tensor]);
    for (let i = 0; i < 1_000_000; i++) list = new AdtValue(1, [i, list]);
    retain(list);
    release(list);
    expect(pool.counters().liveBytes).toBe(0);
  });

  test('one release too many is refused', () => {
    const pool = allocator();
    const tensor = tensorIn(pool);
    retain(tensor);
    release(tensor);
    expect(() => release(tensor)).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: release: got a storage whose last reference was already released, expected one release for each retain. Call vm.retain before handing a value to a second owner.]`,
    );
    const tuple = new AdtValue(0, []);
    expect(() => release(tuple)).toThrow(
      'got an ADT value whose last reference was already released',
    );
  });
});

test('isValue knows safe integers from other numbers', () => {
  expect([null, 0, -3, 'x', new FloatValue(1), new AdtValue(0, [])].every(isValue)).toBe(true);
  expect([undefined, 0.5, Number.NaN, 2 ** 53, true, {}, [], 1n].some(isValue)).toBe(false);
});
