import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { VirtualMachine } from './virtual-machine.ts';
import { TestDevice } from './testing/test-device.ts';

describe('smoke', () => {
  test('loops', async () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['n']);
    const i = f.fresh();
    f.call('vm.builtin.int_add', [0, 0], { into: i });
    const top = f.label();
    const done = f.label();
    f.place(top);
    const more = f.call('vm.builtin.int_lt', [i, f.param('n')]);
    f.if(more, done);
    f.call('vm.builtin.int_add', [i, 1], { into: i });
    f.goto(top);
    f.place(done);
    f.ret(i);
    const g = b.function('tail', ['n', 'acc']);
    const zero = g.call('vm.builtin.int_eq', [g.param('n'), 0]);
    const rest = g.label();
    g.if(zero, rest);
    g.ret(g.param('acc'));
    g.place(rest);
    const m = g.call('vm.builtin.int_sub', [g.param('n'), 1]);
    const a = g.call('vm.builtin.int_add', [g.param('acc'), 1]);
    g.ret(g.call('tail', [m, a]));
    const vm = await VirtualMachine.create(b.build(), { devices: [new TestDevice()] });
    for (let k = 0; k < 3; k++) {
      let t = performance.now();
      expect(await vm.invoke('main', [10_000_000])).toBe(10_000_000);
      console.log('goto ns/instr', (performance.now() - t) / 40);
      t = performance.now();
      expect(await vm.invoke('tail', [1_000_000, 0])).toBe(1_000_000);
      console.log('tail ns/instr', (performance.now() - t) / 5);
    }
  });
});
