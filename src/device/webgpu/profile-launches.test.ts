import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.ts';
import type { Compilation } from '../device.ts';
import { LaunchClock } from './profile-launches.ts';

/** The members of a device that a launch clock uses. */
class FakeDevice {
  createCommandEncoder() {
    return new FakeEncoder();
  }

  async createComputePipelineAsync({ label }: { readonly label: string }) {
    await Promise.resolve();
    if (label === 'bad') throw new Error('no such shader');
    return label;
  }

  createComputePipeline({ label }: { readonly label: string }) {
    return label;
  }
}

class FakeEncoder {
  finish() {
    return 'commands';
  }
}

function openClock() {
  const device = new FakeDevice();
  const launches = { launchCount: 0 };
  const heard: Compilation[] = [];
  const time = new FakeClock();
  const clock = new LaunchClock(device as unknown as GPUDevice, launches, {
    onCompilation: (each) => heard.push(each),
    clock: time,
  });
  const submit = async (launchCount: number): Promise<number> => {
    const encoder = device.createCommandEncoder();
    launches.launchCount = launchCount;
    await time.advance(5);
    expect(encoder.finish()).toBe('commands');
    return time.now();
  };
  return { device, clock, submit, heard };
}

test('launches stand as early as none begins before it was submitted', async () => {
  const { clock, submit } = openClock();
  const first = await submit(2);
  const second = await submit(4);
  // The second submit waited longest for nothing: its first launch began at once.
  const apart = second - first;
  const begins = clock.begins([1000 + 3, 1000 + 4, 1000 + apart, 1000 + apart + 7, Number.NaN], 0);
  expect(begins[2]).toBeCloseTo(second);
  expect(begins[0]).toBeCloseTo(first + 3);
  expect((begins[3] ?? 0) - (begins[2] ?? 0)).toBeCloseTo(7);
  expect(begins[4]).toBeUndefined();
  clock.stop();
});

test('launches of an earlier profile do not count, and without timestamps nothing is known', async () => {
  const { clock, submit } = openClock();
  const at = await submit(2);
  expect(clock.begins([1, 500], 1)[1]).toBeCloseTo(at);
  expect(clock.begins([Number.NaN, Number.NaN], 0)).toEqual([undefined, undefined]);
  clock.stop();
});

test('pipelines are told of until it stops, also those that fail', async () => {
  const { device, clock, heard } = openClock();
  expect(await device.createComputePipelineAsync({ label: 'add' })).toBe('add');
  expect(device.createComputePipeline({ label: 'mul' })).toBe('mul');
  await expect(device.createComputePipelineAsync({ label: 'bad' })).rejects.toThrow(
    'no such shader',
  );
  clock.stop();
  await device.createComputePipelineAsync({ label: 'late' });
  expect(heard.map(({ label }) => label)).toEqual(['add', 'mul', 'bad']);
  for (const { beginMs, endMs } of heard) expect(endMs).toBeGreaterThanOrEqual(beginMs);
});
