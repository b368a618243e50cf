// `npm test`: installs what is missing, then runs the stages of a tier (docs/tests.md). A stage that fails
// does not stop the later ones. The last line counts all tests.
//
//   npm test                   what a newcomer runs
//   npm run e2e                the browser tests in Chromium; with names of files, those alone
//   npm test -- --ci           what continuous integration runs
//   npm test -- --all          everything, for releases
//   npm test -- lint shared    the stages whose titles hold one of the words
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { boundLine, halfCalibration, REFERENCE_SECONDS } from './test/calibration.mjs';
import { clearReports } from './test/reports.mjs';
import { runStages } from './test/run-stages.mjs';
import { setUp, setUpLine } from './test/set-up.mjs';
import { BOUND_MINUTES, chooseStages, root, STAGES } from './test/stages.mjs';
import { writeOperators } from './write-operators.mjs';

const TIERS = { '--e2e': 'e2e', '--ci': 'ci', '--all': 'all' };

function refuse(message) {
  console.error(message);
  process.exit(1);
}

const given = process.argv.slice(2);
if (given[0] === '--e2e' && given.length > 1) {
  // Some files, or other options of Playwright: no tier, so nothing is added up.
  const wrapper = ['scripts/with-gpu.mjs', '--set-up', 'playwright', 'test', ...given.slice(1)];
  process.exit(spawnSync(process.execPath, wrapper, { cwd: root, stdio: 'inherit' }).status ?? 1);
}
const words = given.filter((word) => !word.startsWith('--'));
const flags = given.filter((word) => word.startsWith('--'));
const unknown = flags.find((flag) => TIERS[flag] === undefined);
if (unknown !== undefined) {
  refuse(`unknown option ${unknown}; there are ${Object.keys(TIERS).join(', ')}`);
}
const tier = TIERS[flags.at(-1)] ?? 'test';
const stages = chooseStages(words, tier);
if (stages.length === 0) {
  const titles = STAGES.map(({ title }) => title).join(', ');
  refuse(`no stage holds ${words.join(' or ')}: ${titles}`);
}

const startedAt = Date.now();
const prepared = setUp(root, stages);
if (prepared === undefined) process.exit(1);
clearReports(root);
await writeOperators();

const firstHalf = await halfCalibration();
const results = await runStages(stages);
const seconds = (Date.now() - startedAt) / 1000;
const calibration = firstHalf + (await halfCalibration());

const counted = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
const row = (title, time, text) =>
  console.log(`${title.padEnd(42)} ${`${time.toFixed(1)} s`.padStart(8)}   ${text}`);

// Again behind everything, for those who read the end of a long log.
const failed = results.filter(({ failures }) => (failures ?? []).length > 0);
if (failed.length > 0) console.log('\nWhat failed, and the command that repeats it:');
for (const { title, failures } of failed) {
  for (const { text, command } of failures) console.log(`\n${title}: ${text}\n  ${command}`);
}
console.log('');
for (const result of results) {
  const { title, missing } = result;
  row(title, result.seconds, missing === undefined ? counted(result) : `not run: ${missing}`);
}
row('all, with set-up', seconds, setUpLine(prepared));
console.log(
  `calibration ${calibration.toFixed(1)} s on each of ${availableParallelism()} cores ` +
    `(${REFERENCE_SECONDS} s where bounds were set)`,
);
if (words.length === 0 && BOUND_MINUTES[tier] !== undefined) {
  console.log(
    boundLine({ minutes: BOUND_MINUTES[tier], calibration, seconds: seconds - prepared.seconds }),
  );
}
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
console.log(`\n${counted(total)}`);
process.exitCode = total.failed > 0 ? 1 : 0;
