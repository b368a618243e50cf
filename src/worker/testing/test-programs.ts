import { ExecBuilder, type Executable } from '../../bytecode/index.ts';
import { MatchCode } from '../../bytecode/builtins.ts';
import type { ValueType } from '../../bytecode/executable.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction, TensorType } from '../../core/contracts/primitive-function.ts';

const DEVICE = 0;
const INT: ValueType = { kind: 'int' };

function elementwise(op: string, type: TensorType): PrimitiveFunction {
  const body = [{ op, inputs: [0, 1], attributes: {} }];
  return { name: op, params: [type, type], body, results: [{ value: 2, type }] };
}

/** main(x, y: float32 (n,)) -> sum, product. Any n; the shape is computed at run time. */
export function sumAndProduct(): Executable {
  const b = new ExecBuilder();
  const type: TensorType = { dtype: 'float32', shape: ['n'] };
  const tensor: ValueType = { kind: 'tensor', ...type };
  const add = b.primitive(elementwise('add', type));
  const mul = b.primitive(elementwise('mul', type));
  const results = ['sum', 'product'].map((name) => ({ name, type: tensor }));
  const f = b.function('main', ['x', 'y'], { signature: { params: [tensor, tensor], results } });
  const [x, y] = [f.param('x'), f.param('y')];
  const heap = f.call('vm.builtin.alloc_shape_heap', [1]);
  const context = b.string('main');
  f.call('vm.builtin.match_shape', [x, heap, 1, MatchCode.store, 0, context], { into: f.void });
  f.call('vm.builtin.match_shape', [y, heap, 1, MatchCode.assertSlot, 0, context], {
    into: f.void,
  });
  const n = f.call('vm.builtin.load_shape', [heap, 0]);
  const byteLength = f.call('vm.builtin.int_mul', [n, 4]);
  const shape = f.call('vm.builtin.shape_of', [x]);
  const outputs = [add, mul].map((kernel) => {
    const storage = f.call('vm.builtin.alloc_storage', [byteLength, DEVICE]);
    const dtype = b.dtype('float32');
    const output = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, dtype]);
    f.call(kernel, [x, y, output], { into: f.void });
    return output;
  });
  f.ret(f.call('vm.builtin.make_tuple', outputs));
  return b.build();
}

/** main(x: float64 (2)) -> -x, beside WebGPU. */
export function negateDoubles(): Executable {
  const b = new ExecBuilder();
  const type: TensorType = { dtype: 'float64', shape: [2] };
  const results = [{ value: 1, type }];
  const body = [{ op: 'neg', inputs: [0], attributes: {} }];
  const neg = b.primitive({ name: 'neg', params: [type], body, results, device: 'host' });
  const placement = { node: 'neg', operator: 'neg', reason: 'WebGPU has no kernels for float64' };
  b.metadata('placements', JSON.stringify([placement]));
  const f = b.function('main', ['x']);
  const given = f.call('vm.builtin.to_device', [f.param('x'), 1]);
  const storage = f.call('vm.builtin.alloc_storage', [16, 1]);
  const shape = f.call('vm.builtin.shape_of', [given]);
  const output = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, b.dtype('float64')]);
  f.call(neg, [given, output], { into: f.void });
  f.ret(f.call('vm.builtin.to_device', [output, DEVICE]));
  return b.build();
}

/** main(steps: int) -> count: int, a loop of `steps` rounds that yields but never waits. */
export function countingLoop(): Executable {
  const b = new ExecBuilder();
  const signature = { params: [INT], results: [{ name: 'count', type: INT }] };
  const f = b.function('main', ['steps'], { signature });
  const count = f.fresh();
  const done = f.label();
  const again = f.label();
  f.call('vm.builtin.int_mul', [f.param('steps'), 0], { into: count });
  f.place(again);
  f.if(f.call('vm.builtin.int_lt', [count, f.param('steps')]), done);
  f.call('vm.builtin.int_add', [count, 1], { into: count });
  f.goto(again);
  f.place(done);
  f.ret(count);
  return b.build();
}

/** main(x: float32 (1, size)) -> y = x + w, with `size` weights w[i] = i % 1000. */
export function addWeights(size: number): Executable {
  const b = new ExecBuilder();
  const type: TensorType = { dtype: 'float32', shape: [1, size] };
  const tensor: ValueType = { kind: 'tensor', ...type };
  const kernel = b.primitive(elementwise('add', type));
  const weights = Float32Array.from({ length: size }, (_, i) => i % 1000);
  const f = b.function('main', ['x'], {
    signature: { params: [tensor], results: [{ name: 'y', type: tensor }] },
  });
  const storage = f.call('vm.builtin.alloc_storage', [size * 4, DEVICE]);
  const operands = [storage, 0, b.shape([1, size]), b.dtype('float32')];
  const y = f.call('vm.builtin.alloc_tensor', operands);
  const w = b.tensor(new HostTensor('float32', [1, size], weights));
  f.call(kernel, [f.param('x'), w, y], { into: f.void });
  f.ret(y);
  return b.build();
}

/** main(x) -> NAME(x), a packed function that the worker has to bring. No signature. */
export function callsPacked(name: string): Executable {
  const b = new ExecBuilder();
  const f = b.function('main', ['x']);
  f.ret(f.call(name, [f.param('x')]));
  return b.build();
}
