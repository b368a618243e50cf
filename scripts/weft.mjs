// The command `weft` from the sources: `node scripts/weft.mjs ARGS`. Only commands that run programs get a
// process with a GPU of their own: a second start of Node takes a tenth of what a small model's compile does.
import { fileURLToPath } from 'node:url';

const MAIN = ['run-ts.mjs', '../src/cli/main.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const [node, , ...args] = process.argv;
const runsPrograms = args.some((word) => ['run', 'rpc', 'check', 'bench'].includes(word));
process.argv = runsPrograms ? [node, '', 'node', ...MAIN, ...args] : [node, ...MAIN, ...args];
await import(runsPrograms ? './with-gpu.mjs' : './run-ts.mjs');
