import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  f32,
  type LoadedProgram,
  loadProgram,
  plainValue,
} from '../../compiler/testing/load-program.ts';
import { MACHINE_DEVICES } from '../../device/testing/node-devices.ts';
import type { HostInput } from '../link/host-function.ts';
import { release } from '../values/value.ts';
import { restoreSnapshot } from './resume-snapshot.ts';
import { RunControl } from './run-control.ts';
import { takeSnapshot } from './take-snapshot.ts';

const pair = f32([2], 1, 2);

/** Programs with recursion, closures, data types, loops, and sizes that are computed. */
const CALLS: readonly (readonly [file: string, name: string, ...args: HostInput[]])[] = [
  ['closures', 'outside', f32([], 2)],
  ['closures', 'use_adder', f32([], 2)],
  ['closures', 'nested', f32([], 2)],
  ['growing-state', 'main', 3, f32([1, 2], 1, 2)],
  ['growing-heads', 'main', 2, f32([2, 1, 2], 1, 2, 3, 4)],
  ['lists', 'zipped', pair],
  ['lists', 'reversed', pair],
  ['loops', 'double_until', f32([], 3), f32([], 100)],
  ['loops', 'odd', 11],
  ['mutual-calls', 'main', pair, f32([2], 3, 4), f32([2], 5, 6)],
  ['recursion', 'sum_to', f32([], 4)],
  ['state', 'main', 2, f32([2, 64], 1, ...new Array<number>(127).fill(0))],
  ['trees', 'main', f32([2, 2], 0.1, 0.2, 0.3, 0.4), f32([1, 2], 0.5, 0.6)],
  ['trees', 'rose', pair],
  ['unknown-dims', 'four_times', f32([1, 2], 1, 2)],
];

/** Stops a call at a place, and finishes it in the other machine; undefined when it comes not there. */
async function resumedAt(
  { vm }: LoadedProgram,
  other: LoadedProgram,
  { name, args, ...place }: Stop,
): Promise<unknown> {
  const control = RunControl.of(vm);
  const stop = new AbortController();
  const paused = control.pause({ ...place, signal: stop.signal }).then(
    () => true,
    () => false,
  );
  const straight = vm
    .get(name)(...args)
    .finally(() => stop.abort());
  let resumed: unknown;
  if (await paused) {
    const bytes = await takeSnapshot(vm);
    control.continue();
    const { calls } = await restoreSnapshot(other.vm, bytes);
    const result = (await calls[0]?.result) ?? null;
    resumed = await plainValue(other.vm, result);
    release(result);
  }
  release(await straight);
  return resumed;
}

interface Stop {
  readonly at: { readonly function: string; readonly instruction: number };
  readonly visit: number;
  readonly name: string;
  readonly args: readonly HostInput[];
}

test.each(
  MACHINE_DEVICES.flatMap((device) => CALLS.map((call) => ({ device, call, title: device.title }))),
)(
  'on $title, $call.0: $call.1 goes on from every instruction',
  async ({ device: { open }, call: [file, name, ...args] }) => {
    const text = readFileSync(
      new URL(`../../compiler/programs/${file}.ir`, import.meta.url),
      'utf8',
    );
    const device = await open();
    const [program, other] = [
      await loadProgram(text, { device }),
      await loadProgram(text, { device }),
    ];
    const { liveBytes } = other.vm.memory();
    const visits = device.kind === 'host' ? [1, 3] : [1];
    const expected = await program.run(name, ...args);
    let count = 0;
    for (const { source, code } of program.vm.internals().linked.functions) {
      for (const instruction of code.keys()) {
        for (const visit of visits) {
          const at = { function: source.name, instruction };
          const resumed = await resumedAt(program, other, { at, visit, name, args });
          if (resumed === undefined) break;
          expect(resumed, `${source.name}, instruction ${instruction}`).toEqual(expected);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(5);
    expect(other.vm.memory().liveBytes).toBe(liveBytes);
    program.vm.dispose();
    other.vm.dispose();
    device.destroy();
  },
);
