import { describe, expect, test } from 'vitest';
import { encodeModule } from './encode-module.ts';
import {
  apply,
  type Expression,
  f32,
  f64,
  i32,
  i32x4,
  i64,
  lane,
  load,
  LOADS,
  local,
  select,
  shuffle32,
  STORES,
  type StoreWidth,
  vector,
  withLane,
} from './expression.ts';
import { findInstruction, instructionNames } from './instructions.ts';
import { increment, loop, set, type Statement, store, when } from './statement.ts';
import { runStatements } from './testing/run-statements.ts';
import type { ValueType } from './value-type.ts';

const ZEROS: Readonly<Record<ValueType, Expression>> = {
  i32: load('i32', local('i32')),
  i64: i64(0n),
  f32: f32(0),
  f64: f64(0),
  v128: i32x4(0),
};

const storeAt = (address: number, width: StoreWidth, value: Expression): Statement =>
  store(width, { address: i32(address) }, value);

describe('the module', () => {
  // Engines that lack relaxed SIMD take no module with it.
  const names = instructionNames().filter((name) => !name.includes('relaxed'));

  test.each(names)('%s is valid with operands of its types', (name) => {
    const operands = findInstruction(name)?.operands.map((type) => ZEROS[type]) ?? [];
    const value = apply(name, ...operands);
    const body = [storeAt(64, value.type, value)];
    expect(
      WebAssembly.validate(encodeModule({ groups: [[{ name: 'f', params: [], body }]] })),
    ).toBe(true);
  });

  test('relaxed instructions have the opcodes of the proposal', () => {
    const codes = instructionNames()
      .filter((name) => name.includes('relaxed'))
      .map((name) => [name, findInstruction(name)?.code]);
    expect(Object.fromEntries(codes)).toEqual({
      'f32x4.relaxed_madd': [0xfd, 0x85, 0x02],
      'f32x4.relaxed_nmadd': [0xfd, 0x86, 0x02],
      'i16x8.relaxed_dot_i8x16_i7x16_s': [0xfd, 0x92, 0x02],
      'i32x4.relaxed_dot_i8x16_i7x16_add_s': [0xfd, 0x93, 0x02],
    });
  });

  test.each(Object.keys(LOADS) as (keyof typeof LOADS)[])('loads %s', (width) => {
    const value = load(width, i32(16));
    expect(() => runStatements([storeAt(64, value.type, value)])).not.toThrow();
  });

  test.each(Object.keys(STORES) as StoreWidth[])('stores %s', (width) => {
    const { type } = STORES[width];
    expect(() => runStatements([storeAt(64, width, ZEROS[type])])).not.toThrow();
  });

  test('calls functions of the group with parameters, and exports the last of each group', () => {
    const [at, value] = [local('i32'), local('f32')];
    const put = { name: 'put', params: [at, value], body: [store('f32', { address: at }, value)] };
    const main = {
      name: 'main',
      params: [],
      body: [{ kind: 'call' as const, name: 'put', args: [i32(8), f32(2.5)] }],
    };
    const bytes = encodeModule({ groups: [[put, main], [put]] });
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory },
    });
    expect(Object.keys(exports)).toEqual(['0', '1']);
    (exports['0'] as () => void)();
    expect(new Float32Array(memory.buffer)[2]).toBe(2.5);
  });
});

describe('statements', () => {
  test('loops count from begin to end, not at all where there is nothing', () => {
    const [i, j, end] = [local('i32'), local('i32'), local('i32')];
    const sum = load('i32', i32(0));
    const add = (amount: Expression) => storeAt(0, 'i32', apply('i32.add', sum, amount));
    const memory = runStatements([
      set(end, i32(10)),
      ...loop({ index: i, begin: i32(1), end, step: 3 }, [
        add(i),
        ...loop({ index: j, end: i }, [add(i32(100))]),
      ]),
      set(end, i32(-1)),
      ...loop({ index: i, end }, [add(i32(1_000_000))]),
    ]);
    expect(memory[0]).toBe(1 + 4 + 7 + 1200);
  });

  test('a loop of one round is its body', () => {
    const index = local('i32');
    expect(loop({ index, end: i32(4), step: 4 }, [])).toEqual([set(index, i32(0))]);
    expect(loop({ index, end: i32(0) }, [set(index, i32(7))])).toEqual([]);
  });

  test('conditions choose statements, selects values', () => {
    const x = local('i32');
    const isSmall = apply('i32.lt_s', x, i32(5));
    const memory = runStatements(
      [
        set(x, load('i32', i32(0))),
        ...when(isSmall, [storeAt(4, 'i32', i32(1))], [storeAt(4, 'i32', i32(2))]),
        storeAt(8, 'i32', select(isSmall, i32(3), i32(4))),
        increment(x, 2),
        storeAt(12, 'i32', x),
      ],
      [4],
    );
    expect([...memory.subarray(1, 4)]).toEqual([1, 3, 6]);
  });
});

describe('values', () => {
  test('lanes are read, replaced and shuffled', () => {
    const value = vector(Int32Array.of(1, 2, 3, 4));
    const other = withLane('i32x4', value, { index: 2, scalar: i32(30) });
    const memory = runStatements([
      storeAt(0, 'v128', shuffle32(value, other, [0, 6, 5, 3])),
      storeAt(16, 'i32', lane('i32x4', other, 2)),
    ]);
    expect([...memory.subarray(0, 5)]).toEqual([1, 30, 2, 4, 30]);
  });

  test('negative and large constants arrive as they are', () => {
    const words = runStatements([
      storeAt(0, 'i32', i32(-2147483648)),
      storeAt(4, 'i32', i32(0xfffffff0)),
      storeAt(8, 'i64', i64(-(2n ** 63n))),
      storeAt(16, 'i64', i64(2n ** 64n - 1n)),
      storeAt(24, 'i32', i32(64)),
    ]);
    expect([...words.subarray(0, 7)]).toEqual([-2147483648, -16, 0, -2147483648, -1, -1, 64]);
  });

  test('index arithmetic with constants is folded, with the results of the instructions', () => {
    const x = local('i32');
    const add = (a: Expression, b: number) => apply('i32.add', a, i32(b));
    expect(add(add(x, 1), 2)).toEqual(add(x, 3));
    expect(apply('i32.mul', x, i32(8))).toEqual(apply('i32.shl', x, i32(3)));
    expect(apply('i32.sub', x, i32(3))).toEqual(add(x, -3));
    expect(load('f32', add(x, 12), 4)).toMatchObject({ address: x, offset: 16 });
    expect(load('f32', add(x, -4), 4)).toMatchObject({ offset: 4 });
    const memory = runStatements(
      [
        set(x, load('i32', i32(0))),
        storeAt(4, 'i32', apply('i32.div_u', x, i32(8))),
        storeAt(8, 'i32', apply('i32.rem_u', x, i32(8))),
        storeAt(12, 'i32', apply('i32.div_u', x, i32(7))),
        storeAt(16, 'i32', apply('i32.rem_u', x, i32(7))),
      ],
      [-3],
    );
    const n = 2 ** 32 - 3;
    expect([...memory.subarray(1, 5)]).toEqual([
      Math.floor(n / 8),
      n % 8,
      Math.floor(n / 7),
      n % 7,
    ]);
  });
});

test('what does not fit is a bug that names the types', () => {
  expect(() => apply('f32.add', f32(1), i32(1))).toThrow('f32.add of f32, i32');
  expect(() => apply('f32.plus', f32(1))).toThrow('no instruction f32.plus');
  expect(() => set(local('f32'), i32(1))).toThrow('i32 set to a local f32');
});
