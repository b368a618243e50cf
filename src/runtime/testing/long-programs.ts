import { ExecBuilder, type Executable } from '../../bytecode/index.ts';
import type { ValueType } from '../../bytecode/executable.ts';
import type { FunctionBuilder } from '../../bytecode/build/function-builder.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';

const VECTOR = { dtype: 'float32', shape: [3] } as const;
const TENSOR: ValueType = { kind: 'tensor', ...VECTOR };
const INT: ValueType = { kind: 'int' };

type Operand = Parameters<FunctionBuilder['ret']>[0];

interface FunctionDraft {
  readonly f: FunctionBuilder;
  /** The result of a primitive, in a new tensor. */
  readonly apply: (op: string, left: Operand, right: Operand) => Operand;
}

/**
 * Programs that take long enough to be stopped. `main(x, n)` multiplies x by a constant n times;
 * instruction {@link LOOP_PLACE} of it is the product. `tree(x, n)` is x times 2^n by recursion;
 * `tail(x, n)` multiplies as `main` does, each time in a tail call of itself; `fold(x, n)` invokes a
 * closure over x n times, which adds x; with `asking`, `ask(x)` adds to x what JS answers
 * (`test.answer`).
 */
export function loopAndTree({ asking = false } = {}): Executable {
  const b = new ExecBuilder();
  for (const op of ['mul', 'add']) {
    const body = [{ op, inputs: [0, 1], attributes: {} }];
    const results = [{ value: 2, type: VECTOR }];
    b.primitive({ name: op, params: [VECTOR, VECTOR], body, results });
  }
  const factor = b.tensor(HostTensor.from('float32', [3], [1.001, 0.999, 1.0001]));
  buildLoop(openFunction(b, 'main', ['x', 'n']), factor);
  buildTree(openFunction(b, 'tree', ['x', 'n']));
  buildTail(openFunction(b, 'tail', ['x', 'n']), factor);
  const plus = openFunction(b, 'plus', ['y', 'x']);
  plus.f.ret(plus.apply('add', plus.f.param('y'), plus.f.param('x')));
  buildFold(b, openFunction(b, 'fold', ['x', 'n']));
  if (asking) {
    const ask = openFunction(b, 'ask', ['x']);
    ask.f.ret(ask.apply('add', ask.f.param('x'), ask.f.call('test.answer', [ask.f.param('x')])));
  }
  return b.build();
}

/** An instruction of `main` of both programs, which is reached once in each round. */
export const LOOP_PLACE = { function: 'main', instruction: 3 };

function openFunction(b: ExecBuilder, name: string, params: string[]): FunctionDraft {
  const types = params.map((param) => (param === 'n' ? INT : TENSOR));
  const signature = { params: types, results: [{ name: 'result', type: TENSOR }] };
  const f = b.function(name, params, { signature });
  const apply = (op: string, left: Operand, right: Operand) => {
    const storage = f.call('vm.builtin.alloc_storage', [12, 0]);
    const operands = [storage, 0, b.shape([3]), b.dtype('float32')];
    const out = f.call('vm.builtin.alloc_tensor', operands);
    f.call(op, [left, right, out], { into: f.void });
    return out;
  };
  return { f, apply };
}

function buildLoop({ f, apply }: FunctionDraft, factor: Operand): void {
  const [x, left, top, done] = [f.fresh(), f.fresh(), f.label(), f.label()];
  f.call('vm.builtin.move', [f.param('x')], { into: x });
  f.call('vm.builtin.move', [f.param('n')], { into: left });
  f.place(top);
  f.if(left, done);
  f.call('vm.builtin.move', [apply('mul', x, factor)], { into: x });
  f.call('vm.builtin.int_sub', [left, 1], { into: left });
  f.goto(top);
  f.place(done);
  f.ret(x);
}

function buildTree({ f, apply }: FunctionDraft): void {
  const deeper = f.label();
  f.if(f.call('vm.builtin.int_eq', [f.param('n'), 0]), deeper);
  f.ret(f.param('x'));
  f.place(deeper);
  const below = f.call('vm.builtin.int_sub', [f.param('n'), 1]);
  const branches = [0, 1].map(() => f.call('tree', [f.param('x'), below]));
  f.ret(apply('add', branches[0] ?? 0, branches[1] ?? 0));
}

function buildTail({ f, apply }: FunctionDraft, factor: Operand): void {
  const more = f.label();
  f.if(f.call('vm.builtin.int_eq', [f.param('n'), 0]), more);
  f.ret(f.param('x'));
  f.place(more);
  const below = f.call('vm.builtin.int_sub', [f.param('n'), 1]);
  const product = apply('mul', f.param('x'), factor);
  f.ret(f.call('tail', [product, below]));
}

function buildFold(b: ExecBuilder, { f }: FunctionDraft): void {
  const [y, left, top, done] = [f.fresh(), f.fresh(), f.label(), f.label()];
  const plus = f.call('vm.builtin.make_closure', [b.functionReference('plus'), f.param('x')]);
  f.call('vm.builtin.move', [f.param('x')], { into: y });
  f.call('vm.builtin.move', [f.param('n')], { into: left });
  f.place(top);
  f.if(left, done);
  f.call('vm.builtin.move', [f.call('vm.builtin.invoke_closure', [plus, y])], { into: y });
  f.call('vm.builtin.int_sub', [left, 1], { into: left });
  f.goto(top);
  f.place(done);
  f.ret(y);
}

/** `main(n)` is what n throws of the dice (`test.throw`) make, in order. */
export function throwsDice(): Executable {
  const b = new ExecBuilder();
  const signature = { params: [INT], results: [{ name: 'sum', type: INT }] };
  const f = b.function('main', ['n'], { signature });
  const [sum, left, top, done] = [f.fresh(), f.fresh(), f.label(), f.label()];
  f.call('vm.builtin.move', [0], { into: sum });
  f.call('vm.builtin.move', [f.param('n')], { into: left });
  f.place(top);
  f.if(left, done);
  const thrown = f.call('test.throw', []);
  f.call('vm.builtin.int_add', [f.call('vm.builtin.int_mul', [sum, 3]), thrown], { into: sum });
  f.call('vm.builtin.int_sub', [left, 1], { into: left });
  f.goto(top);
  f.place(done);
  f.ret(sum);
  return b.build();
}
