import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../src/', import.meta.url));

const CLOCK =
  /performance\.now|Date\.now|new Date|cpuUsage|hrtime|timeOrigin|setTimeout|setInterval|CLOCK\b/;

/** Files that read a clock: for a limit of time that the caller gave, and to tell how long passes took. */
const ALLOWED = [
  'compiler/instruments/pass-instrument.ts',
  'compiler/ir/compile-budget.ts',
  'frontend/history/pass-history.ts',
];

test('nothing else of the compiler and its frontends reads a clock: a model is taken or not by what it is', () => {
  const reading = ['compiler', 'frontend', 'ops', 'bytecode'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path}`)
      .filter((path) => path.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(path))
      .filter((path) => CLOCK.test(readFileSync(`${root}${path}`, 'utf8'))),
  );
  expect(reading.toSorted()).toEqual(ALLOWED);
});
