import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { kernelDevices } from '../../../device/testing/conformance-devices.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import { OPTIONAL_PASSES } from '../../compile.ts';
import type { GradientProgram } from './gradient-program.ts';
import { GRADIENT_PROGRAMS } from './gradient-programs.ts';
import { ProgramDerivatives } from './program-derivatives.ts';

const programs = GRADIENT_PROGRAMS.map((program) => [program.title, program] as const);

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
    const optimised = await derivatives.gradient(host, 'float64', verified);
    const plain = await derivatives.gradient(host, 'float64', { without: OPTIONAL_PASSES });
    for (const [i, value] of optimised.entries()) expect(value).toBeCloseTo(plain[i] ?? NaN, 10);
  });
});

/** Wasm, and WebGPU where its kernels are those of every adapter. */
const [, software, wasm] = kernelDevices(nodeGpu);

describe.each([software, wasm])('on $title', (opened) => {
  let device: Device | undefined;
  beforeAll(async () => {
    device = await opened?.open();
  });
  afterAll(() => device?.destroy());

  test.each(programs)('%s', async (_, program) => {
    if (device === undefined) throw new Error('no device');
    const derivatives = await derivativesOf(program);
    const { single = 'float32' } = program;
    const { differences, modes = 0 } = await derivatives.errorsOn(device, single);
    const allowed = single === 'float16' ? 2e-2 : 1e-4;
    expect(differences).toBeLessThan(allowed);
    expect(modes).toBeLessThan(allowed);
  });
});
