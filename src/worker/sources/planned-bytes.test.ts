import { expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/index.ts';
import { plannedBytes } from './planned-bytes.ts';

/** Functions that allocate storages and then call others. */
function program(functions: Readonly<Record<string, readonly (number | string)[]>>) {
  const b = new ExecBuilder();
  for (const [name, steps] of Object.entries(functions)) {
    const f = b.function(name, []);
    for (const step of steps) {
      if (typeof step === 'string') f.call(step, [], { into: f.void });
      else f.call('vm.builtin.alloc_storage', [step, 0], { into: f.void });
    }
    f.ret(f.void);
  }
  return b.build();
}

test('storages of a function, and of the largest one that it calls', () => {
  const executable = program({
    main: [1000, 'small', 'large', 2 ** 33],
    small: [50],
    large: [100, 'small', 'small'],
  });
  expect(plannedBytes(executable)).toEqual({ constants: 0, storages: 1000 + 150 + 2 ** 33 });
});

test('the function with most counts, whichever it is; recursions count once', () => {
  expect(plannedBytes(program({ main: [10], other: [20, 'other'] })).storages).toBe(20);
});

test('calls that are nested deep', () => {
  const depth = 20_000;
  const functions = Object.fromEntries(
    Array.from({ length: depth }, (_, i) => [`f${i}`, i + 1 < depth ? [1, `f${i + 1}`] : [1]]),
  );
  expect(plannedBytes(program(functions)).storages).toBe(depth);
});

test('functions that call each other count once', () => {
  const functions = { even: [10, 'odd'], odd: [20, 'even', 'leaf'], leaf: [5] };
  expect(plannedBytes(program(functions)).storages).toBe(35);
});

test('of a compiled program constants, as devices store them, and storages', () => {
  const text = `def @main(%x: Tensor[(1000,), float32]) {
    let %a = add(%x, full(value=1.0, shape=[1000], dtype="float32"));
    matmul(reshape(%a, shape=[1000, 1]), reshape(%a, shape=[1, 1000]))
  }`;
  const { constants, storages } = plannedBytes(compile(parseModule(text)));
  expect({ constants, storages }).toMatchInlineSnapshot(`
    {
      "constants": 4000,
      "storages": 4000000,
    }
  `);
});

test('sizes that runs tell are not known', () => {
  const text = 'def @main(%x: Tensor[(n,), float32]) { neg(%x) }';
  expect(plannedBytes(compile(parseModule(text)))).toEqual({ constants: 0, storages: 0 });
});
