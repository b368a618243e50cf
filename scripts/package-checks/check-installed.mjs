import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run, runNode } from './run.mjs';

/** An address that the command cannot reach without the optional package for NATS over TCP. */
const NATS = ['rpc', 'devices', '--nats', 'nats://127.0.0.1:9'];

/** Complaints about what an install brings, and about entries and the command in Node. */
export async function checkInstalled({ folder, manifest, installed }) {
  const names = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  console.log(`npm install brings: ${names.join(', ')}`);
  const complaints = names
    .filter((name) => name !== manifest.name)
    .map((name) => `npm install brings ${name}, which no page needs`);
  for (const [path, target] of Object.entries(manifest.exports)) {
    complaints.push(...(await checkEntry(path, target, { folder, manifest, installed })));
  }
  return [...complaints, ...(await checkCommand(folder))];
}

async function checkEntry(path, target, { folder, manifest, installed }) {
  const specifier = `${manifest.name}${path.slice(1)}`;
  const files = typeof target === 'string' ? [target] : Object.values(target);
  const missing = files.filter((file) => !existsSync(join(installed, file)));
  if (missing.length > 0) return missing.map((file) => `${specifier}: ${file} is missing`);
  // The file of the worker runs in browsers only, and exports nothing.
  if (typeof target === 'string' || target.default.startsWith('./dist/worker/')) return [];
  const code = `console.log(Object.keys(await import('${specifier}')).join(', '))`;
  const { isGood, output } = await runNode(['--input-type=module', '-e', code], { cwd: folder });
  if (!isGood || output === '') return [`${specifier} does not load: ${output}`];
  console.log(`${specifier}: ${output}`);
  return [];
}

async function checkCommand(folder) {
  const complaints = [];
  const weft = join(folder, 'node_modules/.bin/weft');
  for (const args of [['--help'], ['run', '--help'], ['rpc', 'relay', '--help']]) {
    const { isGood, output } = await run(weft, args, { cwd: folder });
    if (!isGood || !output.startsWith('Usage:')) {
      complaints.push(`weft ${args.join(' ')} prints no help: ${output}`);
    }
  }
  const { isGood, output } = await run(weft, NATS, { cwd: folder });
  if (isGood || !output.includes('Run `npm install @nats-io/transport-node`')) {
    complaints.push(`weft ${NATS.join(' ')} does not say what to install: ${output}`);
  }
  return complaints;
}
