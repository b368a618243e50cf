import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ExecBuilder } from '../build/exec-builder.ts';
import type { Executable } from '../file/executable-file.ts';

/** A small program with something of every kind, for tests. */
export function sampleExecutable(): Executable {
  const b = new ExecBuilder();
  b.metadata('producer', 'test');
  const add = b.primitive({
    name: 'fused_add_relu',
    params: [
      { dtype: 'float32', shape: ['n', 4] },
      { dtype: 'float32', shape: [4] },
    ],
    body: [
      { op: 'add', inputs: [0, 1], attributes: {} },
      { op: 'clip', inputs: [2, -1], attributes: { max: 6, mode: 'x', axes: [0, 1], on: true } },
    ],
    results: [{ value: 3, type: { dtype: 'float32', shape: ['n', 4] } }],
  });
  const program = b.shapeProgram([
    { op: 'load', slot: 0 },
    { op: 'const', value: 1 },
    { op: 'add' },
    { op: 'store', slot: 1 },
  ]);
  const rows = { op: 'add', left: 'n', right: 1 } as const;
  const f = b.function('main', ['x', 'flag'], {
    signature: {
      params: [{ kind: 'tensor', dtype: 'float32', shape: ['n', 4] }, { kind: 'int' }],
      results: [{ name: 'y', type: { kind: 'tensor', dtype: 'float32', shape: [rows, 4] } }],
    },
  });
  const x = f.param('x');
  f.at({ source: 'model.ir', line: 3, column: 7 });
  const heap = f.call('vm.builtin.alloc_shape_heap', [2]);
  f.call('vm.builtin.match_shape', [x, heap, 2, 1, 0, 0, 4, b.string('input "x"')]);
  f.call('vm.builtin.compute_shape', [heap, program]);
  const shape = f.call('vm.builtin.make_shape', [heap, 2, 1, 1, 0, 4]);
  const otherwise = f.label();
  f.if(f.param('flag'), otherwise);
  const storage = f.call('vm.builtin.alloc_storage', [b.int(2 ** 40), 0]);
  const y = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, b.dtype('float32')]);
  f.at({ source: 'conv 1' }, { source: 'conv 2' });
  f.call(add, [x, b.tensor(HostTensor.from('float32', [4], [1, -0, Number.NaN, 0.1])), y]);
  f.ret(y);
  f.at();
  f.place(otherwise);
  const closure = f.call('vm.builtin.make_closure', [b.functionReference('helper'), x]);
  f.ret(f.call('vm.builtin.invoke_closure', [closure, b.float(0.5)]));
  const helper = b.function('helper', ['scale', 'x']);
  const ones = b.tensor(HostTensor.splat('int64', [1000, 1000], 1n));
  const large = b.tensor(
    HostTensor.from(
      'uint8',
      [7, 50],
      Array.from({ length: 350 }, (_, i) => i),
    ),
  );
  const args = [helper.vm, helper.param('scale'), helper.param('x'), ones, large, b.shape([2, 3])];
  helper.ret(helper.call('user.scale', args));
  return b.build();
}
