import { expect, test } from 'vitest';
import { UsageError } from '../../core/errors.ts';
import { checkCeilings, withinCeilings } from './within-ceilings.ts';
import type { ProgramLimits } from '../../core/limits/program-limits.ts';

test('a session gets what it asks for as far as its worker allows it', () => {
  const ceilings: ProgramLimits = { deviceTimeout: 5000, byteBudget: 1000 };
  expect(withinCeilings({}, {})).toEqual({});
  expect(withinCeilings({}, ceilings)).toEqual(ceilings);
  const asked = { deviceTimeout: 100, byteBudget: 2000, runTimeout: Number.POSITIVE_INFINITY };
  expect(withinCeilings(asked, ceilings)).toEqual({
    deviceTimeout: 100,
    byteBudget: 1000,
    runTimeout: Number.POSITIVE_INFINITY,
  });
});

test('kernels are refused when either side refuses them', () => {
  const refuse = { programKernels: 'refuse' } as const;
  const allow = { programKernels: 'allow' } as const;
  expect(withinCeilings(allow, refuse)).toEqual(refuse);
  expect(withinCeilings(refuse, allow)).toEqual(refuse);
  expect(withinCeilings(allow, allow)).toEqual({});
});

test.each([
  [{ runTimout: 5 }, 'got an unknown limit "runTimout", expected only programKernels,'],
  [{ runTimeout: 0 }, 'got runTimeout 0, expected a number above 0'],
  [{ byteBudget: Number.NaN }, 'got byteBudget NaN, expected a number above 0'],
  [{ programKernels: 'no' }, 'got programKernels "no", expected "allow" or "refuse"'],
])('%j are no ceilings', (ceilings, message) => {
  const check = () => checkCeilings(ceilings as ProgramLimits);
  expect(check).toThrow(UsageError);
  expect(check).toThrow(`limits of serve: ${message}`);
});
