// The stages of `npm test` and of its longer tiers, in order. To add one, add a line; fields:
//   title     words of it choose the stage: `npm test -- lint shared`
//   command   runs in the root, with WebGPU's driver found and node_modules/.bin in the path
//   env       beside the environment of `npm test`
//   count     reads how many tests passed from a report; without it a stage counts as one
//   installs  what it needs beside the packages: chromium, firefox, webkit, nats-server
//   needs     a line saying what is missing here, or undefined: then the stage does not run. It
//             fails instead where `isDemanded`, which is wherever CI is set unless a stage says else
//   readsBuild reads dist/: where words choose it, the library build comes before it
//   tiers     those that run it (docs/tests.md): test, e2e, ci, all
//   cores     1 where a stage leaves all cores but one idle: two such neighbours run side by side
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingFirefox } from '../find-firefox.mjs';
import { missingWebkit } from '../find-webkit.mjs';
import { playwrightReport, vitestReport } from './reports.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const isSet = (name) => !['', '0', 'false'].includes(process.env[name] ?? '');

export const isContinuousIntegration = () => isSet('CI');

/** Minutes beside set-up that a tier may take on two cores of the machine that scripts/test/calibration.mjs names. */
export const BOUND_MINUTES = { test: 10, e2e: 6, ci: 30 };

/** Unit tests, counted by their report. */
function vitest(title, args, fields) {
  const { file, count } = vitestReport(root, title, args);
  const reporters = ['./scripts/test/room-reporter.ts', 'json'].map((name) => `--reporter=${name}`);
  const command = ['vitest', 'run', ...args, ...reporters, `--outputFile.json=${file}`];
  return { title, command, count, installs: ['chromium'], ...fields };
}

/** Tests in a browser, counted by their report. */
function playwright(title, args, { env, ...fields }) {
  const { file, count } = playwrightReport(root, title, env);
  return {
    title,
    command: ['playwright', 'test', ...args],
    env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    count,
    installs: ['chromium'],
    ...fields,
  };
}

const node = (title, file, { args = [], ...fields }) => ({
  title,
  command: ['node', file, ...args],
  ...fields,
});

const typescript = (title, file, { args = [], ...fields }) =>
  node(title, 'scripts/run-ts.mjs', { args: [file, ...args], ...fields });

/** Models and operator cases of others, which lie beside the clone where they lie at all. */
function sharedFolder() {
  return existsSync(join(root, '../shared/models'))
    ? undefined
    : 'the folder ../shared is not there (WEFT_REQUIRE_SHARED=1 demands it)';
}

/** Stages of Firefox are left out where there is none, and fail in continuous integration. */
const FIREFOX = { installs: ['chromium', 'firefox'], needs: missingFirefox };

/** Demonstrations of what no test proves, each an `npm run show -- NAME`. */
const SHOWN = { installs: ['chromium'] };

const BUILD = 'library build';

const EVERY = ['test', 'ci', 'all'];
const LONGER = ['ci', 'all'];

export const STAGES = [
  // First what needs no build and fails within a minute.
  { title: 'types', command: ['tsc', '--noEmit'], tiers: EVERY, cores: 1 },
  { title: 'format', command: ['biome', 'format', '.'], tiers: EVERY, cores: 1 },
  {
    title: 'lint and import rules',
    command: ['oxlint', '--type-aware', '--deny-warnings'],
    tiers: EVERY,
  },
  vitest('unit tests', [], { tiers: EVERY }),
  playwright('smoke of the pages', ['smoke'], { env: { WEFT_E2E: 'smoke' }, tiers: ['test'] }),
  node('commands of the README', 'scripts/check-readme.mjs', {
    args: ['README.md'],
    tiers: ['test'],
  }),
  playwright('browser tests', [], {
    env: { WEFT_E2E: 'chromium' },
    installs: ['chromium', 'nats-server'],
    tiers: ['e2e', 'ci', 'all'],
  }),
  vitest('adapter classes and a broker', ['--mode', 'ci'], {
    installs: ['chromium', 'nats-server'],
    tiers: ['ci'],
  }),
  vitest('adapter classes and long tests', ['--mode', 'long'], {
    installs: ['chromium', 'nats-server'],
    tiers: ['all'],
  }),
  vitest('tests on ../shared', ['--mode', 'shared'], {
    needs: sharedFolder,
    isDemanded: () => isSet('WEFT_REQUIRE_SHARED'),
    tiers: LONGER,
  }),
  playwright('browser tests in Firefox, a part', [], {
    // Another seed draws another part.
    env: { WEFT_E2E: 'firefox', WEFT_PART: '4', WEFT_SEED: '332' },
    ...FIREFOX,
    tiers: ['ci'],
  }),
  playwright('browser tests in Firefox', [], {
    env: { WEFT_E2E: 'firefox', WEFT_E2E_LONG: '1' },
    ...FIREFOX,
    tiers: ['all'],
  }),
  vitest('pages in WebKit', ['--mode', 'webkit'], {
    installs: ['chromium', 'webkit'],
    needs: missingWebkit,
    // Only Debian has a driver that is installed without further ado.
    isDemanded: () => false,
    tiers: LONGER,
  }),
  node('bundle sizes', 'scripts/size.mjs', { tiers: LONGER }),
  node(BUILD, 'scripts/build.mjs', { tiers: LONGER }),
  vitest('what ships', ['--mode', 'built'], { readsBuild: true, tiers: LONGER }),
  node('clone with nothing beside it', 'scripts/test/check-clone.mjs', {
    installs: ['chromium'],
    tiers: LONGER,
    cores: 1,
  }),
  typescript('operators and models in Firefox, a part', 'tools/show.ts', {
    args: ['engines', 'firefox', '--no-browser-tests'],
    ...FIREFOX,
    tiers: ['ci'],
    cores: 1,
  }),
  node('package', 'scripts/check-package.mjs', { readsBuild: true, tiers: LONGER, cores: 1 }),
  // All of them, with bundlers and other runtimes: npm run show -- consumers
  typescript('quick consumers of the package', 'tools/show/consumers.ts', {
    args: ['--quick', '--built'],
    readsBuild: true,
    installs: ['chromium'],
    tiers: ['ci'],
    cores: 1,
  }),
  typescript('site without its slow checks', 'scripts/site/main.ts', {
    args: ['--built', '--quick'],
    readsBuild: true,
    tiers: ['ci'],
    cores: 1,
  }),
  typescript('consumers of the package', 'tools/show/consumers.ts', {
    args: ['--built'],
    readsBuild: true,
    installs: ['chromium'],
    tiers: ['all'],
    cores: 1,
  }),
  // Links, pages in browsers, and the programs of the documentation against the tarball.
  typescript('site', 'scripts/site/main.ts', {
    args: ['--built'],
    readsBuild: true,
    installs: ['chromium', 'firefox'],
    tiers: ['all'],
    cores: 1,
  }),
  // Run in the clone.
  node('commands of the documentation', 'scripts/check-readme.mjs', { tiers: [] }),
  node('npm start', 'scripts/test/check-start.mjs', { tiers: [] }),
  typescript('operators and models in engines', 'tools/show.ts', {
    args: ['engines', '--all', '--no-browser-tests'],
    ...FIREFOX,
    tiers: ['all'],
  }),
  ...['faults', 'text', 'tasks', 'lighthouse'].map((name) =>
    typescript(`show ${name}`, 'tools/show.ts', { args: [name], ...SHOWN, tiers: ['all'] }),
  ),
  // A machine that runs tests says little of times.
  typescript('show first-sight', 'tools/show.ts', {
    args: ['first-sight', '--untimed'],
    ...FIREFOX,
    tiers: ['all'],
  }),
  typescript('show webmodels', 'tools/show.ts', {
    args: ['webmodels', '--untimed'],
    ...SHOWN,
    tiers: ['all'],
  }),
];

/** The stages that words choose, with the build of what they read, or those of a tier. A whole title chooses one. */
export function chooseStages(words, tier) {
  if (words.length === 0) return STAGES.filter(({ tiers }) => tiers.includes(tier));
  const isTitle = (word) => STAGES.some(({ title }) => title === word);
  const isChosen = ({ title }) =>
    words.some((word) => (isTitle(word) ? title === word : title.includes(word)));
  const needsBuild = STAGES.some((stage) => stage.readsBuild && isChosen(stage));
  return STAGES.filter((stage) => isChosen(stage) || (needsBuild && stage.title === BUILD));
}
