import { afterEach, expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { VirtualMachine } from '../virtual-machine.ts';
import { KernelInstructions } from './kernel-instructions.ts';
import { type InstructionObserver, observe, type RunObserver } from './observe.ts';

const PROGRAM = compile(
  parseModule(`def @main(%x: Tensor[(3,), float32], %n: int) -> Tensor[(3,), float32] {
    if (int_lt(%n, #1)) { %x } else { @main(mul(%x, 2f), int_sub(%n, #1)) }
  }`),
);
const INPUTS = [HostTensor.from('float32', [3], [1, 2, 3]), 2];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function observed({
  instructions,
  ...others
}: Omit<RunObserver, 'instructions'> & { readonly instructions: Partial<InstructionObserver> }) {
  const device = createHostDevice();
  const machine = await VirtualMachine.create(PROGRAM, { devices: [device] });
  ends.push(() => machine.dispose());
  const observer = {
    ...others,
    instructions: { before: () => 1, after: () => undefined, ...instructions },
  };
  const result = observe(machine, observer, (runner) => machine.invoke('main', INPUTS, { runner }));
  return { machine, device, result };
}

test('an observer is called for instructions, results of kernels, storages and transfers', async () => {
  const kernels = new KernelInstructions(PROGRAM);
  const seen: string[] = [];
  let after = 0;
  const { machine, device, result } = await observed({
    instructions: {
      before: ({ frames, program }) => {
        const frame = frames.at(-1);
        const launch = frame && kernels.next(frame, program.constants);
        if (launch !== undefined) seen.push(`${launch.primitive.name} in ${launch.at.function}`);
        return 1;
      },
      after: () => {
        after++;
        return undefined;
      },
      ended: ({ invocation }) => seen.push(`${invocation.executed - after} instructions missed`),
    },
    storages: {
      allocated: () => seen.push('allocated'),
      reclaimed: () => seen.push('reclaimed'),
    },
    onLaunches: (all) => seen.push(...all.map(({ primitive }) => `${primitive} was launched`)),
    onDeviceEvent: ({ kind }) => seen.push(kind),
  });
  const value = await result;
  expect(seen.filter((line) => line.includes('mul'))).toEqual([
    'mul in main',
    'mul in main',
    'mul was launched',
    'mul was launched',
  ]);
  expect(seen).toContain('0 instructions missed');
  expect(seen.filter((line) => line === 'allocated').length).toBeGreaterThan(0);
  expect(seen).toContain('upload');
  const { length } = seen;
  machine.release(value);
  machine.release(await machine.invoke('main', INPUTS));
  expect(seen).toHaveLength(length);
  expect(device.events?.observers.size).toBe(0);
});

test('a call is held where its observer says, and goes on when it may', async () => {
  const places: number[] = [];
  let goOn = (): void => undefined;
  const { machine, result } = await observed({
    instructions: {
      hold: ({ invocation }) => {
        places.push(invocation.executed);
        if (places.length > 2) return undefined;
        return new Promise<void>((resolve) => {
          goOn = resolve;
        });
      },
    },
  });
  expect(places).toEqual([0]);
  goOn();
  await expect.poll(() => places).toEqual([0, 0]);
  goOn();
  machine.release(await result);
  expect(machine.memory().liveBytes).toBe(0);
});

test('an error of an observer ends the call, whose frames it still sees', async () => {
  const frames: number[] = [];
  const { machine, result } = await observed({
    instructions: {
      after: ({ executed }) => (executed > 3 ? Promise.reject(new Error('enough')) : undefined),
      failed: (invocation) => frames.push(invocation.frames.length),
    },
  });
  await expect(result).rejects.toThrow('enough');
  expect(frames).toEqual([1]);
  expect(machine.memory().liveBytes).toBe(0);
});
