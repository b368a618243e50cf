import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import { BUILTINS } from '../../bytecode/builtins.ts';
import type { FunctionBuilder } from '../../bytecode/index.ts';
import type { OperandLike } from '../../bytecode/build/function-builder.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../link/host-function.ts';
import { TestDevice } from '../testing/test-device.ts';
import { AdtValue, ShapeHeap, ShapeValue, TensorValue, type Value } from '../values/value.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { createBuiltins } from './create-builtins.ts';
import type { VmState } from '../vm-state.ts';

type Emit = (f: FunctionBuilder, b: ExecBuilder) => OperandLike;

interface Run {
  readonly vm: VirtualMachine;
  readonly lines: readonly string[];
  readonly result: Value;
}

/** Runs one function with parameters x, y, z. */
async function evaluate(emit: Emit, args: readonly HostInput[] = [], device = new TestDevice()) {
  const b = new ExecBuilder();
  const names = ['x', 'y', 'z'].slice(0, args.length);
  const f = b.function('main', names);
  f.ret(emit(f, b));
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const vm = await VirtualMachine.create(b.build(), { devices: [device], log });
  return { vm, lines, result: await vm.invoke('main', args) } satisfies Run;
}

async function messageOf(emit: Emit, args: readonly HostInput[] = []): Promise<string> {
  return evaluate(emit, args).then(
    () => 'accepted',
    (error: unknown) => String(error).split('\n')[0] ?? '',
  );
}

function builtin(f: FunctionBuilder, name: string, ...args: OperandLike[]) {
  return f.call(`vm.builtin.${name}`, args);
}

/** A call of a two-operand builtin on the parameters x and y. */
function binary(name: string): Emit {
  return (f) => builtin(f, name, f.param('x'), f.param('y'));
}

test('every entry of the table has an implementation', () => {
  const builtins = createBuiltins({ program: { shapePrograms: [] } } as unknown as VmState);
  expect(Object.keys(builtins).sort()).toEqual(Object.keys(BUILTINS).sort());
});

describe('int arithmetic', () => {
  test.each([
    ['int_add', 2, 3, 5],
    ['int_sub', 2, 3, -1],
    ['int_mul', -4, 0, 0],
    ['int_floordiv', -7, 2, -4],
    ['int_floordiv', 7, -2, -4],
    ['int_mod', -7, 3, 2],
    ['int_mod', 7, -3, -2],
    ['int_mod', -6, 3, 0],
    ['int_eq', 4, 4, 1],
    ['int_lt', 4, 4, 0],
    ['int_lt', -5, 4, 1],
  ])('%s(%i, %i) = %i', async (name, x, y, expected) => {
    const { result } = await evaluate(binary(name), [x, y]);
    expect(Object.is(result, expected)).toBe(true);
  });

  test('refuses overflow, zero divisors and other kinds', async () => {
    const max = Number.MAX_SAFE_INTEGER;
    expect(await messageOf(binary('int_add'), [max, 1])).toMatchInlineSnapshot(
      `"RuntimeError: int arithmetic: got 9007199254740991 + 1, expected a result within 2^53."`,
    );
    expect(await messageOf(binary('int_mod'), [5, 0])).toMatchInlineSnapshot(
      `"RuntimeError: int arithmetic: got 5 % 0, expected a divisor other than 0."`,
    );
    expect(await messageOf(binary('int_floordiv'), [5, 0])).toMatchInlineSnapshot(
      `"RuntimeError: int arithmetic: got 5 // 0, expected a divisor other than 0."`,
    );
    expect(await messageOf(binary('int_lt'), [1, 'two'])).toMatchInlineSnapshot(
      `"RuntimeError: int arithmetic: got string "two", expected an int."`,
    );
  });
});

describe('memory', () => {
  test('alloc_tensor stays within the storage, at multiples of 256', async () => {
    const tensor =
      (offset: number, ...dims: number[]): Emit =>
      (f, b) => {
        const storage = builtin(f, 'alloc_storage', 1000, 0);
        return builtin(f, 'alloc_tensor', storage, offset, b.shape(dims), b.dtype('int8'));
      };
    expect(await messageOf(tensor(0, 10, 100))).toBe('accepted');
    expect(await messageOf(tensor(768, 232))).toBe('accepted');
    expect(await messageOf(tensor(768, 233))).toMatchInlineSnapshot(
      `"RuntimeError: alloc_tensor: got int8 (233,), 236 bytes at 768, expected a tensor within the 1000 bytes of the storage."`,
    );
    expect(await messageOf(tensor(128, 4))).toMatchInlineSnapshot(
      `"RuntimeError: alloc_tensor: got int8 (4,), 4 bytes at 128, expected an offset that is a multiple of 256."`,
    );
    expect(await messageOf(tensor(-256, 4))).toMatchInlineSnapshot(
      `"RuntimeError: alloc_tensor: got int8 (4,), 4 bytes at -256, expected a tensor within the 1000 bytes of the storage."`,
    );
    const negative: Emit = (f) => builtin(f, 'alloc_storage', f.param('x'), 0);
    expect(await messageOf(negative, [-4])).toMatchInlineSnapshot(
      `"RuntimeError: alloc_storage: got -4 bytes, expected a number of bytes from 0 up."`,
    );
    expect(await messageOf(negative, [2 ** 52])).toContain(
      'OutOfMemoryError: allocation on test device: got a request of 4503599627370496 bytes',
    );
  });

  test('reshape is a view; copy is not', async () => {
    const x = HostTensor.from('int32', [2, 3], [1, 2, 3, 4, 5, 6]);
    const emit: Emit = (f, b) => {
      const view = builtin(f, 'reshape', f.param('x'), b.shape([3, 2]));
      return builtin(f, 'make_tuple', view, builtin(f, 'copy', view), f.param('x'));
    };
    const { vm, result } = await evaluate(emit, [x]);
    if (typeof result !== 'object' || result?.kind !== 'adt') throw new Error('internal: no tuple');
    const [view, copy, original] = result.fields;
    if (!(view instanceof TensorValue && copy instanceof TensorValue)) throw new Error('internal');
    expect(view.storage).toBe((original as TensorValue).storage);
    expect(copy.storage).not.toBe(view.storage);
    const [a, c] = await vm.read([view, copy]);
    expect([a?.shape, [...(c?.elements ?? [])]]).toEqual([
      [3, 2],
      [1, 2, 3, 4, 5, 6],
    ]);
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
    const wrong: Emit = (f, b) => builtin(f, 'reshape', f.param('x'), b.shape([4]));
    expect(await messageOf(wrong, [x])).toMatchInlineSnapshot(
      `"ShapeError: reshape: got shape (4,) for a tensor (2, 3), expected a shape of 6 elements."`,
    );
  });

  test('copy of a zero-size tensor', async () => {
    const empty = HostTensor.zeros('float32', [0, 3]);
    const { vm, result } = await evaluate((f) => builtin(f, 'copy', f.param('x')), [empty]);
    if (!(result instanceof TensorValue)) throw new Error('internal: the result is no tensor');
    expect((await vm.read([result]))[0]?.shape).toEqual([0, 3]);
  });

  test('kinds are checked', async () => {
    const copy: Emit = (f) => builtin(f, 'copy', f.param('x'));
    expect(await messageOf(copy, [3])).toMatchInlineSnapshot(
      `"RuntimeError: copy: got int 3, expected a tensor."`,
    );
    expect(await messageOf(copy, [null])).toMatchInlineSnapshot(
      `"RuntimeError: copy: got null, expected a tensor."`,
    );
    expect(await messageOf(copy, [[1, 2]])).toMatchInlineSnapshot(
      `"RuntimeError: copy: got ADT value of tag 0 with 2 fields, expected a tensor."`,
    );
  });
});

describe('shapes', () => {
  test('check_shape_info and check_tuple_info', async () => {
    const check =
      (name: string, count: number): Emit =>
      (f, b) => {
        builtin(f, name, f.param('x'), count, b.string('model.py:7'));
        return 0;
      };
    const shape = new ShapeValue([2, 3]);
    expect(await messageOf(check('check_shape_info', 2), [shape])).toBe('accepted');
    expect(await messageOf(check('check_shape_info', -1), [shape])).toBe('accepted');
    expect(await messageOf(check('check_shape_info', 3), [shape])).toMatchInlineSnapshot(
      `"ShapeError: model.py:7: got shape (2, 3), expected a shape of rank 3."`,
    );
    expect(await messageOf(check('check_shape_info', -1), [1])).toMatchInlineSnapshot(
      `"ShapeError: model.py:7: got int 1, expected a shape."`,
    );
    expect(await messageOf(check('check_tuple_info', 2), [[1, 2]])).toBe('accepted');
    expect(await messageOf(check('check_tuple_info', 3), [[1, 2]])).toMatchInlineSnapshot(
      `"ShapeError: model.py:7: got ADT value of tag 0 with 2 fields, expected a tuple of 3 fields."`,
    );
    expect(await messageOf(check('check_tuple_info', -1), ['x'])).toMatchInlineSnapshot(
      `"ShapeError: model.py:7: got string "x", expected a tuple."`,
    );
  });

  test('store, load and make', async () => {
    const emit: Emit = (f) => {
      const heap = builtin(f, 'alloc_shape_heap', 3);
      builtin(f, 'store_shape', heap, 2, f.param('x'));
      return builtin(f, 'make_shape', heap, 3, 1, 2, 0, 9, 1, 0);
    };
    const { result } = await evaluate(emit, [5]);
    expect(result).toEqual(new ShapeValue([5, 9, 0]));
    expect(await messageOf(emit, [-5])).toMatchInlineSnapshot(
      `"ShapeError: make_shape: got -5 for dimension 0, expected a dimension from 0 up."`,
    );
  });

  test('a shape program that overflows is a ShapeError', async () => {
    const square: Emit = (f, b) => {
      const program = b.shapeProgram([
        { op: 'load', slot: 0 },
        { op: 'load', slot: 0 },
        { op: 'mul' },
        { op: 'store', slot: 0 },
      ]);
      const heap = builtin(f, 'alloc_shape_heap', 1);
      builtin(f, 'store_shape', heap, 0, f.param('x'));
      builtin(f, 'compute_shape', heap, program);
      return builtin(f, 'load_shape', heap, 0);
    };
    expect((await evaluate(square, [94_906_265])).result).toBe(94_906_265 ** 2);
    expect(await messageOf(square, [94_906_267])).toMatchInlineSnapshot(
      `"ShapeError: shape program: got mul of 94906267 and 94906267, expected a result within 2^53. Check the shapes of the inputs."`,
    );
  });

  test('a heap is shared by whoever holds it', () => {
    expect(new ShapeHeap(2).slots).toEqual(new Float64Array(2));
  });
});

describe('ADT values', () => {
  test('fields by index', async () => {
    const emit: Emit = (f) => {
      const adt = builtin(f, 'make_adt', 4, 10, 20);
      return builtin(f, 'get_field', adt, f.param('x'));
    };
    expect((await evaluate(emit, [1])).result).toBe(20);
    expect(await messageOf(emit, [2])).toMatchInlineSnapshot(
      `"RuntimeError: get_field: got field 2 of ADT value of tag 4 with 2 fields, expected a field from 0 to 1."`,
    );
    expect(await messageOf(emit, [-1])).toMatchInlineSnapshot(
      `"RuntimeError: get_field: got field -1 of ADT value of tag 4 with 2 fields, expected a field from 0 to 1."`,
    );
    const tag: Emit = (f) => builtin(f, 'get_tag', builtin(f, 'make_adt', 4));
    expect((await evaluate(tag)).result).toBe(4);
    const empty: Emit = (f) => builtin(f, 'tuple_get', builtin(f, 'make_tuple'), 0);
    expect(await messageOf(empty)).toMatchInlineSnapshot(
      `"RuntimeError: tuple_get: got field 0 of ADT value of tag 0 with 0 fields, expected a value with fields."`,
    );
  });
});

function deepTuple(depth: number): Value {
  let value: Value = null;
  for (let i = 0; i < depth; i++) value = new AdtValue(0, [value]);
  return value;
}

describe('print, assert and fatal', () => {
  const values = [
    HostTensor.from('float32', [2, 2], [1, 2.5, -3, 4]),
    HostTensor.from('bool', [2], [1, 0]),
    [1.5, 'text', [], null, HostTensor.from('int64', [1], [7n])],
  ];
  const printAll: Emit = (f, b) => {
    builtin(f, 'print', b.string('values:'), f.param('x'), f.param('y'), f.param('z'), 3);
    return 0;
  };
  const line =
    'values: float32 (2, 2) [1, 2.5, -3, 4] bool (2,) [true, false] ' +
    '(1.5, text, (), null, int64 (1,) [7n]) 3';

  test('print shows contents of host tensors at once', async () => {
    const device = new TestDevice();
    const { lines } = await evaluate(printAll, values, device);
    expect(lines).toEqual([line]);
    expect(device.counters().readbacks).toBe(0);
  });

  test('print reads all GPU tensors in one round trip', async () => {
    const device = new TestDevice({ mustWait: true });
    const { lines } = await evaluate(printAll, values, device);
    expect(lines).toEqual([line]);
    expect(device.counters().readbacks).toBe(1);
  });

  test('print cuts long tensors', async () => {
    const print: Emit = (f) => {
      builtin(f, 'print', f.param('x'));
      return 0;
    };
    const { lines } = await evaluate(print, [HostTensor.splat('int32', [20], 4).reshape([4, 5])]);
    expect(lines).toEqual([`int32 (4, 5) [${'4, '.repeat(16)}…]`]);
  });

  test('print cuts deep values', async () => {
    const print: Emit = (f) => {
      builtin(f, 'print', f.param('x'));
      return 0;
    };
    const device = new TestDevice();
    const { lines } = await evaluate(print, [deepTuple(10_000)], device);
    expect(lines).toEqual([`${'('.repeat(32)}…${')'.repeat(32)}`]);
  });

  test('assert and fatal stop with their message', async () => {
    const emit: Emit = (f, b) => {
      builtin(f, 'assert', f.param('x'), b.string('x is not zero'));
      return 1;
    };
    expect((await evaluate(emit, [2])).result).toBe(1);
    expect(await messageOf(emit, [0])).toBe('RuntimeError: assertion failed: x is not zero');
    const gpu = new TestDevice({ mustWait: true });
    const zero = HostTensor.from('int32', [], [0]);
    await expect(evaluate(emit, [zero], gpu)).rejects.toThrow('assertion failed: x is not zero');
    const fatal: Emit = (f, b) => {
      builtin(f, 'fatal', b.string('unreachable arm'));
      return 0;
    };
    expect(await messageOf(fatal)).toBe('RuntimeError: unreachable arm');
  });
});
