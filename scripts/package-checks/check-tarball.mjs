import { join } from 'node:path';
import { runNode } from './run.mjs';

const MEGABYTE = 1e6;
const LARGEST = { packed: 4.2 * MEGABYTE, unpacked: 12.7 * MEGABYTE };

/** Complaints of `publint` and of `attw` about a tarball, and about its size. */
export async function checkTarball({ tarball, folder, tools, byteLength }) {
  const complaints = [];
  const size = (bytes) => `${(bytes / MEGABYTE).toFixed(1)} MB`;
  for (const [kind, limit] of Object.entries(LARGEST)) {
    console.log(`${kind}: ${size(byteLength[kind])} of at most ${size(limit)}`);
    if (byteLength[kind] > limit) complaints.push(`${kind}: ${size(byteLength[kind])}`);
  }
  const checkers = {
    publint: ['publint/src/cli.js', 'run', tarball, '--strict'],
    attw: ['@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only', '--no-color'],
  };
  for (const [name, [file, ...args]] of Object.entries(checkers)) {
    const command = [join(tools, 'node_modules', file), ...args];
    const { isGood, output } = await runNode(command, { cwd: folder });
    console.log(`${name}: ${isGood ? 'nothing to complain about' : 'see below'}`);
    if (!isGood) complaints.push(`${name}:\n${output}`);
  }
  return complaints;
}
