import { describe, expect, test } from 'vitest';
import { ExecBuilder, type FunctionBuilder } from '../bytecode/index.ts';
import type { RegisterOperand } from '../bytecode/build/function-builder.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { FORMS } from './testing/forms.ts';
import { TestDevice } from './testing/test-device.ts';
import { VECTOR_FUNCTIONS } from './testing/vector-functions.ts';
import { TensorValue } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

type Form = (typeof FORMS)[number][1];

const LIMITS = { callDepth: 1000 };

async function loadAs(form: Form, b: ExecBuilder): Promise<VirtualMachine> {
  const devices = [new TestDevice()];
  const functions = VECTOR_FUNCTIONS;
  return VirtualMachine.create(form(b.build()), { devices, functions, limits: LIMITS });
}

function builtin(f: FunctionBuilder, name: string, ...args: OperandLike[]): RegisterOperand {
  return f.call(`vm.builtin.${name}`, args);
}

/** Emits `if condition return value`. */
function returnIf(f: FunctionBuilder, condition: RegisterOperand, value: OperandLike): void {
  const otherwise = f.label();
  f.if(condition, otherwise);
  f.ret(value);
  f.place(otherwise);
}

describe.each(FORMS)('recursion, %s', (_, form) => {
  const load = (b: ExecBuilder) => loadAs(form, b);

  test('factorial and Fibonacci', async () => {
    const b = new ExecBuilder();
    const fact = b.function('fact', ['n']);
    returnIf(fact, builtin(fact, 'int_lt', fact.param('n'), 2), 1);
    const below = fact.call('fact', [builtin(fact, 'int_sub', fact.param('n'), 1)]);
    fact.ret(builtin(fact, 'int_mul', fact.param('n'), below));
    const fib = b.function('fib', ['n']);
    returnIf(fib, builtin(fib, 'int_lt', fib.param('n'), 2), fib.param('n'));
    const one = fib.call('fib', [builtin(fib, 'int_sub', fib.param('n'), 1)]);
    const two = fib.call('fib', [builtin(fib, 'int_sub', fib.param('n'), 2)]);
    fib.ret(builtin(fib, 'int_add', one, two));
    const vm = await load(b);
    expect(await vm.invoke('fact', [18])).toBe(6_402_373_705_728_000);
    expect(await vm.invoke('fib', [20])).toBe(6765);
    expect(await Promise.all([10, 11, 12].map((n) => vm.invoke('fib', [n])))).toEqual([
      55, 89, 144,
    ]);
    await expect(vm.invoke('fact', [19])).rejects.toThrow(
      'int arithmetic: got 19 * 6402373705728000, expected a result within 2^53.',
    );
  });

  test('depth is bounded by a typed error, and the machine goes on', async () => {
    const b = new ExecBuilder();
    const f = b.function('down', ['n']);
    const deeper = f.call('down', [builtin(f, 'int_add', f.param('n'), 1)]);
    f.ret(builtin(f, 'int_add', deeper, 1));
    const g = b.function('answer');
    g.ret(42);
    const vm = await load(b);
    const error = await vm.invoke('down', [0]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RuntimeError', details: { limit: 1000 } });
    expect(error).toMatchInlineSnapshot(`
      [RuntimeError: got a call beyond 1000 frames, expected at most 1000 frames. Return the result of the call at once (a tail call), or raise limits.callDepth.
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          … 984 more
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)
          at down, instruction 1 (line 5): %2 = call down(%1)]
    `);
    expect(await vm.invoke('answer')).toBe(42);
  });

  test('a list of tensors is summed by recursion', async () => {
    const b = new ExecBuilder();
    const sum = b.function('sum', ['list', 'zero']);
    const list = sum.param('list');
    const isNil = builtin(sum, 'int_eq', builtin(sum, 'get_tag', list), 0);
    returnIf(sum, isNil, sum.param('zero'));
    const rest = sum.call('sum', [builtin(sum, 'get_field', list, 1), sum.param('zero')]);
    sum.ret(sum.call('test.add', [sum.vm, builtin(sum, 'get_field', list, 0), rest]));
    const build = b.function('build', ['n', 'x', 'list']);
    const [n, x] = [build.param('n'), build.param('x')];
    returnIf(build, builtin(build, 'int_eq', n, 0), build.param('list'));
    const cell = builtin(build, 'make_adt', 1, x, build.param('list'));
    build.ret(build.call('build', [builtin(build, 'int_sub', n, 1), x, cell]));
    const main = b.function('main', ['n', 'x', 'zero']);
    const nil = builtin(main, 'make_adt', 0);
    const cells = main.call('build', [main.param('n'), main.param('x'), nil]);
    main.ret(main.call('sum', [cells, main.param('zero')]));
    const vm = await load(b);
    const ones = HostTensor.from('float32', [2], [1, 2]);
    const result = await vm.invoke('main', [100, ones, HostTensor.zeros('float32', [2])]);
    if (!(result instanceof TensorValue)) throw new Error('internal: the result is no tensor');
    const [host] = await vm.read([result]);
    expect(host?.elements).toEqual(Float32Array.of(100, 200));
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
  });
});

describe.each(FORMS)('tail calls run in constant memory, %s', (_, form) => {
  const load = (b: ExecBuilder) => loadAs(form, b);

  test('a function that calls itself 1,000,000 times', async () => {
    const b = new ExecBuilder();
    const f = b.function('count', ['n', 'acc', 'tensor']);
    returnIf(f, builtin(f, 'int_eq', f.param('n'), 0), f.param('acc'));
    const n = builtin(f, 'int_sub', f.param('n'), 1);
    const acc = builtin(f, 'int_add', f.param('acc'), 2);
    f.ret(f.call('count', [n, acc, f.param('tensor')]));
    const vm = await load(b);
    const result = await vm.invoke('count', [1_000_000, 0, HostTensor.zeros('float32', [4])]);
    expect(result).toBe(2_000_000);
    expect(vm.memory()).toMatchObject({ liveBytes: 0, allocations: 1 });
  });

  test('even and odd call each other', async () => {
    const b = new ExecBuilder();
    for (const [name, other, atZero] of [
      ['even', 'odd', 1],
      ['odd', 'even', 0],
    ] as const) {
      const f = b.function(name, ['n']);
      returnIf(f, builtin(f, 'int_eq', f.param('n'), 0), atZero);
      f.ret(f.call(other, [builtin(f, 'int_sub', f.param('n'), 1)]));
    }
    const vm = await load(b);
    expect(await vm.invoke('even', [1_000_000])).toBe(1);
    expect(await vm.invoke('odd', [100_000])).toBe(0);
    expect(await vm.invoke('odd', [99_999])).toBe(1);
  });

  test('through invoke_closure, and when a goto leads to the ret', async () => {
    const b = new ExecBuilder();
    const f = b.function('count', ['n', 'self']);
    const [n, self] = [f.param('n'), f.param('self')];
    const [result, end] = [f.fresh(), f.label()];
    returnIf(f, builtin(f, 'int_eq', n, 0), 7);
    const less = builtin(f, 'int_sub', n, 1);
    f.call('vm.builtin.invoke_closure', [self, less, self], { into: result });
    f.goto(end);
    f.place(end);
    f.ret(result);
    const main = b.function('main', ['n']);
    const closure = builtin(main, 'make_closure', b.functionReference('count'));
    main.ret(builtin(main, 'invoke_closure', closure, main.param('n'), closure));
    const vm = await load(b);
    expect(await vm.invoke('main', [200_000])).toBe(7);
  });

  test('a loop of 1,000,000 iterations by goto', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['n', 'x']);
    const i = f.fresh();
    f.call('vm.builtin.int_add', [0, 0], { into: i });
    const [top, done] = [f.label(), f.label()];
    f.place(top);
    f.if(builtin(f, 'int_lt', i, f.param('n')), done);
    f.call('vm.builtin.make_tuple', [f.param('x'), i]);
    f.call('vm.builtin.int_add', [i, 1], { into: i });
    f.goto(top);
    f.place(done);
    f.ret(i);
    const vm = await load(b);
    expect(await vm.invoke('main', [1_000_000, HostTensor.zeros('int32', [1])])).toBe(1_000_000);
    expect(vm.memory()).toMatchObject({ liveBytes: 0, allocations: 1 });
  });

  test('a call whose result is dropped is no tail call: its caller returns null', async () => {
    const b = new ExecBuilder();
    const inner = b.function('inner');
    inner.ret(5);
    const f = b.function('main');
    f.call('inner', [], { into: f.void });
    f.ret(f.void);
    const vm = await load(b);
    expect(await vm.invoke('main')).toBe(null);
  });
});

describe.each(FORMS)('storages in a loop, %s', (_, form) => {
  const load = (b: ExecBuilder) => loadAs(form, b);

  test('an overwritten register returns its storage to the pool', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['n']);
    const [i, storage] = [f.fresh(), f.fresh()];
    f.call('vm.builtin.int_add', [0, 0], { into: i });
    const [top, done] = [f.label(), f.label()];
    f.place(top);
    f.if(builtin(f, 'int_lt', i, f.param('n')), done);
    f.call('vm.builtin.alloc_storage', [1024, 0], { into: storage });
    f.call('vm.builtin.int_add', [i, 1], { into: i });
    f.goto(top);
    f.place(done);
    f.ret(i);
    const vm = await load(b);
    expect(await vm.invoke('main', [1000])).toBe(1000);
    const { liveBytes, pooledBytes, allocations, reuses } = vm.memory();
    expect({ liveBytes, pooledBytes, allocations, reuses }).toEqual({
      liveBytes: 0,
      pooledBytes: 2048,
      allocations: 1000,
      reuses: 998,
    });
  });

  test('kill frees before the end of the function', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    const first = f.call('vm.builtin.alloc_storage', [4096, 0]);
    f.call('vm.builtin.kill', [], { into: first });
    const second = f.call('vm.builtin.alloc_storage', [4096, 0]);
    f.ret(second);
    const vm = await load(b);
    vm.release(await vm.invoke('main'));
    expect(vm.memory()).toMatchObject({ peakBytes: 4096, reuses: 1 });
  });
});
