// Runs the commands that the documentation shows, blocks of `sh run` (documentation/marked-blocks.mjs)
// in README.md and docs/*.md, and of README.md the programs too, `ts run` and `ts check`; `weft-vm` is
// src/. `npm run site` runs all programs against the tarball. Or all of the files of the command line: `node scripts/check-readme.mjs docs/program.md`.
// Blocks run in order, files in order of name, README.md first. The first line that fails is shown
// with its output.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf } from './documentation/marked-blocks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.weft-cache/documentation');

/** Runs a command; returns its output when it failed. */
function failureOf(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, CI: '1' },
  });
  return status === 0 ? undefined : `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`.trim();
}

const gpu = (...command) => failureOf(process.execPath, ['scripts/with-gpu.mjs', ...command]);

function runShell({ lines }) {
  return failureOf('sh', ['-e', '-c', lines.join('\n')]);
}

function writeModules(blocks) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [index, block] of blocks.entries()) {
    block.file = `.weft-cache/documentation/block-${index + 1}.ts`;
    // A module even without imports, so that names of one block do not meet those of another.
    writeFileSync(join(root, block.file), `${block.lines.join('\n')}\nexport {};\n`);
  }
}

function typeCheck(blocks) {
  if (blocks.length === 0) return undefined;
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noUnusedLocals: false,
      paths: {
        'weft-vm': ['../../src/client/index.ts'],
        'weft-vm/static/text': ['../../src/text/index.ts'],
        'weft-vm/static/tasks': ['../../src/tasks/index.ts'],
        'weft-vm/worker': ['../../src/worker/index.ts'],
        'weft-vm/compiler': ['../../src/frontend/index.ts'],
        'weft-vm/program': ['../../src/program/index.ts'],
        'weft-vm/text': ['../../src/text/index.ts'],
        'weft-vm/tasks': ['../../src/tasks/index.ts'],
        'weft-vm/live': ['../../src/tasks/live/index.ts'],
        'weft-vm/inspector': ['../../src/inspector/index.ts'],
        'weft-vm/operators': ['../../src/ops/index.ts'],
        'weft-vm/testing': ['../../src/conformance/index.ts'],
        'weft-vm/executable': ['../../src/bytecode/index.ts'],
        'weft-vm/vm': ['../../src/runtime/index.ts'],
        'weft-vm/rpc/nats': ['../../src/rpc/nats/index.ts'],
        'weft-vm/rpc': ['../../src/rpc/index.ts'],
        'weft-vm/node': ['../../src/cli/node.ts'],
      },
    },
    include: ['*.ts'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config, null, 2));
  return gpu('tsc', '--noEmit', '-p', '.weft-cache/documentation');
}

const given = process.argv.slice(2);
const all = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .sort()
    .map((name) => `docs/${name}`),
];
const files = given.length > 0 ? given : all;
const present = files.filter((file) => file.endsWith('.md') && existsSync(join(root, file)));
const blocks = present
  .flatMap((file) => blocksOf(root, file))
  .map((block) => ({ ...block, info: `${block.language} ${block.check}` }))
  .filter(({ info, place }) =>
    given.length > 0 || place.startsWith('README.md')
      ? /^(sh run|ts run|ts check)$/.test(info)
      : info === 'sh run',
  );
const modules = blocks.filter(({ language }) => language === 'ts');
writeModules(modules);

const failures = [];
const typeFailure = typeCheck(modules);
if (typeFailure !== undefined) {
  const places = modules.map(({ file, place }) => `${file} is ${place}`);
  failures.push(`types of examples:\n${typeFailure}\n${places.join('\n')}`);
}
for (const block of blocks) {
  if (block.info === 'ts check') continue;
  const failure =
    block.info === 'sh run'
      ? runShell(block)
      : gpu('node', 'scripts/run-ts.mjs', 'scripts/run-example.ts', block.file);
  console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${block.place} ${block.info}`);
  if (failure !== undefined)
    failures.push(`${block.place}:\n${block.lines.join('\n')}\n${failure}`);
}
for (const failure of failures) console.error(`\n${failure}`);
if (given.length === 0 && !present.includes('README.md')) failures.push('README.md is missing');
if (blocks.length === 0) {
  console.error('got no block marked `sh run`, `ts run` or `ts check`, expected some.');
  failures.push('no block');
}
console.log(`${blocks.length} blocks, ${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
