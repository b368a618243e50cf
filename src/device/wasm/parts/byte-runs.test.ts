import { expect, test } from 'vitest';
import { byteRuns, gatherRuns, runsByteLength, scatterRuns } from './byte-runs.ts';

/** Two planes of three lines of two elements; of each line the second element on. */
const written = {
  begin: 1,
  length: 2,
  repeats: [
    { count: 2, stride: 20 },
    { count: 3, stride: 5 },
  ],
};

test('runs are listed in bytes, without empty ones', () => {
  const empty = { begin: 3, length: 0, repeats: [] };
  const single = { begin: 50, length: 4, repeats: [] };
  const runs = byteRuns([empty, written, single], 2);
  expect([...runs]).toEqual([2, 4, 12, 4, 22, 4, 42, 4, 52, 4, 62, 4, 100, 8]);
  expect(runsByteLength(runs)).toBe(32);
});

test('what is gathered goes back to where it was', () => {
  const runs = byteRuns([written], 1);
  const from = Uint8Array.from({ length: 40 }, (_, i) => i);
  const gathered = gatherRuns(runs, from);
  expect([...new Uint8Array(gathered)]).toEqual([1, 2, 6, 7, 11, 12, 21, 22, 26, 27, 31, 32]);
  const to = new Uint8Array(40);
  scatterRuns(runs, gathered, to);
  const isWritten = (i: number) => new Uint8Array(gathered).includes(i);
  expect([...to]).toEqual(Array.from(from, (i) => (isWritten(i) ? i : 0)));
});

test('a buffer that is given is filled', () => {
  const runs = byteRuns([written], 1);
  const room = new ArrayBuffer(12);
  expect(gatherRuns(runs, new Uint8Array(40).fill(9), room)).toBe(room);
  expect([...new Uint8Array(room)]).toEqual(new Array<number>(12).fill(9));
});
