import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import type { HostFunction } from './link/host-function.ts';
import { FORMS } from './testing/forms.ts';
import { TestDevice } from './testing/test-device.ts';
import { VECTOR_FUNCTIONS } from './testing/vector-functions.ts';
import { FloatValue, type MachineValue, TensorValue, type Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

type Form = (typeof FORMS)[number][1];

async function loadAs(
  form: Form,
  b: ExecBuilder,
  functions: Readonly<Record<string, HostFunction>>,
) {
  return VirtualMachine.create(form(b.build()), {
    devices: [new TestDevice()],
    functions: { ...VECTOR_FUNCTIONS, ...functions },
  });
}

/** A program with `apply(f, x) = f(x)`. */
function withApply(): ExecBuilder {
  const b = new ExecBuilder();
  const f = b.function('apply', ['f', 'x']);
  f.ret(f.call('vm.builtin.invoke_closure', [f.param('f'), f.param('x')]));
  return b;
}

describe.each(FORMS)('closures, %s', (_, form) => {
  const load = (b: ExecBuilder, functions: Record<string, HostFunction> = {}) =>
    loadAs(form, b, functions);

  test('over a VM function that captures a tensor', async () => {
    const b = new ExecBuilder();
    const add = b.function('add_captured', ['x', 'captured']);
    add.ret(add.call('test.add', [add.vm, add.param('x'), add.param('captured')]));
    const make = b.function('make', ['captured']);
    const reference = b.functionReference('add_captured');
    make.ret(make.call('vm.builtin.make_closure', [reference, make.param('captured')]));
    const vm = await load(b);
    const closure = await vm.invoke('make', [HostTensor.from('float32', [2], [10, 20])]);
    expect(vm.memory().liveBytes).toBe(256);
    const call = vm.toFunction(closure);
    const result = await call(HostTensor.from('float32', [2], [1, 2]));
    if (!(result instanceof TensorValue)) throw new Error('internal: the result is no tensor');
    expect((await vm.read([result]))[0]?.elements).toEqual(Float32Array.of(11, 22));
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(256);
    vm.release(closure);
    vm.release(closure);
    expect(vm.memory().liveBytes).toBe(0);
  });

  test('over a JS function, with captured values after the arguments', async () => {
    const b = withApply();
    const main = b.function('main', ['x']);
    const js = b.functionReference('test.pair');
    const closure = main.call('vm.builtin.make_closure', [js, 7, b.string('seven')]);
    main.ret(main.call('apply', [closure, main.param('x')]));
    const vm = await load(b, { 'test.pair': (...args: Value[]) => args.map(String).join(' ') });
    expect(await vm.invoke('main', [1])).toBe('1 7 seven');
  });

  test('of a closure adds its captured values before the others', async () => {
    const b = new ExecBuilder();
    const join = b.function('join', ['x', 'y', 'z']);
    join.ret(join.call('test.join', [join.param('x'), join.param('y'), join.param('z')]));
    const main = b.function('main');
    const one = main.call('vm.builtin.make_closure', [b.functionReference('join'), 3]);
    main.ret(main.call('vm.builtin.invoke_closure', [one, 1, 2]));
    const vm = await load(b, { 'test.join': (...args: Value[]) => args.map(String).join('-') });
    expect(await vm.invoke('main')).toBe('1-2-3');
  });

  test('a wrong number of arguments is a RuntimeError', async () => {
    const b = withApply();
    const two = b.function('two', ['a', 'b']);
    two.ret(two.param('b'));
    const main = b.function('main');
    main.ret(main.call('apply', [b.functionReference('two'), 1]));
    const vm = await load(b);
    await expect(vm.invoke('main')).rejects.toThrow(
      'call of two through a closure: got 1 arguments, expected 2 in all (a, b).',
    );
    await expect(vm.invoke('apply', [3, 1])).rejects.toThrow(
      'invoke_closure: got int 3, expected a closure or a function.',
    );
  });

  test('of another machine is refused', async () => {
    const b = withApply();
    const make = b.function('make');
    make.ret(make.call('vm.builtin.make_closure', [b.functionReference('apply')]));
    const [one, other] = [await load(b), await load(b)];
    const closure = await one.invoke('make');
    await expect(other.invoke('apply', [closure, 1])).rejects.toThrow(
      'got a closure of another machine, expected a closure that this machine made.',
    );
  });
});

describe.each(FORMS)('JS functions, %s', (_, form) => {
  const load = (b: ExecBuilder, functions: Record<string, HostFunction> = {}) =>
    loadAs(form, b, functions);

  test('are passed as arguments and invoked, sync or async', async () => {
    const vm = await load(withApply());
    expect(await vm.invoke('apply', [(x: number) => x + 1, 41])).toBe(42);
    expect(await vm.invoke('apply', [async (x: number) => x * 2, 21])).toBe(42);
  });

  test('get VM functions as values and call them back', async () => {
    const b = new ExecBuilder();
    const double = b.function('double', ['x']);
    double.ret(double.call('vm.builtin.int_add', [double.param('x'), double.param('x')]));
    const main = b.function('main', ['x']);
    const reference = b.functionReference('double');
    main.ret(main.call('test.twice', [main.vm, reference, main.param('x')]));
    const vm = await load(b, {
      'test.twice': async (machine: MachineValue, f: Value, x: number) => {
        const call = machine.toFunction(f);
        return call(await call(x));
      },
    });
    expect(await vm.invoke('main', [10])).toBe(40);
  });

  test('results are converted', async () => {
    const results: Record<string, () => unknown> = {
      'test.void': () => undefined,
      'test.true': () => true,
      'test.half': () => 0.5,
      'test.minus_zero': () => -0,
      'test.text': () => 'text',
      'test.tuple': () => [1, [2.5], HostTensor.from('int32', [1], [9])],
    };
    const b = new ExecBuilder();
    for (const name of Object.keys(results)) {
      const f = b.function(name.slice(5));
      f.ret(f.call(name));
    }
    const vm = await load(b, results as Record<string, HostFunction>);
    expect(await vm.invoke('void')).toBe(null);
    expect(await vm.invoke('true')).toBe(1);
    expect(await vm.invoke('half')).toEqual(new FloatValue(0.5));
    expect(await vm.invoke('minus_zero')).toBe(0);
    expect(await vm.invoke('text')).toBe('text');
    const tuple = await vm.invoke('tuple');
    expect(tuple).toMatchObject({
      tag: 0,
      fields: [1, { fields: [{ value: 2.5 }] }, { dtype: 'int32', shape: [1] }],
    });
    vm.release(tuple);
    expect(vm.memory().liveBytes).toBe(0);
  });

  test('a result that is no value is refused by name', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    f.ret(f.call('test.date'));
    const vm = await load(b, { 'test.date': (() => new Date(0)) as unknown as HostFunction });
    await expect(vm.invoke('main')).rejects.toThrow(
      'test.date: got a Date, expected a value of the machine, a number, string, boolean,',
    );
  });

  test('JS to VM to JS nests deeply without a stack overflow', async () => {
    const b = new ExecBuilder();
    const f = b.function('down', ['n']);
    const zero = f.call('vm.builtin.int_eq', [f.param('n'), 0]);
    const more = f.label();
    f.if(zero, more);
    f.ret(0);
    f.place(more);
    const below = f.call('test.down', [f.vm, f.param('n')]);
    f.ret(f.call('vm.builtin.int_add', [below, 1]));
    const vm: VirtualMachine = await load(b, {
      'test.down': (_: MachineValue, n: number) => vm.invoke('down', [n - 1]),
    });
    expect(await vm.invoke('down', [5000])).toBe(5000);
  });
});
