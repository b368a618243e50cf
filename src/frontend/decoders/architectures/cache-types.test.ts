import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CacheType } from '../../../core/text-layout.ts';
import type { Device } from '../../../device/device.ts';
import { openNodeGpu } from '../../../device/testing/node-devices.ts';
import { createWasmDevice } from '../../../device/wasm/wasm-device.ts';
import { withCachesOf } from '../cache-type.ts';
import type { Decoder } from '../generation-module.ts';
import { DecodeRunner, loadFrom } from './testing/decode-runner.ts';
import { fromGguf, worst } from './testing/expect-reference.ts';
import { storyDecoder } from './testing/story-decoder.ts';

/** How far logits may be from those with caches of float32; they are some 20 apart. */
const TOLERANCE = { float16: 0.01, int8: 0.25 } as const;
/** Positions that caches have room for: many more than are used. */
const CAPACITY = 512;

const TOKENS = Array.from({ length: 40 }, (_, i) => (i * 37 + 5) % 512);
const PROMPT = 30;

interface Steps {
  readonly logits: readonly (readonly number[])[];
  readonly cacheBytes: number;
  readonly scratchBytes: number;
}

async function stepsOf(decoder: Decoder, device: Device): Promise<Steps> {
  const runner = await DecodeRunner.open(decoder, device);
  runner.start(1, CAPACITY);
  const logits = await runner.step([TOKENS.slice(0, PROMPT)], [0]);
  for (let place = PROMPT; place < TOKENS.length; place++) {
    logits.push(...(await runner.step([[TOKENS[place] ?? 0]], [place])));
  }
  const { scratchBytes = 0 } = device.counters();
  return { logits, cacheBytes: runner.cacheBytes(1, CAPACITY), scratchBytes };
}

const DEVICES: Readonly<Record<string, () => Promise<Device>>> = {
  wasm: () => Promise.resolve(createWasmDevice()),
  // The adapter of tests lacks `shader-f16`; in Firefox the cases of operators run with it.
  webgpu: openNodeGpu,
};

let decoder: Decoder;
beforeAll(async () => {
  const { file, bytes } = fromGguf(storyDecoder());
  decoder = await loadFrom(file, bytes);
});

describe.each(Object.entries(DEVICES))('the story model on %s', (_, open) => {
  const opened: Device[] = [];
  let exact: Steps;
  const run = async (type?: CacheType): Promise<Steps> => {
    const device = await open();
    opened.push(device);
    return stepsOf(withCachesOf(decoder, type), device);
  };
  beforeAll(async () => {
    exact = await run();
  });
  afterAll(() => {
    for (const device of opened) device.destroy();
  });

  test.each(['float16', 'int8'] as const)('has caches of %s', async (type) => {
    const { logits, cacheBytes, scratchBytes } = await run(type);
    for (const [i, row] of logits.entries()) {
      const expected = exact.logits[i] ?? [];
      expect(worst(row, expected), `position ${PROMPT + i}`).toBeLessThan(TOLERANCE[type]);
      expect(worst(row, expected)).toBeGreaterThan(0);
      if (type === 'float16') expect(likeliest(row)).toBe(likeliest(expected));
    }
    // Heads of 64 elements have a scale of four bytes.
    expect(cacheBytes / exact.cacheBytes).toBe(type === 'float16' ? 1 / 2 : 68 / 256);
    // Nothing is widened on the way: temporary memory is what it was.
    expect(scratchBytes).toBeLessThanOrEqual(exact.scratchBytes);
  });
});

const likeliest = (row: readonly number[]): number => row.indexOf(Math.max(...row));
