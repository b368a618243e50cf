import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { clearReports, playwrightReport, vitestReport } from './reports.mjs';

const MESSAGE = `Error: expect(received).toBe(expected) // Object.is equality

Expected: "CompileLimitError"
Received: "DeviceLostError"

    at session.spec.ts:324`;

const root = mkdtempSync(join(tmpdir(), 'weft-reports-'));
clearReports(root);
afterAll(() => rmSync(root, { recursive: true }));

/** A report of one test of a browser that ended as `status` says. */
function browserReport(status: 'unexpected' | 'flaky') {
  const results = [{ status: 'failed', errors: [{ message: MESSAGE }] }];
  const tests = [{ projectName: 'chromium', status, results }];
  const specs = [{ file: 'session.spec.ts', line: 318, title: 'others answer', tests }];
  const stats = { expected: 3, flaky: 0, unexpected: 0, skipped: 0, [status]: 1 };
  return { stats, errors: [], suites: [{ suites: [{ specs }] }] };
}

test.each(['unexpected', 'flaky'] as const)(
  'a browser test that is %s failed, with both values and the command that repeats it',
  (status) => {
    const { file, count } = playwrightReport(root, status, { WEFT_E2E: 'firefox' });
    expect(count()).toBeUndefined();
    writeFileSync(file, JSON.stringify(browserReport(status)));
    expect(count()).toEqual({
      passed: 3,
      failed: 1,
      skipped: 0,
      failures: [
        {
          text:
            'chromium, session.spec.ts:318: others answer: ' +
            'Error: expect(received).toBe(expected) // Object.is equality; ' +
            'Expected: "CompileLimitError"; Received: "DeviceLostError"',
          command: 'WEFT_E2E=firefox npm run e2e -- session.spec.ts:318',
        },
      ],
    });
  },
);

test('a unit test that fails, and a file that cannot be loaded, have their commands', () => {
  const { file, count } = vitestReport(root, 'tests on ../shared', ['--mode', 'shared']);
  const failed = { status: 'failed', fullName: "a (b) isn't c", failureMessages: ['no\n at x'] };
  const passed = { status: 'passed', fullName: 'd', failureMessages: [] };
  writeFileSync(
    file,
    JSON.stringify({
      numPassedTests: 1,
      numPendingTests: 2,
      numTodoTests: 0,
      testResults: [
        { name: join(root, 'src/a.test.ts'), status: 'failed', assertionResults: [failed, passed] },
        { name: join(root, 'src/b.test.ts'), status: 'failed', message: 'e', assertionResults: [] },
      ],
    }),
  );
  const unit = 'npm run unit -- --mode shared';
  expect(count()).toEqual({
    passed: 1,
    failed: 2,
    skipped: 2,
    failures: [
      {
        text: "src/a.test.ts: a (b) isn't c: no",
        command: String.raw`${unit} src/a.test.ts -t 'a \(b\) isn'\''t c'`,
      },
      { text: 'src/b.test.ts: e', command: `${unit} src/b.test.ts` },
    ],
  });
});
