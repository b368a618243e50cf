import { expect, test } from 'vitest';
import { OutOfMemoryError, WeftError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import type { Device } from '../device/device.ts';
import { resumeSnapshot } from './snapshot/resume-snapshot.ts';
import { RunControl } from './snapshot/run-control.ts';
import { takeSnapshot } from './snapshot/take-snapshot.ts';
import { DEVICE_OPERATIONS, faultyDevice, FaultPlan } from './testing/faulty-device.ts';
import { LOOP_PLACE, loopAndTree } from './testing/long-programs.ts';
import { release, TensorValue, type Value } from './values/value.ts';
import { VirtualMachine } from './virtual-machine.ts';

const MOST_FAULTS = 200;

const program = loopAndTree({ asking: true });
const functions = { 'test.answer': (x: Value) => x };
const X = HostTensor.from('float32', [3], [1, 2, 3]);

const CALLS: readonly (readonly [string, number | undefined])[] = [
  ['main', 4],
  ['tree', 2],
  ['tail', 3],
  ['fold', 3],
  ['ask', undefined],
];

async function elements(machine: VirtualMachine, value: Value): Promise<number[]> {
  if (!(value instanceof TensorValue)) throw new Error('no tensor');
  try {
    const [tensor] = await machine.read([value]);
    return Array.from(tensor?.data ?? [], Number);
  } finally {
    release(value);
  }
}

async function call(machine: VirtualMachine, index: number): Promise<number[]> {
  const [name, n] = CALLS[index] ?? ['', 0];
  const args = n === undefined ? [X] : [X, n];
  return elements(machine, await machine.invoke(name, args));
}

/** Held in the loop; the bytes, and what the call gives when it goes on. */
async function snapshotOf(machine: VirtualMachine) {
  const control = RunControl.of(machine);
  const paused = control.pause({ at: LOOP_PLACE });
  const run = machine.invoke('main', [X, 4]);
  run.catch(() => undefined);
  let bytes: Uint8Array;
  try {
    await Promise.race([paused, run]);
    bytes = await takeSnapshot(machine);
  } catch (error) {
    control.continue();
    await run.then(release, () => undefined);
    throw error;
  }
  control.continue();
  return { bytes, result: await elements(machine, await run) };
}

/** Does each step; one that fails is done again, and has to be right then. */
async function live(device: Device, expected: readonly number[][], failures: string[]) {
  const step = async <T>(work: () => Promise<T>, check: () => void): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(WeftError);
      expect(String(error)).toContain('an injected fault');
      failures.push(String(error));
    }
    check();
    return work();
  };
  const nothing = () => expect(device.counters().bytesLive).toBe(0);
  const options = { devices: [device], functions };
  const machine = await step(() => VirtualMachine.create(program, options), nothing);
  const free = () => expect(machine.memory().liveBytes).toBe(0);
  for (const [index, result] of expected.entries()) {
    expect(await step(() => call(machine, index), free)).toEqual(result);
    free();
  }
  const { bytes, result } = await step(() => snapshotOf(machine), free);
  expect(result).toEqual(expected[0]);
  machine.dispose();
  nothing();
  const resume = async () => {
    const resumed = await resumeSnapshot(bytes, program, options);
    try {
      const value = await resumed.calls[0]?.result;
      return await elements(resumed.machine, value ?? null);
    } finally {
      resumed.machine.dispose();
    }
  };
  expect(await step(resume, nothing)).toEqual(expected[0]);
  nothing();
}

test.each(DEVICE_OPERATIONS)(
  '%s: whichever call fails, nothing is left and the next call is right',
  async (operation) => {
    const host = createHostDevice();
    const machine = await VirtualMachine.create(program, { devices: [host], functions });
    const expected: number[][] = [];
    for (const index of CALLS.keys()) expected.push(await call(machine, index));
    machine.dispose();
    let faults = 0;
    for (let at = 1; at <= MOST_FAULTS; at++) {
      const plan = new FaultPlan(operation, at);
      const failures: string[] = [];
      await live(faultyDevice(createHostDevice(), plan), expected, failures);
      expect(failures).toHaveLength(plan.hasStruck ? 1 : 0);
      if (!plan.hasStruck) break;
      faults++;
    }
    // These programs copy nothing, and ask for no elements in their middle.
    const isUsed = operation !== 'copy' && operation !== 'readSync';
    expect(faults > 0).toBe(isUsed);
    expect(faults).toBeLessThan(MOST_FAULTS);
  },
  60_000,
);

test('an injected fault is an error with a type', () => {
  const plan = new FaultPlan('write', 1);
  expect(() => plan.check('write')).toThrow(new OutOfMemoryError('an injected fault: write 1'));
  expect(plan.hasStruck).toBe(true);
});
