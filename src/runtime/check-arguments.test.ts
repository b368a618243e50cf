import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import type { FunctionSignature } from '../bytecode/executable.ts';
import type { ValueType } from '../bytecode/executable.ts';
import type { Dim } from '../core/dims/dim.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { TestDevice } from './testing/test-device.ts';
import { FloatValue } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

function tensor(...shape: Dim[]): ValueType {
  return { kind: 'tensor', dtype: 'float32', shape };
}

function zeros(...shape: number[]): HostTensor {
  return HostTensor.zeros('float32', shape);
}

async function load(params: Record<string, ValueType>) {
  const b = new ExecBuilder();
  const names = Object.keys(params);
  const signature: FunctionSignature = { params: Object.values(params), results: [] };
  const f = b.function('main', names, { signature });
  f.ret(
    f.call(
      'vm.builtin.make_tuple',
      names.map((name) => f.param(name)),
    ),
  );
  const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()] });
  const message = async (...args: (HostTensor | number | string)[]) => {
    const outcome = await vm.invoke('main', args).then(
      (value) => {
        vm.release(value);
        return 'accepted';
      },
      (error: unknown) => String(error),
    );
    expect(vm.memory().liveBytes).toBe(0);
    return outcome;
  };
  return { vm, message };
}

describe('arguments against the signature', () => {
  test('their number', async () => {
    const { message } = await load({ x: tensor(1), y: { kind: 'int' } });
    expect(await message(zeros(1))).toMatchInlineSnapshot(
      `"UsageError: main: got 1 arguments, expected 2 (x, y)."`,
    );
  });

  test('dtype, rank and dimensions', async () => {
    const { message } = await load({ image: tensor('n', 3, '?') });
    expect(await message(zeros(2, 3, 9))).toBe('accepted');
    expect(await message(zeros(2, 4, 9))).toMatchInlineSnapshot(
      `"ShapeError: main, parameter image, dimension 1: got 4 in shape (2, 4, 9), expected 3."`,
    );
    expect(await message(zeros(2, 3))).toMatchInlineSnapshot(
      `"ShapeError: main, parameter image: got float32 tensor (2, 3), expected a float32 tensor (n, 3, ?)."`,
    );
    expect(await message(HostTensor.zeros('int32', [2, 3, 9]))).toMatchInlineSnapshot(
      `"ShapeError: main, parameter image: got int32 tensor (2, 3, 9), expected a float32 tensor (n, 3, ?)."`,
    );
    expect(await message(5)).toMatchInlineSnapshot(
      `"UsageError: main, parameter image: got int 5, expected a float32 tensor (n, 3, ?)."`,
    );
  });

  test('a symbol means the same in all parameters', async () => {
    const { message } = await load({ a: tensor('m', 'k'), b: tensor('k', 'n') });
    expect(await message(zeros(2, 3), zeros(3, 4))).toBe('accepted');
    expect(await message(zeros(2, 3), zeros(5, 4))).toMatchInlineSnapshot(
      `"ShapeError: main, parameter b, dimension 0: got 5 in shape (5, 4), expected 3, since k is also dimension 1 of main, parameter a."`,
    );
  });

  test('an expression is computed from symbols, even of later parameters', async () => {
    const half: Dim = { op: 'floordiv', left: 'n', right: 2 };
    const { message } = await load({ a: tensor(half), b: tensor('n') });
    expect(await message(zeros(3), zeros(7))).toBe('accepted');
    expect(await message(zeros(4), zeros(7))).toMatchInlineSnapshot(
      `"ShapeError: main, parameter a, dimension 0: got 4 in shape (4,), expected 3, which is (n // 2)."`,
    );
  });

  test('ints and floats', async () => {
    const { vm, message } = await load({ i: { kind: 'int' }, f: { kind: 'float' } });
    expect(await vm.invoke('main', [1, 2])).toMatchObject({ fields: [1, new FloatValue(2)] });
    expect(await vm.invoke('main', [1, 2.5])).toMatchObject({ fields: [1, new FloatValue(2.5)] });
    expect(await message(1.5, 2)).toMatchInlineSnapshot(
      `"UsageError: main, parameter i: got float 1.5, expected an int."`,
    );
    expect(await message(1, 'two')).toMatchInlineSnapshot(
      `"UsageError: main, parameter f: got string "two", expected a float."`,
    );
  });

  test('a tensor that was released', async () => {
    const { vm } = await load({ x: tensor('n') });
    const x = vm.tensor(zeros(4));
    vm.release(x);
    await expect(vm.invoke('main', [x])).rejects.toThrowErrorMatchingInlineSnapshot(
      `[UsageError: argument 0: got a float32 tensor (4,) that was released, expected a tensor with a reference. Call vm.retain on a value that is used after a release.]`,
    );
    await expect(vm.read([x])).rejects.toThrow('read: got a float32 tensor (4,) that was released');
  });
});
