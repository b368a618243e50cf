import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TESTED_OPS } from '../../ops/testing/tested-ops.ts';
import { inTier, TIER } from '../../testing/tier.ts';
import type { Device } from '../device.ts';
import { type Departure, DEPARTURES } from '../testing/departures.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';
import { HOST, KERNEL_DEVICES } from '../testing/node-devices.ts';
import { SPECIAL_VALUE_OPS } from '../testing/special-value-ops.ts';
import { compareSpecialValues } from '../testing/special-values.ts';

describeOnDevices(SPECIAL_VALUE_OPS);

/** Not `wgsl_kernel`: what that computes is the program's own code. */
const COMPARED = [...TESTED_OPS.values()].filter(
  ({ name, inputs, hostOnlyBecause }) =>
    inputs.some(({ dtypes }) => dtypes.includes('float32')) &&
    hostOnlyBecause === undefined &&
    name !== 'wgsl_kernel',
);

const AMOUNT = inTier({
  quick: { most: 3, largest: 4096 },
  long: { most: Infinity, largest: 40_000 },
});

describe('special values in each input', () => {
  const devices: Device[] = [];
  const met = new Set<Departure>();
  let count = 0;
  beforeAll(async () => {
    const tested = KERNEL_DEVICES.filter((device) => device !== HOST);
    devices.push(...(await Promise.all(tested.map(({ open }) => open()))));
  });
  afterAll(() => {
    for (const device of devices) device.destroy();
    // No departure is listed that none of all operators has.
    if (TIER === 'all' && count === COMPARED.length) {
      expect(DEPARTURES.filter((departure) => !met.has(departure))).toEqual([]);
    }
  });

  test.each(COMPARED.map((op) => [op.name, op] as const))('%s', async (_, op) => {
    const { cellCount, differences, departures } = await compareSpecialValues(devices, op, AMOUNT);
    expect(differences).toEqual([]);
    expect(cellCount).toBeGreaterThan(0);
    for (const departure of departures) met.add(departure);
    count++;
  });
});

test('docs/numbers.md has a row for each departure', () => {
  const text = readFileSync('docs/numbers.md', 'utf8');
  const [, section = ''] = text.split('## Special values');
  for (const { row } of DEPARTURES) expect(section).toContain(`\n| ${row} |`);
});
