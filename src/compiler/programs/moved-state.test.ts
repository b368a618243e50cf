import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { compile } from '../compile.ts';
import { parseModule } from '../ir/text/parse.ts';

const STATE = 'Tensor[(64, 64), float32]';
const PAIR = `(${STATE}, (${STATE}, int))`;
const UPDATE = '%i: Tensor[(1, 1), int32], %u: Tensor[(1, 64), float32]';
const SET = `def @set(%x: ${STATE}, ${UPDATE}) -> ${STATE} { scatter_nd(%x, %i, %u, reduction="add") }`;

const BYTES = 64 * 64 * 4;

/** Bytes that a call of `@main` on a donated tensor holds at most beyond the tensor itself. */
async function bytesBeside(text: string, counts: number): Promise<number> {
  const executable = compile(parseModule(text), { verify: true, without: ['inline'] });
  const vm = await VirtualMachine.create(executable, { devices: [createHostDevice()] });
  const state = vm.tensor(HostTensor.zeros('float32', [64, 64]));
  const i = HostTensor.from('int32', [1, 1], [2]);
  const u = HostTensor.from('float32', [1, 64], new Array<number>(64).fill(1));
  const before = vm.memory().peakBytes;
  const result = await vm.invoke('main', [state, i, u], { donate: [0] });
  if (!(typeof result === 'object' && result?.kind === 'tensor')) throw new Error('no tensor');
  const [read] = await vm.read([result]);
  expect([read?.data[128], read?.data[0]]).toEqual([counts, 0]);
  const { peakBytes } = vm.memory();
  vm.release(result);
  expect(vm.memory().liveBytes).toBe(0);
  vm.dispose();
  return peakBytes - before;
}

describe('a state changes hands without a copy', () => {
  test('as the argument of a function that goes on', async () => {
    const text = `${SET}
def @twice(%x: ${STATE}, ${UPDATE}) -> ${STATE} { let %y = @set(%x, %i, %u); @set(%y, %i, %u) }
def @main(%x: ${STATE}, ${UPDATE}) { let %y = @twice(%x, %i, %u); @set(%y, %i, %u) }`;
    expect(await bytesBeside(text, 3)).toBeLessThan(BYTES);
  });

  test('as the argument of a closure', async () => {
    const text = `def @apply<A, B>(%f: fn (A) -> B, %a: A) -> B { let %b = %f(%a); %b }
def @main(%x: ${STATE}, ${UPDATE}) {
  let %y = @apply(fn (%z: ${STATE}) { scatter_nd(%z, %i, %u) }, %x);
  let %z = @apply(fn (%z: ${STATE}) { scatter_nd(%z, %i, %u, reduction="add") }, %y);
  %z
}`;
    expect(await bytesBeside(text, 2)).toBeLessThan(BYTES);
  });

  test('in tuples of tuples that a loop carries', async () => {
    const text = `def @loop(%k: int, %s: ${PAIR}, ${UPDATE}) -> ${PAIR} {
  if (%k) {
    let %a = scatter_nd(%s.0, %i, %u, reduction="add");
    let %b = scatter_nd(%s.1.0, %i, %u);
    @loop(int_sub(%k, #1), (%a, (%b, int_add(%s.1.1, #1))), %i, %u)
  } else { %s }
}
def @main(%x: ${STATE}, ${UPDATE}) {
  let %end = @loop(#5, (%x, (scatter_nd(%x, %i, %u), #0)), %i, %u);
  %end.0
}`;
    // Two states, of which one was given.
    expect(await bytesBeside(text, 5)).toBeLessThan(2 * BYTES);
  });

  test('in a list of states', async () => {
    const text = `def @all(%l: List[${STATE}], ${UPDATE}) -> List[${STATE}] {
  match (%l) { Nil => Nil, Cons(%h, %t) => Cons(scatter_nd(%h, %i, %u, reduction="add"), @all(%t, %i, %u)) }
}
def @main(%x: ${STATE}, ${UPDATE}) {
  let %l = @all(@all(Cons(%x, Nil), %i, %u), %i, %u);
  match (%l) { Nil => %x, Cons(%h, %t) => %h }
}`;
    // The other clause needs the state that was given.
    expect(await bytesBeside(text, 2)).toBeLessThan(2 * BYTES);
  });

  test('not while the tuple is read after', async () => {
    const text = `def @pair(%x: ${STATE}) { (%x, #1) }
def @first(%s: (${STATE}, int)) { mul(%s.0, 0f) }
def @main(%x: ${STATE}, ${UPDATE}) {
  let %s = @pair(%x);
  let %y = scatter_nd(%s.0, %i, %u, reduction="add");
  add(%y, @first(%s))
}`;
    expect(await bytesBeside(text, 1)).toBeGreaterThanOrEqual(BYTES);
  });
});
