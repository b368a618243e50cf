import { expect, test } from 'vitest';
import { StepTrial, type Way, TrialTurns } from './step-trial.ts';

const open = (turns = new TrialTurns()): StepTrial =>
  new StepTrial({ others: 1, messagesMs: () => 0.1, turns });

/** Runs a step so often, which takes so long either way; the ways that it ran. */
function runs(
  trial: StepTrial,
  count: number,
  times: Record<Way, (run: number) => number>,
): { readonly ways: Way[]; readonly isLeft: boolean } {
  const ways: Way[] = [];
  let isLeft = false;
  for (let i = 0; i < count; i++) {
    const way = trial.next();
    ways.push(way);
    if (trial.record(way, times[way](i))) isLeft = true;
  }
  return { ways, isLeft };
}

const always = (ms: number) => () => ms;

test('a step runs alone, then both ways in turns, and then the faster one is taken', () => {
  const { ways, isLeft } = runs(open(), 40, { alone: always(5), shared: always(3) });
  expect(ways.slice(0, 4)).toEqual(['alone', 'alone', 'alone', 'alone']);
  expect(ways.slice(4, 8)).toEqual(['shared', 'alone', 'shared', 'alone']);
  expect(new Set(ways.slice(12))).toEqual(new Set(['shared']));
  expect(isLeft).toBe(false);
});

test('a step that gains too little is not shared, and says so once', () => {
  const trial = open();
  const { ways, isLeft } = runs(trial, 20, { alone: always(10), shared: always(9.5) });
  expect(ways).toContain('shared');
  expect(new Set(ways.slice(12))).toEqual(new Set(['alone']));
  expect(isLeft).toBe(true);
  expect(runs(trial, 5, { alone: always(10), shared: always(1) }).isLeft).toBe(false);
});

test('short steps are measured more often, and those that messages take longer than not at all', () => {
  const short = runs(open(), 100, { alone: always(0.4), shared: always(0.3) }).ways;
  expect(short.lastIndexOf('alone')).toBeGreaterThan(30);
  expect(short.at(-1)).toBe('shared');
  const shorter = runs(open(), 100, { alone: always(0.24), shared: always(0.1) }).ways;
  expect(new Set(shorter)).toEqual(new Set(['alone']));
});

test('a short step is shared in every third run while it is measured', () => {
  const { ways } = runs(open(), 70, { alone: always(1), shared: always(0.6) });
  expect(ways.slice(4, 11).join(' ')).toBe('shared alone alone shared alone alone shared');
  expect(new Set(ways.slice(60))).toEqual(new Set(['shared']));
});

test('what takes much longer is tried a few times only', () => {
  const { ways } = runs(open(), 100, { alone: always(0.5), shared: always(0.7) });
  expect(ways.filter((way) => way === 'shared')).toHaveLength(4);
});

test('the first run of a way, and those that were held up, do not count', () => {
  const shared = (run: number) => (run === 4 || run === 6 ? 200 : 5);
  const { ways } = runs(open(), 20, { alone: always(10), shared });
  expect(ways.at(-1)).toBe('shared');
});

test('what is not shared is measured again, after more runs', () => {
  const trial = open();
  runs(trial, 50, { alone: always(1), shared: always(1.1) });
  const { ways } = runs(trial, 10_200, { alone: always(1), shared: always(0.5) });
  expect(ways.indexOf('shared')).toBeGreaterThan(9000);
  expect(ways.at(-1)).toBe('shared');
});

test('what is shared is measured again after many runs', () => {
  const trial = open();
  runs(trial, 20, { alone: always(10), shared: always(5) });
  const { ways } = runs(trial, 1200, { alone: always(10), shared: always(12) });
  expect(ways[0]).toBe('shared');
  expect(ways.at(-1)).toBe('alone');
});

test('a step that is given up is not shared any more', () => {
  const trial = open();
  runs(trial, 20, { alone: always(10), shared: always(1) });
  expect(trial.next()).toBe('shared');
  trial.giveUp();
  const { ways } = runs(trial, 20_000, { alone: always(10), shared: always(1) });
  expect(new Set(ways)).toEqual(new Set(['alone']));
});

test('steps are tried one at a time, the longest first', () => {
  const turns = new TrialTurns();
  const steps = [2, 4, 3].map((ms) => ({ trial: open(turns), ms, tried: [] as number[] }));
  for (let run = 0; run < 60; run++) {
    for (const { trial, ms, tried } of steps) {
      const way = trial.next();
      if (way === 'shared') tried.push(run);
      trial.record(way, way === 'shared' ? ms * 1.1 : ms);
    }
  }
  const [two = [], four = [], three = []] = steps.map(({ tried }) => tried);
  expect(Math.max(...four)).toBeLessThanOrEqual(Math.min(...three));
  expect(Math.max(...three)).toBeLessThanOrEqual(Math.min(...two));
});

test('a step that does not run any more loses its turn', () => {
  const turns = new TrialTurns();
  const gone = open(turns);
  runs(gone, 5, { alone: always(9), shared: always(5) });
  const { ways } = runs(open(turns), 1100, { alone: always(8), shared: always(5) });
  expect(ways.indexOf('shared')).toBeGreaterThan(500);
  expect(ways.at(-1)).toBe('shared');
});
