import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inTier } from '../../src/testing/tier.ts';
import { type Death, type DeathCase, DEATHS, dieEverywhere, Locks } from './worker-deaths.ts';

let locks: Locks;
beforeEach(() => {
  locks = new Locks();
  vi.stubGlobal('navigator', { locks });
});
afterEach(() => vi.unstubAllGlobals());

type DeathTest = readonly [life: DeathCase['life'], death: Death, stride: number];

const QUICK: readonly DeathTest[] = [
  ['several calls', 'is terminated', 9],
  ['several calls', 'stops', 13],
  ['training', 'fails', 29],
];
const LONG = DEATHS.flatMap((death): DeathTest[] => [
  ['several calls', death, 1],
  ['branching session', death, 2],
  ['training', death, 2],
  ['text', death, 17],
]);

test.each(inTier({ quick: QUICK, long: LONG }))(
  'a life of %s, whose worker %s at one of %i messages: a typed error, and the next call right',
  async (life, death, stride) => {
    const { faults, failed, problems } = await dieEverywhere({ life, death, locks, stride });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(1);
    expect(failed).toBeGreaterThan(0);
  },
  600_000,
);
