import { expect, test } from 'vitest';
import { TypeCheckError, UnsupportedError } from '../../../core/errors.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { inTier } from '../../../testing/tier.ts';
import { compile, OPTIONAL_PASSES } from '../../compile.ts';
import type { GradientProgram } from './gradient-program.ts';
import { ProgramDerivatives } from './program-derivatives.ts';
import { randomGradientProgram } from './random-program.ts';

const COUNT = inTier({ quick: 8, long: 30 });
const SECOND_SEEDS = [6, 8, 10, 12, 17, 18, 19].slice(0, inTier({ quick: 2, long: 7 }));

/** Inference does not find the types of all that is drawn. */
function isProgram(program: GradientProgram): boolean {
  try {
    compile(program.module('float64'));
    return true;
  } catch (error) {
    if (error instanceof TypeCheckError) return false;
    throw error;
  }
}

test('gradients of random programs agree with differences, forward mode and unoptimised code', async () => {
  const host = createHostDevice();
  const refused: string[] = [];
  let compared = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const program = randomGradientProgram(seed);
    if (!isProgram(program)) continue;
    try {
      const derivatives = await ProgramDerivatives.of(program);
      const { differences, modes = 0 } = await derivatives.errorsOn(host, 'float64');
      expect(differences, program.title).toBeLessThan(1e-6);
      expect(modes, program.title).toBeLessThan(1e-9);
      const plain = await derivatives.gradient(host, 'float64', { without: OPTIONAL_PASSES });
      const optimised = await derivatives.gradient(host, 'float64');
      for (const [i, value] of optimised.entries()) {
        expect(value, program.title).toBeCloseTo(plain[i] ?? NaN, 9);
      }
      compared++;
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      refused.push(error.message);
    }
  }
  expect(compared).toBeGreaterThan(COUNT / 2);
  expect(refused).toEqual([]);
});

test('second derivatives of random programs agree with differences and forward mode', async () => {
  const host = createHostDevice();
  let compared = 0;
  for (const seed of SECOND_SEEDS) {
    const program = randomGradientProgram(seed, { size: 3, ofDerivatives: true });
    if (!isProgram(program)) continue;
    const derivatives = await ProgramDerivatives.of(program);
    const { differences, modes = 0 } = await derivatives.errorsOn(host, 'float64', {
      verify: true,
    });
    expect(differences, program.title).toBeLessThan(1e-6);
    expect(modes, program.title).toBeLessThan(1e-9);
    compared++;
  }
  expect(compared).toBe(SECOND_SEEDS.length);
});
