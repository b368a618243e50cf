// Prints how many files and lines there are, by folder: of product code with its comments, and without them and
// blank lines. Tests, cases and folders named `testing` are counted apart.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ROOMS = ['src', 'shaders', 'scripts', 'tools', 'bench', 'e2e', 'docs'];
/** What a program is made of without its applications. */
const CORE = ['core', 'bytecode', 'ops', 'device', 'runtime', 'worker', 'client'];

const isTest = (path) => /\.(test|cases)\.ts$|\/testing\/|\/__snapshots__\//.test(path);

/** Lines of code: strings that look like comments are so rare that nobody counts them. */
function codeLines(text) {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

function count(paths) {
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  return {
    files: paths.length,
    lines,
    code: texts.reduce((sum, text) => sum + codeLines(text), 0),
  };
}

const print = (title, ...numbers) =>
  console.log(title.padEnd(28) + numbers.map((n) => String(n).padStart(9)).join(''));

const tracked = execFileSync('git', ['ls-files', ...ROOMS], {
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .split('\n')
  .filter((path) => /\.(ts|mjs|wgsl|css|html|md)$/.test(path));
const product = tracked.filter((path) => path.startsWith('src/') && !isTest(path));
const row = (title, paths) => {
  const { files, lines, code } = count(paths);
  print(title, files, lines, code);
};

print('', 'files', 'lines', 'code');
for (const room of new Set(product.map((path) => path.split('/')[1]))) {
  row(
    `src/${room}`,
    product.filter((path) => path.startsWith(`src/${room}/`)),
  );
}
row('src', product);
row(
  '  of which the core',
  product.filter((path) => CORE.includes(path.split('/')[1])),
);
row(
  'src, tests',
  tracked.filter((path) => path.startsWith('src/') && isTest(path)),
);
for (const room of ROOMS.slice(1)) {
  row(
    room,
    tracked.filter((path) => path.startsWith(`${room}/`)),
  );
}

const folders = new Map();
for (const path of product) {
  const folder = path.slice(0, path.lastIndexOf('/'));
  folders.set(folder, (folders.get(folder) ?? 0) + 1);
}
const crowded = [...folders].filter(([, size]) => size > 20).sort(([, a], [, b]) => b - a);
console.log(`\n${crowded.length} folders with more than 20 loose files:`);
for (const [folder, size] of crowded) print(`  ${folder}`, size);
