import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clearReports, playwrightReport } from './reports.mjs';

const MESSAGE = `Error: expect(received).toBe(expected) // Object.is equality

Expected: "CompileLimitError"
Received: "DeviceLostError"

    at session.spec.ts:324`;

/** One test of a browser, whose first try failed with `message`. */
function flakyReport(message: string) {
  const results = [{ status: 'failed', errors: [{ message }] }, { status: 'passed' }];
  const tests = [{ projectName: 'chromium', status: 'flaky', results }];
  const specs = [{ file: 'session.spec.ts', line: 318, title: 'others answer', tests }];
  const stats = { expected: 3, flaky: 1, unexpected: 0, skipped: 0 };
  return { stats, errors: [], suites: [{ suites: [{ specs }] }] };
}

test('a browser test that was tried again is told with both values', () => {
  const root = mkdtempSync(join(tmpdir(), 'weft-reports-'));
  clearReports(root);
  const { file, count } = playwrightReport(root, 'browser tests');
  expect(count()).toBeUndefined();
  writeFileSync(file, JSON.stringify(flakyReport(MESSAGE)));
  expect(count()).toEqual({
    passed: 4,
    failed: 0,
    skipped: 0,
    failures: [
      'chromium, session.spec.ts:318: others answer (passed when it was tried again): ' +
        'Error: expect(received).toBe(expected) // Object.is equality; ' +
        'Expected: "CompileLimitError"; Received: "DeviceLostError"',
    ],
  });
});
