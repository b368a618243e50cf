import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../device.ts';
import { differentBytes } from '../../testing/different-bytes.ts';
import { OPERATORS_ON_WASM } from '../testing/operators-on-wasm.ts';
import { WatchedParts } from '../testing/watched-parts.ts';
import { createWasmDevice } from '../wasm-device.ts';
import { type DistributorOptions, distributorOf } from './distributor.ts';

const threads = new WatchedParts();

/** A device with threads that share all work that they can. */
async function openApart(options: Partial<DistributorOptions> = {}): Promise<Device> {
  const startPart = threads.starter();
  return createWasmDevice({
    createDistributor: distributorOf({ threads: 2, startPart, sharesAll: true, ...options }),
  });
}

describe('two threads with memories of their own', () => {
  let apart: Device;
  let alone: Device;
  beforeAll(async () => {
    apart = await openApart();
    alone = createWasmDevice();
  });
  afterAll(() => {
    apart.destroy();
    alone.destroy();
  });

  test.each(OPERATORS_ON_WASM.map((op, i) => [`${i} ${op.name}`, op] as const))(
    '%s: the bits of one',
    async (_, op) => {
      expect(await differentBytes(op, apart, alone)).toEqual([]);
    },
  );

  test('do a part of the work', async () => {
    const { asked } = threads;
    for (const op of OPERATORS_ON_WASM) {
      if (['matmul', 'conv2d'].includes(op.name)) await differentBytes(op, apart, alone);
    }
    expect(apart.info.threads).toBe(2);
    expect(threads.asked).toBeGreaterThan(asked + 30);
    expect(threads.done).toBe(threads.asked);
  });
});
