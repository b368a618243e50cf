// `npm test`: installs what is missing, then runs every check and every test. A stage that fails
// does not stop the later ones. The last line counts them all. `npm test -- lint browser` runs the
// stages whose titles hold one of the words.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installChromium } from './install-chromium.mjs';
import { installDependencies } from './install-dependencies.mjs';
import { installNatsServer } from './install-nats-server.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = join(root, '.weft-cache/reports');
const vitestReport = join(reports, 'vitest.json');
const playwrightReport = join(reports, 'playwright.json');

/** A check is one pass or one failure; tests are counted by their reports. */
const STAGES = [
  { title: 'types', command: ['tsc', '--noEmit'] },
  { title: 'lint and import rules', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { title: 'format', command: ['biome', 'format', '.'] },
  {
    title: 'unit tests',
    command: [
      'vitest',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${vitestReport}`,
    ],
    count: () => countVitest(readReport(vitestReport)),
  },
  { title: 'bundle sizes', command: ['node', 'scripts/size.mjs'] },
  { title: 'library build', command: ['node', 'scripts/build.mjs'] },
  { title: 'package entries', command: ['node', 'scripts/check-package.mjs'] },
  { title: 'commands of the documentation', command: ['node', 'scripts/check-readme.mjs'] },
  {
    title: 'browser tests',
    command: ['playwright', 'test'],
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport },
    count: () => countPlaywright(readReport(playwrightReport)),
  },
];

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function countVitest(report) {
  if (report === undefined) return undefined;
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function countPlaywright(report) {
  if (report === undefined) return undefined;
  const { expected, unexpected, flaky, skipped } = report.stats;
  return { passed: expected + flaky, failed: unexpected + report.errors.length, skipped };
}

/** Runs a stage in the environment in which Dawn finds its driver; resolves to whether it passed. */
function run({ command, env }) {
  const wrapper = join(root, 'scripts/with-gpu.mjs');
  const child = spawn(process.execPath, [wrapper, ...command], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

async function runStage(stage) {
  console.log(`\n== ${stage.title}: ${stage.command.slice(0, 2).join(' ')}`);
  const startedAt = Date.now();
  const hasPassed = await run(stage);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${stage.title}: ${hasPassed ? 'passed' : 'FAILED'} in ${seconds} s`);
  const counts = stage.count?.() ?? { passed: hasPassed ? 1 : 0, failed: 0, skipped: 0 };
  // A runner that fails for another reason than a test still counts.
  if (!hasPassed && counts.failed === 0) counts.failed = 1;
  return { title: stage.title, ...counts };
}

if (!installDependencies(root)) process.exit(1);
installChromium(root);
installNatsServer(root);
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const words = process.argv.slice(2);
const stages = STAGES.filter(
  ({ title }) => words.length === 0 || words.some((word) => title.includes(word)),
);
if (stages.length === 0) {
  console.error(
    `no stage holds ${words.join(' or ')}: ${STAGES.map(({ title }) => title).join(', ')}`,
  );
  process.exit(1);
}

const results = [];
for (const stage of stages) results.push(await runStage(stage));

const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log('');
for (const { title, passed, failed, skipped } of results) {
  const extra = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`${title.padEnd(32)} ${passed} passed, ${failed} failed${extra}`);
}
const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
process.exitCode = sum('failed') > 0 ? 1 : 0;
