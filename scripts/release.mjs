// Prepares a release: `npm run release -- VERSION [--dry-run]`. Checks the repository, runs every test,
// sets the version, builds the site and packs. It commits, tags and publishes nothing; its last lines say how.
// With --dry-run it only says what is not ready.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const npm = (...args) => {
  console.log(`> npm ${args.join(' ')}`);
  execFileSync('npm', args, { cwd: root, stdio: 'inherit', env: { ...process.env, CI: 'true' } });
};

const [version] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isDry = process.argv.includes('--dry-run');

/** Numbers of a version, for comparing. */
const numbersOf = (text) => text.split(/[.-]/).slice(0, 3).map(Number);
const isLater = (a, b) => {
  const [first, second] = [numbersOf(a), numbersOf(b)];
  const at = first.findIndex((number, i) => number !== second[i]);
  return at >= 0 && first[at] > second[at];
};

/** Reasons why the release is not ready. */
function complaints() {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) {
    return [`got version ${version}, expected one such as 0.2.0: npm run release -- 0.2.0`];
  }
  const found = [];
  const changes = git('status', '--porcelain');
  if (changes !== '') found.push(`got changes that are not committed, expected none:\n${changes}`);
  const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean);
  if (tags.includes(`v${version}`)) found.push(`got a tag v${version}, expected none`);
  const { version: current } = JSON.parse(read('package.json'));
  const isFirst = tags.length === 0 && version === current;
  if (!isFirst && !isLater(version, current)) {
    found.push(`got version ${version}, expected one after ${current}`);
  }
  const dated = new RegExp(
    `^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`,
    'm',
  );
  if (!dated.test(read('CHANGELOG.md'))) {
    found.push(`CHANGELOG.md: got no heading "## ${version} (YYYY-MM-DD)", expected one`);
  }
  return found;
}

const found = complaints();
for (const complaint of found) console.error(complaint);
if (found.length > 0) process.exit(1);
if (isDry) {
  console.log(`${version} is ready to be built`);
  process.exit(0);
}

/** Sets the version in a manifest, and leaves all else as it is. */
function setVersion(file) {
  const text = read(file);
  const [name] = /"name": "weft-vm"/.exec(text) ?? [];
  if (name === undefined) throw new Error(`${file} is not that of weft-vm`);
  writeFileSync(
    join(root, file),
    text.replaceAll(/("name": "weft-vm",\s*"version": ")[^"]*/g, `$1${version}`),
  );
}

setVersion('package.json');
setVersion('package-lock.json');
npm('test', '--', '--all');
npm('run', 'site');
npm('pack');
npm('pack', './dist-maps');
console.log(`
weft-vm-${version}.tgz, weft-vm-maps-${version}.tgz and dist-site/ are ready. Then:
  git commit --all --message "release ${version}" && git tag v${version} && git push --follow-tags
  npm publish weft-vm-${version}.tgz && npm publish weft-vm-maps-${version}.tgz
and copy dist-site/ to the host of the site.`);
