import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { WASM, WEBGPU } from '../../../device/testing/node-devices.ts';
import { TIER } from '../../../testing/tier.ts';
import { OPTIONAL_PASSES } from '../../compile.ts';
import type { GradientProgram } from './gradient-program.ts';
import { GRADIENT_PROGRAMS } from './gradient-programs.ts';
import { ProgramDerivatives } from './program-derivatives.ts';

// Each second one, where not all of them run.
const programs = GRADIENT_PROGRAMS.filter((_, i) => TIER === 'all' || i % 2 === 0).map(
  (program) => [program.title, program] as const,
);

/** Derivatives of each program by differences, which are the same for all devices. */
const KNOWN = new Map<GradientProgram, Promise<ProgramDerivatives>>();

function derivativesOf(program: GradientProgram): Promise<ProgramDerivatives> {
  const known = KNOWN.get(program) ?? ProgramDerivatives.of(program);
  KNOWN.set(program, known);
  return known;
}

describe('on the host, in double precision', () => {
  test.each(programs)('%s', async (_, program) => {
    const derivatives = await derivativesOf(program);
    expect(derivatives.expected.length).toBeGreaterThan(0);
    const host = createHostDevice();
    const verified = { verify: true };
    const { differences, modes = 0 } = await derivatives.errorsOn(host, 'float64', verified);
    expect(differences).toBeLessThan(1e-7);
    expect(modes).toBeLessThan(1e-12);
    if (TIER !== 'all') return;
    const optimised = await derivatives.gradient(host, 'float64', verified);
    const plain = await derivatives.gradient(host, 'float64', { without: OPTIONAL_PASSES });
    for (const [i, value] of optimised.entries()) expect(value).toBeCloseTo(plain[i] ?? NaN, 10);
  });
});

describe.each(TIER === 'all' ? [WEBGPU, WASM] : [WASM])('on $title', (opened) => {
  let device: Device;
  beforeAll(async () => {
    device = await opened.open();
  });
  afterAll(() => device.destroy());

  test.each(programs)('%s', async (_, program) => {
    const derivatives = await derivativesOf(program);
    const { single = 'float32' } = program;
    const { differences, modes = 0 } = await derivatives.errorsOn(device, single);
    const allowed = single === 'float16' ? 2e-2 : 1e-4;
    expect(differences).toBeLessThan(allowed);
    expect(modes).toBeLessThan(allowed);
  });
});
