import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runStage } from './run-stage.mjs';

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line.trim()));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const node = (script: string): string[] => ['node', '-e', script];
const lacking = { title: 'bears', command: node('0'), needs: () => 'there is no zoo' };

test('a stage that lacks something is named and not run', async () => {
  vi.stubEnv('CI', '');
  expect(await runStage(lacking)).toEqual({
    title: 'bears',
    passed: 0,
    failed: 0,
    skipped: 0,
    seconds: 0,
    missing: 'there is no zoo',
  });
  expect(lines).toEqual(['== bears: not run: there is no zoo']);
});

test('it fails in continuous integration, and where it is demanded', async () => {
  const failed = { title: 'bears', passed: 0, failed: 1, skipped: 0, seconds: 0 };
  vi.stubEnv('CI', 'true');
  expect(await runStage(lacking)).toEqual(failed);
  vi.stubEnv('CI', '');
  expect(await runStage({ ...lacking, isDemanded: () => true })).toEqual(failed);
  expect(lines).toEqual(Array(2).fill('== bears: FAILED: there is no zoo'));
});

test('a stage counts as one, or as what its report says', async () => {
  const passing = { title: 'good', command: node('0') };
  expect(await runStage(passing)).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
  const counts = { passed: 7, failed: 0, skipped: 2 };
  expect(await runStage({ ...passing, count: () => counts })).toMatchObject(counts);
});

test('a stage that ends with an error fails, whatever its report says', async () => {
  const failing = { title: 'bad', command: node('process.exit(3)') };
  expect(await runStage(failing)).toMatchObject({
    passed: 0,
    failed: 1,
    failures: [
      {
        text: 'node -e process.exit(3) failed; see above',
        command: "npm test -- 'bad'",
      },
    ],
  });
  const count = () => ({ passed: 7, failed: 0, skipped: 0 });
  expect(await runStage({ ...failing, count })).toMatchObject({ passed: 7, failed: 1 });
  expect(lines.at(-1)).toMatch(/^== bad: FAILED in \d+\.\d s$/);
});
