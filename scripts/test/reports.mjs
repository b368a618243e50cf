// Reads the reports of the test runners: how many tests passed and were skipped, and which failed, each with
// the command that repeats it.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

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

/** A word of a command line, in quotes where the shell would read more into it. */
const quoted = (word) =>
  /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** A name as the pattern that a runner chooses tests by. */
const patternOf = (name) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

const commandOf = (words) => words.map(quoted).join(' ');

/** Where Vitest writes its report of a stage, run with `args`, and what counts it. */
export function vitestReport(root, title, args = []) {
  const repeat = (...words) => commandOf(['npm', 'run', 'unit', '--', ...args, ...words]);
  const failuresOf = ({ name, message, status, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) {
      return [{ text: nameFailure(file, message), command: repeat(file) }];
    }
    return failed.map(({ fullName, failureMessages: [reason] }) => ({
      text: nameFailure(`${file}: ${fullName}`, reason),
      command: repeat(file, '-t', patternOf(fullName)),
    }));
  };
  return reportOf(root, title, ({ numPassedTests, numPendingTests, numTodoTests, testResults }) => {
    const failures = testResults.flatMap(failuresOf);
    return {
      passed: numPassedTests,
      failed: failures.length,
      skipped: numPendingTests + numTodoTests,
      failures,
    };
  });
}

/** The test and its reason: the first line, and what Playwright writes below it of the two values. */
function nameFailure(test, reason = '') {
  const [first, ...rest] = reason.split('\n');
  const values = rest.filter((line) => /^(Expected|Received)\b.*:/.test(line)).slice(0, 2);
  const said = [first, ...values].map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return `${test}: ${said.join('; ')}`;
}

/** Where Playwright writes its report of a stage, run with the variables `env`, and what counts it. */
export function playwrightReport(root, title, env = {}) {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const prefix = variables.map((variable) => `${variable} `).join('');
  const repeat = (...words) =>
    `${prefix}${commandOf(['npm', 'run', 'e2e', ...(words.length > 0 ? ['--', ...words] : [])])}`;
  return reportOf(root, title, ({ stats, errors, suites }) => ({
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
    failures: [
      ...errors.map(({ message }) => ({
        text: nameFailure('before any test', stripVTControlCharacters(message)),
        command: repeat(),
      })),
      ...suites.flatMap(browserTestsOf).flatMap(({ place, name, status, results }) => {
        if (status !== 'unexpected' && status !== 'flaky') return [];
        const { errors: reasons = [] } = results.find((result) => result.status !== 'passed') ?? {};
        const reason = stripVTControlCharacters(reasons[0]?.message ?? '');
        return { text: nameFailure(name, reason), command: repeat(place) };
      }),
    ],
  }));
}

/** Tests of a suite with their place and title, those of its suites among them. */
const browserTestsOf = ({ specs = [], suites = [] }) => [
  ...specs.flatMap(({ file, line, title, tests }) =>
    tests.map((test) => ({
      ...test,
      place: `${file}:${line}`,
      name: `${test.projectName}, ${file}:${line}: ${title}`,
    })),
  ),
  ...suites.flatMap(browserTestsOf),
];
