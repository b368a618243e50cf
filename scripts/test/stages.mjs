// The stages of `npm test`, in order. To add one, add a line; fields:
//   title     words of it choose the stage: `npm test -- lint browser`
//   command   runs in the root, with WebGPU's driver found and node_modules/.bin in the path
//   env       beside the environment of `npm test`
//   count     reads how many tests passed from a report; without it a stage counts as one
//   needs     a line saying what is missing here, or undefined: then the stage does not run. It
//             fails instead where `isDemanded`, which is wherever CI is set unless a stage says else
//   tier      'ci' runs in continuous integration or by name, 'all' with --all or by name; a stage
//             that has more to do then looks for WEFT_ALL. 'clone' runs everywhere but in continuous
//             integration, which has it done by the stage that makes a clone
//   cores     1 where a stage leaves all cores but one idle: two such neighbours run side by side
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingFirefox } from '../find-firefox.mjs';
import { playwrightReport, vitestReport } from './reports.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const isSet = (name) => !['', '0', 'false'].includes(process.env[name] ?? '');

/**
 * Unit tests, counted by their report. What fails is tried a second time, and then printed as such: one
 * of ten thousand tests may meet a machine that does other work.
 */
function vitest(title, args, fields = {}) {
  const { file, count } = vitestReport(root, title);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  return {
    title,
    command: ['vitest', 'run', '--retry=1', ...args, ...reporters],
    count,
    ...fields,
  };
}

/** Tests in a browser, counted by their report. */
function playwright(title, args, { env, ...fields } = {}) {
  const { file, count } = playwrightReport(root, title);
  return {
    title,
    command: ['playwright', 'test', ...args],
    env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    count,
    ...fields,
  };
}

const node = (title, file, { args = [], ...fields } = {}) => ({
  title,
  command: ['node', file, ...args],
  ...fields,
});

/** The sections of `npm run show`. */
const show = (title, words, fields = {}) => ({
  title,
  command: ['node', 'scripts/run-ts.mjs', 'scripts/show.ts', ...words],
  ...fields,
});

/** Models and operator cases of others, which lie beside the clone where they lie at all. */
function sharedFolder() {
  return existsSync(join(root, '../shared/models'))
    ? undefined
    : 'the folder ../shared is not there (WEFT_REQUIRE_SHARED=1 demands it)';
}

export const STAGES = [
  // First what needs no build and fails within a minute.
  { title: 'types', command: ['tsc', '--noEmit'], cores: 1 },
  { title: 'format', command: ['biome', 'format', '.'], cores: 1 },
  node('API reference', 'scripts/api-reference.mjs', { args: ['--check'], cores: 1 }),
  { title: 'lint and import rules', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  vitest('unit tests', []),
  vitest('tests on ../shared', ['--mode', 'shared'], {
    needs: sharedFolder,
    isDemanded: () => isSet('WEFT_REQUIRE_SHARED'),
  }),
  node('bundle sizes', 'scripts/size.mjs'),
  node('library build', 'scripts/build.mjs'),
  vitest('what ships', ['--mode', 'built']),
  // Where there is no Firefox, these run in Chromium alone, and the stage of Firefox says so.
  playwright('browser tests', []),
  node('clone with nothing beside it', 'scripts/test/check-clone.mjs', { tier: 'ci', cores: 1 }),
  node('commands of the documentation', 'scripts/check-readme.mjs', { tier: 'clone', cores: 1 }),
  show('operators and models in Firefox', ['engines', 'firefox', '--no-browser-tests'], {
    needs: missingFirefox,
    cores: 1,
  }),
  node('package', 'scripts/check-package.mjs', { cores: 1 }),
  {
    // All of them, with bundlers and other runtimes: npm run show -- consumers
    title: 'consumers of the package',
    command: ['node', 'scripts/run-ts.mjs', 'scripts/show/consumers.ts', '--quick', '--built'],
    cores: 1,
  },
  {
    // Links, pages in Chromium, and the programs of the documentation against the tarball.
    title: 'site',
    command: ['node', 'scripts/run-ts.mjs', 'scripts/site/main.ts', '--built'],
    cores: 1,
  },
  node('npm start', 'scripts/test/check-start.mjs', { tier: 'clone', cores: 1 }),
  show('operators and models in engines', ['engines', '--all', '--no-browser-tests'], {
    needs: missingFirefox,
    tier: 'all',
  }),
];

export const isContinuousIntegration = () => isSet('CI');

/** The stages that words choose, or those of this run: --all adds the long ones. */
export function chooseStages(words, { isAll }) {
  if (words.length > 0) {
    return STAGES.filter(({ title }) => words.some((word) => title.includes(word)));
  }
  const isRun = {
    always: true,
    all: isAll,
    ci: isAll || isContinuousIntegration(),
    clone: !isContinuousIntegration(),
  };
  return STAGES.filter(({ tier = 'always' }) => isRun[tier]);
}
