// Reads the reports of the test runners: how many tests passed and were skipped, which failed, and which
// files take long.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The most seconds that a file of tests may take. */
export const MOST_SECONDS = 15;

const folderOf = (root) => join(root, '.weft-cache/reports');

/** Reports of an earlier run would count for this one. */
export function clearReports(root) {
  rmSync(folderOf(root), { recursive: true, force: true });
  mkdirSync(folderOf(root), { recursive: true });
}

function reportOf(root, title, countTests) {
  const file = join(folderOf(root), `${title.replaceAll(/\W+/g, '-')}.json`);
  const count = () =>
    existsSync(file) ? countTests(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
  return { file, count };
}

/** Where Vitest writes its report of a stage, and what counts it. */
export function vitestReport(root, title) {
  return reportOf(root, title, (report) => {
    const broken = report.testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    );
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken.length,
      skipped: report.numPendingTests + report.numTodoTests,
      slowFiles: slowFilesOf(root, report),
      failures: report.testResults.flatMap(({ name, message, assertionResults }) => [
        ...(broken.some((file) => file.name === name) ? [nameFailure(root, name, message)] : []),
        ...assertionResults
          .filter(({ status }) => status === 'failed')
          .map(({ fullName, failureMessages: [reason] }) =>
            nameFailure(root, `${name}: ${fullName}`, reason),
          ),
      ]),
    };
  });
}

/** Files beyond what CONTRIBUTING.md allows, slowest first; their imports do not count. */
const slowFilesOf = (root, { testResults }) =>
  testResults
    .map(({ name, startTime, endTime }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1000,
    }))
    .filter(({ seconds }) => seconds > MOST_SECONDS)
    .sort((a, b) => b.seconds - a.seconds);

/** The test and its reason: the first line, and what Playwright writes below it of the two values. */
function nameFailure(root, test, reason = '') {
  const [first, ...rest] = reason.split('\n');
  const values = rest.filter((line) => /^(Expected|Received)\b.*:/.test(line)).slice(0, 2);
  const said = [first, ...values].map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return `${test.replace(root, '')}: ${said.join('; ')}`;
}

/** Where Playwright writes its report of a stage, and what counts it. */
export function playwrightReport(root, title) {
  return reportOf(root, title, ({ stats, errors, suites }) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + errors.length,
    skipped: stats.skipped,
    failures: [
      ...errors.map(({ message }) =>
        nameFailure(root, 'before any test', stripVTControlCharacters(message)),
      ),
      ...suites.flatMap(browserTestsOf).flatMap(failuresOfTest),
    ],
  }));
}

/** Tests of a suite with their place and title, those of its suites among them. */
const browserTestsOf = ({ specs = [], suites = [] }) => [
  ...specs.flatMap(({ file, line, title, tests }) =>
    tests.map((test) => ({ ...test, name: `${test.projectName}, ${file}:${line}: ${title}` })),
  ),
  ...suites.flatMap(browserTestsOf),
];

/** A test that failed, or did before it passed: that it was tried again shall not be overlooked. */
function failuresOfTest({ name, status, results }) {
  if (status !== 'unexpected' && status !== 'flaky') return [];
  const { errors = [] } = results.find((result) => result.status !== 'passed') ?? {};
  const verdict = status === 'flaky' ? ' (passed when it was tried again)' : '';
  return [nameFailure('', `${name}${verdict}`, stripVTControlCharacters(errors[0]?.message ?? ''))];
}
