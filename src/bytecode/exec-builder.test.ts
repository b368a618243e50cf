import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import { ExecBuilder } from './exec-builder.ts';
import { Executable } from './executable-file.ts';

describe('ExecBuilder', () => {
  test('builds the first example of the documentation', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const y = f.call('test.add', [f.param('x'), 1]);
    f.ret(y);
    const executable = b.build();
    expect(executable.functionTable).toEqual([{ kind: 'packed', name: 'test.add' }]);
    expect([...executable.code]).toEqual([1, 1, 0x3000_0000, 2, 0, 0x1000_0001, 2, 1]);
    expect(Executable.fromBytes(executable.toBytes())).toEqual(executable);
  });

  test('loops, heaps and tensors round-trip through bytes', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x', 'n']);
    const heap = f.r(10000);
    f.call('vm.builtin.alloc_shape_heap', [3], { into: heap });
    const loop = f.label();
    const end = f.label();
    f.place(loop);
    const more = f.call('vm.builtin.int_lt', [f.param('n'), 10]);
    f.if(more, end);
    f.call('vm.builtin.match_shape', [f.param('x'), heap, 2, 1, 0, 1, 2, b.string('x')]);
    f.goto(loop);
    f.place(end);
    const c = b.tensor(HostTensor.from('float32', [4], [1, 2, 3, 4]));
    expect(b.tensor(HostTensor.from('float32', [4], [1, 2, 3, 4]))).toEqual(c);
    f.ret(f.call('vm.builtin.make_tuple', [c, b.tensor(HostTensor.splat('int64', [9], 5n))]));
    const executable = b.build();
    const bytes = executable.toBytes();
    const again = Executable.fromBytes(bytes);
    expect(again.toBytes()).toEqual(bytes);
    expect(again.tensor(2).elements).toEqual(BigInt64Array.of(5n));
  });
});
