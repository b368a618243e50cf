import { describe, expect, test } from 'vitest';
import { ExecBuilder, type Executable } from '../bytecode/index.ts';
import { MakeCode } from '../bytecode/builtins.ts';
import { MatchCode } from '../bytecode/builtins.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { seededRandom } from '../core/random.ts';
import { FORMS } from './testing/forms.ts';
import { TestDevice } from './testing/test-device.ts';
import { VECTOR_FUNCTIONS } from './testing/vector-functions.ts';
import { TensorValue, type Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

async function load(executable: Executable) {
  const device = new TestDevice();
  const vm = await VirtualMachine.create(executable, {
    devices: [device],
    functions: VECTOR_FUNCTIONS,
  });
  return { vm, device };
}

function vector(...values: number[]): HostTensor {
  return HostTensor.from('float32', [values.length], values);
}

async function contents(vm: VirtualMachine, value: Value): Promise<number[]> {
  if (!(value instanceof TensorValue)) throw new Error('internal: the result is no tensor');
  const [host] = await vm.read([value]);
  vm.release(value);
  return Array.from(host?.data ?? [], Number);
}

/** move, add and mul on 4-vectors, with an immediate and a constant. */
function moveAddMul(): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', ['x', 'y']);
  const moved = f.call('test.move', [f.param('x')], { into: f.r(10_000) });
  const sum = f.call('test.add', [f.vm, moved, f.param('y')]);
  const shifted = f.call('test.add', [f.vm, sum, 3]);
  f.ret(f.call('test.mul', [f.vm, shifted, b.tensor(vector(1, 2, 3, 4))]));
  return b.build();
}

/** A program with two entry points. */
function twoFunctions(): Executable {
  const b = new ExecBuilder();
  const func0 = b.function('func0', ['a', 'b']);
  const sum = func0.call('test.add', [func0.vm, func0.param('a'), func0.param('b')]);
  func0.ret(func0.call('test.add', [func0.vm, sum, func0.param('a')]));
  const func1 = b.function('func1', ['a', 'b']);
  const product = func1.call('test.mul', [func1.vm, func1.param('a'), func1.param('b')]);
  func1.ret(func1.call('func0', [product, func1.param('b')]));
  return b.build();
}

/** (n, m) of the input are stored, (m + 1, n + 1) computed, a tensor of that shape allocated. */
function shapeHeap(): Executable {
  const b = new ExecBuilder();
  const program = b.shapeProgram([
    { op: 'load', slot: 1 },
    { op: 'const', value: 1 },
    { op: 'add' },
    { op: 'store', slot: 2 },
    { op: 'load', slot: 0 },
    { op: 'const', value: 1 },
    { op: 'add' },
    { op: 'store', slot: 3 },
    { op: 'load', slot: 2 },
    { op: 'load', slot: 3 },
    { op: 'mul' },
    { op: 'const', value: 4 },
    { op: 'mul' },
    { op: 'store', slot: 4 },
  ]);
  const f = b.function('main', ['x']);
  const x = f.param('x');
  const heap = f.call('vm.builtin.alloc_shape_heap', [5]);
  const { store, assertSlot, ignore, assertImmediate } = MatchCode;
  f.call('vm.builtin.check_tensor_info', [x, 2, b.dtype('float32'), b.string('input x')]);
  f.call('vm.builtin.match_shape', [x, heap, 2, store, 0, store, 1, f.void]);
  f.call('vm.builtin.compute_shape', [heap, program]);
  const { slot } = MakeCode;
  const shape = f.call('vm.builtin.make_shape', [heap, 2, slot, 2, slot, 3]);
  const byteLength = f.call('vm.builtin.load_shape', [heap, 4]);
  const storage = f.call('vm.builtin.alloc_storage', [byteLength, 0]);
  const dtype = b.dtype('float32');
  const tensor = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, dtype]);
  const where = b.string('allocated tensor');
  f.call('vm.builtin.match_shape', [tensor, heap, 2, assertSlot, 2, ignore, 0, where]);
  const result = f.call('vm.builtin.shape_of', [tensor]);
  f.call('vm.builtin.match_shape', [result, heap, 2, assertImmediate, 17, assertSlot, 3, where]);
  f.ret(tensor);
  return b.build();
}

describe.each(FORMS)('the examples of the Relax VM, %s', (_, form) => {
  test('move, add, mul with an immediate and a constant', async () => {
    const { vm } = await load(form(moveAddMul()));
    const result = await vm.get('main')(vector(1, 2, 3, 4), vector(10, 20, 30, 40));
    expect(await contents(vm, result)).toEqual([14, 50, 108, 188]);
    expect(vm.memory().liveBytes).toBe(0);
  });

  test('func0 and func1, two entry points on random vectors', async () => {
    const { vm } = await load(form(twoFunctions()));
    const random = seededRandom(7);
    const [a, c] = [0, 1].map(() => Array.from({ length: 4 }, () => Math.fround(random())));
    if (a === undefined || c === undefined) throw new Error('internal: two vectors were made');
    const [x, y] = [vm.tensor(vector(...a)), vm.tensor(vector(...c))];
    const expected0 = a.map((value, i) => Math.fround(Math.fround(value + (c[i] ?? 0)) + value));
    expect(await contents(vm, await vm.invoke('func0', [x, y]))).toEqual(expected0);
    const product = a.map((value, i) => Math.fround(value * (c[i] ?? 0)));
    const expected1 = product.map((value, i) =>
      Math.fround(Math.fround(value + (c[i] ?? 0)) + value),
    );
    expect(await contents(vm, await vm.invoke('func1', [x, y]))).toEqual(expected1);
    vm.release(x);
    vm.release(y);
    expect(vm.memory().liveBytes).toBe(0);
  });

  test('the shape heap, (32, 16) to (17, 33)', async () => {
    const { vm } = await load(form(shapeHeap()));
    const result = await vm.invoke('main', [HostTensor.zeros('float32', [32, 16])]);
    expect(result).toMatchObject({ dtype: 'float32', shape: [17, 33] });
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
    await expect(vm.invoke('main', [HostTensor.zeros('float32', [32, 15])])).rejects.toThrow(
      'allocated tensor: got 16 at dimension 0 of shape (16, 33), expected 17.',
    );
    await expect(vm.invoke('main', [HostTensor.zeros('int32', [32, 16])])).rejects.toThrow(
      'input x: got int32 tensor (32, 16), expected a float32 tensor.',
    );
    await expect(vm.invoke('main', [HostTensor.zeros('float32', [4])])).rejects.toThrow(
      'input x: got float32 tensor (4,), expected a tensor of rank 2.',
    );
    expect(vm.memory().liveBytes).toBe(0);
  });
});

test('listing and stats of the first example', () => {
  const executable = moveAddMul();
  expect(executable.toText()).toMatchInlineSnapshot(`
    "weft 1.1

    func main(x, y) {
      0: %2 = call test.move(%0)
      1: %3 = call test.add(%vm, %2, %1)
      2: %4 = call test.add(%vm, %3, 3)
      3: %5 = call test.mul(%vm, %4, c[0])
      4: ret %5
    }

    references {
      f[0] = packed test.move
      f[1] = packed test.add
      f[2] = packed test.mul
    }

    constants {
      c[0] = tensor float32 (4,) [1, 2, 3, 4]
    }
    "
  `);
  expect(executable.stats()).toContain('main(x, y): 5 instructions, 6 registers');
});
