import { afterEach, describe, expect, test } from 'vitest';
import { compile, parseModule } from '../../frontend/index.ts';
import { createDevice } from '../../worker/index.ts';
import { RunControl } from '../snapshot/run-control.ts';
import { FunctionProfile, HostTensor, type MachineInstrument, VirtualMachine } from '../index.ts';

const PROGRAM = `
extern def @"my.step"(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32]
def @loop(%x: Tensor[(2,), float32], %i: int) -> Tensor[(2,), float32] {
  if (int_lt(%i, #3)) { @loop(softmax(%x, axis=0), int_add(%i, #1)) } else { @"my.step"(%x) }
}
def @main(%x: Tensor[(2,), float32]) { add(@loop(%x, #0), 1f) }`;

const X = HostTensor.from('float32', [2], [1, 2]);
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function machineWith(instrument: MachineInstrument | undefined, isAsync = false) {
  const device = await createDevice('host');
  const given = (value: unknown) => value as never;
  const vm = await VirtualMachine.create(compile(parseModule(PROGRAM)), {
    devices: [device],
    functions: { 'my.step': isAsync ? async (x) => given(x) : (x) => x },
    instrument,
  });
  ends.push(() => {
    vm.dispose();
    device.destroy();
  });
  return vm;
}

async function resultOf(vm: VirtualMachine): Promise<number[]> {
  const result = await vm.invoke('main', [X]);
  if (result === null || typeof result !== 'object' || result.kind !== 'tensor') throw new Error();
  const [tensor] = await vm.read([result]);
  vm.release(result);
  return Array.from(tensor?.data ?? [], Number);
}

describe('instrument of a machine', () => {
  test.each([false, true])(
    'observes every call, nested as they are (async: %s)',
    async (isAsync) => {
      const calls: string[] = [];
      let depth = 0;
      const vm = await machineWith(
        {
          before: ({ name, kind }) => void calls.push(`${' '.repeat(depth++)}${kind} ${name}`),
          after: () => void depth--,
        },
        isAsync,
      );
      expect(await resultOf(vm)).toEqual(await resultOf(await machineWith(undefined)));
      expect(depth).toBe(0);
      const kernels = calls.filter((line) => / (kernel|host function|bytecode) /.test(` ${line}`));
      expect(kernels.map((line) => line.trim())).toEqual([
        'bytecode main',
        'bytecode loop',
        'kernel softmax',
        'bytecode loop',
        'kernel softmax',
        'bytecode loop',
        'kernel softmax',
        'bytecode loop',
        'bytecode my.step.checked',
        'host function my.step',
        'kernel add',
      ]);
      // A tail call ends the frame that makes it.
      const loops = calls.filter((line) => line.endsWith('bytecode loop'));
      expect(new Set(loops)).toEqual(new Set([' bytecode loop']));
      expect(calls.some((line) => line.includes('builtin vm.builtin.alloc'))).toBe(true);
    },
  );

  test('sees arguments and results, and every call again', async () => {
    const seen: string[] = [];
    const vm = await machineWith({
      after: ({ name, args }, result) => {
        if (name !== 'my.step') return;
        const [arg] = args;
        seen.push(String(arg === result && typeof result === 'object' && result?.kind));
      },
    });
    await resultOf(vm);
    await resultOf(vm);
    await resultOf(vm);
    expect(seen).toEqual(['tensor', 'tensor', 'tensor']);
  });

  test('tells where calls come from, also of a machine that is paused at one', async () => {
    const places: string[] = [];
    const vm = await machineWith({
      before: (call) => {
        if (call.kind !== 'builtin') places.push(`${call.name} from ${call.place()?.function}`);
      },
    });
    const expected = await resultOf(vm);
    const first = places.splice(0);
    expect(first.slice(0, 2)).toEqual(['main from undefined', 'loop from main']);
    const control = RunControl.of(vm);
    const paused = control.pause({ at: { function: 'loop', instruction: 3 } });
    const result = resultOf(vm);
    await paused;
    expect(places.length).toBeLessThan(first.length);
    control.continue();
    expect(await result).toEqual(expected);
    expect(places).toEqual(first);
  });

  test('an error of a hook ends the call and frees what it held', async () => {
    let isBroken = true;
    const vm = await machineWith({
      before: ({ name }) => {
        if (isBroken && name === 'my.step') throw new Error('enough');
      },
    });
    const { liveBytes } = vm.memory();
    await expect(resultOf(vm)).rejects.toThrow('enough');
    expect(vm.memory().liveBytes).toBe(liveBytes);
    isBroken = false;
    expect(await resultOf(vm)).toHaveLength(2);
  });

  test('FunctionProfile adds up time and memory of each function', async () => {
    const profile = new FunctionProfile();
    const vm = await machineWith(profile);
    await resultOf(vm);
    await resultOf(vm);
    const of = (name: string) => profile.functions.find((each) => each.name === name);
    expect(of('main')).toMatchObject({ kind: 'bytecode', calls: 2 });
    expect(of('loop')).toMatchObject({ kind: 'bytecode', calls: 8 });
    expect(of('softmax')).toMatchObject({ kind: 'kernel', calls: 6, grownBytes: 0 });
    const [main, softmax] = [of('main'), of('softmax')];
    expect(main?.totalMs).toBeGreaterThanOrEqual(softmax?.totalMs ?? Infinity);
    expect(main?.selfMs).toBeLessThanOrEqual(main?.totalMs ?? 0);
    expect(main?.peakBytes).toBeGreaterThan(0);
    const own = profile.functions.reduce((sum, { selfMs }) => sum + selfMs, 0);
    expect(own).toBeCloseTo(main?.totalMs ?? 0, 5);
  });
});
