// Uses the built package as a stranger would: every entry of package.json exists, loads in Node
// and has declarations that a strict TypeScript project accepts; the command prints its help.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const complaints = [];

const entries = Object.entries(exports).map(([path, files]) => ({
  specifier: `${name}${path.slice(1)}`,
  files,
}));

for (const { specifier, files } of entries) {
  const missing = Object.values(files).filter((file) => !existsSync(join(root, file)));
  for (const file of missing) complaints.push(`${specifier}: ${file} is missing`);
  if (missing.length > 0) continue;
  try {
    // The package finds itself by its own name.
    const names = Object.keys(await import(specifier));
    console.log(`${specifier}: ${names.join(', ')}`);
    if (names.length === 0) complaints.push(`${specifier} exports nothing`);
  } catch (error) {
    complaints.push(`${specifier} does not load: ${error.stack}`);
  }
}

const worker = join(root, 'dist/worker-main.js');
if (!existsSync(worker))
  complaints.push('dist/worker-main.js, which the client starts, is missing');

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { isGood: status === 0, output: `${stdout}${stderr}`.trim() };
}

for (const [command, file] of Object.entries(bin)) {
  const { isGood, output } = run(process.execPath, [file, '--help']);
  if (!isGood || !output.startsWith('Usage:')) complaints.push(`${command} --help: ${output}`);
}

const folder = join(root, '.weft-cache/consumer');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const imports = entries.map(({ specifier }, i) => `import * as entry${i} from '${specifier}';`);
const uses = entries.map((_, i) => `entry${i}`);
writeFileSync(
  join(folder, 'main.ts'),
  `${imports.join('\n')}\nexport const all: object[] = [${uses.join(', ')}];\n`,
);
const compilerOptions = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  noEmit: true,
  lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
const types = run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder]);
if (!types.isGood)
  complaints.push(`declarations: ${types.output.split('\n').slice(0, 10).join('\n')}`);

for (const complaint of complaints) console.error(complaint);
console.log(`${entries.length} entries, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
