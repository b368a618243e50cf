import { expect, test } from 'vitest';
import { DeviceError, DeviceLostError } from '../../core/errors.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DevicePool } from './device-pool.ts';

interface Opened {
  readonly pool: DevicePool;
  readonly devices: Device[];
  readonly lose: ((error: DeviceLostError) => void)[];
}

function openPool(): Opened {
  const devices: Device[] = [];
  const lose: Opened['lose'] = [];
  const pool = new DevicePool(async () => {
    const lost = new Promise<DeviceLostError>((resolve) => lose.push(resolve));
    const device: Device = Object.defineProperty(createHostDevice(), 'lost', { value: lost });
    devices.push(device);
    return device;
  });
  return { pool, devices, lose };
}

const never = new AbortController().signal;

test('one device per kind, until the last user has gone', async () => {
  const { pool, devices } = openPool();
  const [a, b] = await Promise.all([pool.acquire('host'), pool.acquire('host')]);
  expect(a).toBe(b);
  expect(devices).toHaveLength(1);
  a.release();
  expect(a.isUsable()).toBe(true);
  b.release();
  expect(a.isUsable()).toBe(false);
  expect(() => devices[0]?.createBuffer(4)).toThrow(/destroyed/);
  expect((await pool.acquire('host')).device).toBe(devices[1]);
});

test('of a kind with threads one device per number of them', async () => {
  const { pool, devices } = openPool();
  const one = await pool.acquire('wasm', { threads: 1 });
  const two = await pool.acquire('wasm', { threads: 2 });
  expect(await pool.acquire('wasm', { threads: 2 })).toBe(two);
  expect(two).not.toBe(one);
  expect(await pool.acquire('host', { threads: 2 })).toBe(await pool.acquire('host'));
  expect(devices).toHaveLength(3);
});

test('a device that could not be made is asked for again', async () => {
  let attempts = 0;
  const pool = new DevicePool(async () => {
    attempts++;
    if (attempts === 1) throw new DeviceError('no adapter yet');
    return createHostDevice();
  });
  await expect(pool.acquire('webgpu')).rejects.toThrow('no adapter yet');
  expect((await pool.acquire('webgpu')).isUsable()).toBe(true);
});

test('a loss rejects what is under way, and a lost device is not given out again', async () => {
  const { pool, devices, lose } = openPool();
  const shared = await pool.acquire('webgpu');
  const stuck = shared.share(() => new Promise(() => undefined));
  const error = new DeviceLostError('gone');
  lose[0]?.(error);
  await expect(stuck).rejects.toBe(error);
  await expect(shared.share(async () => 1)).rejects.toBe(error);
  expect((await pool.acquire('webgpu')).device).toBe(devices[1]);
});

test('exclusive work waits for what runs and keeps out what comes', async () => {
  const { pool } = openPool();
  const shared = await pool.acquire('host');
  const events: string[] = [];
  const step = (name: string) => async (): Promise<void> => {
    events.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    events.push(`${name} ends`);
  };
  const aborted = new AbortController();
  aborted.abort();
  const results = await Promise.allSettled([
    shared.share(step('a')),
    shared.share(step('b')),
    shared.exclude(step('profile'), never),
    shared.share(step('c')),
    shared.exclude(step('aborted'), aborted.signal),
    shared.exclude(step('second'), never),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(events).toEqual([
    'a begins',
    'b begins',
    'a ends',
    'b ends',
    'profile begins',
    'profile ends',
    'c begins',
    'c ends',
    'second begins',
    'second ends',
  ]);
});

test('tells of work that goes on when the device was given back', async () => {
  let isBusy = true;
  const pool = new DevicePool(async () =>
    Object.assign(createHostDevice(), { queue: { isBusy: () => isBusy } }),
  );
  expect(pool.isBusy()).toBe(false);
  const shared = await pool.acquire('webgpu');
  shared.release();
  expect(shared.isUsable()).toBe(false);
  expect(pool.isBusy()).toBe(true);
  isBusy = false;
  expect(pool.isBusy()).toBe(false);
});
