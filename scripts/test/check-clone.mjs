// Clones this repository into an empty folder with nothing beside it and does there what a reader of
// README.md does first. Stages that read nothing outside the repository are the same there. The commands of the
// documentation run here only: what they need is all in the repository.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './stages.mjs';

/** Tests of what once was read from ../shared, on models of our own. */
const OWN_MODEL_TESTS = ['tools/models', 'tools/conformance', 'src/demo/digits', 'transformer'];

const folder = mkdtempSync(join(tmpdir(), 'weft-clone-'));
const clone = join(folder, 'weft');
/** Of this clone nothing is demanded that is not there. */
const env = { ...process.env, WEFT_REQUIRE_SHARED: '' };

/** Runs a command, shows its output and resolves to it; rejects when it ends with another status. */
function run(command, args, { cwd = clone, more = {}, status = 0 } = {}) {
  console.log(`> ${command} ${args.join(' ')}`);
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(command, args, { cwd, env: { ...env, ...more }, stdio });
  let text = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.setEncoding('utf8');
    from.on('data', (part) => {
      text += part;
      to.write(part);
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code === status) resolve(text);
      else reject(new Error(`${command} ${args.join(' ')} ended with status ${code}`));
    });
  });
}

function expectText(text, expected) {
  if (!text.includes(expected)) throw new Error(`The output does not say "${expected}".`);
}

try {
  await run('git', ['clone', '--quiet', root, clone], { cwd: folder });
  if (existsSync(join(folder, 'shared'))) throw new Error('There is something beside the clone.');
  const text = await run('npm', ['test', '--', 'shared', 'documentation', 'npm start']);
  expectText(text, 'Installing dependencies (npm ci)');
  expectText(text, 'not run: the folder ../shared is not there');
  const demanded = { more: { WEFT_REQUIRE_SHARED: '1' }, status: 1 };
  const refusal = await run('npm', ['test', '--', 'shared'], demanded);
  expectText(refusal, 'FAILED: the folder ../shared is not there');
  await run('npm', ['run', 'unit', '--', ...OWN_MODEL_TESTS]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
