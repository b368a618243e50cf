// `npm test`: installs what is missing, then runs every check and every test. A stage that fails
// does not stop the later ones. The last line counts them all.
//
//   npm test -- lint browser   the stages whose titles hold one of the words
//   npm test -- --all          also the long ones
import { installChromium } from './install-chromium.mjs';
import { installDependencies } from './install-dependencies.mjs';
import { installFirefox } from './install-firefox.mjs';
import { installNatsServer } from './install-nats-server.mjs';
import { clearReports, MOST_SECONDS } from './test/reports.mjs';
import { runStages } from './test/run-stages.mjs';
import { chooseStages, root, STAGES } from './test/stages.mjs';

const words = process.argv.slice(2).filter((word) => word !== '--all');
const isAll = process.argv.includes('--all');
if (isAll) process.env.WEFT_ALL = '1';
const stages = chooseStages(words, { isAll });
if (stages.length === 0) {
  const titles = STAGES.map(({ title }) => title).join(', ');
  console.error(`no stage holds ${words.join(' or ')}: ${titles}`);
  process.exit(1);
}

if (!installDependencies(root)) process.exit(1);
installChromium(root);
installFirefox(root);
installNatsServer(root);
clearReports(root);

const startedAt = Date.now();
const results = await runStages(stages);

const counted = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
const row = (title, seconds, text) =>
  console.log(`${title.padEnd(32)} ${`${seconds.toFixed(1)} s`.padStart(8)}   ${text}`);

console.log('');
for (const result of results) {
  const { title, seconds, missing } = result;
  row(title, seconds, missing === undefined ? counted(result) : `not run: ${missing}`);
}
row('all', (Date.now() - startedAt) / 1000, '');
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
const slowFiles = results.flatMap((result) => result.slowFiles ?? []);
if (slowFiles.length > 0) {
  console.log(`\n${slowFiles.length} files of tests took more than ${MOST_SECONDS} s:`);
  for (const { file, seconds } of slowFiles.slice(0, 10)) row(file, seconds, '');
}
// Again behind everything, for those who read the end of a long log.
for (const { title, failures = [] } of results) {
  for (const failure of failures) console.log(`\n${title}: ${failure}`);
}
console.log(`\n${counted(total)}`);
process.exitCode = total.failed > 0 ? 1 : 0;
