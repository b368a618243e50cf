import { expect, test } from 'vitest';
import { boundLine } from './calibration.mjs';
import { type EndedFile, roomOf, RoomTally } from './room-tally.ts';
import { setUpLine } from './set-up.mjs';
import { chooseStages } from './stages.mjs';

const titles = (words: readonly string[], tier: string): readonly string[] =>
  chooseStages(words, tier).map(({ title }) => title);

test('each tier has the checks of the one before it', () => {
  const quick = titles([], 'test');
  expect(quick).toContain('unit tests');
  expect(titles([], 'e2e')).toEqual(['browser tests']);
  const browsers = quick.filter((title) => !/smoke|README/.test(title));
  // The smoke is one of the browser tests; the commands of the README run in the clone.
  expect(titles([], 'ci')).toEqual(expect.arrayContaining([...browsers, 'browser tests']));
  expect(titles([], 'all')).toEqual(expect.arrayContaining([...browsers, 'browser tests']));
});

test('words choose stages of any tier', () => {
  expect(titles(['shared', 'types'], 'test')).toEqual(['types', 'tests on ../shared']);
  expect(titles(['no such'], 'all')).toEqual([]);
  // A whole title is no part of another, and what reads the build comes behind it.
  expect(titles(['browser tests'], 'test')).toEqual(['browser tests']);
  expect(titles(['package'], 'test')).toEqual(['library build', 'package']);
});

test('a bound grows on a slower machine and stays on a quicker one', () => {
  expect(boundLine({ minutes: 10, calibration: 10, seconds: 1199 })).toBe(
    'bound beside set-up: 10 min x 2.00 = 20.0 min, kept with 20.0 min',
  );
  expect(boundLine({ minutes: 10, calibration: 2, seconds: 660 })).toBe(
    'bound beside set-up: 10 min x 1.00 = 10.0 min, EXCEEDED with 11.0 min',
  );
});

test('set-up says what came over the network', () => {
  expect(setUpLine({ seconds: 12.34, bytes: 95_600_000 })).toBe('set-up 12.3 s, 95.6 MB fetched');
  expect(setUpLine({ seconds: 0, bytes: 900 })).toBe('set-up 0.0 s, nothing fetched');
  expect(setUpLine({ seconds: 1, bytes: undefined })).toBe(
    'set-up 1.0 s, bytes are not counted on this system',
  );
});

/** A file of tests that took 1.5 s, with tests of these states. */
function ended(state: 'passed' | 'failed', states: readonly string[]): EndedFile {
  const file = {
    state: () => state,
    diagnostic: () => ({ duration: 1000, collectDuration: 400, setupDuration: 100 }),
    children: { allTests: () => states.map((of) => ({ result: () => ({ state: of }) })) },
  };
  return file as unknown as EndedFile;
}

test('a room has a line of its own when its last file has ended', () => {
  expect(roomOf('src/compiler/ir/text.test.ts')).toBe('compiler');
  expect(roomOf('scripts/test/tiers.test.ts')).toBe('scripts');
  const room = new RoomTally('compiler');
  for (const _ of ['a', 'b', 'c']) room.expectFile();
  room.addFile(ended('passed', ['passed', 'passed']));
  room.addFile(ended('failed', ['failed', 'passed']));
  expect(room.isComplete).toBe(false);
  room.addFile(ended('failed', []));
  expect(room.isComplete).toBe(true);
  expect(room.line()).toBe('compiler         3 files     4 tests     4.5 s   2 FAILED');
});
