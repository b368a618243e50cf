// Algebraic data types and recursion in bytecode. In Relay's words:
//
//   type List { Nil, Cons(Tensor[(4,), float32], List) }
//   def range(x, n) { if (n == 0) { Nil } else { Cons(x, range(x + x, n - 1)) } }
//   def sum(list, total) { match (list) { Nil => total, Cons(x, rest) => sum(rest, total + x) } }
//   def main(x, n) { sum(range(x, n), 0) }
//
// `sum` calls itself in tail position, so its frame is reused; `range` does not, and its frames pile
// up in the machine, not on the page's stack.
import { ExecBuilder } from '../../src/bytecode/build/exec-builder.ts';
import type { Executable } from '../../src/bytecode/file/executable-file.ts';
import type {
  FunctionBuilder,
  RegisterOperand,
} from '../../src/bytecode/build/function-builder.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import type { TensorType } from '../../src/core/contracts/primitive-function.ts';

const VECTOR: TensorType = { dtype: 'float32', shape: [4] };
const DEVICE = 0;
const NIL = 0;
const CONS = 1;

/** `left + right` in a new tensor. */
function add(
  b: ExecBuilder,
  f: FunctionBuilder,
  [left, right]: readonly [RegisterOperand, RegisterOperand],
): RegisterOperand {
  const storage = f.call('vm.builtin.alloc_storage', [16, DEVICE]);
  const sum = f.call('vm.builtin.alloc_tensor', [storage, 0, b.shape([4]), b.dtype('float32')]);
  f.call('add', [left, right, sum]);
  return sum;
}

function buildRange(b: ExecBuilder): void {
  const f = b.function('range', ['x', 'n']);
  const [x, n] = [f.param('x'), f.param('n')];
  const more = f.label();
  f.if(f.call('vm.builtin.int_eq', [n, 0]), more);
  f.ret(f.call('vm.builtin.make_adt', [NIL]));
  f.place(more);
  const fewer = f.call('vm.builtin.int_sub', [n, 1]);
  const rest = f.call('range', [add(b, f, [x, x]), fewer]);
  f.ret(f.call('vm.builtin.make_adt', [CONS, x, rest]));
}

function buildSum(b: ExecBuilder): void {
  const f = b.function('sum', ['list', 'total']);
  const [list, total] = [f.param('list'), f.param('total')];
  const isCons = f.label();
  f.if(f.call('vm.builtin.int_eq', [f.call('vm.builtin.get_tag', [list]), NIL]), isCons);
  f.ret(total);
  f.place(isCons);
  const head = f.call('vm.builtin.get_field', [list, 0]);
  const rest = f.call('vm.builtin.get_field', [list, 1]);
  f.ret(f.call('sum', [rest, add(b, f, [head, total])]));
}

export function buildListSum(): Executable {
  const b = new ExecBuilder();
  b.metadata('title', 'Sum of a list');
  b.primitive({
    name: 'add',
    params: [VECTOR, VECTOR],
    body: [{ op: 'add', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type: VECTOR }],
  });
  const vector = { kind: 'tensor', ...VECTOR } as const;
  const f = b.function('main', ['x', 'n'], {
    signature: {
      params: [vector, { kind: 'int' }],
      results: [{ name: 'sum', type: vector }],
    },
  });
  const zero = b.tensor(HostTensor.splat('float32', [4], 0));
  f.ret(f.call('sum', [f.call('range', [f.param('x'), f.param('n')]), zero]));
  buildRange(b);
  buildSum(b);
  return b.build();
}
